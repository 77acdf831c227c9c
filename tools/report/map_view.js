// How the map of addresses is painted: lines of cells, each of the colour of the tag
// that has most of it, pale as far as it is free; grey where memory has no block, and
// hatched where that serves elsewhere (map_places.js). A view shows the addresses of
// one device, or of all if there are not several: cells from unit `from` to `to`, which
// lie within `begin` and `end`.
const LINES = 24, LINE = 12, COLUMNS = 800;
const CELLS = LINES * COLUMNS;
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

// Are its addresses of the device of the view?
function isIn(view, list, i) {
	return list.at[i] >= view.begin && list.at[i] < view.end;
}

// What one of the list covers of the cells, as numbers with a fraction.
function coveredBy(map, view, list, i) {
	const scale = CELLS / (view.to - view.from);
	const begin = (list.at[i] - view.from) * scale;

	return [begin, begin + list.bytes[i] / map.info.unit * scale];
}

function covered(map, view, span) {
	return coveredBy(map, view, map, span);
}

// As eachLive(), of the blocks of the view's device.
function eachLiveIn(map, view, fn) {
	eachLive(map, (span) => {
		if (isIn(view, map, span))
			fn(span);
	});
}

function add(cell, part, span) {
	share[cell] += part;
	if (part > most[cell]) {
		most[cell] = part;
		owner[cell] = span;
	}
}

function fill(map, view) {
	share.fill(0);
	most.fill(0);
	edge.fill(0);
	eachLiveIn(map, view, (span) => {
		const [begin, end] = covered(map, view, span);
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

function paint(map, view) {
	const context = view.canvas.getContext('2d');
	const small = Object.assign(document.createElement('canvas'),
		{width: COLUMNS, height: LINES});
	const scale = CELLS / (view.to - view.from);

	fill(map, view);
	fillPlaces(map, view);
	small.getContext('2d').putImageData(cells(map), 0, 0);
	context.clearRect(0, 0, view.canvas.width, view.canvas.height);
	context.imageSmoothingEnabled = false;
	context.drawImage(small, 0, 0, COLUMNS, LINES * LINE);
	for (let line = 1; line <= LINES; line++)
		context.clearRect(0, line * LINE - 2, COLUMNS, 2);
	paintPlaces(map, context, getComputedStyle(document.body).color);
	for (const [, , at] of map.info.ranges) {
		const cell = Math.floor((at - view.from) * scale);

		if (at > view.begin && at < view.end && cell >= 0 &&
			cell < CELLS)
			context.fillRect(cell % COLUMNS,
				Math.floor(cell / COLUMNS) * LINE, 1, LINE - 2);
	}
	context.strokeStyle = context.fillStyle;
	context.strokeRect(view.cell % COLUMNS - 1.5,
		Math.floor(view.cell / COLUMNS) * LINE - .5, 4, LINE - 1);
}
