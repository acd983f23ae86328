// A timeline: rows over one axis, which mouse, wheel and keys move together.
(function () {
	'use strict';

	const LEAST = 200; // ns: no window is shorter
	const element = offpeak.element;
	const { forgetColours, AxisRow, MetricRow, LaneRow, LaunchPanel, swatch, timeText } = offpeak.timeline;
	const OTHER = 7; // the colour of what has no separate one

	class View {
		constructor(section, run, data) {
			Object.assign(this, { section, run, data, from: 0, to: data.length, rows: [], kernel: run.kernel, launch: null });
			this.shown = this.ranTogether() ? -1 : 0;
			this.showAll();
			this.box = element('div', {
				class: 'timeline-view panel', tabindex: '0', role: 'application',
				'aria-label': 'Timeline: arrow keys move, plus and minus zoom, 0 shows all',
			});
			this.cursor = element('div', { class: 'timeline-cursor', hidden: true });
			this.chosen = element('div', { class: 'timeline-chosen', hidden: true });
			this.tip = element('div', { class: 'timeline-tip', hidden: true });
			this.where = element('div', { class: 'where', 'aria-live': 'polite' });
			this.panel = new LaunchPanel(this);
			section.append(this.tools(), this.legend(), this.box, element('p', { class: 'timeline-keys' }, keys()));
			this.watcher = new IntersectionObserver(entries => this.look(entries), { rootMargin: '200px' });
			this.fill();
			this.listen();
		}

		// ---- what is there

		tools() {
			const button = (text, title, act) => {
				const made = element('button', { type: 'button', text, title, 'aria-label': title });

				made.addEventListener('click', act);
				return made;
			};

			return element('div', { class: 'timeline-tools' }, [
				this.data.devices.length > 1 ? this.chooser() : null,
				this.data.columns.length > 12 ? this.search() : null,
				button('−', 'Zoom out', () => this.zoom(2)),
				button('+', 'Zoom in', () => this.zoom(0.5)),
				button('All', 'Show all', () => this.showAll()),
				this.where,
			]);
		}

		chooser() {
			const select = element('select', { 'aria-label': 'GPU' }, [
				element('option', { value: -1, text: 'all, one below the other' }),
				...this.data.devices.map((device, i) => element('option', { value: i, text: device.title })),
			]);

			select.value = this.shown;
			select.addEventListener('change', () => {
				this.chooseDevice(Number(select.value));
			});
			return select;
		}

		// A stretch of time that one has zoomed to stays, if the other GPU has anything in it.
		chooseDevice(number) {
			const before = this.span(), whole = this.from <= before.first && this.to >= before.last;

			this.shown = number;
			const { first, last } = this.span();

			if (whole || this.to <= first || this.from >= last)
				this.showAll();
			else
				this.show(this.from, this.to);
			this.fill();
		}

		// The kernels that took most time, each in its colour, and what the other colours are.
		legend() {
			const { names } = this.data, own = names.filter(name => name.kernel !== undefined && name.colour !== OTHER);
			const keys = own.sort((a, b) => a.kernel - b.kernel).map(name => {
				const key = element('button', { type: 'button', class: 'quiet', 'data-kernel': name.kernel, title: name.full || name.name },
					[swatch(name.colour), element('span', { text: name.label })]);

				key.addEventListener('click', () => offpeak.select(this.run, name.kernel));
				return key;
			});
			const others = [['other kernels, copies', name => name.colour === OTHER], ['NVTX ranges', name => name.colour === 3]]
				.map(([text, is]) => ({ text, found: names.find(is) })).filter(other => other.found)
				.map(({ text, found }) => element('span', {}, [swatch(found.colour), text]));

			return element('div', { class: 'timeline-legend', role: 'group', 'aria-label': 'Colours of kernels', hidden: !names.length }, [...keys, ...others]);
		}

		search() {
			const field = element('input', { type: 'search', placeholder: 'Metrics', 'aria-label': 'Metrics with this in their names' });

			field.addEventListener('input', () => {
				const wanted = field.value.toLowerCase();

				for (const row of this.rows)
					if (row.metric)
						row.element.hidden = !this.data.columns[row.number].name.toLowerCase().includes(wanted);
			});
			return field;
		}

		fill() {
			for (const row of this.rows)
				if (row.graph)
					row.graph.destroy();
			this.watcher.disconnect();
			this.axis = new AxisRow(this);
			this.rows = [this.axis];
			this.launch = null;
			this.panel.element.hidden = true;
			this.box.replaceChildren(element('div', { class: 'timeline-head' }, [this.axis.element]));
			this.box.classList.toggle('several', this.data.devices.length > 1 && this.shown < 0);
			this.data.devices.forEach((device, i) => {
				if (this.shown < 0 || this.shown === i)
					this.addDevice(device);
			});
			this.box.append(this.cursor, this.chosen, this.tip);
			this.redraw();
		}

		addDevice(device) {
			const group = element('div', { class: 'timeline-group', role: 'group', 'aria-label': device.title },
				[this.data.devices.length > 1 ? element('h3', { text: device.title }) : null]);

			this.box.append(group);
			for (const lane of device.lanes)
				this.add(group, new LaneRow(this, lane));
			for (let i = 0; device.track && i < this.data.columns.length; i++)
				this.add(group, new MetricRow(this, device.track, i));
		}

		add(group, row) {
			this.rows.push(row);
			group.append(row.element);
			row.element.timelineRow = row;
			this.watcher.observe(row.element);
		}

		// ---- drawing

		area() {
			return this.axis.area();
		}

		// Rows of one track share what is in each column of pixels.
		columns(track, width) {
			const key = this.from + ' ' + this.to + ' ' + width;

			if (track.key !== key)
				track.last = track.columns(this.from, this.to, width);
			track.key = key;
			return track.last;
		}

		look(entries) {
			for (const entry of entries)
				entry.target.timelineRow.seen = entry.isIntersecting;
			this.plan();
		}

		redraw() {
			for (const row of this.rows)
				row.old = true;
			this.plan();
		}

		plan() {
			if (!this.planned)
				this.planned = requestAnimationFrame(() => this.draw());
		}

		draw() {
			this.planned = 0;
			for (const row of this.rows) {
				if (!row.old || !(row.seen || this.printing))
					continue;
				row.draw();
				row.old = false;
			}
			this.say();
		}

		// Whether all GPUs have times in common: recordings of different days do not.
		ranTogether() {
			const spans = this.data.devices.map(device => this.spanOf(device));

			return spans.length < 2 || Math.max(...spans.map(span => span.first)) < Math.min(...spans.map(span => span.last));
		}

		deviceOf(lane) {
			return this.data.devices.find(device => device.lanes.includes(lane));
		}

		// From the first to the last sample or launch of the GPU that is shown: others may be of another day.
		span() {
			return this.spanOf(this.data.devices[this.shown]);
		}

		spanOf(device) {
			const known = device ? [device.lanes.filter(lane => !lane.ranges).concat(device.track || []), device.lanes] : [];
			const parts = known.map(list => list.filter(part => part.starts.length)).find(list => list.length);

			if (!parts)
				return { first: 0, last: this.data.length };
			const first = Math.min(...parts.map(part => part.starts[0]));

			return { first, last: Math.max(first + 1, ...parts.map(part => part.ends[part.ends.length - 1])) };
		}

		showAll() {
			const { first, last } = this.span();

			this.show(first, last);
		}

		show(from, to) {
			const { first, last } = this.span();
			const length = Math.min(Math.max(to - from, LEAST), last - first);
			const start = Math.min(Math.max(from, first), last - length);

			this.from = start;
			this.to = start + length;
			this.redraw();
		}

		// Moves as far as needed to show this time.
		reveal(start, end) {
			const length = Math.max(this.to - this.from, 2 * (end - start)), middle = (start + end) / 2;

			if (start < this.from || end > this.to)
				this.show(middle - length / 2, middle + length / 2);
		}

		zoom(factor, at) {
			const centre = at === undefined ? (this.from + this.to) / 2 : at;

			this.show(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor);
		}

		move(share) {
			const by = (this.to - this.from) * share;

			this.show(this.from + by, this.to + by);
		}

		// ---- words

		say() {
			const step = (this.to - this.from) / 1000, { time } = this;
			const window = (this.from ? timeText(this.from, step) : '0') + ' to ' + timeText(this.to, step) + ', '
				+ timeText(this.to - this.from, Math.max(1, (this.to - this.from) / 1e4)) + ' long';

			this.where.textContent = time === undefined ? window
				: timeText(time, Math.max(1, step / 10)) + ', ' + this.absolute(time);
		}

		// Host time where that is known, with all digits.
		absolute(time) {
			const ns = BigInt(this.data.base) + BigInt(Math.round(time));

			if (!this.data.host)
				return 'GPU clock ' + ns + ' ns';
			return new Date(Number(ns / 1000000n)).toISOString().slice(0, 19).replace('T', ' ')
				+ '.' + String(ns % 1000000000n).padStart(9, '0') + ' UTC';
		}

		// ---- mouse and keys

		timeAt(event) {
			const area = this.area(), left = this.axis.plot.getBoundingClientRect().left + area.x;
			const x = Math.min(Math.max(event.clientX - left, 0), area.w);

			return this.from + x / area.w * (this.to - this.from);
		}

		xOf(time) {
			const area = this.area(), box = this.box.getBoundingClientRect();

			return this.axis.plot.getBoundingClientRect().left - box.left - this.box.clientLeft + area.x
				+ (time - this.from) / (this.to - this.from) * area.w;
		}

		isOverPlot(event) {
			const target = event.target instanceof Element && event.target.closest('.plot');

			return target && this.box.contains(target) ? target.parentElement : null;
		}

		hover(event) {
			const over = this.isOverPlot(event);

			if (!over)
				return this.leave();
			const pixel = (this.to - this.from) / this.area().w;

			this.time = this.timeAt(event);
			this.cursor.hidden = false;
			this.cursor.style.left = this.xOf(this.time) + 'px';
			for (const row of this.rows)
				if (row.say && row.seen)
					row.say(this.time - pixel / 2, this.time + pixel / 2);
			this.explain(over.timelineRow, event, pixel);
			this.say();
		}

		explain(row, event, pixel) {
			const found = row && row.describe ? row.describe(this.time, pixel) : null;
			const box = this.box.getBoundingClientRect();

			this.tip.hidden = !found;
			this.box.style.cursor = '';
			if (!found)
				return;
			this.tip.replaceChildren(element('span', { text: found.name }),
				element('span', { class: 'muted', text: found.about }));
			this.tip.style.left = Math.min(event.clientX - box.left + 14, box.width - this.tip.offsetWidth - 8) + 'px';
			this.tip.style.top = event.clientY - box.top + 18 + 'px';
		}

		leave() {
			this.time = undefined;
			this.cursor.hidden = this.tip.hidden = true;
			for (const row of this.rows)
				if (row.hush)
					row.hush();
			this.say();
		}

		press(event) {
			if (event.button !== 0 && event.button !== 1 || !this.isOverPlot(event))
				return;
			this.drag = {
				x: event.clientX, start: this.timeAt(event), from: this.from, to: this.to,
				pan: event.shiftKey || event.button === 1,
			};
			this.box.setPointerCapture(event.pointerId);
			this.box.focus({ preventScroll: true });
			event.preventDefault();
		}

		pull(event) {
			const { drag } = this;

			drag.far = drag.far || Math.abs(event.clientX - drag.x) > 4;
			if (!drag.far)
				return;
			if (drag.pan) {
				const by = (drag.x - event.clientX) / this.area().w * (drag.to - drag.from);

				this.show(drag.from + by, drag.to + by);
				return;
			}
			const [a, b] = [drag.start, this.timeAt(event)].sort((x, y) => x - y);

			this.chosen.hidden = false;
			this.chosen.style.left = this.xOf(a) + 'px';
			this.chosen.style.width = this.xOf(b) - this.xOf(a) + 'px';
		}

		release(event) {
			const { drag } = this;

			this.drag = null;
			this.chosen.hidden = true;
			if (!drag.far)
				this.choose(event);
			else if (!drag.pan)
				this.show(...[drag.start, this.timeAt(event)].sort((x, y) => x - y));
		}

		// The details of the launch that was clicked on open.
		choose(event) {
			const under = document.elementFromPoint(event.clientX, event.clientY);
			const line = under && under.closest('.timeline-row');
			const found = line && line.timelineRow && line.timelineRow.describe
				&& line.timelineRow.describe(this.timeAt(event), (this.to - this.from) / this.area().w);

			if (found)
				this.panel.open(line.timelineRow, found.i);
		}

		// The details of the launch at the mouse or in the middle open, or of the next one, and have the focus.
		enter() {
			const time = this.time === undefined ? (this.from + this.to) / 2 : this.time;
			const lanes = this.rows.filter(row => row.lane && row.lane.starts.length), row = lanes.find(lane => !lane.lane.ranges) || lanes[0];

			if (!row)
				return;
			const i = Math.min(row.lane.first(time), row.lane.starts.length - 1);

			this.panel.open(row, i);
			this.reveal(row.lane.starts[i], row.lane.ends[i]);
			this.panel.element.focus();
		}

		wheel(event) {
			const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);

			if (!this.isOverPlot(event) || !(event.ctrlKey || event.metaKey || event.shiftKey || sideways))
				return;
			event.preventDefault();
			if (event.ctrlKey || event.metaKey)
				this.zoom(Math.pow(1.002, Math.max(-200, Math.min(200, event.deltaY))), this.timeAt(event));
			else
				this.move((sideways ? event.deltaX : event.deltaY) / this.area().w);
			this.hover(event);
		}

		key(event) {
			const acts = {
				ArrowLeft: () => this.move(event.shiftKey ? -0.5 : -0.1),
				ArrowRight: () => this.move(event.shiftKey ? 0.5 : 0.1),
				'+': () => this.zoom(0.5, this.time), '=': () => this.zoom(0.5, this.time),
				'-': () => this.zoom(2, this.time), '_': () => this.zoom(2, this.time),
				'0': () => this.showAll(), Home: () => this.showAll(),
				Enter: () => this.enter(),
			};

			if (event.key === 'Escape' && this.launch)
				this.panel.close();
			if (event.target !== this.box || !acts[event.key] || event.ctrlKey || event.metaKey || event.altKey)
				return;
			event.preventDefault();
			event.stopPropagation();
			acts[event.key]();
		}

		listen() {
			this.box.addEventListener('pointerdown', event => this.press(event));
			this.box.addEventListener('pointermove', event => this.drag ? this.pull(event) : this.hover(event));
			this.box.addEventListener('pointerup', event => this.drag && this.release(event));
			this.box.addEventListener('pointercancel', () => { this.drag = null; this.chosen.hidden = true; });
			this.box.addEventListener('pointerleave', () => this.drag || this.leave());
			this.box.addEventListener('dblclick', event => this.isOverPlot(event) && this.showAll());
			this.box.addEventListener('wheel', event => this.wheel(event), { passive: false });
			this.box.addEventListener('keydown', event => this.key(event));
			document.addEventListener('theme', () => {
				forgetColours();
				this.redraw();
			});
			document.addEventListener('kernel', event => {
				this.kernel = event.detail.run === this.run.number ? event.detail.kernel : this.kernel;
				this.redraw();
			});
			new ResizeObserver(() => this.resize()).observe(this.box);
			addEventListener('beforeprint', () => this.print(true));
			addEventListener('afterprint', () => this.print(false));
		}

		resize() {
			const width = this.box.clientWidth;

			if (width === this.width || !width)
				return;
			this.width = width;
			for (const row of this.rows)
				row.resize();
			this.plan();
		}

		// On paper is all of it, and all of its rows.
		print(begins) {
			if (begins)
				this.before = [this.from, this.to];
			this.printing = begins;
			if (begins)
				this.showAll();
			else
				this.show(...this.before);
			this.draw();
		}
	}

	function keys() {
		const key = text => element('kbd', { text });

		return [
			'Drag to zoom into a stretch of time, with ', key('Shift'), ' to move; ', key('Ctrl'),
			' and the wheel zooms; ', key('←'), ' ', key('→'), ' move, ', key('+'), ' ', key('−'), ' zoom, ',
			key('0'), ' or a double click shows all. A click on a launch, or ', key('Enter'), ', shows its details, and underlines all',
			' launches of its kernel.',
		];
	}

	offpeak.part('timeline', async (section, run) => {
		const waiting = element('p', { class: 'muted', text: 'Unpacking…' });

		section.append(waiting);
		const data = await offpeak.timeline.load(run);

		waiting.remove();
		run.timeline = new View(section, run, data);
		section.dataset.ready = 'yes';
	});
})();
