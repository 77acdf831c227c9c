// The cursor over the picture: what was live in the stretch that it is in. Moves
// with the mouse and with the arrow keys; Home, End, and p for the peak.
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const figure = document.querySelector('figure');
const picture = document.querySelector('svg');
const cursor = document.getElementById('cursor');
const readout = document.getElementById('readout');
let at = data.peak;

function size(bytes) {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
	let unit = 0;

	for (; bytes >= 1024 && unit < units.length - 1; unit++)
		bytes /= 1024;
	return (Math.round(bytes * 100) / 100) + ' ' + units[unit];
}

function show(bin) {
	const scale = picture.getBoundingClientRect().width / data.width;
	const row = data.bins[bin];
	const tags = data.names.map((name, i) => name + ' ' + size(row[3 + i]));

	at = bin;
	cursor.style.display = 'block';
	cursor.style.left = (data.left + bin + 0.5) * scale + 'px';
	cursor.style.top = data.top * scale + 'px';
	cursor.style.height = data.height * scale + 'px';
	readout.textContent = data.unit + ' ' +
		+(data.last * (bin + 0.5) / data.bins.length).toPrecision(6) +
		': requested ' + size(row[0]) +
		(data.reserved ? ', reserved ' + size(row[1]) : '') +
		(data.addresses ? ', unreleasable ' +
			size(Math.max(0, row[2] - row[0])) : '') +
		'. ' + tags.join(', ');
}

function clamp(bin) {
	return Math.max(0, Math.min(data.bins.length - 1, Math.floor(bin)));
}

figure.addEventListener('pointermove', (event) => {
	const box = picture.getBoundingClientRect();

	pick(clamp((event.clientX - box.left) * data.width / box.width -
		data.left));
});
figure.addEventListener('keydown', (event) => {
	const step = event.shiftKey ? 20 : 1;
	const to = {ArrowLeft: at - step, ArrowRight: at + step, Home: 0,
		End: data.bins.length - 1, p: data.peak}[event.key];

	if (to === undefined)
		return;
	event.preventDefault();
	pick(clamp(to));
});
