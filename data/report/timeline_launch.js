// The details of one launch or range of a timeline, below its lane: when it ran, as what, what was measured meanwhile,
// and what is known of its kernel.
(function () {
	'use strict';

	const { element } = offpeak;
	const MOST_VALUES = 8;

	function fact(name, text) {
		return text ? [element('div', {}, [element('dt', { text: name }), element('dd', { text })])] : [];
	}

	function button(text, title, act) {
		const made = element('button', { type: 'button', text, title, 'aria-label': title });

		made.addEventListener('click', act);
		return made;
	}

	function plural(count, word, ending) {
		return count.toLocaleString('en-US') + ' ' + word + (count === 1 ? '' : ending);
	}

	class LaunchPanel {
		constructor(view) {
			this.view = view;
			this.element = element('div', { class: 'timeline-launch', role: 'region', tabindex: -1, hidden: true });
			this.element.addEventListener('keydown', event => this.key(event));
		}

		open(row, i) {
			const { view } = this, name = row.name(i);

			view.launch = { row, i };
			if (name.kernel !== undefined)
				offpeak.select(view.run, name.kernel);
			this.fill(row.lane, i, name);
			row.element.after(this.element);
			this.element.hidden = false;
			view.redraw();
		}

		close() {
			this.view.launch = null;
			this.element.hidden = true;
			this.view.box.focus({ preventScroll: true });
			this.view.redraw();
		}

		// Goes to the launch before or after, and to its time if that is not shown.
		step(by) {
			const { row, i } = this.view.launch, to = i + by, { lane } = row;

			if (to < 0 || to >= lane.starts.length)
				return;
			this.open(row, to);
			this.view.reveal(lane.starts[to], lane.ends[to]);
			this.element.querySelectorAll('.head button')[by < 0 ? 0 : 1].focus();
		}

		key(event) {
			if (event.key !== 'Escape')
				return;
			event.stopPropagation();
			this.close();
		}

		// ---- what is in it

		fill(lane, i, name) {
			const kernel = this.kernelOf(name), several = lane.records[i] > 1;
			const title = several ? plural(lane.records[i], 'record', 's') + ', close to each other; the first: ' + name.label : name.label;

			this.element.setAttribute('aria-label', 'Details of ' + title);
			this.element.replaceChildren(
				element('div', { class: 'head' }, [
					offpeak.timeline.swatch(name.colour),
					element('b', { class: 'mono' }, offpeak.pieces(title)),
					button('‹', 'The one before', () => this.step(-1)), button('›', 'The next one', () => this.step(1)),
					button('Close', 'Close the details (Escape)', () => this.close())]),
				name.full && name.full !== title ? element('p', { class: 'full mono', text: name.full }) : '',
				element('div', { class: 'body' }, [element('div', {}, [
					element('dl', {}, this.facts(lane, i, several ? null : kernel)), this.about(kernel)]),
				this.table(lane, i, kernel)]));
		}

		kernelOf(name) {
			return name.kernel === undefined ? null : offpeak.data(this.view.run, 'kernels').rows[name.kernel];
		}

		facts(lane, i, kernel) {
			const start = lane.starts[i], length = lane.ends[i] - start, { timeText } = offpeak.timeline;
			const shape = lane.records[i] > 1 ? null : this.view.data.shapes[lane.shapes[i] - 1];
			const mean = kernel && kernel.time / kernel.count;
			const [took, usual] = mean ? offpeak.formatLines([length, mean], 'nanosecond') : [timeText(length, Math.max(1, length / 1e4))];

			return [...fact('took', took + (usual ? '; the mean of its kernel is ' + usual : '')),
				...fact('began', timeText(start, Math.max(1, length / 10)) + ' after the beginning'),
				...fact('at', this.view.absolute(start)),
				...fact('where', [this.view.deviceOf(lane).title, lane.title].filter(Boolean).join(', ')),
				...shape ? [...fact('grid', shape.grid), ...fact('block', shape.block),
					...fact('registers', shape.registers ? shape.registers + ' a thread' : ''),
					...fact('shared memory', offpeak.formatLine(shape.shared, 'byte') + ' a block')] : []];
		}

		// The mean of each sampled metric while it ran, and that of its kernel where it is known.
		table(lane, i, kernel) {
			const { track } = this.view.deviceOf(lane), { columns } = this.view.data;
			const [first, end] = track ? track.touching(lane.starts[i], lane.ends[i]) : [0, 0];

			if (first >= end)
				return null;
			const rows = columns.slice(0, MOST_VALUES).map((column, at) => {
				const range = track.range(at, first, end), { scale, unit } = track.metrics[at];
				const cell = value => element('td', { class: 'number', text: value === undefined ? '' : value === null ? 'nan' : offpeak.formatShort(value / scale) });

				return element('tr', {}, [element('th', { scope: 'row', title: offpeak.meaning(column) }, offpeak.pieces(offpeak.words(column))),
					cell(range && range[2]), cell(kernel ? this.usual(kernel, column.name) : undefined), element('td', { class: 'muted', text: unit })]);
			});
			const what = track.fold > 1 ? ['group of samples', 'groups of samples'] : ['sample', 'samples'], known = rows.some(row => /\d/.test(row.children[2].textContent));

			// Where nothing is known of the kernel, the part of kernels says why.
			if (!known)
				rows.forEach(row => row.children[2].replaceChildren());

			return element('table', {}, [element('tr', {}, [
				element('td', { text: 'in the ' + (end - first === 1 ? what[0] : (end - first).toLocaleString('en-US') + ' ' + what[1]) + ' that it touches' }),
				element('th', { class: 'number', text: 'mean' }), element('th', { class: 'number', text: known ? 'of its kernel' : '' }), element('td')]), ...rows]);
		}

		usual(kernel, name) {
			const table = offpeak.data(this.view.run, 'kernels'), at = table.columns.findIndex(column => column.name === name);
			const i = table.rows.indexOf(kernel);

			return at < 0 || i >= table.with_values || !table.values[at].mean ? undefined : table.values[at].mean[i];
		}

		about(kernel) {
			return kernel && element('p', {}, [
				'Its kernel has ' + plural(kernel.count, 'launch', 'es')
					+ (kernel.portion === undefined ? '' : ' and ' + offpeak.formatShort(kernel.portion) + '% of the time') + ': ',
				element('a', { href: '#run-' + this.view.run.number + '-kernel', text: 'all about it' }), '.']);
		}
	}

	Object.assign(offpeak.timeline, { LaunchPanel });
})();
