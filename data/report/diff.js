// Two recordings: what changed, by how much, and whether that is more than noise.
(function () {
	'use strict';

	const { element } = offpeak;
	// Places in a value: see report_diff.c.
	const BEFORE = 0, AFTER = 1, CHANGE = 2, VERDICT = 3, CLOCK = 4, LOW = 5;

	function verdictOf(data, value) {
		return data.verdicts[value[VERDICT]];
	}

	function isChanged(data, value) {
		return verdictOf(data, value) === 'changed';
	}

	function percentText(percent) {
		return (percent > 0 ? '+' : percent < 0 ? '−' : '') + offpeak.formatShort(Math.abs(percent)) + '%';
	}

	function changeText(value) {
		if (value[CHANGE] !== null)
			return percentText(value[CHANGE]);
		return value[BEFORE] === 0 && value[AFTER] ? 'from 0' : value[BEFORE] === null || value[AFTER] === null ? 'nan' : '';
	}

	// What the SM's clock makes of a change; '': it is not known, or the value does not depend on it.
	function clockText(value) {
		return value[CLOCK] === null ? '' : percentText(value[CLOCK]);
	}

	// Time, and what is like it: more is worse.
	function changeClass(data, column, value) {
		if (!column.time || !isChanged(data, value))
			return 'change';
		return 'change ' + (value[AFTER] > value[BEFORE] ? 'slower' : 'faster');
	}

	function changeBar(change) {
		const part = Math.max(-1, Math.min(1, (change || 0) / 100)), width = 48 * Math.abs(part);

		return element('svg', { class: 'change-bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
			element('rect', { class: part > 0 ? 'more' : 'less', x: part > 0 ? 50 : 50 - width, y: 1, width, height: 8 }),
			element('line', { class: 'middle', x1: 50, x2: 50, y1: 0, y2: 10 })]);
	}

	function verdictCell(data, value) {
		const verdict = verdictOf(data, value), lost = verdict === 'nan' || verdict === 'missing';

		return element('td', { class: 'verdict ' + (lost ? 'lost' : verdict === 'changed' ? 'changed' : ''), text: verdict });
	}

	function timeColumn(data) {
		return data.columns.findIndex(column => column.time);
	}

	function shape(row) {
		return row.shape ? row.shape.slice(0, 3).join('x') + ' · ' + row.shape.slice(3).join('x') : '';
	}

	// ---- in words

	function remarks(data) {
		const at = timeColumn(data);
		const lines = data.differences.map(d => d.what + ' differs: ' + (d.before || 'not known') + ' in A, ' + (d.after || 'not known') + ' in B.');

		if (data.launches_least && data.launches_needed > data.launches_least)
			lines.push('Some have only ' + data.launches_least + ' launches a side; to tell a single change from noise among so many takes '
				+ data.launches_needed + '.');
		const clocked = at < 0 ? 0 : data.values.filter(value => verdictOf(data, value[at]) === 'clock').length;
		if (clocked)
			lines.push(clocked + ' changed in time by as much as the SM’s clock can explain.');
		if (data.unmatched_total)
			lines.push(data.unmatched_total + (data.unmatched_total === 1 ? ' is' : ' are') + ' in one recording alone: '
				+ data.unmatched.slice(0, 8).map(row => row.name + (row.before ? ' (A)' : ' (B)')).join(', ')
				+ (data.unmatched_total > 8 ? ' …' : '') + '.');
		if (data.total > data.rows.length)
			lines.push('The table has the ' + data.rows.length + ' that changed most in time, of ' + data.total + '. “offpeak diff” has all.');
		return element('ul', { class: 'remarks' }, lines.map(line => element('li', { text: line })));
	}

	// ---- the table

	function drawRow(state, i) {
		const { data } = state, row = data.rows[i], at = timeColumn(data), value = at < 0 ? null : data.values[i][at];
		const made = element('tr', { 'data-kernel': i, tabindex: i ? -1 : 0 }, [
			element('td', { class: 'name', text: row.name }), element('td', { class: 'muted', text: shape(row) }),
			element('td', { class: 'number', text: row.before + ' / ' + row.after })]);

		if (value) {
			made.append(element('td', { class: 'number', text: state.format.text(value[BEFORE]) }),
				element('td', { class: 'number', text: state.format.text(value[AFTER]) }),
				element('td', { class: 'number' }, [element('div', { class: 'with-bar' }, [changeBar(value[CHANGE]),
					element('span', { class: changeClass(data, data.columns[at], value), text: changeText(value) })])]),
				element('td', { class: 'number', text: clockText(value) }), verdictCell(data, value),
				element('td', { class: 'number', text: row.time_change === null ? '' : (row.time_change > 0 ? '+' : row.time_change < 0 ? '−' : '')
					+ state.all.text(Math.abs(row.time_change)) }));
		}
		made.addEventListener('click', () => choose(state, i));
		return made;
	}

	function drawTable(state) {
		const { data } = state, at = timeColumn(data), unit = at < 0 ? '' : data.columns[at].unit;
		const times = at < 0 ? [] : data.values.map(value => [value[at][BEFORE], value[at][AFTER]]).flat();

		state.format = offpeak.formatColumn(times, unit);
		state.all = offpeak.formatColumn(data.rows.map(row => row.time_change), unit);
		const titles = [['name', 'kernel', ''], ['name', 'shape', ''], ['number', 'launches', 'A / B']].concat(at < 0 ? [] : [
			['number', 'A: before', state.format.unit], ['number', 'B: after', state.format.unit], ['number', 'change', 'from A to B'],
			['number', 'clock’s part', 'of the change'], ['name', 'verdict', ''], ['number', 'change in all launches', state.all.unit]]);
		const head = element('tr', {}, titles.map(title => element('th', { class: title[0] }, [element('div', { class: 'head' },
			[element('span', { text: title[1] }), title[2] ? element('span', { class: 'unit', text: title[2] }) : null])])));

		state.body.replaceChildren(...data.rows.map((row, i) => drawRow(state, i)).filter(row => !state.search
			|| row.firstChild.textContent.toLowerCase().includes(state.search)));
		state.head.replaceChildren(head);
	}

	// ---- one row's values

	// The middle halves of both sides on one scale.
	function sides(value) {
		const known = value.slice(LOW, LOW + 4);

		if (known.length < 4 || known.some(v => v === null))
			return null;
		const low = Math.min(...known), high = Math.max(...known);
		const x = v => high > low ? 2 + 96 * (v - low) / (high - low) : 50;
		const box = (name, y, from, to) => element('rect', { class: name, x: x(from) - 0.7, y, width: Math.max(1.4, x(to) - x(from)), height: 5, rx: 1 });

		return element('svg', { class: 'sides', viewBox: '0 0 100 18', preserveAspectRatio: 'none', role: 'img' }, [
			element('title', { text: 'the middle half of launches: A above, B below' }),
			box('before', 2, known[0], known[1]), box('after', 11, known[2], known[3])]);
	}

	function valueRow(data, column, value) {
		const [before, after] = offpeak.formatLines([value[BEFORE], value[AFTER]], column.unit);

		return element('tr', {}, [element('td', { class: 'metric', title: column.name }, offpeak.pieces(offpeak.words(column))),
			element('td', { class: 'number', text: before }), element('td', { class: 'number', text: after }),
			element('td', { class: 'number' }, [element('span', { class: changeClass(data, column, value), text: changeText(value) })]),
			element('td', { class: 'number', text: clockText(value) }), verdictCell(data, value), element('td', { class: 'spread' }, [sides(value)])]);
	}

	function drawDetails(state) {
		const { data, chosen } = state, row = data.rows[chosen], body = element('tbody');
		const shown = data.columns.map((column, at) => at).filter(at => !data.columns[at].hidden
			&& !(state.changedOnly && !isChanged(data, data.values[chosen][at])));
		const headed = data.columns.some(column => column.heading), order = shown.filter(at => data.columns[at].heading);
		let heading = '';

		for (const at of order.concat(shown.filter(at => !data.columns[at].heading))) {
			const title = data.columns[at].heading || (headed ? 'Other' : '');

			if (title !== heading)
				body.append(element('tr', {}, [element('td', { colspan: 7 }, [element('h3', { text: title })])]));
			heading = title;
			body.append(valueRow(data, data.columns[at], data.values[chosen][at]));
		}
		const box = element('input', { type: 'checkbox', checked: state.changedOnly });
		box.addEventListener('change', () => {
			state.changedOnly = box.checked;
			drawDetails(state);
		});
		state.details.replaceChildren(
			element('div', { class: 'title' }, [element('h2', { class: 'mono', text: row.name }), element('p', { class: 'muted', text: shape(row) })]),
			element('div', { class: 'tools' }, [element('label', {}, [box, 'only what changed by more than noise'])]),
			element('table', { class: 'values' }, [element('thead', {}, [element('tr', {}, [['', 'metric'], ['number', 'A: ' + data.before], ['number', 'B: ' + data.after],
				['number', 'change from A to B'], ['number', 'clock’s part of the change'], ['', 'verdict'], ['', 'middle half, A above B']].map(title => element('th', { class: title[0], text: title[1] })))]), body]));
	}

	// What the GPU can do, not what the program did: once, and without a verdict.
	function peaks(data) {
		const both = peak => offpeak.formatLines([peak.before, peak.after], peak.unit);
		const row = peak => element('tr', {}, [element('td', { class: 'metric' }, offpeak.pieces(peak.name)),
			...both(peak).map(text => element('td', { class: 'number', text })),
			element('td', { class: 'number', text: peak.change === null ? 'nan' : percentText(peak.change) })]);

		return data.peaks.length ? element('details', { class: 'peaks' }, [
			element('summary', { text: 'Peaks and clocks over all launches, which are not judged' }),
			element('table', { class: 'values' }, [element('thead', {}, [element('tr', {}, [['', 'peak or clock'], ['number', 'A: ' + data.before],
				['number', 'B: ' + data.after], ['number', 'change from A to B']].map(title => element('th', { class: title[0], text: title[1] })))]),
			element('tbody', {}, data.peaks.map(row))])]) : '';
	}

	// Its marks in the pictures of both recordings.
	function frameMarks(state, row) {
		for (const figure of state.article.querySelectorAll('figure[data-of]'))
			for (const mark of figure.querySelectorAll('[data-kernel]'))
				mark.classList.toggle('selected', Number(mark.dataset.kernel) === row.kernels[Number(figure.dataset.of)]);
	}

	function choose(state, i) {
		state.chosen = i;
		frameMarks(state, state.data.rows[i]);
		for (const row of state.body.querySelectorAll('tr'))
			row.setAttribute('aria-selected', String(Number(row.dataset.kernel) === i));
		drawDetails(state);
	}

	offpeak.part('diff', function (section, run) {
		const data = offpeak.data(run, 'diff');
		const state = { data, article: run.article, head: element('thead'), body: element('tbody'), details: element('div', { class: 'details' }), chosen: 0, changedOnly: true, search: '' };
		const field = element('input', { type: 'search', placeholder: 'Search  ( / )', 'aria-label': 'Search' });
		const frame = element('div', { class: 'panel scroll' }, [element('table', { class: 'rows' }, [state.head, state.body])]);

		section.append(element('p', { class: 'intro', text: 'A, before: ' + data.before + '. B, after: ' + data.after
			+ '. A value is the median over launches, and a change is from A to B.' }),
			element('p', { class: 'headline', text: data.headline }), remarks(data));
		if (!data.rows.length)
			return;
		section.append(element('div', { class: 'tools' }, [field]), frame, state.details, peaks(data));
		drawTable(state);
		choose(state, 0);
		field.addEventListener('input', () => {
			state.search = field.value.toLowerCase();
			drawTable(state);
			choose(state, state.chosen);
		});
		run.article.addEventListener('click', event => {
			const mark = event.target.closest('figure[data-of] [data-kernel]'), figure = mark && mark.closest('figure');
			const found = mark ? data.rows.findIndex(row => row.kernels[Number(figure.dataset.of)] === Number(mark.dataset.kernel)) : -1;

			if (found >= 0)
				choose(state, found);
		});
		frame.addEventListener('keydown', event => {
			const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], next = state.chosen + (step || 0);

			if (!step || !data.rows[next])
				return;
			event.preventDefault();
			choose(state, next);
		});
	});
})();
