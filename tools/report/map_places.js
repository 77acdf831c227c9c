// Which addresses have memory after any event, and which memory: places, each a page
// at an address, as map.js has blocks. Places of one page that is mapped are a group;
// in use is the one that began last, the others serve no more.

// An event that begins a place or ends some, as map_events.c wrote it. Returns the
// bytes that it is of.
function decodePlaces(places, e, next, isMap) {
	const row = {event: e, ended: [], begun: 0};
	let bytes = 0;

	for (let back = next(); back; back = next())
		row.ended.push(places.known - back);
	for (const place of row.ended)
		bytes += places.bytes[place];
	if (isMap && (bytes = next())) {
		const place = places.known++;

		places.bytes[place] = bytes;
		places.at[place] = next();
		const twin = next();
		places.group[place] = twin ? places.group[place - twin] : place;
		places.from[place] = next();
		row.begun = places.known;
	}
	places.rowOf[e] = places.rows.push(row);
	return bytes;
}

function newPlaces(info) {
	return {at: new Float64Array(info.places),
		bytes: new Float64Array(info.places),
		group: new Uint32Array(info.places),
		from: new Float64Array(info.places),
		uses: new Uint32Array(info.places),
		live: new Uint32Array(Math.ceil(info.places / 32)),
		rowOf: new Uint32Array(info.places ? info.events + 1 : 0),
		rows: [], known: 0, sum: 0, twice: 0};
}

function togglePlace(places, place, sign) {
	const uses = places.uses[places.group[place]] += sign;

	places.live[place >> 5] ^= 1 << (place & 31);
	places.sum += sign * places.bytes[place];
	if (uses > (sign > 0 ? 1 : 0))
		places.twice += sign * places.bytes[place];
}

// Past event e, or back over it.
function stepPlaces(places, e, forward) {
	const row = places.rows[places.rowOf[e] - 1];

	if (!row)
		return;
	if (row.begun && !forward)
		togglePlace(places, row.begun - 1, -1);
	for (const place of row.ended)
		togglePlace(places, place, forward ? -1 : 1);
	if (row.begun && forward)
		togglePlace(places, row.begun - 1, 1);
}

function savePlaces(places) {
	return {live: places.live.slice(), sum: places.sum, twice: places.twice};
}

function restorePlaces(places, frame) {
	Object.assign(places, frame, {live: frame.live.slice()});
	places.uses.fill(0);
	eachBit(places.live, (place) => places.uses[places.group[place]]++);
}

// Calls fn with each place that is mapped, and the one in use of its page.
function eachPlace(places, fn) {
	const last = new Map();

	eachBit(places.live, (place) => last.set(places.group[place], place));
	eachBit(places.live, (place) => fn(place, last.get(places.group[place])));
}

// What lies between event e and the block before it, or where the slider came from,
// if that is earlier: one step for who looks.
function stepBegan(map) {
	let e = map.event;

	while (e > 0 && (e === map.event || !(map.begun[e] || map.ended[e])))
		e--;
	return map.before < map.event ? Math.min(map.before, e) : e;
}

// The places of that step whose pages were at other addresses before.
function movedPlaces(map, view) {
	const places = map.places, moved = [];
	let i = countUpTo(places.rows.length, (row) => places.rows[row].event,
		stepBegan(map));

	for (; i < places.rows.length && places.rows[i].event <= map.event; i++) {
		const place = places.rows[i].begun - 1;

		if (place >= 0 && places.from[place] && isIn(view, places, place) &&
			places.live[place >> 5] >> (place & 31) & 1)
			moved.push(place);
	}
	return moved;
}

// The sums of the moment: all of the view's device, and what of it serves elsewhere.
function mappedIn(map, view) {
	const places = map.places;
	let sum = 0, twice = 0;

	eachPlace(places, (place, last) => {
		if (!isIn(view, places, place))
			return;
		sum += places.bytes[place];
		twice += last !== place ? places.bytes[place] : 0;
	});
	return {sum, twice};
}

// In words. The blocks and what is free have what is mapped and serves nowhere else.
function placeSums(map, view) {
	if (!map.info.places)
		return '';
	const places = map.places, moved = movedPlaces(map, view);
	const bytes = moved.reduce((sum, place) => sum + places.bytes[place], 0);
	const {sum, twice} = mappedIn(map, view);

	return ` Mapped ${size(sum)}: free ` +
		size(Math.max(0, sum - twice - holds(map, view).sum)) +
		`, serving elsewhere too ${size(twice)}; holes ` +
		size(view.ever - sum) + '.' + (moved.length ?
		` Moved since event ${stepBegan(map)}: ${size(bytes)} in ` +
		`${moved.length} ${moved.length > 1 ? 'pages' : 'page'}, from ` +
		addressOf(map, places.from[moved[0]] - 1) + ' to ' +
		addressOf(map, places.at[moved[0]]) +
		(moved.length > 1 ? ' and so on.' : '.') : '');
}

// In words: what is mapped at the cell.
function placeTip(map, view) {
	const places = map.places;
	let text = '', found = -1;

	if (!map.info.places)
		return '';
	eachPlace(places, (place, last) => {
		const [begin, end] = coveredBy(map, view, places, place);

		if (end <= view.cell || begin >= view.cell + 1 || found >= 0 ||
			!isIn(view, places, place))
			return;
		found = place;
		text = `; page of ${size(places.bytes[place])} at ` +
			addressOf(map, places.at[place]) + (last !== place ?
			`, which serves at ${addressOf(map, places.at[last])}` :
			'') + (places.from[place] ? ', which was at ' +
			addressOf(map, places.from[place] - 1) : '');
	});
	return text || '; no memory';
}

// Of each cell, for drawing: how much of it is mapped, and which have pages that
// serve elsewhere, that were moved there, and from where.
function fillPlaces(map, view) {
	const places = map.places;
	const scale = CELLS / (view.to - view.from);
	const mark = (list, begin, end) => list.fill(1,
		Math.max(0, Math.floor(begin)), Math.max(0, Math.ceil(end)));

	for (const list of [mapped, stale, movedTo, movedFrom])
		list.fill(0);
	eachPlace(places, (place, last) => {
		const [begin, end] = coveredBy(map, view, places, place);
		const to = isIn(view, places, place) ? Math.min(CELLS, end) : 0;

		for (let cell = Math.max(0, Math.floor(begin)); cell < to; cell++)
			mapped[cell] += Math.min(end, cell + 1) -
				Math.max(begin, cell);
		if (last !== place && isIn(view, places, place))
			mark(stale, begin, end);
	});
	for (const place of movedPlaces(map, view)) {
		const [begin, end] = coveredBy(map, view, places, place);
		const from = (places.from[place] - 1 - view.from) * scale;

		mark(movedTo, begin, end);
		mark(movedFrom, from, from + end - begin);
	}
}

// For tests: what the devices have is what all of them have.
function viewsAddUp(all, what, fn) {
	return views.reduce((sum, view) => sum + fn(map, view)[what], 0) === all;
}

// For tests: at the moments that the file names the sums are the tool's, from either
// side.
function placesAddUp() {
	return map.info.mapped.every(([event, bytes, twice]) =>
		[-50, 50, 5, -5].every((from) => {
			map.seek(Math.max(0, Math.min(map.info.events, event + from)));
			map.seek(event);
			return map.places.sum === bytes &&
				map.places.twice === twice &&
				viewsAddUp(bytes, 'sum', mappedIn) &&
				viewsAddUp(twice, 'twice', mappedIn);
		}));
}
