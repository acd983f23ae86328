// Kernels by rank: how far each is from the median rank. A straggler is more than 5% above it in time, or 5% below in
// kernels that communicate, where the others wait.
(function () {
	'use strict';

	const { element } = offpeak;
	const STRAGGLER = 0.05, FULL_COLOUR = 0.25, MOST_WITH_TEXT = 16, MOST_WITH_MEANS = 6, MOST_IN_ONE = 12;

	function median(values) {
		const sorted = values.filter(v => typeof v === 'number').sort((a, b) => a - b), half = sorted.length >> 1;

		if (!sorted.length)
			return null;
		return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
	}

	// By how much each lane is above the median or, of two, above the other one; null where that says nothing.
	function deviations(means) {
		const all = median(means);

		return means.map((v, j) => {
			const middle = means.length === 2 ? means[1 - j] : all;

			return typeof v !== 'number' || typeof middle !== 'number' || !middle ? null : v / middle - 1;
		});
	}

	function percent(deviation) {
		return (deviation >= 0 ? '+' : '−') + Math.abs(100 * deviation).toFixed(1) + '%';
	}

	function against(data) {
		return data.lanes.length === 2 ? 'the other' : 'the median';
	}

	// `texts`: how much is written, 0 to 2: nothing, the deviation, the mean before it.
	function cell(metric, lane, mean, [scale, unit], deviation, texts, waits) {
		const svg = element('svg', { role: 'img' }), text = mean === 'nan' || mean === null ? mean : offpeak.formatShort(mean / scale);
		const strength = Math.min(1, Math.abs(deviation || 0) / FULL_COLOUR);
		const whole = { width: '100%', height: 26, rx: 3 };

		svg.append(element('title', { text: lane + ': ' + (mean === null ? 'no launch' : text + ' ' + unit
			+ (deviation === null ? '' : ', ' + percent(deviation))) }));
		svg.append(element('rect', { class: mean === null ? 'none' : 'back', ...whole }));
		if (strength > 0)
			svg.append(element('rect', { class: deviation > 0 ? 'more-than' : 'less-than', opacity: strength.toFixed(3), ...whole }));
		if (metric.time && (waits ? -deviation : deviation) > STRAGGLER)
			svg.append(element('rect', { class: 'straggler', ...whole }));
		if (texts && mean === 'nan')
			svg.append(element('text', { class: 'nan', x: '50%', y: 17, text: 'nan' }));
		else if (texts > 1 && mean !== null)
			svg.append(element('text', { class: 'mean', x: '45%', y: 17, text }));
		if (texts && deviation !== null)
			svg.append(element('text', texts > 1 ? { class: 'apart', x: '55%', y: 17, text: percent(deviation) } : { x: '50%', y: 17, text: percent(deviation) }));
		return element('td', {}, [svg]);
	}

	// One table or, of many kernels and few lanes, two that are beside each other where there is room.
	function tablesOf(run, data, metric) {
		const { rows } = offpeak.data(run, 'kernels'), wide = data.lanes.length <= MOST_WITH_TEXT, few = data.lanes.length <= MOST_WITH_MEANS;
		const short = data.lanes.map(name => wide ? name : name.replace(/^rank /, ''));
		const scale = offpeak.scale(Math.abs(median(metric.means.flat()) || 0), metric.unit), unit = few && scale[1] ? ', ' + scale[1] : '';
		const head = () => element('tr', {}, [element('th', { class: 'name', text: '' })].concat(short.map((name, j) =>
			element('th', { text: wide || j % 8 === 0 ? name + unit : '', title: data.lanes[j] }))));
		const body = metric.means.map((means, i) => {
			const apart = deviations(means);
			const { row: kernel, communicates } = data.kernels[i];
			const name = element('th', { class: 'name', scope: 'row', text: offpeak.label(run, kernel), title: rows[kernel].full || rows[kernel].name });

			name.addEventListener('click', () => offpeak.select(run, kernel, true));
			return element('tr', { 'data-kernel': kernel }, [name].concat(means.map((mean, j) =>
				cell(metric, data.lanes[j], mean, scale, apart[j], wide + few, communicates))));
		});

		const half = few && body.length > MOST_IN_ONE ? Math.ceil(body.length / 2) : body.length;

		return [body.slice(0, half), body.slice(half)].filter(lines => lines.length)
			.map(lines => element('table', { class: wide ? few ? 'wide few' : 'wide' : null }, [head()].concat(lines)));
	}

	// In words: of each lane the kernels in which it is behind, and those in which others wait for it.
	function stragglers(run, data, metric) {
		const slow = data.lanes.map(() => []), awaited = data.lanes.map(() => []);

		metric.means.forEach((means, i) => deviations(means).forEach((deviation, j) => {
			const { row, communicates: waits } = data.kernels[i];

			if (deviation !== null && (waits ? -deviation : deviation) > STRAGGLER)
				(waits ? awaited : slow)[j].push({ size: Math.abs(deviation), name: offpeak.label(run, row) });
		}));
		return data.lanes.flatMap((lane, j) => [
			line(slow[j], first => lane + ' is ' + first + '% above ' + against(data) + ' in ', ', and more than 5% above it in '),
			line(awaited[j], first => 'Others wait for ' + lane + ', which takes ' + first + '% less than ' + against(data) + ' in ', ', and less in ')]).filter(Boolean);
	}

	function line(kernels, begin, rest) {
		kernels.sort((a, b) => b.size - a.size);
		return kernels.length ? begin((100 * kernels[0].size).toFixed(1)) + kernels[0].name
			+ (kernels.length > 1 ? rest + (kernels.length - 1) + ' more' : '') + '.' : null;
	}

	function drawWords(list, run, data, metric) {
		const lines = metric.time ? stragglers(run, data, metric) : [];

		list.replaceChildren(...lines.slice(0, 12).map(line => element('li', { text: line })));
		if (metric.time && !lines.length)
			list.append(element('li', { class: 'good', text: 'No straggler: in none of the ' + metric.means.length + ' kernels below does one take 5% more than the ' + (data.lanes.length === 2 ? 'other.' : 'median.') }));
	}

	// What the map leaves out, so that the page stays small.
	function leftOut(data) {
		const text = [], rows = data.kernels.length, lost = data.metrics_left_out || 0;

		if (rows < data.total)
			text.push('The map has ' + rows + ' of ' + data.total.toLocaleString('en-US') + ' kernels, those that took most time.');
		if (lost)
			text.push(lost.toLocaleString('en-US') + (lost === 1 ? ' metric is' : ' metrics are') + ' left out, to keep the page small.');
		if (text.length)
			text.push('“offpeak eval” has all.');
		return element('p', { class: 'muted', text: text.join(' '), hidden: !text.length });
	}

	offpeak.part('ranks', function (section, run) {
		const data = offpeak.data(run, 'ranks');
		const frame = element('div', { class: 'panel heat' }), words = element('ul', { class: 'remarks' });
		const picker = element('select', { 'aria-label': 'Metric' }, data.metrics.map((metric, i) => element('option', { value: i, text: metric.name })));
		const draw = () => {
			const metric = data.metrics[Number(picker.value)];

			frame.replaceChildren(...tablesOf(run, data, metric));
			drawWords(words, run, data, metric);
		};

		if (!data.metrics.length)
			return;
		section.append(element('div', { class: 'tools' }, [picker]), words, frame,
			element('p', { class: 'key', text: 'Orange is more than the median (of two, than the other), blue less; the colour is full at 25%. A frame marks a straggler: more than 5% above in time or, where kernels wait for each other, below.' }),
			leftOut(data));
		picker.addEventListener('change', draw);
		draw();
	});
})();
