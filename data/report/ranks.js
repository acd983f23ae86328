// Kernels by rank: how far each is from the median rank. A straggler is more than 5% above it in time.
(function () {
	'use strict';

	const { element } = offpeak;
	const STRAGGLER = 0.05, FULL_COLOUR = 0.25, MOST_WITH_TEXT = 16;

	function median(values) {
		const sorted = values.filter(v => v !== null).sort((a, b) => a - b), half = sorted.length >> 1;

		if (!sorted.length)
			return null;
		return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
	}

	// By how much each lane is above the median of all; null where that says nothing.
	function deviations(means) {
		const middle = median(means);

		return means.map(v => v === null || !middle ? null : v / middle - 1);
	}

	function percent(deviation) {
		return (deviation >= 0 ? '+' : '−') + Math.abs(100 * deviation).toFixed(1) + '%';
	}

	function isTime(metric) {
		return /time_duration|^duration$/.test(metric.name);
	}

	function cell(metric, lane, mean, deviation, withText) {
		const svg = element('svg', { viewBox: '0 0 74 26', preserveAspectRatio: withText ? 'xMidYMid' : 'none', role: 'img' });
		const strength = Math.min(1, Math.abs(deviation || 0) / FULL_COLOUR);

		svg.append(element('title', { text: lane + ': ' + (mean === null ? 'no launch' : offpeak.formatLine(mean, metric.unit)
			+ (deviation === null ? '' : ', ' + percent(deviation) + ' of the median')) }));
		svg.append(element('rect', { class: mean === null ? 'none' : 'back', width: 74, height: 26, rx: 3 }));
		if (strength > 0)
			svg.append(element('rect', { class: deviation > 0 ? 'more-than' : 'less-than', width: 74, height: 26, rx: 3, 'fill-opacity': (0.85 * strength).toFixed(3) }));
		if (isTime(metric) && deviation > STRAGGLER)
			svg.append(element('rect', { class: 'straggler', x: 1, y: 1, width: 72, height: 24, rx: 3 }));
		if (withText && deviation !== null)
			svg.append(element('text', { x: 37, y: 17, text: percent(deviation) }));
		return element('td', {}, [svg]);
	}

	function tableOf(run, data, metric) {
		const rows = offpeak.data(run, 'kernels').rows, wide = data.lanes.length <= MOST_WITH_TEXT;
		const short = data.lanes.map(name => wide ? name : name.replace(/^rank /, ''));
		const head = element('tr', {}, [element('th', { class: 'name', text: '' })].concat(short.map((name, j) =>
			element('th', { text: wide || j % 8 === 0 ? name : '', title: data.lanes[j] }))));
		const body = metric.means.map((means, i) => {
			const apart = deviations(means);
			const name = element('th', { class: 'name', scope: 'row', text: rows[i].name, title: rows[i].name });

			name.addEventListener('click', () => offpeak.select(run, i, true));
			return element('tr', { 'data-kernel': i }, [name].concat(means.map((mean, j) =>
				cell(metric, data.lanes[j], mean, apart[j], wide))));
		});

		return element('table', { class: wide ? 'wide' : null }, [head].concat(body));
	}

	// In words: of each lane the kernels in which it is behind.
	function stragglers(run, data, metric) {
		const rows = offpeak.data(run, 'kernels').rows, found = data.lanes.map(() => []);

		metric.means.forEach((means, i) => deviations(means).forEach((deviation, j) => {
			if (deviation > STRAGGLER)
				found[j].push({ deviation, name: rows[i].name });
		}));
		return found.map((kernels, j) => {
			kernels.sort((a, b) => b.deviation - a.deviation);
			return kernels.length ? data.lanes[j] + ' is ' + (100 * kernels[0].deviation).toFixed(1) + '% above the median in ' + kernels[0].name
				+ (kernels.length > 1 ? ', and more than 5% above it in ' + (kernels.length - 1) + ' more' : '') + '.' : null;
		}).filter(Boolean);
	}

	function drawWords(list, run, data, metric) {
		const lines = isTime(metric) ? stragglers(run, data, metric) : [];

		list.replaceChildren(...lines.slice(0, 12).map(line => element('li', { text: line })));
		if (isTime(metric) && !lines.length)
			list.append(element('li', { class: 'good', text: 'No straggler: in no kernel is one more than 5% above the median.' }));
	}

	offpeak.part('ranks', function (section, run) {
		const data = offpeak.data(run, 'ranks');
		const frame = element('div', { class: 'panel heat' }), words = element('ul', { class: 'remarks' });
		const picker = element('select', { 'aria-label': 'Metric' }, data.metrics.map((metric, i) => element('option', { value: i, text: metric.name })));
		const draw = () => {
			const metric = data.metrics[Number(picker.value)];

			frame.replaceChildren(tableOf(run, data, metric));
			drawWords(words, run, data, metric);
		};

		if (!data.metrics.length)
			return;
		section.append(element('div', { class: 'tools' }, [picker]), words, frame,
			element('p', { class: 'key', text: 'Orange is more than the median, blue less; the colour is full at 25%. A frame marks more than 5% in time.' }));
		picker.addEventListener('change', draw);
		draw();
	});
})();
