// All that is known of one kernel, range or device: facts, values under the set's headings, their spread.
(function () {
	'use strict';

	const { element } = offpeak;
	const SEARCHED_FROM = 25, OTHER = 'Other';

	function factList(table, row) {
		const facts = [['grid', row.grid], ['block', row.block], ['registers', row.registers],
			['dynamic shared memory', row.shared && offpeak.formatLine(row.shared, 'byte')], ['device', row.device],
			['NVTX', row.nvtx], ['samples in which it ran', row.samples],
			['as good as alone in', row.samples_alone]].filter(fact => fact[1] !== undefined);

		return element('p', { class: 'facts' }, facts.map(fact =>
			element('span', {}, [element('b', { text: fact[0] + ' ' }), String(fact[1])])));
	}

	function unknownNote(row) {
		return row.unknown ? element('p', { class: 'muted', text: 'Its values are nan: its launches are shorter than a sample, or too few '
			+ 'samples tell it apart from what ran beside it. A shorter --interval shows more.' }) : '';
	}

	function longName(row) {
		if (!row.full)
			return null;
		if (row.full.length < 200)
			return element('p', { class: 'full mono', text: row.full });
		return element('details', { class: 'full' }, [element('summary', { text: row.full.slice(0, 160) + '…' }),
			element('p', { class: 'mono', text: row.full }),
			row.cut ? element('p', { class: 'muted', text: 'The page has no room for all of this name; “offpeak eval” shows it.' }) : null]);
	}

	// ---- spread over launches

	function statistic(table, at, name, i) {
		const list = table.values[at][name];

		return list ? list[i] : null;
	}

	// How far apart the least and the greatest are, as a share of the mean.
	function width(table, at, i) {
		const low = statistic(table, at, 'min', i), high = statistic(table, at, 'max', i), mean = statistic(table, at, 'mean', i);

		return mean ? 100 * (high - low) / Math.abs(mean) : high > low ? Infinity : 0;
	}

	function widthText(percent) {
		if (percent === 0)
			return 'same in all';
		return percent < 0.01 ? '< 0.01%' : percent > 1e4 ? '> 10,000%' : offpeak.formatShort(percent) + '%';
	}

	// From the least to the greatest value, up to the 90th percentile thick, with the median across.
	function spreadStrip(table, at, i) {
		const low = statistic(table, at, 'min', i), high = statistic(table, at, 'max', i);
		const mid = statistic(table, at, 'p50', i), p90 = statistic(table, at, 'p90', i);

		if (low === null || high === null)
			return null;
		if (high === low)
			return element('span', { class: 'faint', text: widthText(0) });
		const scale = v => 2 + 96 * (v - low) / (high - low);
		const svg = element('svg', { class: 'strip', viewBox: '0 0 100 12', preserveAspectRatio: 'none', role: 'img' }, [
			element('title', { text: 'least, median, 90th percentile, greatest: '
				+ offpeak.formatLines([low, mid, p90, high], table.columns[at].unit).join(', ') }),
			element('line', { class: 'strip-line', x1: 2, x2: 98, y1: 6, y2: 6 }),
			element('rect', { class: 'strip-most', x: 2, width: Math.max(0, scale(p90) - 2), y: 4, height: 4 }),
			element('line', { class: 'strip-middle', x1: scale(mid), x2: scale(mid), y1: 1, y2: 11 })]);

		return element('div', { class: 'strip-frame' }, [svg, element('span', { text: widthText(width(table, at, i)),
			title: 'from the least to the greatest, as a share of the mean' })]);
	}

	// Values in the order of launches; of many, from the least to the greatest of several.
	function launchPlot(spread, unit, count) {
		const each = spread[0], list = spread.slice(1), pairs = each === 1 ? list.map(v => [v, v])
			: list.filter((v, k) => k % 2 === 0).map((v, k) => [v, list[2 * k + 1]]);
		const known = list.filter(v => v !== null).concat(list.every(v => v === null) ? [0] : []), low = Math.min(...known), high = Math.max(...known);
		const x = k => 8 + 1044 * (pairs.length > 1 ? k / (pairs.length - 1) : 0.5);
		const y = v => high > low ? 92 - 84 * (v - low) / (high - low) : 50;
		const svg = element('svg', { class: 'launches', viewBox: '0 0 1060 100', role: 'img', 'aria-label': 'values launch by launch' });

		pairs.forEach((pair, k) => {
			const which = each === 1 ? 'launch ' + (k + 1) : 'launches ' + (k * each + 1) + ' to ' + Math.min(count, (k + 1) * each);

			if (pair[0] === null) {
				svg.append(element('circle', { class: 'lost', cx: x(k), cy: 96, r: 2.6 }, [element('title', { text: which + ': nan' })]));
				return;
			}
			const ends = offpeak.formatLines(pair, unit), title = element('title', { text: which + ': ' + ends[0] + (each === 1 ? '' : ' to ' + ends[1]) });

			svg.append(each === 1 ? element('circle', { cx: x(k), cy: y(pair[0]), r: 2.6 }, [title])
				: element('line', { x1: x(k), x2: x(k), y1: y(pair[0]) + 1, y2: y(pair[1]) - 1 }, [title]));
		});
		return element('div', { class: 'plot' }, [
			element('div', { class: 'plot-scale' }, offpeak.formatLines([high, low], unit).map(text => element('span', { text }))),
			svg,
			element('p', { class: 'muted', text: each === 1 ? 'Each launch, in order.'
				: 'In order, ' + each + ' launches a line, from their least to their greatest value.' })]);
	}

	// ---- values

	function valueCells(table, at, i) {
		const column = table.columns[at], mean = statistic(table, at, 'mean', i);
		const made = offpeak.format(mean, column.unit), peak = column.share ? mean : statistic(table, at, 'peak', i);
		const strip = spreadStrip(table, at, i);

		return [
			element('td', { class: mean === null ? 'number nan' : 'number', text: made.text }),
			element('td', { class: 'unit' }, offpeak.pieces(made.unit)),
			element('td', { class: 'peak' }, peak === null ? [] : [
				element('svg', { class: 'bar-cell', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
					element('rect', { class: 'bar-back', width: 100, height: 8, rx: 1 }),
					element('rect', { class: 'bar-full', width: Math.max(0, Math.min(100, peak)), height: 8, rx: 1 })]),
				element('span', { text: offpeak.formatShort(peak) + '%' })]),
			element('td', { class: 'spread' }, [strip]),
		];
	}

	// A single value, or a recorded sum, has no spread to show.
	function isSpreadLost(table, at, i) {
		return table.spread && statistic(table, at, 'min', i) !== null;
	}

	function more(table, at, i) {
		const column = table.columns[at], spread = (table.spread || [])[i] && table.spread[i][at];
		const text = [column.about, column.words ? column.name : column.metric || '', column.inflated
			? 'Counts idle time around short kernels, because of how it was recorded.' : ''].filter(Boolean).join(' · ');

		return element('tr', { class: 'more-row' }, [element('td', { colspan: 5 }, [
			element('p', { class: 'meaning', text: text || 'What it means is not known.' }),
			spread ? launchPlot(spread, column.unit, table.rows[i].count)
				: isSpreadLost(table, at, i) ? element('p', { class: 'meaning', text: 'Single values had no room on this page; “offpeak eval” has them.' })
					: null])]);
	}

	function toggle(row, table, at, i) {
		const button = row.querySelector('button'), open = button.getAttribute('aria-expanded') === 'true';

		button.setAttribute('aria-expanded', String(!open));
		if (open)
			row.nextSibling.remove();
		else
			row.after(more(table, at, i));
	}

	function valueRow(table, at, i) {
		const column = table.columns[at];
		const button = element('button', { type: 'button', class: 'metric', 'aria-expanded': 'false', title: offpeak.meaning(column) },
			offpeak.pieces(offpeak.words(column)));
		const row = element('tr', {}, [element('td', { class: 'metric' }, [button,
			column.inflated ? element('span', { class: 'flag', text: 'inflated', title: 'counts idle time around short kernels' }) : null])]
			.concat(valueCells(table, at, i)));

		button.addEventListener('click', () => toggle(row, table, at, i));
		return row;
	}

	function group(table, heading, columns, i) {
		const info = table.headings[heading];
		const many = columns.some(at => statistic(table, at, 'min', i) !== null);
		const head = element('thead', {}, [element('tr', {}, [element('th', { text: 'metric' }),
			element('th', { class: 'number', text: many ? 'mean' : 'value' }), element('th', { text: '' }),
			element('th', { text: 'of the peak' }), element('th', { class: 'spread', text: many ? { kernel: 'over launches', range: 'over its times', device: 'over samples' }[table.row] : '' })])]);

		return element('section', { class: 'group' }, [
			info ? element('h3', { text: info.title }) : table.headings.length ? element('h3', { text: OTHER }) : null,
			info && info.text ? element('p', { class: 'prose', text: info.text }) : null,
			element('table', { class: 'values' }, [head, element('tbody', {}, columns.map(at => valueRow(table, at, i)))])]);
	}

	// [heading, places of its columns]; columns without a heading come last.
	function columnsByHeading(table) {
		const by = new Map();

		table.columns.forEach((column, at) => {
			if (!by.has(column.heading))
				by.set(column.heading, []);
			by.get(column.heading).push(at);
		});
		return [...by].sort((a, b) => (a[0] === undefined) - (b[0] === undefined));
	}

	function groups(table, i) {
		return columnsByHeading(table).map(([heading, columns]) => [heading, columns.filter(at => matches(table.columns[at], table.search || ''))])
			.filter(([, columns]) => columns.length).map(([heading, columns]) => group(table, heading, columns, i));
	}

	// The same by titles; '': the set has no headings.
	offpeak.byHeading = table => columnsByHeading(table).map(([heading, columns]) =>
		[heading !== undefined ? table.headings[heading].title : table.headings.length ? OTHER : '', columns]);

	// Among many metrics: those with all the words in their name or meaning.
	function matches(column, search) {
		const text = (column.name + ' ' + (column.words || '') + ' ' + (column.about || '') + ' ' + (column.metric || '')).toLowerCase();

		return search.toLowerCase().split(/\s+/).every(word => text.includes(word));
	}

	function searchField(table, i, place) {
		const field = element('input', { type: 'search', class: 'metrics', placeholder: 'Search metrics', 'aria-label': 'Search metrics',
			value: table.search || null });

		if (table.columns.length < SEARCHED_FROM)
			return null;
		field.addEventListener('input', () => {
			table.search = field.value;
			place.replaceChildren(...groups(table, i));
		});
		return element('div', { class: 'tools' }, [field]);
	}

	offpeak.drawKernel = function (details, table, i) {
		const row = table.rows[i];

		if (!row)
			return;
		const times = [row.portion !== undefined && table.rows.length > 1 ? offpeak.formatShort(row.portion) + '% of the time' : '',
			row.time !== undefined ? offpeak.formatLine(row.time, table.time) : '',
			row.count.toLocaleString('en-US') + ({ kernel: ' launch', range: ' time', device: ' sample' })[table.row]
				+ (row.count === 1 ? '' : table.row === 'kernel' ? 'es' : 's')].filter(Boolean);

		details.replaceChildren(
			element('div', { class: 'title' }, [element('h2', { class: 'mono', text: row.name }),
				element('p', { class: 'muted', text: times.join(' · ') })]),
			longName(row) || '', factList(table, row), unknownNote(row));
		if (i >= table.with_values || !table.columns.length)
			return;
		const place = element('div', {}, groups(table, i));

		details.append(searchField(table, i, place) || '', place);
	};
})();
