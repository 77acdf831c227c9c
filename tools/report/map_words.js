// What the map says in words: of its moment, of a device, and of a cell.

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

// A pool, with its device if there are several.
function poolAt(map, unit) {
	const number = rangeOf(map, unit)[0];

	return map.info.pools[number] || 'pool ' + number;
}

function isOneOfSeveral(view) {
	return Boolean(view.holds);
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
		(span ? ': ' + block(map, span - 1) +
			(isOneOfSeveral(views[0]) ?
			', ' + poolAt(map, map.at[span - 1]) : '') : '') +
		(other ? ': ' + size(other[2]) : '') +
		`. ${map.blocks} blocks, ${size(map.sum)}` +
		sums(map, 'move') + sums(map, 'lend') + '.' +
		(isOneOfSeveral(views[0]) ? '' : placeSums(map, views[0]));
}

// What a device of several has.
function holds(map, view) {
	let blocks = 0, sum = 0;

	eachLiveIn(map, view, (span) => {
		blocks++;
		sum += map.bytes[span];
	});
	return {blocks, sum};
}

function sayHolds(map, view) {
	const {blocks, sum} = holds(map, view);

	return `${blocks} ${blocks === 1 ? 'block' : 'blocks'}, ${size(sum)}.` +
		placeSums(map, view);
}

// What is at the cell that the mouse or the keys are at.
function tip(map, view) {
	const unit = Math.min(view.end - 1, view.from +
		view.cell * (view.to - view.from) / CELLS);
	let found = -1, largest = 0, others = -1;

	eachLiveIn(map, view, (span) => {
		const [begin, end] = covered(map, view, span);
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
			(isOneOfSeveral(view) ? ', ' + poolAt(map, unit) : '') +
			placeTip(map, view);
	return `${addressOf(map, map.at[found])}: ${block(map, found)}, ` +
		`${map.bytes[found]} bytes, ` +
		+((map.time[map.event] - map.born[found]) / 1e9).toFixed(6) +
		' seconds old, ' + poolAt(map, map.at[found]) +
		(others ? `, and ${others} more here` : '') +
		placeTip(map, view);
}
