// The cursor over the picture: what was live in the stretch that it is in. Moves
// with the mouse and with the arrow keys; Home, End, and p for the peak. What is
// shown is all of the run, or a part of it (zoom_choose.js).
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const figure = document.querySelector('figure');
const picture = document.querySelector('svg');
const cursor = document.getElementById('cursor');
const readout = document.getElementById('readout');
const shown = {from: 0, to: data.last, bins: data.bins, events: data.events};
let at = data.peak;

function size(bytes) {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
	let unit = 0;

	for (; bytes >= 1024 && unit < units.length - 1; unit++)
		bytes /= 1024;
	return (Math.round(bytes * 100) / 100) + ' ' + units[unit];
}

// As many as tell one column from the next, six at least.
function digits() {
	const column = (shown.to - shown.from) / shown.bins.length;

	return column ? Math.max(6, Math.min(15,
		2 + Math.ceil(Math.log10(shown.to / column)))) : 6;
}

function show(bin) {
	const scale = picture.getBoundingClientRect().width / data.width;
	const row = shown.bins[bin];
	const tags = data.names.map((name, i) => name + ' ' + size(row[3 + i]));

	at = bin;
	cursor.style.display = 'block';
	cursor.style.left = (data.left + bin + 0.5) * scale + 'px';
	cursor.style.top = data.top * scale + 'px';
	cursor.style.height = data.height * scale + 'px';
	readout.textContent = (data.unit === 'second' ? 'Second ' : 'Event ') +
		+momentOf(bin).toPrecision(digits()) +
		': requested ' + size(row[0]) +
		(data.reserved ? ', reserved ' + size(row[1]) : '') +
		(data.pages ? ', unreleasable ' +
			size(Math.max(0, row[2] - row[0])) : '') +
		'. ' + tags.join(', ');
}

function clamp(bin) {
	return Math.max(0, Math.min(data.bins.length - 1, Math.floor(bin)));
}

figure.addEventListener('pointermove', (event) => {
	pick(clamp(binUnder(event)));
});
figure.addEventListener('keydown', (event) => {
	const step = event.shiftKey ? 20 : 1;
	const to = {ArrowLeft: at - step, ArrowRight: at + step, Home: 0,
		End: data.bins.length - 1}[event.key];

	if (event.ctrlKey || event.altKey || event.metaKey)
		return;
	if (to !== undefined) {
		move(Math.min(0, to) || Math.max(0, to - clamp(to)));
		pick(clamp(to));
	} else if (!zoomKey(event.key)) {
		return;
	}
	event.preventDefault();
});
