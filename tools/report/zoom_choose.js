// Which part of the time the picture shows: chosen by dragging over it, by + and -
// around the cursor, or by the address of the page, which always has it
// (#from=1.5&to=2).
const chosen = document.getElementById('chosen');
let dragged = -1;

function momentOf(bin) {
	return shown.from + (shown.to - shown.from) * (bin + .5) / width;
}

function binAt(moment) {
	return clamp((moment - shown.from) / (shown.to - shown.from) * width);
}

// When that was what the cursor tells, as far as its column goes.
function cursorMoment() {
	const column = (shown.to - shown.from) / width;
	const begin = shown.from + column * at;
	const i = countUpTo(moments.event.length, (one) => moments.event[one],
		shown.events[at]) - 1;

	return Math.max(begin + column * 1e-6,
		Math.min(moments.x[i], begin + column));
}

// The cursor stays at its moment, as far as that is shown.
function zoomTo(from, to) {
	const moment = cursorMoment();
	const least = data.last / 1e7;

	if (!(to - from >= least) || !(data.last > 0))
		return;
	from = Math.max(0, Math.min(from, data.last - least));
	to = Math.min(to, data.last);
	Object.assign(shown, from > 0 || to < data.last ? columns(from, to) :
		{from, to, bins: data.bins, events: data.events});
	drawPart();
	if (map)
		boundSlider(map);
	pick(binAt(moment));
}

function remember() {
	const part = `#from=${+shown.from.toPrecision(9)}` +
		`&to=${+shown.to.toPrecision(9)}`;

	history.replaceState(null, '', shown.bins === data.bins ? '#' : part);
}

function recall() {
	const part = new URLSearchParams(location.hash.slice(1));

	zoomTo(Number(part.get('from') || 0), Number(part.get('to') || data.last));
}

function choose(from, to) {
	zoomTo(from, to);
	remember();
}

function larger(factor) {
	const moment = cursorMoment();

	choose(moment - (moment - shown.from) / factor,
		moment + (shown.to - moment) / factor);
}

// Left or right, as far as there is something.
function move(bins) {
	const by = Math.max(-shown.from, Math.min(data.last - shown.to,
		(shown.to - shown.from) * bins / width));

	if (by)
		choose(shown.from + by, shown.to + by);
}

function toPeak() {
	if (data.peak_x < shown.from || data.peak_x > shown.to)
		choose(0, data.last);
	pick(shown.bins === data.bins ? data.peak : binAt(data.peak_x));
}

function zoomKey(name) {
	const factor = {'+': 2, '=': 2, '-': .5}[name];

	if (factor)
		larger(factor);
	else if (name === '0' || name === 'Escape')
		choose(0, data.last);
	else if (name === 'p')
		toPeak();
	return factor || name === '0' || name === 'Escape' || name === 'p';
}

// ---- the mouse ----

function binUnder(event) {
	const box = picture.getBoundingClientRect();

	return (event.clientX - box.left) * data.width / box.width - data.left;
}

function mark(from, to) {
	const scale = picture.getBoundingClientRect().width / data.width;

	chosen.hidden = false;
	chosen.style.left = (data.left + Math.min(from, to)) * scale + 'px';
	chosen.style.width = Math.abs(to - from) * scale + 'px';
	chosen.style.top = data.top * scale + 'px';
	chosen.style.height = data.height * scale + 'px';
}

function inside(bin) {
	return Math.max(0, Math.min(width, bin));
}

function listen() {
	picture.addEventListener('pointerdown', (event) => {
		const bin = binUnder(event);

		if (event.button || bin < 0 || bin > width)
			return;
		dragged = bin;
	});
	addEventListener('pointermove', (event) => {
		if (dragged >= 0)
			mark(dragged, inside(binUnder(event)));
	});
	addEventListener('pointerup', (event) => {
		const ends = [dragged, inside(binUnder(event))].map(
			(bin) => momentOf(bin - .5)).sort((one, other) => one - other);
		const wide = Math.abs(dragged - binUnder(event)) > 4;

		chosen.hidden = true;
		if (dragged >= 0 && wide)
			choose(...ends);
		dragged = -1;
	});
	addEventListener('pointercancel', () => {
		chosen.hidden = true;
		dragged = -1;
	});
	picture.addEventListener('wheel', (event) => {
		if (!event.ctrlKey)
			return;
		event.preventDefault();
		larger(event.deltaY < 0 ? 1.25 : .8);
	}, {passive: false});
	back.addEventListener('click', () => choose(0, data.last));
	addEventListener('hashchange', recall);
}
