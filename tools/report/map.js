// Which blocks are live after any event. There is a copy of that every so many
// events, and what lies between is gone through, in either direction; so a move of
// the slider costs the same wherever it goes.
const KEYFRAMES = 64;

// The numbers that map_events.c wrote.
function reader(base64) {
	const text = atob(base64);
	let at = 0;

	return () => {
		let number = 0, scale = 1, byte;

		do {
			byte = text.charCodeAt(at++);
			number += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return number;
	};
}

// Spans by number: where, how large, from which time, whose. What begins and what
// ends with an event: the number of the span and one. Others are events of pools.
function decode(info, base64) {
	const next = reader(base64);
	const kind = Object.fromEntries(
		Object.entries(info.kinds).map(([key, row]) => [key, row[0]]));
	const map = {info, at: new Float64Array(info.spans),
		bytes: new Float64Array(info.spans),
		born: new Float64Array(info.spans),
		stream: new Float64Array(info.spans),
		tag: new Uint16Array(info.spans),
		time: new Float64Array(info.events + 1),
		kind: new Uint8Array(info.events + 1),
		begun: new Uint32Array(info.events + 1),
		ended: new Uint32Array(info.events + 1), others: [],
		places: newPlaces(info)};
	const ofPlaces = [kind.map, kind.unmap, kind.pool_end];
	let ns = 0, spans = 0;

	for (let e = 1; e <= info.events; e++) {
		map.time[e] = ns += next();
		map.kind[e] = next();
		if (map.kind[e] === kind.alloc || map.kind[e] === kind.live) {
			map.at[spans] = next();
			map.bytes[spans] = next();
			map.stream[spans] = next();
			map.tag[spans] = next();
			map.born[spans++] = ns;
			map.begun[e] = spans;
		} else if (map.kind[e] === kind.free) {
			map.ended[e] = spans - next() + 1;
		} else if (map.kind[e] === kind.resize) {
			const from = spans - next();

			map.ended[e] = from + 1;
			for (const list of [map.at, map.stream, map.tag, map.born])
				list[spans] = list[from];
			map.bytes[spans++] = next();
			map.begun[e] = spans;
		} else if (ofPlaces.includes(map.kind[e])) {
			map.others.push([e, map.kind[e], decodePlaces(map.places, e,
				next, map.kind[e] === kind.map)]);
		} else if (map.kind[e] !== kind.use) {
			map.others.push([e, map.kind[e], next()]);
		}
	}
	return map;
}

// map.live has a bit for each span that is live after map.event.
function follow(map) {
	const words = Math.ceil(map.info.spans / 32);
	const step = Math.ceil((map.info.events + 1) / KEYFRAMES);
	const frames = [];

	function toggle(span, sign) {
		map.live[(span - 1) >> 5] ^= 1 << ((span - 1) & 31);
		map.sum += sign * map.bytes[span - 1];
		map.blocks += sign;
	}
	function forward() {
		const e = ++map.event;

		if (map.ended[e])
			toggle(map.ended[e], -1);
		if (map.begun[e])
			toggle(map.begun[e], 1);
		stepPlaces(map.places, e, true);
	}
	function back() {
		const e = map.event--;

		if (map.begun[e])
			toggle(map.begun[e], -1);
		if (map.ended[e])
			toggle(map.ended[e], 1);
		stepPlaces(map.places, e, false);
	}
	map.seek = (event) => {
		const frame = frames[Math.floor(event / step)];

		map.before = map.event;
		if (Math.abs(event - map.event) > event - frame.blocks.event) {
			Object.assign(map, frame.blocks,
				{live: frame.blocks.live.slice()});
			restorePlaces(map.places, frame.places);
		}
		while (map.event < event)
			forward();
		while (map.event > event)
			back();
	};
	Object.assign(map, {live: new Uint32Array(words), event: 0, before: 0,
		sum: 0, blocks: 0});
	for (;;) {
		if (map.event % step === 0)
			frames.push({places: savePlaces(map.places),
				blocks: {event: map.event, sum: map.sum,
					blocks: map.blocks,
					live: map.live.slice()}});
		if (map.event === map.info.events)
			return map;
		forward();
	}
}

// Calls fn with the number of each bit that is set, in their order.
function eachBit(words, fn) {
	for (let i = 0; i < words.length; i++)
		for (let word = words[i]; word; word &= word - 1)
			fn(i * 32 + 31 - Math.clz32(word & -word));
}

// The same of each live span, in the order in which they began.
function eachLive(map, fn) {
	eachBit(map.live, fn);
}

// The range that has a unit, and the address of it.
function rangeOf(map, unit) {
	const ranges = map.info.ranges;
	let low = 0, high = ranges.length;

	while (high - low > 1) {
		const middle = (low + high) >> 1;

		if (ranges[middle][2] <= unit)
			low = middle;
		else
			high = middle;
	}
	return ranges[low];
}

function addressOf(map, unit) {
	const [, begin, at] = rangeOf(map, unit);

	return '0x' + (BigInt('0x' + begin) + BigInt(Math.floor(unit - at)) *
		BigInt(map.info.unit)).toString(16);
}

function loadMap() {
	const info = document.getElementById('map-data');

	return info && follow(decode(JSON.parse(info.textContent),
		document.getElementById('map-events').textContent));
}
