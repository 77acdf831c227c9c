// The map of addresses: its views, and how they are led. The slider moves in time, with
// the arrow keys event by event. Over a view the arrow keys lead from cell to cell, +
// and - make it larger and smaller around that cell, and 0 or Escape show all of it.
const slider = document.getElementById('when');
const views = [];
let drawingAsked = false;

function drawView(map, view) {
	paint(map, view);
	view.tip.textContent = tip(map, view);
	if (view.holds)
		view.holds.textContent = sayHolds(map, view);
}

function draw(map) {
	drawingAsked = false;
	for (const view of views)
		drawView(map, view);
	document.getElementById('happens').textContent = happens(map);
}

// At most once a frame, however often it is asked for.
function redraw(map) {
	if (drawingAsked)
		return;
	drawingAsked = true;
	requestAnimationFrame(() => draw(map));
}

function goTo(map, event) {
	map.seek(event);
	slider.value = event;
	redraw(map);
}

// Larger by that factor, around the cell.
function zoomView(view, factor) {
	const width = Math.max(CELLS / 256, Math.min(view.end - view.begin,
		(view.to - view.from) / factor));
	const place = view.cell / CELLS;
	const unit = view.from + place * (view.to - view.from);

	view.from = Math.max(view.begin, Math.min(view.end - width,
		unit - place * width));
	view.to = view.from + width;
}

function key(view, name) {
	const step = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS,
		ArrowDown: COLUMNS}[name];
	const all = 1 / (view.end - view.begin);
	const factor = {'+': 2, '=': 2, '-': .5, 0: all, Escape: all}[name];

	if (step)
		view.cell = Math.max(0, Math.min(CELLS - 1, view.cell + step));
	else if (factor)
		zoomView(view, factor);
	return step || factor;
}

function listenTo(map, view) {
	view.canvas.addEventListener('pointermove', (event) => {
		const box = view.canvas.getBoundingClientRect();
		const x = (event.clientX - box.left) / box.width * COLUMNS;
		const y = (event.clientY - box.top) / box.height * LINES;

		view.cell = Math.max(0, Math.min(CELLS - 1,
			Math.floor(y) * COLUMNS + Math.floor(x)));
		redraw(map);
	});
	view.canvas.addEventListener('keydown', (event) => {
		if (!key(view, event.key))
			return;
		event.preventDefault();
		redraw(map);
	});
}

// Of each device one, or one for all.
function addView(map, [begin, end, ever], number) {
	const section = document.getElementById('map');
	const of = (name) => section.querySelectorAll('.' + name)[number];
	const view = {canvas: of('cells'), tip: of('tip'), holds: of('holds'),
		begin, end, ever, from: begin, to: end, cell: 0};

	views.push(view);
	listenTo(map, view);
}

function showMap(map) {
	document.getElementById('map').hidden = false;
	slider.max = map.info.events;
	map.info.devices.forEach((device, i) => addView(map, device, i));
	slider.addEventListener('input', () => {
		map.seek(Number(slider.value));
		show(binOf(map));
		redraw(map);
	});
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => redraw(map));
}
