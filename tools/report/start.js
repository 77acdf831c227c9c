// The page begins with its peak.
const map = loadMap();

// When an event of the map was, in the unit of the picture.
function whenOf(map, event) {
	return data.unit === 'second' ? map.time[event] / 1e9 : event;
}

// The stretch of the picture in which the map is.
function binOf(map) {
	return binAt(whenOf(map, map.event)) || 0;
}

// The slider goes as far as the picture does.
function boundSlider(map) {
	const upTo = (moment) => countUpTo(map.info.events + 1,
		(event) => whenOf(map, event), moment) - 1;

	slider.min = shown.from > 0 ? upTo(shown.from) : 0;
	slider.max = shown.to < data.last ? upTo(shown.to) : map.info.events;
}

function pick(bin) {
	show(bin);
	if (map)
		goTo(map, shown.events[bin]);
}

// For tests: what the map has live at the moment that the picture shows of a
// stretch is, tag by tag, what the picture shows.
function binAddsUp(bin) {
	const sums = new Array(data.names.length).fill(0);

	map.seek(shown.events[bin]);
	eachLive(map, (span) => {
		const at = map.info.curves.indexOf(map.tag[span]);

		sums[at < 0 ? map.info.curves.length : at] += map.bytes[span];
	});
	return map.sum === shown.bins[bin][0] && viewsAddUp(map.sum, 'sum', holds) &&
		sums.every((sum, i) => sum === shown.bins[bin][3 + i]);
}

// Of all of them: in leaps, step by step, and back.
function mapAddsUp() {
	const bins = [...data.bins.keys()];

	return [...bins.map((bin) => bin * 7 % bins.length), ...bins,
		...bins.reverse()].every(binAddsUp);
}

// For tests: moments that are all there make the columns of the whole, and any
// part has what the map has.
function partsAddUp() {
	const all = columns(0, data.last);
	const same = moments.group > 1 || JSON.stringify([all.bins, all.events]) ===
		JSON.stringify([data.bins, data.events]);
	let right = same && Math.max(...all.bins.map((row) => row[0])) ===
		data.bins[data.peak][0];

	for (const [from, to] of [[.5, 1], [.1, .2], [.7, .70001]]) {
		zoomTo(data.last * from, data.last * to);
		right = right && (!map || mapAddsUp());
	}
	zoomTo(0, data.last);
	return right;
}

let right = data.bins.every((row) =>
	row.slice(3).reduce((sum, bytes) => sum + bytes, 0) === row[0]);
const checked = location.hash === '#check';
document.getElementById('zoom').hidden = !(data.last > 0);
if (map)
	showMap(map);
if (checked)
	right = right && (!map || mapAddsUp() && placesAddUp()) && partsAddUp();
show(data.peak);
if (map) {
	goTo(map, data.peak_event);
	right = right && map.sum === data.bins[data.peak][0];
}
if (location.hash && !checked)
	recall();
if (map)
	// At once: whoever prints the page, or reads it as text, waits for no frame.
	draw(map);
listen();
addEventListener('resize', () => show(at));
document.body.dataset.checked = right;
