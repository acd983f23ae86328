// Source lines and instructions side by side: where time goes in a function, and why warps wait there.
(function () {
	'use strict';

	const { element } = offpeak;
	const AROUND = 5, FEW_REASONS = 8;
	const ready = new Set(['selected', 'not_selected']); // warps that do not wait

	function sum(values) {
		return values.reduce((a, v) => v === null ? a : (a || 0) + v, null);
	}

	function fileName(path) {
		return path.slice(path.lastIndexOf('/') + 1);
	}

	function whole(value) {
		return value === null ? '' : value.toLocaleString('en-US');
	}

	function one(value) {
		return value === null ? '' : value.toLocaleString('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
	}

	// "" if nothing was sampled or executed: there is no whole.
	function percent(value) {
		return Number.isNaN(value) ? '' : value > 0 && value < 0.05 ? '< 0.1%' : one(value) + '%';
	}

	// As nvdisasm writes offsets.
	function hex(offset) {
		return offset.toString(16).padStart(4, '0');
	}

	// ---- a function: instructions, and lines made of them

	// Samples by reason of each instruction, or line.
	function reasonsOf(fn, count, rowOf) {
		const reasons = Array.from({ length: count }, () => null);

		for (let at = 0; at < fn.stalls.length; at += 3) {
			const row = rowOf(fn.stalls[at]), of = reasons[row] = reasons[row] || {};

			of[fn.stalls[at + 1]] = (of[fn.stalls[at + 1]] || 0) + fn.stalls[at + 2];
		}
		return reasons;
	}

	function samplesOf(data, reasons) {
		return reasons.map(of => of ? Object.values(of).reduce((a, v) => a + v, 0) : data.sampled ? 0 : null);
	}

	function mainReason(data, of) {
		const waits = Object.entries(of || {}).filter(([reason]) => !ready.has(data.reasons[reason].name));

		return waits.length ? data.reasons[waits.reduce((a, b) => b[1] > a[1] ? b : a)[0]].name : '';
	}

	// Lines with text around those that have instructions.
	function addContext(data, lines, numbers) {
		const known = lines.filter(line => line.line);

		for (const file of new Set(known.map(line => line.file))) {
			const own = known.filter(line => line.file === file).map(line => line.line);
			const from = own.reduce((a, b) => Math.min(a, b)) - AROUND, to = own.reduce((a, b) => Math.max(a, b)) + AROUND;

			for (const [first, texts] of data.files[file].text || [])
				texts.forEach((text, i) => {
					const line = first + i, key = file + ':' + line;

					if (line < from || line > to)
						return;
					if (!numbers.has(key)) {
						numbers.set(key, lines.length);
						lines.push({ file, line, rows: [] });
					}
					lines[numbers.get(key)].text = text;
				});
		}
	}

	function linesOf(data, fn) {
		const lines = [], numbers = new Map();

		fn.offset.forEach((offset, i) => {
			const key = fn.file[i] + ':' + fn.line[i];

			if (!numbers.has(key)) {
				numbers.set(key, lines.length);
				lines.push({ file: fn.file[i], line: fn.line[i], rows: [] });
			}
			lines[numbers.get(key)].rows.push(i);
		});
		addContext(data, lines, numbers);
		lines.sort((a, b) => a.file - b.file || a.line - b.line);
		return lines;
	}

	// What the panes need, found when the function is first shown.
	function prepare(data, fn) {
		if (fn.lines)
			return fn;
		fn.count = fn.offset.length;
		fn.lines = linesOf(data, fn);
		fn.lineOf = new Uint32Array(fn.count);
		fn.lines.forEach((line, l) => line.rows.forEach(i => { fn.lineOf[i] = l; }));
		fn.reasons = reasonsOf(fn, fn.count, i => i);
		fn.samples = samplesOf(data, fn.reasons);
		fn.heat = data.sampled ? fn.samples : fn.executed;
		fn.lineReasons = reasonsOf(fn, fn.lines.length, i => fn.lineOf[i]);
		fn.lineHeat = fn.lines.map(line => line.rows.length ? sum(line.rows.map(i => fn.heat[i])) : null);
		return fn;
	}

	function heatOf(data, fn) {
		return data.sampled ? fn.stalls.reduce((a, v, at) => at % 3 === 2 ? a + v : a, 0) : sum(fn.executed);
	}

	// ---- columns

	function shareColumn(data, heat) {
		const most = heat.reduce((a, v) => Math.max(a, v), 0);
		const get = i => heat[i] === null ? null : 100 * heat[i] / data.whole;

		return { title: 'share', kind: 'number share', get, about: 'of all kernels’ ' + (data.sampled ? 'samples' : 'executed instructions') + ', in percent',
			cell: i => heat[i] ? [offpeak.bar(100 * heat[i] / most), element('span', { text: percent(get(i)) })] : '' };
	}

	function place(data, line) {
		return line.line ? fileName(data.files[line.file].path) + ':' + line.line : 'unknown';
	}

	function lineColumns(data, fn) {
		const files = new Set(fn.lines.map(line => line.file)).size > 1;
		const texts = fn.lines.some(line => line.text !== undefined);
		const text = line => (files || line.text === undefined ? place(data, line) + '  ' : '') + (line.text || '');

		return [
			{ title: 'line', kind: 'number line', get: l => l, cell: l => fn.lines[l].line ? String(fn.lines[l].line) : '' },
			shareColumn(data, fn.lineHeat),
			{ title: texts ? 'source' : 'place', kind: 'code', text: true, get: l => text(fn.lines[l]), cell: l => text(fn.lines[l]) },
		];
	}

	function instructionCell(data, fn, i) {
		const opcode = data.texts[fn.opcode[i]], sass = data.texts[fn.sass[i]], inlined = data.texts[fn.inlined[i]];
		const at = opcode ? sass.indexOf(opcode) : -1;

		return [
			inlined ? element('span', { class: 'muted', title: 'inlined: ' + inlined, text: '↳ ' + (sass ? '' : fileName(inlined.split(' < ')[0])) }) : null,
			element('span', { title: sass }, at < 0 ? [sass]
				: [sass.slice(0, at), element('b', { text: opcode }), sass.slice(at + opcode.length)]),
		];
	}

	function numberColumn(title, values, format, about) {
		return values.some(value => value !== null) && { title, about, kind: 'number', get: i => values[i], cell: i => format(values[i]) };
	}

	function ratio(a, b) {
		return a.map((value, i) => value !== null && b[i] ? value / b[i] : null);
	}

	function instructionColumns(data, fn) {
		const texts = [fn.sass, fn.inlined].some(column => column.some(text => data.texts[text]));
		const reasons = fn.reasons.map(of => mainReason(data, of));

		return [
			{ title: 'offset', kind: 'number offset', get: i => i, about: 'in bytes from the function’s beginning, hexadecimal', cell: i => hex(fn.offset[i]) },
			shareColumn(data, fn.heat),
			texts && { title: 'instruction', kind: 'code', text: true, get: i => data.texts[fn.sass[i]] || data.texts[fn.inlined[i]], cell: i => instructionCell(data, fn, i) },
			{ title: 'line', kind: 'number line', get: i => fn.lineOf[i], about: 'of the function’s own source', cell: i => fn.line[i] ? String(fn.line[i]) : '' },
			data.sampled && numberColumn('samples', fn.samples, v => v ? whole(v) : '', 'PC samples with a warp at this instruction'),
			data.sampled && { title: 'waits for', kind: 'reason', text: true, get: i => reasons[i] || null, about: 'the reason with the most samples', cell: i => reasons[i] },
			numberColumn('executed', fn.executed, whole, 'warps that executed it, times'),
			numberColumn('threads', ratio(fn.threads, fn.executed), one, 'of a warp that executed it, of 32 on average: fewer where branches diverge'),
			numberColumn('sectors', fn.sectors, v => v ? whole(v) : '', 'of 32 bytes of global memory that were moved'),
			numberColumn('of ideal', ratio(fn.sectors, fn.ideal), v => v === null ? '' : one(v) + 'x', 'sectors over the fewest that would do'),
		].filter(Boolean);
	}

	// ---- reasons of what is chosen

	function wholeText(data, fn, i) {
		const inlined = data.texts[fn.inlined[i]];

		return [data.texts[fn.sass[i]], inlined && 'inlined from ' + inlined].filter(Boolean).join(', ');
	}

	// `text`: the whole of what a row has room for a part of.
	function breakdown(state, title, text, of) {
		const { data } = state, entries = Object.entries(of || {}).sort((a, b) => b[1] - a[1]);
		const all = entries.reduce((a, entry) => a + entry[1], 0), shown = entries.slice(0, FEW_REASONS);
		const about = reason => (data.reasons[reason].about || '').replace(/^# of samples where the warp was (stalled )?/, '');

		state.why.replaceChildren(element('h3', { text: data.sampled ? 'Why warps wait: ' + title + ', ' + whole(all) + ' samples' : title }),
			element('p', { class: 'muted mono', text, hidden: !text }),
			element('table', { class: 'reasons' }, shown.map(([reason, samples]) => element('tr', {}, [
				element('th', { scope: 'row', text: data.reasons[reason].name }),
				element('td', { class: 'number', text: percent(100 * samples / all) }),
				element('td', {}, [offpeak.bar(100 * samples / all)]),
				element('td', { class: 'number', text: whole(samples) }),
				element('td', { class: 'muted', text: about(reason) })]))),
			entries.length > shown.length ? element('p', { class: 'muted', text: whole(entries.length - shown.length) + ' more with '
				+ percent(100 * (all - shown.reduce((a, entry) => a + entry[1], 0)) / all) }) : '');
	}

	function allReasons(fn) {
		const all = {};

		for (let at = 0; at < fn.stalls.length; at += 3)
			all[fn.stalls[at + 1]] = (all[fn.stalls[at + 1]] || 0) + fn.stalls[at + 2];
		return all;
	}

	// ---- choosing

	// -1: what is chosen shows its links again.
	function hover(state, from, row) {
		const { fn, lines, instructions } = state;

		if (row < 0) {
			lines.link(instructions.selected < 0 ? [] : [fn.lineOf[instructions.selected]]);
			instructions.link(lines.selected < 0 ? [] : fn.lines[lines.selected].rows);
		} else if (from === lines) {
			instructions.link(fn.lines[row].rows);
		} else {
			lines.link([fn.lineOf[row]]);
		}
	}

	function select(state, from, row) {
		const { fn, data, lines, instructions } = state, other = from === lines ? instructions : lines;

		other.select(-1);
		from.select(row);
		hover(state, from, -1);
		if (row < 0)
			breakdown(state, fn.name, '', allReasons(fn));
		else if (from === lines)
			breakdown(state, place(data, fn.lines[row]), (fn.lines[row].text || '').trim(), fn.lineReasons[row]);
		else
			breakdown(state, 'instruction ' + hex(fn.offset[row]), wholeText(data, fn, row), fn.reasons[row]);
	}

	// To the other pane, where the hottest of what is linked is chosen.
	function enter(state, from) {
		const { fn, lines, instructions } = state;

		if (from.selected < 0)
			return;
		if (from === instructions) {
			select(state, lines, fn.lineOf[instructions.selected]);
			lines.frame.focus();
			return;
		}
		const rows = fn.lines[lines.selected].rows;

		if (!rows.length)
			return;
		select(state, instructions, rows.reduce((a, b) => (fn.heat[b] || 0) > (fn.heat[a] || 0) ? b : a));
		instructions.frame.focus();
	}

	// ---- the part

	function notes(state) {
		const { data, fn } = state, texts = [], path = data.files[fn.lines.find(line => line.line)?.file]?.path;

		if (data.whole)
			texts.push('Shares are of the ' + whole(data.whole) + ' ' + (data.sampled ? 'samples' : 'executed instructions') + ' of all kernels.');
		if (!path)
			texts.push('Its lines are unknown: they need a program built with -lineinfo, and its line tables in the recording.');
		else if (!data.embedded)
			texts.push('Text of source files is not on this page: “offpeak report --embed-source” shows it.');
		else if (!fn.lines.some(line => line.text !== undefined))
			texts.push(path + ' was not found where this page was made: --source-path OLD=NEW says where files are whose paths begin with OLD.');
		if (!fn.sass.some(text => data.texts[text]))
			texts.push('Instructions have no text: that needs the program’s code in the recording, and nvdisasm where this page is made.');
		if (data.left_out)
			texts.push(whole(data.left_out) + ' functions with ' + percent(data.share_left_out) + ' are left out, to keep the page small: “offpeak eval --per instruction” has all.');
		return texts.join(' ');
	}

	function words(state) {
		return state.field.value.toLowerCase().split(/\s+/).filter(Boolean);
	}

	function accepted(count, text, all) {
		const rows = Array.from({ length: count }, (_, i) => i);

		return all.length ? rows.filter(i => { const of = text(i).toLowerCase(); return all.every(word => of.includes(word)); }) : rows;
	}

	function foundLines(state) {
		const { data, fn } = state;

		return accepted(fn.lines.length, l => place(data, fn.lines[l]) + ' ' + (fn.lines[l].text || ''), words(state));
	}

	function foundInstructions(state) {
		const { data, fn } = state;

		return accepted(fn.count, i => hex(fn.offset[i]) + ' ' + data.texts[fn.sass[i]] + ' ' + data.texts[fn.inlined[i]]
			+ ' ' + mainReason(data, fn.reasons[i]) + ' ' + place(data, fn.lines[fn.lineOf[i]]), words(state));
	}

	function search(state) {
		state.lines.filter(foundLines(state));
		state.instructions.filter(foundInstructions(state));
	}

	function showFunction(state, number) {
		const { data, lines, instructions } = state, fn = prepare(data, data.functions[number]);

		state.fn = fn;
		state.picker.value = String(number);
		lines.fill(lineColumns(data, fn), foundLines(state));
		instructions.fill(instructionColumns(data, fn), foundInstructions(state));
		state.full.textContent = (fn.full || fn.name) + (fn.launches ? ', ' + whole(fn.launches) + (fn.launches === 1 ? ' launch' : ' launches') : '');
		state.notes.textContent = notes(state);
		const hottest = fn.lineHeat.reduce((a, v, l) => v > (fn.lineHeat[a] || 0) ? l : a, 0);

		select(state, lines, hottest);
	}

	function build(section, state) {
		const { data } = state, listeners = {};

		for (const kind of ['lines', 'instructions'])
			listeners[kind] = { select: row => select(state, state[kind], row), hover: row => hover(state, state[kind], row), enter: () => enter(state, state[kind]) };
		// A line that does not follow the one above it.
		listeners.lines.kind = (l, ordered) => ordered && l && (state.fn.lines[l].line !== state.fn.lines[l - 1].line + 1) ? 'apart' : null;
		state.lines = new offpeak.Pane('lines', 'Source lines', listeners.lines);
		state.instructions = new offpeak.Pane('instructions', 'Instructions', listeners.instructions);
		state.picker = element('select', { 'aria-label': 'Function' }, data.functions.map((fn, i) => element('option', { value: i,
			text: [fn.name, percent(100 * heatOf(data, fn) / data.whole)].filter(Boolean).join(' — ') })));
		state.field = element('input', { type: 'search', placeholder: 'Search lines and instructions', 'aria-label': 'Search lines and instructions' });
		state.full = element('p', { class: 'full mono' });
		state.notes = element('p', { class: 'prose' });
		state.why = element('div', { class: 'why' });
		section.append(element('div', { class: 'tools' }, [state.picker, state.field]), state.full,
			element('div', { class: 'panes' }, [state.lines.frame, state.instructions.frame]), state.why, state.notes,
			element('p', { class: 'key', text: 'Keys in a list: ↑ ↓ next row, Enter to the other list, Escape no row.' }));
	}

	function followKernels(state, run) {
		document.addEventListener('kernel', event => {
			const { rows } = offpeak.data(run, 'kernels') || {}, row = rows && rows[event.detail.kernel];
			const full = of => of.full || of.name;
			const number = event.detail.run === run.number && row ? state.data.functions.findIndex(fn => full(fn) === full(row)) : -1;

			if (number >= 0)
				showFunction(state, number);
		});
	}

	offpeak.part('source', function (section, run) {
		const state = { data: offpeak.data(run, 'source') };

		build(section, state);
		showFunction(state, 0);
		state.picker.addEventListener('change', () => showFunction(state, Number(state.picker.value)));
		state.field.addEventListener('input', () => search(state));
		followKernels(state, run);
	});
})();
