// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The gpumem developers
//
// Runs the scripts of a page of gpumem-report where there is no browser: as much of a
// document as they ask for, and nothing is painted. Prints whether the page found that
// it adds up, and what elements with an ID say.
//
//	node page_dom.js PAGE [HASH [SCRIPT]]
//
// SCRIPT runs after those of the page, among their names.
'use strict';
const fs = require('fs');
const vm = require('vm');
const [, , file, hash, after] = process.argv;
const empty = new Set(['meta', 'input', 'br', 'path', 'circle', 'rect']);

class Element {
	constructor(name, attributes) {
		Object.assign(this, {name, attributes, children: [], own: '',
			style: {}, dataset: {}, listeners: {}, parts: []});
		for (const [key, value] of Object.entries(attributes))
			if (key.startsWith('data-'))
				this.dataset[key.slice(5)] = value;
			else if (['id', 'min', 'max', 'width', 'height'].includes(key))
				this[key] = value;
	}
	get textContent() {
		return this.parts.map((part) => part.textContent ?? part).join('');
	}
	set textContent(text) {
		this.children = [];
		this.parts = [String(text)];
	}
	get innerHTML() { return this.textContent; }
	set innerHTML(text) { this.textContent = text; }
	getAttribute(key) { return this.attributes[key] ?? null; }
	setAttribute(key, value) { this.attributes[key] = String(value); }
	append(child) {
		if (child instanceof Element)
			this.children.push(child);
		this.parts.push(child);
	}
	addEventListener(type, fn) { (this.listeners[type] ||= []).push(fn); }
	dispatchEvent(event) {
		event.preventDefault = () => {};
		for (const fn of this.listeners[event.type] || [])
			fn(event);
	}
	getBoundingClientRect() {
		return {left: 0, top: 0, width: 800, height: 288};
	}
	getContext() { return context; }
	is(selector) {
		const [, name, id, kind, key, part] = selector.match(
			/^([a-z]*)(?:#([\w-]+))?(?:\.([\w-]+))?(?:\[(\w+)\*=(\w+)\])?$/);

		return (!name || this.name === name) && (!id || this.id === id) &&
			(!kind || (this.attributes.class || '').split(' ').includes(kind)) &&
			(!key || (this.attributes[key] || '').includes(part));
	}
	*all() {
		for (const child of this.children) {
			yield child;
			yield* child.all();
		}
	}
	querySelectorAll(selectors) {
		return [...this.all()].filter((element) => selectors.split(', ').some(
			(selector) => element.is(selector)));
	}
	querySelector(selectors) { return this.querySelectorAll(selectors)[0] || null; }
}

// Any drawing, of which nothing remains.
const context = new Proxy({}, {
	get: () => () => context,
	set: () => true,
});

function parse(text) {
	const root = new Element('document', {}), open = [root];
	const plain = (some) => some.replace(/&(lt|gt|quot|amp);/g,
		(all, name) => ({lt: '<', gt: '>', quot: '"', amp: '&'})[name]);
	let at = 0;

	for (const tag of text.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
		const top = open[open.length - 1];

		if (tag.index < at || (top.name === 'script' && tag[2] !== 'script'))
			continue;
		top.append(top.name === 'script' ? text.slice(at, tag.index) :
			plain(text.slice(at, tag.index)));
		at = tag.index + tag[0].length;
		if (tag[1]) {
			open.pop();
			continue;
		}
		const element = new Element(tag[2], Object.fromEntries(
			[...tag[3].matchAll(/([\w-]+)(?:="([^"]*)")?/g)].map(
				([, key, value]) => [key, plain(value ?? '')])));

		top.append(element);
		if (!empty.has(tag[2]))
			open.push(element);
	}
	return root;
}

const root = parse(fs.readFileSync(file, 'utf8'));
const scripts = root.querySelectorAll('script').filter(
	(script) => !script.getAttribute('type'));
const body = root.querySelector('body');
const listeners = new Element('window', {});
const world = {
	console, URLSearchParams, atob, BigInt,
	document: {body,
		getElementById: (id) => root.querySelector('#' + id),
		querySelector: (selector) => root.querySelector(selector),
		createElement: (name) => new Element(name, {}),
		createElementNS: (space, name) => new Element(name, {})},
	location: {hash: hash ? '#' + hash : ''},
	history: {replaceState: (state, title, to) => { world.location.hash = to; }},
	matchMedia: () => listeners,
	addEventListener: listeners.addEventListener.bind(listeners),
	getComputedStyle: () => ({fill: 'rgb(1, 2, 3)', color: 'rgb(4, 5, 6)'}),
	requestAnimationFrame: () => 0,
	ImageData: class {
		constructor(width, height) {
			this.data = new Uint8ClampedArray(width * height * 4);
		}
	},
};

vm.runInNewContext(scripts.map((script) => script.textContent).join('\n') +
	(after ? '\n' + fs.readFileSync(after, 'utf8') : ''), world);
console.log('checked: ' + body.dataset.checked);
for (const id of ['readout', 'happens'])
	if (root.querySelector('#' + id))
		console.log(id + ': ' + root.querySelector('#' + id).textContent);
for (const kind of ['holds', 'tip'])
	for (const element of root.querySelectorAll('.' + kind))
		console.log(kind + ': ' + element.textContent);
