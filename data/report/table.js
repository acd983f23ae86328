// Tables of kernels, ranges and devices: sorted, searched, with the chosen row's values below.
(function () {
	'use strict';

	const { element } = offpeak;
	const FIRST_ROWS = 200, SHOWN_SHARES = 3;
	const nouns = { kernel: ['kernel', 'launches'], range: ['range', 'times'], device: ['device', 'samples'] };

	function values(table, column, statistic) {
		return (table.values[column] || {})[statistic || 'mean'] || [];
	}

	// ---- columns of the table: {title, get(row index), format | cell}

	// `beside`: get() of the column whose unit it shares.
	function numbers(table, title, unit, get, more, beside) {
		const all = of => of && table.rows.map((row, i) => of(i));

		return Object.assign({ title, unit, get, number: true, format: offpeak.formatColumn(all(get), unit, all(beside)) }, more);
	}

	function metricColumn(table, at) {
		const column = table.columns[at], means = values(table, at);
		const get = i => i < table.with_values ? means[i] : undefined;
		const peak = column.share ? get : i => (values(table, at, 'peak')[i]);

		return numbers(table, offpeak.words(column).replace(/, of peak( while active)?$/, '').replace(/(\.avg)?\.pct_of_peak_sustained_(elapsed|active)$/, ''), column.unit, get,
			{ bar: i => column.share || table.values[at].peak ? peak(i) : null, metric: at, about: offpeak.meaning(column),
				noun: column.share ? '% of the peak' : null });
	}

	function baseColumns(table) {
		const rows = table.rows, unit = table.time, timed = table.time && table.row !== 'device';
		const mean = i => rows[i].time === undefined ? null : rows[i].time / rows[i].count;
		// A single launch is the least and the greatest.
		const extreme = name => i => rows[i][name] !== undefined ? rows[i][name] : rows[i].count === 1 ? mean(i) : null;
		const columns = [{ title: nouns[table.row][0], get: i => rows[i].name, label: i => rows[i].label, name: true }];

		if (timed && rows.length > 1)
			columns.push(numbers(table, 'share of time', 'percent', i => rows[i].portion === undefined ? null : rows[i].portion, { bar: i => rows[i].portion, wide: true }));
		if (timed)
			columns.push(numbers(table, 'time', unit, i => rows[i].time === undefined ? null : rows[i].time));
		columns.push(numbers(table, nouns[table.row][1], '', i => rows[i].count));
		if (timed)
			columns.push(numbers(table, 'mean', unit, mean));
		if (timed && rows.some(row => row.least !== undefined)) {
			columns.push(numbers(table, 'min', unit, extreme('least'), {}, mean));
			columns.push(numbers(table, 'max', unit, extreme('most'), {}, mean));
		}
		return columns;
	}

	// Shares of peaks say most at a glance.
	function chosenMetrics(table) {
		const shares = table.columns.map((column, i) => column.share && values(table, i).some(v => v !== null) ? i : -1);

		return shares.filter(i => i >= 0).slice(0, SHOWN_SHARES);
	}

	// ---- order and search

	function compare(state, column) {
		return (a, b) => {
			const x = column.get(a), y = column.get(b);

			if (column.name)
				return state.down ? y.localeCompare(x) : x.localeCompare(y);
			if (x === null || x === undefined || y === null || y === undefined)
				return (x === null || x === undefined) - (y === null || y === undefined) || a - b;
			return (state.down ? y - x : x - y) || a - b;
		};
	}

	function accepts(state, i) {
		const row = state.table.rows[i], words = state.search.toLowerCase().split(/\s+/).filter(Boolean);

		if (!row)
			return !words.length;
		const text = (row.name + ' ' + (row.full || '') + ' ' + (row.nvtx || '')).toLowerCase();

		return words.every(word => text.includes(word));
	}

	function order(state) {
		const found = state.table.rows.map((row, i) => i).filter(i => accepts(state, i));

		return state.sort === null ? found : found.sort(compare(state, state.columns[state.sort]));
	}

	// ---- drawing

	function bar(share) {
		const width = Math.max(0, Math.min(100, share || 0));
		const svg = element('svg', { class: 'bar-cell', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' });

		svg.append(element('rect', { class: 'bar-back', width: 100, height: 8, rx: 1 }));
		svg.append(element('rect', { class: 'bar-full', width, height: 8, rx: 1 }));
		return svg;
	}

	function cell(column, i) {
		if (column.name)
			return element('td', { class: 'name', text: column.label(i) || column.get(i), title: column.label(i) || column.get(i).length > 40 ? column.get(i) : null });
		const value = column.get(i), share = column.bar ? column.bar(i) : null;
		const text = value === undefined ? '' : column.format.text(value);
		const shown = element('span', { class: value === null ? 'nan' : null, title: value === null ? 'no value' : null, text });

		if (!column.bar)
			return element('td', { class: 'number' }, [shown]);
		return element('td', { class: 'number' }, [element('div', { class: 'with-bar' },
			[share === null || share === undefined ? null : bar(share), shown])]);
	}

	function drawRow(state, i, number) {
		const row = element('tr', { 'data-kernel': i, tabindex: number ? -1 : 0,
			'aria-selected': String(state.run.kernel === i && state.main) });

		row.append(element('td', { class: 'rank', text: String(i + 1) }));
		for (const column of state.columns)
			row.append(cell(column, i));
		return row;
	}

	function drawHead(state) {
		const head = element('tr');

		head.append(element('th', { class: 'rank', text: '', 'aria-label': 'number by time' }));
		state.columns.forEach((column, at) => {
			const sorted = state.sort === at ? (state.down ? 'descending' : 'ascending') : null;
			const th = element('th', { class: column.name ? 'name' : 'number',
				'aria-sort': sorted, scope: 'col', title: column.about || null });
			const unit = column.noun || column.format && column.format.unit;
			const button = element('button', { type: 'button', class: 'sort' }, [
				element('span', { class: column.metric === undefined ? null : 'metric' }, offpeak.pieces(column.title)),
				unit ? element('span', { class: 'unit', text: unit }) : null]);

			button.addEventListener('click', () => sortBy(state, at));
			th.append(button);
			head.append(th);
		});
		state.head.replaceChildren(head);
	}

	function draw(state) {
		const found = order(state), shown = state.all ? found : found.slice(0, FIRST_ROWS);
		const rest = found.length - shown.length, total = state.table.total;
		const noun = nouns[state.table.row][0];

		state.found = found;
		drawHead(state);
		state.body.replaceChildren(...shown.map((i, number) => drawRow(state, i, number)));
		state.more.hidden = !rest;
		state.more.textContent = 'Show ' + rest.toLocaleString('en-US') + ' more';
		state.count.textContent = (state.search ? found.length.toLocaleString('en-US') + ' of ' : '')
			+ total.toLocaleString('en-US') + ' ' + noun + (total === 1 ? '' : 's');
		if (state.main)
			offpeak.filter(state.run, i => accepts(state, i));
	}

	function sortBy(state, at) {
		state.down = state.sort === at ? !state.down : !state.columns[at].name;
		state.sort = at;
		draw(state);
		const button = state.head.querySelectorAll('button')[at];

		button.focus();
	}

	// ---- choosing a row

	function choose(state, i, reveal) {
		for (const row of state.body.querySelectorAll('tr[aria-selected="true"], tr[tabindex="0"]')) {
			row.setAttribute('aria-selected', 'false');
			row.tabIndex = -1;
		}
		const row = state.body.querySelector('tr[data-kernel="' + Number(i) + '"]');

		if (row) {
			row.setAttribute('aria-selected', 'true');
			row.tabIndex = 0;
			if (reveal)
				row.scrollIntoView({ block: 'nearest' });
		}
		state.chosen = i;
		offpeak.drawKernel(state.details, state.table, i);
	}

	function move(state, step) {
		const at = state.found.indexOf(state.chosen), next = state.found[Math.max(0, Math.min(state.found.length - 1, at + step))];

		if (next === undefined)
			return;
		if (state.main)
			offpeak.select(state.run, next, true);
		else
			choose(state, next, true);
		const row = state.body.querySelector('tr[aria-selected="true"]');

		if (row)
			row.focus();
	}

	function listen(state, section) {
		state.body.addEventListener('click', event => {
			const row = event.target.closest('tr');

			if (row && state.main)
				offpeak.select(state.run, Number(row.dataset.kernel));
			else if (row)
				choose(state, Number(row.dataset.kernel));
		});
		state.frame.addEventListener('keydown', event => {
			const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];

			if (!step)
				return;
			event.preventDefault();
			move(state, step);
		});
		state.field.addEventListener('input', () => {
			state.search = state.field.value;
			draw(state);
		});
		state.more.addEventListener('click', () => {
			state.all = true;
			draw(state);
		});
		if (state.main)
			document.addEventListener('kernel', event => {
				if (event.detail.run === state.run.number)
					choose(state, event.detail.kernel, event.detail.reveal);
			});
	}

	// ---- the controls above the table

	// Columns below the headings of the set; those of none are the others.
	function metricPicker(state) {
		const picker = element('select', { 'aria-label': 'Add a column' }, [element('option', { value: '', text: 'Add a column…' })]);

		for (const [title, columns] of offpeak.byHeading(state.table)) {
			const options = columns.map(at => element('option', { value: at, text: offpeak.words(state.table.columns[at]) }));

			picker.append(...title ? [element('optgroup', { label: title }, options)] : options);
		}
		picker.addEventListener('change', () => {
			const at = Number(picker.value), known = state.columns.findIndex(column => column.metric === at);

			if (picker.value !== '' && known < 0)
				state.columns.push(metricColumn(state.table, at));
			picker.value = '';
			sortBy(state, known < 0 ? state.columns.length - 1 : known);
		});
		return picker;
	}

	function build(section, state) {
		const noun = nouns[state.table.row][0];

		state.field = element('input', { type: 'search', placeholder: 'Search ' + noun + 's  ( / )', 'aria-label': 'Search ' + noun + 's' });
		state.count = element('span', { class: 'muted', 'aria-live': 'polite' });
		state.head = element('thead');
		state.body = element('tbody');
		state.more = element('button', { type: 'button', class: 'more' });
		state.frame = element('div', { class: 'panel scroll' }, [element('table', { class: 'rows' }, [state.head, state.body]), state.more]);
		state.details = element('div', { class: 'details', id: state.main ? 'run-' + state.run.number + '-kernel' : null });
		const tools = element('div', { class: 'tools' }, [state.table.rows.length > 4 ? state.field : null,
			state.table.columns.length ? metricPicker(state) : null, state.count]);

		section.append(tools, state.frame, leftOut(state.table), state.details);
	}

	function leftOut(table) {
		const rows = table.rows.length, text = [];

		if (rows < table.total)
			text.push('The table has the ' + rows.toLocaleString('en-US') + ' that took most time, of ' + table.total.toLocaleString('en-US') + '.');
		if (table.with_values < rows && table.columns.length)
			text.push('Values are here of the first ' + table.with_values.toLocaleString('en-US') + '.');
		if (text.length)
			text.push('“offpeak eval” has all.');
		return element('p', { class: 'muted', text: text.join(' '), hidden: !text.length });
	}

	function drawTable(main) {
		return (section, run) => {
			const table = offpeak.data(run, section.dataset.part);
			const state = { table, run, main: main, sort: null, down: true, search: '', all: false, chosen: null };

			state.columns = baseColumns(table).concat(chosenMetrics(table).map(at => metricColumn(table, at)));
			build(section, state);
			draw(state);
			listen(state, section);
			if (!main)
				choose(state, 0);
		};
	}

	Object.assign(offpeak, { bar });
	offpeak.part('kernels', drawTable(true));
	offpeak.part('devices', drawTable(false));

	document.addEventListener('keydown', event => {
		const field = offpeak.shown && offpeak.shown.article.querySelector('input[type="search"]');

		if (event.key === '/' && field && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
			event.preventDefault();
			field.focus();
		}
	});
})();
