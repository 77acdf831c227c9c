// Draws a part of the time as large as the whole was. Heights stay as they are, so
// that parts can be compared. The whole is the picture that came with the page; a
// part is drawn from the moments that page_zoom.c wrote.
const width = data.bins.length;
const whole = [...picture.querySelectorAll('path, .x')].map(
	(element) => [element, element.getAttribute('d'), element.innerHTML]);
const moments = loadMoments(document.getElementById('moments'));
const back = document.getElementById('whole');

// Of each moment when it was, after which event, and a row as of data.bins.
function loadMoments(script) {
	const next = reader(script.textContent);
	const change = () => {
		const twice = next();

		return twice % 2 ? -(twice + 1) / 2 : twice / 2;
	};
	const list = {x: [0], event: [0], rows: [new Array(3 +
		data.names.length).fill(0)], group: Number(script.dataset.group)};
	const ticks = data.unit === 'second' ? 1e9 : 1;
	let tick = 0, event = 0;

	for (let more; (more = next());) {
		const row = [...list.rows[list.rows.length - 1]];

		list.x.push((tick += next()) / ticks);
		list.event.push(event += more);
		row[1] += change();
		row[2] += change() * data.page;
		row[0] = 0;
		for (let i = 3; i < row.length; i++)
			row[0] += row[i] += change();
		list.rows.push(row);
	}
	return list;
}

// How many of a list that never decreases are below a limit, or at it.
function countUpTo(length, valueOf, limit) {
	let low = 0, high = length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (valueOf(middle) <= limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// What the picture shows of that time: of each of its columns the highest
// moment, or what was live when it began.
function columns(from, to) {
	const part = {from, to, bins: [], events: []};
	let i = Math.max(1, countUpTo(moments.x.length,
		(at) => moments.x[at] < from ? from - 1 : from + 1, from));

	for (let column = 1; column <= width; column++) {
		const end = column < width ? from + (to - from) * column / width :
			to < data.last ? to : Infinity;
		let best = i - 1;

		for (; i < moments.x.length && moments.x[i] < end; i++)
			if (moments.rows[i][0] >= moments.rows[best][0])
				best = i;
		part.bins.push(moments.rows[best]);
		part.events.push(moments.event[best]);
	}
	return part;
}

// ---- drawing ----

function yOf(bytes) {
	return (data.top + data.height * (1 - bytes / (data.max || 1))).toFixed(1);
}

function line(level) {
	let path = '', last = -1;

	shown.bins.forEach((row, i) => {
		const bytes = level(row);

		if (bytes !== last)
			path += `H${data.left + i}V${yOf(bytes)}`;
		last = bytes;
	});
	return path + `H${data.left + width}`;
}

function drawAreas() {
	const bottom = data.top + data.height;

	data.names.forEach((name, i) => {
		const area = picture.querySelector('path.c' + i) ||
			picture.querySelector('path.c7');

		area.setAttribute('d', `M${data.left} ${bottom}` + line((row) =>
			row.slice(3, 4 + i).reduce((sum, bytes) => sum + bytes)) +
			`V${bottom}z`);
	});
}

function drawLevel(name, column) {
	const path = picture.querySelector('path.' + name + '[d*=H]');

	if (path)
		path.setAttribute('d', `M${data.left} ` +
			yOf(shown.bins[0][column]) + line((row) => row[column]));
}

function put(parent, name, attributes, text) {
	const element = document.createElementNS(picture.namespaceURI, name);

	for (const [key, value] of Object.entries(attributes))
		element.setAttribute(key, value);
	element.textContent = text;
	parent.append(element);
}

function xOf(moment) {
	return data.left + width * (moment - shown.from) /
		(shown.to - shown.from);
}

// At most eight round numbers.
function drawAxis() {
	const axis = picture.querySelector('.x');
	const power = 10 ** Math.floor(Math.log10((shown.to - shown.from) / 8));
	const step = [1, 2, 5, 10].map((times) => times * power).find(
		(some) => (shown.to - shown.from) / some <= 8);
	const bottom = data.top + data.height;

	axis.textContent = '';
	for (let i = Math.ceil(shown.from / step); i * step <= shown.to; i++) {
		const x = xOf(i * step).toFixed(1);

		put(axis, 'path', {class: 'grid', d: `M${x} ${bottom}v5`}, '');
		put(axis, 'text', {x, y: bottom + 18, 'text-anchor': 'middle'},
			+(i * step).toPrecision(12));
	}
}

// Marks stand where the tool put them in the whole.
function moveMarks() {
	const marks = [[picture.querySelector('.peak'), data.peak_x, data.peak]];

	picture.querySelectorAll('.oom').forEach((mark, i) =>
		marks.push([mark, ...data.ooms[i]]));
	for (const [mark, moment, bin] of marks) {
		const to = xOf(moment) - data.left;

		mark.setAttribute('transform',
			shown.bins === data.bins ? '' : `translate(${+(to - bin).toFixed(1)} 0)`);
		mark.setAttribute('visibility',
			to < 0 || to > width ? 'hidden' : 'inherit');
	}
}

function drawPart() {
	if (shown.bins === data.bins) {
		for (const [element, path, content] of whole)
			if (path === null)
				element.innerHTML = content;
			else
				element.setAttribute('d', path);
	} else {
		drawAreas();
		drawLevel('pages', 2);
		drawLevel('reserved', 1);
		drawAxis();
	}
	moveMarks();
	back.disabled = shown.bins === data.bins;
}
