// The map of addresses: lines of cells, each of the colour of the tag that has most
// of it, pale as far as it is free; grey where memory has no block, and hatched where
// that serves elsewhere (map_places.js). The slider moves in time, with the arrow keys
// event by event. Over the map the arrow keys lead from cell to cell, + and - make
// it larger and smaller around that cell, and 0 or Escape show all.
const LINES = 24, LINE = 12, COLUMNS = 800;
const CELLS = LINES * COLUMNS;
const canvas = document.getElementById('cells');
const slider = document.getElementById('when');
const view = {from: 0, to: 1, cell: 0, asked: false};
const share = new Float32Array(CELLS), most = new Float32Array(CELLS);
const owner = new Int32Array(CELLS), edge = new Uint8Array(CELLS);
const mapped = new Float32Array(CELLS), stale = new Uint8Array(CELLS);
const movedTo = new Uint8Array(CELLS), movedFrom = new Uint8Array(CELLS);

function pathOf(map, tag) {
	return map.info.paths[tag] || 'without a tag';
}

// The colours of the picture, the last for all other tags and then the holes'.
function palette() {
	const colours = [];

	for (let i = 0; i <= 7; i++) {
		const area = picture.querySelector('.c' + i);

		colours.push(area ? getComputedStyle(area).fill : 'rgb(153,153,153)');
	}
	return colours.map((colour) => colour.match(/\d+/g).map(Number));
}

// What one of the list covers of the cells, as numbers with a fraction.
function coveredBy(map, list, i) {
	const scale = CELLS / (view.to - view.from);
	const begin = (list.at[i] - view.from) * scale;

	return [begin, begin + list.bytes[i] / map.info.unit * scale];
}

function covered(map, span) {
	return coveredBy(map, map, span);
}

function add(cell, part, span) {
	share[cell] += part;
	if (part > most[cell]) {
		most[cell] = part;
		owner[cell] = span;
	}
}

function fill(map) {
	share.fill(0);
	most.fill(0);
	edge.fill(0);
	eachLive(map, (span) => {
		const [begin, end] = covered(map, span);
		const last = Math.min(CELLS, end);

		if (begin >= 0 && begin < CELLS && end - begin > 4)
			edge[Math.floor(begin)] = 1;
		for (let cell = Math.max(0, Math.floor(begin)); cell < last; cell++)
			add(cell, Math.min(end, cell + 1) - Math.max(begin, cell),
				span);
	});
}

// How grey a cell is that has no block: as far as there is memory, where that is
// known.
function empty(map, cell) {
	return map.info.places ? 110 * Math.min(1, mapped[cell]) : 40;
}

// One pixel a cell, which paint() draws larger.
function cells(map) {
	const image = new ImageData(COLUMNS, LINES);
	const colours = palette();

	for (let cell = 0; cell < CELLS; cell++) {
		const curve = map.info.curves.indexOf(map.tag[owner[cell]]);
		const used = Math.min(1, share[cell]);
		const colour = colours[curve < 0 ? 7 : curve];

		for (let i = 0; i < 3; i++)
			image.data[cell * 4 + i] = used ? colour[i] : 128;
		image.data[cell * 4 + 3] = !used ? empty(map, cell) :
			edge[cell] ? 130 : 90 + 165 * used;
	}
	return image;
}

// Calls fn with the left, the top and the width of each stretch of such cells.
function eachStretch(list, fn) {
	let begin = 0;

	for (let cell = 0; cell < CELLS; cell++) {
		begin = cell % COLUMNS && list[cell - 1] ? begin : cell;
		if (list[cell] && !((cell + 1) % COLUMNS && list[cell + 1]))
			fn(begin % COLUMNS, Math.floor(begin / COLUMNS) * LINE,
				cell + 1 - begin);
	}
}

// Diagonal lines, across the stretches too.
function hatch(context, colour) {
	const tile = Object.assign(document.createElement('canvas'),
		{width: 6, height: 6});
	const lines = tile.getContext('2d');

	lines.strokeStyle = colour;
	for (const from of [-6, 0, 6]) {
		lines.moveTo(from - 1, 7);
		lines.lineTo(from + 7, -1);
	}
	lines.stroke();
	return context.createPattern(tile, 'repeat');
}

// Over the cells: what serves elsewhere is hatched; where pages were moved to there is
// a bar, and dots where they came from.
function paintPlaces(map, context, colour) {
	context.fillStyle = hatch(context, colour);
	eachStretch(stale, (x, y, width) =>
		context.fillRect(x, y, width, LINE - 2));
	context.fillStyle = colour;
	eachStretch(movedTo, (x, y, width) =>
		context.fillRect(x, y + LINE - 5, Math.max(2, width), 3));
	eachStretch(movedFrom, (x, y, width) => {
		for (let dot = 0; dot < width; dot += 4)
			context.fillRect(x + dot, y + LINE - 5, 2, 3);
	});
}

function paint(map) {
	const context = canvas.getContext('2d');
	const small = Object.assign(document.createElement('canvas'),
		{width: COLUMNS, height: LINES});
	const scale = CELLS / (view.to - view.from);

	fill(map);
	fillPlaces(map);
	small.getContext('2d').putImageData(cells(map), 0, 0);
	context.clearRect(0, 0, canvas.width, canvas.height);
	context.imageSmoothingEnabled = false;
	context.drawImage(small, 0, 0, COLUMNS, LINES * LINE);
	for (let line = 1; line <= LINES; line++)
		context.clearRect(0, line * LINE - 2, COLUMNS, 2);
	paintPlaces(map, context, getComputedStyle(document.body).color);
	for (const [, , at] of map.info.ranges) {
		const cell = Math.floor((at - view.from) * scale);

		if (at && cell >= 0 && cell < CELLS)
			context.fillRect(cell % COLUMNS,
				Math.floor(cell / COLUMNS) * LINE, 1, LINE - 2);
	}
	context.strokeStyle = context.fillStyle;
	context.strokeRect(view.cell % COLUMNS - 1.5,
		Math.floor(view.cell / COLUMNS) * LINE - .5, 4, LINE - 1);
}

// What pools did so far, by kind: how often and how many bytes.
function sums(map, key) {
	const kind = map.info.kinds[key][0];
	let count = 0, bytes = 0;

	for (const [event, what, value] of map.others) {
		if (event > map.event)
			break;
		count += what === kind;
		bytes += what === kind ? value : 0;
	}
	return count ? `; so far ${size(bytes)} of ${map.info.kinds[key][1]}` : '';
}

function block(map, span) {
	return size(map.bytes[span]) + ', ' + pathOf(map, map.tag[span]) +
		', stream ' + map.stream[span];
}

function happens(map) {
	const e = map.event;
	const key = Object.keys(map.info.kinds).find(
		(name) => map.info.kinds[name][0] === map.kind[e]);
	const other = map.others.find((row) => row[0] === e);
	const span = map.begun[e] || map.ended[e];

	return `Event ${e} of ${map.info.events}, second ` +
		+(map.time[e] / 1e9).toFixed(6) + ': ' +
		(key ? map.info.kinds[key][1] : 'the beginning') +
		(span ? ': ' + block(map, span - 1) : '') +
		(other ? ': ' + size(other[2]) : '') +
		`. ${map.blocks} blocks, ${size(map.sum)}` +
		sums(map, 'move') + sums(map, 'lend') + '.' + placeSums(map);
}

// What is at the cell that the mouse or the keys are at.
function tip(map) {
	const unit = view.from + view.cell * (view.to - view.from) / CELLS;
	let found = -1, largest = 0, others = -1;

	eachLive(map, (span) => {
		const [begin, end] = covered(map, span);
		const part = Math.min(end, view.cell + 1) -
			Math.max(begin, view.cell);

		others += part > 0;
		if (part > largest) {
			largest = part;
			found = span;
		}
	});
	if (found < 0)
		return `${addressOf(map, unit)}: no block` +
			placeTip(map, view.cell);
	return `${addressOf(map, map.at[found])}: ${block(map, found)}, ` +
		`${map.bytes[found]} bytes, ` +
		+((map.time[map.event] - map.born[found]) / 1e9).toFixed(6) +
		' seconds old, pool ' + rangeOf(map, map.at[found])[0] +
		(others ? `, and ${others} more here` : '') +
		placeTip(map, view.cell);
}

function draw(map) {
	view.asked = false;
	paint(map);
	document.getElementById('happens').textContent = happens(map);
	document.getElementById('tip').textContent = tip(map);
}

// At most once a frame, however often it is asked for.
function redraw(map) {
	if (view.asked)
		return;
	view.asked = true;
	requestAnimationFrame(() => draw(map));
}

function goTo(map, event) {
	map.seek(event);
	slider.value = event;
	redraw(map);
}

// Larger by that factor, around the cell.
function zoomMap(map, factor) {
	const width = Math.max(CELLS / 256, Math.min(map.info.end,
		(view.to - view.from) / factor));
	const place = view.cell / CELLS;
	const unit = view.from + place * (view.to - view.from);

	view.from = Math.max(0, Math.min(map.info.end - width,
		unit - place * width));
	view.to = view.from + width;
}

function key(map, name) {
	const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS,
		ArrowDown: COLUMNS}[name];
	const factor = {'+': 2, '=': 2, '-': .5, 0: 1 / map.info.end,
		Escape: 1 / map.info.end}[name];

	if (step)
		view.cell = Math.max(0, Math.min(CELLS - 1, view.cell + step));
	else if (factor)
		zoomMap(map, factor);
	return step || factor;
}

function showMap(map) {
	document.getElementById('map').hidden = false;
	slider.max = map.info.events;
	view.to = map.info.end;
	slider.addEventListener('input', () => {
		map.seek(Number(slider.value));
		show(binOf(map));
		redraw(map);
	});
	canvas.addEventListener('pointermove', (event) => {
		const box = canvas.getBoundingClientRect();
		const x = (event.clientX - box.left) / box.width * COLUMNS;
		const y = (event.clientY - box.top) / box.height * LINES;

		view.cell = Math.max(0, Math.min(CELLS - 1,
			Math.floor(y) * COLUMNS + Math.floor(x)));
		redraw(map);
	});
	canvas.addEventListener('keydown', (event) => {
		if (!key(map, event.key))
			return;
		event.preventDefault();
		redraw(map);
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => redraw(map));
}
