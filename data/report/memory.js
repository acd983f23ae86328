// What one launch of the chosen kernel moved between the levels of memory, how fast, and how busy these were.
(function () {
	'use strict';

	const { element } = offpeak;
	const WIDTH = 760, TOP = 10, ROW = 100, GAP = 16, LEAST_LINE = 1.5, MOST_LINE = 7;
	// Columns: from, to.
	const SM = [8, 104], INNER = [204, 322], L2 = [426, 534], OUTER = [638, 752];

	// ---- values

	function known(state, ...keys) {
		return keys.some(key => state.rows.some(row => row[key] !== undefined));
	}

	function percent(value) {
		if (value === undefined)
			return '?';
		return (value !== 0 && value < 0.01 ? '< 0.01' : value < 1 ? Number(value.toFixed(2)) : offpeak.formatShort(value)) + '%';
	}

	// Lines of a box, without what no kernel has.
	function lines(state, list) {
		return list.filter(([key]) => known(state, key)).map(([key, before, after]) => before + percent(state.row[key]) + (after || ''));
	}

	// A sum of the parts that some kernel has; undefined: this one lacks a part.
	function sum(state, ...keys) {
		const parts = keys.filter(key => known(state, key)).map(key => state.row[key]);

		return parts.length && !parts.includes(undefined) ? parts.reduce((a, b) => a + b) : undefined;
	}

	// ---- drawing

	function text(x, y, content, kind, anchor) {
		return element('text', { x, y, class: kind, 'text-anchor': anchor || 'middle', text: content });
	}

	function box(state, part, [x, end], y, height, title, list, busy) {
		const group = element('g', { class: 'box', 'data-part': part }, [
			element('rect', { class: 'frame', x, y, width: end - x, height, rx: 6 }),
			text((x + end) / 2, y + 20, title, 'title')]);

		lines(state, list).forEach((line, i) => group.append(text((x + end) / 2, y + 39 + 16 * i, line, 'line')));
		if (state.row[busy] !== undefined)
			group.append(element('rect', { class: 'bar-back', x: x + 10, y: y + height - 14, width: end - x - 20, height: 6 }),
				element('rect', { class: 'of-' + part, x: x + 10, y: y + height - 14, width: (end - x - 20) * Math.min(100, state.row[busy]) / 100, height: 6 }));
		state.svg.append(group);
	}

	// Its bytes and rate are above it; `heads`: whether it points left, and right.
	function arrow(state, from, to, y, bytes, heads, about) {
		const x = from + 4, end = to - 4, middle = (x + end) / 2, rate = bytes === undefined || !state.row.time ? undefined : bytes / state.row.time * 1e9;
		const thick = rate > 0 ? LEAST_LINE + (MOST_LINE - LEAST_LINE) * Math.sqrt(Math.min(1, rate / state.most)) : LEAST_LINE;
		const group = element('g', { class: bytes === undefined ? 'flow unknown' : bytes === 0 ? 'flow none' : 'flow' }, [element('title', { text: about })]);
		const head = (tip, step) => element('path', { class: 'head', d: 'M' + tip + ' ' + y + 'l' + step + ' -6v12z' });

		group.append(element('line', { x1: x + 8 * heads[0], x2: end - 8 * heads[1], y1: y, y2: y, 'stroke-width': thick.toFixed(1) }));
		if (heads[0])
			group.append(head(x, 10));
		if (heads[1])
			group.append(head(end, -10));
		group.append(text(middle, y - 21, bytes === undefined ? '?' : offpeak.formatBrief(bytes, 'byte'), 'bytes'));
		if (rate !== undefined)
			group.append(text(middle, y - 8, offpeak.formatBrief(rate, 'byte/second'), 'rate'));
		state.svg.append(group);
	}

	// What is read goes to the left, what is written to the right.
	function link(state, from, to, y, read, write, names) {
		arrow(state, from, to, y + 38, read, [1, 0], names + ': read');
		arrow(state, from, to, y + 86, write, [0, 1], names + ': written');
	}

	function at(number) {
		return TOP + number * (ROW + GAP);
	}

	function drawSM(state, height) {
		box(state, 'issue', SM, TOP, height, 'SM', [['issue', 'issue '], ['warps', 'warps ']], 'issue');
	}

	function drawL1(state) {
		box(state, 'l1', INNER, at(0), ROW, 'L1', [['l1', '', ' of peak'], ['l1_hits', 'hits ']], 'l1');
		link(state, SM[1], INNER[0], at(0), sum(state, 'load', 'local_load'), sum(state, 'store', 'local_store'), 'global and local memory, whole sectors');
	}

	function drawShared(state) {
		const count = state.row.shared, middle = (SM[1] + INNER[0]) / 2, y = at(1) + ROW / 2;

		box(state, 'l1', INNER, at(1), ROW, 'shared memory', [['shared_busy', '', ' of peak'], ['conflicts', 'conflicts ']], 'shared_busy');
		state.svg.append(element('g', { class: count ? 'flow' : 'flow none' }, [element('title', { text: 'shared memory: wavefronts' }),
			element('line', { x1: SM[1] + 8, x2: INNER[0] - 8, y1: y, y2: y, 'stroke-width': LEAST_LINE }),
			text(middle, y - 8, count === undefined ? '?' : offpeak.formatBrief(count, ''), 'bytes'), text(middle, y + 17, 'wavefronts', 'rate')]));
	}

	function drawL2(state, height) {
		const row = state.row;

		box(state, 'l2', L2, TOP, height, 'L2', [['l2', '', ' of peak'], ['l2_hits', 'hits '], ['atomics', 'atomics ']], 'l2');
		if (known(state, 'l1_read', 'l1_write'))
			link(state, INNER[1], L2[0], at(0), row.l1_read, row.l1_write, 'between L1 and L2');
		else
			arrow(state, INNER[1], L2[0], at(0) + 62, row.l2_bytes, [1, 1], 'all sectors of L2, whoever asks for them: those for DRAM as well');
	}

	function drawDram(state, place) {
		const row = state.row;

		box(state, 'dram', OUTER, at(place), ROW, 'DRAM', [['dram', '', ' of peak']], 'dram');
		if (known(state, 'dram_read', 'dram_write') || !known(state, 'dram_bytes'))
			link(state, L2[1], OUTER[0], at(place), row.dram_read, row.dram_write, 'DRAM');
		else
			arrow(state, L2[1], OUTER[0], at(place) + 62, row.dram_bytes, [1, 1], 'DRAM: read and written');
	}

	function drawOther(state, place, title, name) {
		box(state, 'other', OUTER, at(place), ROW, title, [], '');
		link(state, L2[1], OUTER[0], at(place), state.row[name + '_read'], state.row[name + '_write'], title);
	}

	function outer(state) {
		return [['dram', known(state, 'dram', 'dram_read', 'dram_write', 'dram_bytes')],
			['system', known(state, 'system_read', 'system_write')], ['peer', known(state, 'peer_read', 'peer_write')]].filter(pair => pair[1]).map(pair => pair[0]);
	}

	// The greatest rate of all arrows is the thickest line.
	function mostOf(state) {
		const { row } = state;
		const bytes = [sum(state, 'load', 'local_load'), sum(state, 'store', 'local_store'), row.l1_read, row.l1_write, row.l2_bytes, row.dram_read, row.dram_write];

		return Math.max(...bytes.filter(value => value > 0), 1) / row.time * 1e9;
	}

	function drawChart(state) {
		const right = outer(state), shared = known(state, 'shared', 'shared_busy'), rows = Math.max(right.length, shared ? 2 : 1, 1);
		const height = rows * (ROW + GAP) - GAP;

		state.svg = element('svg', { class: 'memory-chart', viewBox: '0 0 ' + WIDTH + ' ' + (height + 2 * TOP), role: 'group', 'aria-label': 'What ' + state.row.name + ' moved' });
		state.most = mostOf(state);
		drawSM(state, height);
		drawL1(state);
		if (shared)
			drawShared(state);
		drawL2(state, height);
		right.forEach((name, place) => name === 'dram' ? drawDram(state, place) : drawOther(state, place, name === 'system' ? 'system memory' : 'peers', name));
		return state.svg;
	}

	// ---- the chosen kernel

	function show(state, kernel) {
		state.row = state.rows.find(row => row.kernel === kernel);
		if (!state.row) {
			state.place.replaceChildren(element('p', { class: 'muted', text: 'The page has no values of this kernel; “offpeak eval” has them.' }));
			return;
		}
		const time = state.row.time ? ', ' + offpeak.formatBrief(state.row.time, 'nanosecond') + ' a launch' : '';

		state.place.replaceChildren(element('p', { class: 'chosen' }, [element('b', { class: 'mono' }, offpeak.pieces(state.row.name)), time]), drawChart(state));
	}

	offpeak.part('memory', (section, run) => {
		const state = { rows: offpeak.data(run, 'memory'), place: element('figure', { class: 'panel drawing memory' }) };

		section.append(state.place);
		document.addEventListener('kernel', event => {
			if (event.detail.run === run.number)
				show(state, event.detail.kernel);
		});
	});
})();
