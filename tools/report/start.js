// The page begins with its peak.
const map = loadMap();

// The stretch of the picture in which the map is.
function binOf(map) {
	const last = map.time[map.info.events];

	return clamp(last ? map.time[map.event] / last * data.bins.length : 0);
}

function pick(bin) {
	show(bin);
	if (map)
		goTo(map, data.events[bin]);
}

// For tests: what the map has live at the moment that the picture shows of a
// stretch is, tag by tag, what the picture shows.
function binAddsUp(bin) {
	const sums = new Array(data.names.length).fill(0);

	map.seek(data.events[bin]);
	eachLive(map, (span) => {
		const at = map.info.curves.indexOf(map.tag[span]);

		sums[at < 0 ? map.info.curves.length : at] += map.bytes[span];
	});
	return map.sum === data.bins[bin][0] &&
		sums.every((sum, i) => sum === data.bins[bin][3 + i]);
}

// Of all of them: in leaps, step by step, and back.
function mapAddsUp() {
	const bins = [...data.bins.keys()];

	return [...bins.map((bin) => bin * 7 % bins.length), ...bins,
		...bins.reverse()].every(binAddsUp);
}

let right = data.bins.every((row) =>
	row.slice(3).reduce((sum, bytes) => sum + bytes, 0) === row[0]);
if (map) {
	showMap(map);
	if (location.hash === '#check')
		right = right && mapAddsUp();
	goTo(map, data.peak_event);
	// At once: whoever prints the page, or reads it as text, waits for no frame.
	draw(map);
	right = right && map.sum === data.bins[data.peak][0];
}
show(data.peak);
addEventListener('resize', () => show(at));
document.body.dataset.checked = right;
