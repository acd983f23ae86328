// The frame of the page: its data, its parts, the recording that is shown, the chosen kernel, colours.
(function () {
	'use strict';

	const parts = {}, data = {}, runs = [];
	const root = document.documentElement;

	function block(run, name) {
		return document.getElementById('data-' + run.number + '-' + name);
	}

	// An element whose text is never parsed as HTML.
	function element(tag, attributes, children) {
		const svg = /^(svg|g|path|rect|line|circle|text|tspan|title|polyline)$/.test(tag);
		const made = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);

		for (const [name, value] of Object.entries(attributes || {})) {
			if (value === undefined || value === null || value === false)
				continue;
			if (name === 'text')
				made.textContent = value;
			else
				made.setAttribute(name, value === true ? '' : value);
		}
		for (const child of children || [])
			if (child)
				made.append(child);
		return made;
	}

	// A name that may be cut into lines after its separators, nowhere else.
	function pieces(text) {
		return text.split(/(?<=[_.:,\/(<])(?=.)/).flatMap((part, i) => i ? [element('wbr'), part] : [part]);
	}

	const offpeak = window.offpeak = {
		element,
		pieces,
		runs,
		// What draws a part of the page: called with its section when it is first seen.
		part(id, draw) {
			parts[id] = draw;
		},
		data(run, name) {
			const id = run.number + ' ' + name, found = block(run, name);

			if (!(id in data))
				data[id] = found ? JSON.parse(found.textContent) : null;
			return data[id];
		},
		bytes(run, name) {
			return Uint8Array.from(atob(block(run, name).textContent), c => c.charCodeAt(0));
		},
		// What there is room for of a kernel's name: the same in all parts of the page.
		label(run, kernel) {
			const row = offpeak.data(run, 'kernels').rows[kernel];

			return row.label || row.name;
		},
		// The table has the first of many thousands of kernels; pictures may show others, which can't be chosen.
		select(run, kernel, reveal) {
			const table = offpeak.data(run, 'kernels');

			if (!table || !table.rows[kernel])
				return;
			run.kernel = kernel;
			offpeak.mark(run);
			document.dispatchEvent(new CustomEvent('kernel', { detail: { run: run.number, kernel, reveal } }));
		},
		// Marks all that is of the chosen kernel.
		mark(run) {
			for (const mark of run.article.querySelectorAll('[data-kernel].selected'))
				mark.classList.remove('selected');
			for (const mark of run.article.querySelectorAll('[data-kernel="' + Number(run.kernel) + '"]'))
				mark.classList.add('selected');
		},
		// Marks of kernels that a search leaves out are dim.
		filter(run, accepts) {
			for (const mark of run.article.querySelectorAll('svg [data-kernel]'))
				mark.classList.toggle('dim', !accepts(Number(mark.dataset.kernel)));
		},
	};

	// ---- recordings

	function show(run) {
		for (const other of runs) {
			other.article.hidden = other !== run;
			if (other.tab)
				other.tab.setAttribute('aria-selected', String(other === run));
		}
		for (const link of document.querySelectorAll('#contents a'))
			link.hidden = link.dataset.run !== undefined && link.dataset.run !== String(run.number);
		offpeak.shown = run;
		draw(run);
		follow();
	}

	function draw(run) {
		if (run.drawn)
			return;
		run.drawn = true;
		for (const section of run.article.querySelectorAll('section.part')) {
			const drawer = parts[section.dataset.part];

			if (drawer)
				drawer(section, run);
		}
		offpeak.select(run, 0);
	}

	function addTab(run) {
		run.tab = element('button', { type: 'button', role: 'tab', text: run.name });
		run.tab.addEventListener('click', () => show(run));
		document.getElementById('runs').append(run.tab);
	}

	function start() {
		for (const article of document.querySelectorAll('article.run'))
			runs.push({ number: Number(article.dataset.run), name: article.dataset.name, article, kernel: null });
		if (runs.length > 1) {
			runs.forEach(addTab);
			document.getElementById('runs').hidden = false;
		}
		if (runs.length)
			show(runs[0]);
		document.body.dataset.ready = 'yes';
	}

	// ---- where the page is

	function follow() {
		let here = null;

		for (const link of document.querySelectorAll('#contents a:not([hidden])')) {
			const section = document.getElementById(link.getAttribute('href').slice(1));

			link.classList.remove('here');
			if (!here || section.getBoundingClientRect().top < 140)
				here = link;
		}
		if (here)
			here.classList.add('here');
	}

	// ---- colours

	function isDark() {
		return root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
	}

	function nameTheme() {
		document.getElementById('theme').textContent = isDark() ? 'Light' : 'Dark';
		document.dispatchEvent(new CustomEvent('theme'));
	}

	function switchTheme() {
		root.dataset.theme = isDark() ? 'light' : 'dark';
		nameTheme();
	}

	// ---- events

	function markOf(event) {
		const mark = event.target instanceof Element && event.target.closest('svg [data-kernel]');
		// Numbers of kernels in a comparison are those of its two recordings: diff.js.
		const article = mark && !mark.closest('section.rooflines') && mark.closest('article.run');

		return article ? { run: runs.find(run => run.article === article), kernel: Number(mark.dataset.kernel) } : null;
	}

	document.addEventListener('click', event => {
		const mark = markOf(event);

		if (mark && mark.run)
			offpeak.select(mark.run, mark.kernel, true);
	});
	document.addEventListener('keydown', event => {
		const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);

		if (typing || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key === 'd' || event.key === 'D')
			switchTheme();
	});
	// All recordings are printed, seen or not.
	addEventListener('beforeprint', () => runs.forEach(draw));
	document.addEventListener('scroll', follow, { passive: true });
	document.getElementById('theme').addEventListener('click', switchTheme);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', nameTheme);
	nameTheme();
	// After the other scripts of the page have added their parts.
	document.addEventListener('DOMContentLoaded', start);
})();
