// The rows of a timeline: the axis, a plot for each metric, lanes of what ran. dygraphs lays plots out and draws their
// axes and grids; what is between comes from envelopes, so that a frame costs as much as there are pixels.
(function () {
	'use strict';

	const AXIS = 58;      // pixels for the numbers at the left of plots
	const LANE = 24, BAR = 17, LEAST = 24, CUT = 40, WIDE = 3; // pixels: a lane's and a bar's height; room for names, and for parts of them; items by themselves
	const LOOK = 64; // items of a column of pixels among which the longest is looked for

	const element = offpeak.element;

	// The page's colours, read once: asking for them takes longer than drawing with them.
	const colours = {};

	function colour(name) {
		if (!colours[name])
			colours[name] = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
		return colours[name];
	}

	function light(hex) {
		const part = at => parseInt(hex.slice(at, at + 2), 16) / 255, line = v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;

		return 0.2126 * line(part(1)) + 0.7152 * line(part(3)) + 0.0722 * line(part(5));
	}

	// Black or white on a colour: the one with more contrast has more than 4.5:1.
	function inkOn(hex) {
		return light(hex) > 0.179 ? '#000' : '#fff';
	}

	function swatch(number) {
		return element('svg', { viewBox: '0 0 10 10', class: 'swatch', 'aria-hidden': 'true' }, [element('rect', { width: 10, height: 10, rx: 2, fill: 'var(--c' + number + ')' })]);
	}

	function forgetColours() {
		for (const name of Object.keys(colours))
			delete colours[name];
	}

	// ---- time

	// As exactly as a step of so many ns can be seen.
	function timeText(time, step) {
		const [scale, name] = offpeak.scale(Math.max(Math.abs(time), step), 'nanosecond');
		const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / scale) - 1e-9)));

		return (time / scale).toFixed(digits) + ' ' + name;
	}

	function niceStep(least) {
		const power = Math.pow(10, Math.floor(Math.log10(least)));

		return [1, 2, 5, 10].map(n => n * power).find(step => step >= least * 0.999);
	}

	function timeTicks(from, to, pixels) {
		const step = Math.max(1, niceStep((to - from) * 120 / Math.max(pixels, 120))), ticks = [];

		for (let v = Math.ceil(from / step) * step; v <= to; v += step)
			ticks.push({ v, label: v === 0 ? '0' : timeText(v, step) });
		return ticks;
	}

	// ---- rows

	function row(kind, name) {
		const plot = element('div', { class: 'plot' });

		return { plot, element: element('div', { class: 'timeline-row ' + kind }, [name, plot]) };
	}

	// Names of metrics are long words: lines end after their parts.
	function named(name) {
		const made = element('b');

		for (const part of name.match(/[^_.]*[_.]*/g))
			made.append(part, document.createElement('wbr'));
		return made;
	}

	function chart(plot, view, options) {
		// Legends are written with styles of their own, which the page's policy refuses.
		Dygraph.PLUGINS = [Dygraph.Plugins.Axes, Dygraph.Plugins.Grid];
		return new Dygraph(plot, [[0, 0], [view.data.length, 0]], Object.assign({
			labels: ['time', 'value'],
			dateWindow: [view.from, view.to],
			interactionModel: {},
			legend: 'never',
			showLabelsOnHighlight: false,
			highlightCircleSize: 0,
			plotter: () => {},
			rightGap: 12,
			axisLabelFontSize: 11,
			axisLineColor: 'transparent',
			gridLineColor: colour('--line'),
		}, options));
	}

	// What all rows share: `graph`, where there is one, is made when the row is first seen.
	class Row {
		constructor(view, kind, name) {
			Object.assign(this, row(kind, name), { view, seen: false, old: true });
		}

		draw() {
			if (!this.graph)
				this.graph = this.make();
			else
				this.graph.updateOptions({
					dateWindow: [this.view.from, this.view.to], gridLineColor: colour('--line'),
				});
		}

		resize() {
			if (this.graph)
				this.graph.resize();
			this.old = true;
		}
	}

	class AxisRow extends Row {
		constructor(view) {
			super(view, 'axis', element('div', { class: 'name muted', text: 'time since the beginning' }));
			this.seen = true;
		}

		make() {
			return chart(this.plot, this.view, {
				valueRange: [0, 1],
				axes: {
					x: { ticker: timeTicks, axisLabelWidth: 110, drawGrid: false },
					y: { axisLabelWidth: AXIS, axisLabelFormatter: () => '', drawGrid: false },
				},
				xAxisHeight: 20,
			});
		}

		// Where plots are in their rows.
		area() {
			return this.graph.getArea();
		}
	}

	// ---- a metric

	class MetricRow extends Row {
		constructor(view, track, number) {
			const metric = track.metrics[number], about = view.data.columns[number];
			const value = element('span', { class: 'value' });
			const { unit } = metric;

			super(view, 'metric', element('div', { class: 'name', title: offpeak.meaning(about) }, [
				named(offpeak.words(about)),
				element('span', { class: 'unit', text: unit }),
				metric.missing ? element('span', { class: 'unit', text: (unit ? ', ' : '')
					+ (metric.missing === track.samples ? 'nan in all samples'
						: 'nan in ' + metric.missing.toLocaleString('en-US') + ' samples') }) : null,
				value,
			]));
			Object.assign(this, { track, number, metric, value, scale: metric.scale, bounds: [metric.from, metric.to] });
		}

		make() {
			return chart(this.plot, this.view, {
				valueRange: this.bounds,
				plotter: e => this.paint(e.drawingContext, e.plotArea),
				axes: {
					x: { ticker: timeTicks, drawAxis: false },
					y: {
						axisLabelWidth: AXIS, pixelsPerLabel: 20,
						axisLabelFormatter: number => offpeak.digits(number / this.scale),
					},
				},
			});
		}

		// A column of pixels has the mean of its samples over all from their least to their most.
		paint(context, area) {
			const width = Math.max(1, Math.floor(area.w)), [low, high] = this.bounds;
			const columns = this.view.columns(this.track, width), out = [0, 0, 0, 0];
			const pyramid = this.track.pyramids[this.number], { lowest, step } = this.metric;
			// A line at the end of the axis is inside, too.
			const y = value => area.y + 1 + (area.h - 2) * (1 - (lowest + value * step - low) / (high - low));
			let drawn = false; // whether the line goes on

			context.fillStyle = context.strokeStyle = colour('--c0');
			context.globalAlpha = 0.3;
			context.beginPath();
			for (let c = 0; c < width; c++) {
				out[1] = -1;
				if (columns.first[c] < columns.end[c])
					pyramid.reduce(columns.first[c], columns.end[c], out);
				if (out[1] < 0) {
					drawn = false;
					continue;
				}
				const top = y(out[1]), mean = y(out[2]);

				context.fillRect(area.x + c, top - 0.5, 1, y(out[0]) - top + 1);
				if (!drawn)
					context.moveTo(area.x + c, mean);
				context.lineTo(area.x + c + 0.5, mean);
				if (c + 1 === width || columns.first[c + 1] >= columns.end[c + 1])
					context.lineTo(area.x + c + 1, mean);
				drawn = true;
			}
			context.globalAlpha = 1;
			context.lineWidth = 1.4;
			context.lineJoin = 'round';
			context.stroke();
		}

		// What was measured from one time until another: a value, or the mean, the least and the most of several.
		say(from, to) {
			const track = this.track, [first, end] = track.touching(from, to);
			const range = first < end ? track.range(this.number, first, end) : null;
			const text = value => offpeak.formatShort(value / this.scale);

			this.value.textContent = first >= end ? 'not sampled' : !range ? 'nan'
				: range[0] === range[1] ? offpeak.digits(range[0] / this.scale) : text(range[2]) + ' (' + text(range[0]) + ' to ' + text(range[1]) + ')';
		}

		hush() {
			this.value.textContent = '';
		}
	}

	// ---- lanes

	// The text, or as much of its beginning as there is room for.
	function fit(context, text, room) {
		const width = context.measureText(text).width;

		if (width <= room || room < CUT)
			return width <= room ? text : '';
		let count = Math.floor(text.length * room / width);

		while (count > 0 && context.measureText(text.slice(0, count) + '…').width > room)
			count--;
		return count > 1 ? text.slice(0, count).replace(/…+$/, '') + '…' : '';
	}

	class LaneRow extends Row {
		constructor(view, lane) {
			super(view, 'lane', element('div', { class: 'name' }, [
				element('b', { text: lane.title, title: lane.title }),
				element('span', { class: 'unit', text: lane.total.toLocaleString('en-US') }),
			]));
			this.lane = lane;
			this.canvas = element('canvas');
			this.plot.append(this.canvas);
		}

		draw() {
			const ratio = window.devicePixelRatio || 1, width = this.plot.clientWidth;
			const context = this.canvas.getContext('2d');

			if (this.canvas.width !== Math.round(width * ratio)) {
				this.canvas.width = Math.round(width * ratio);
				this.canvas.height = Math.round(LANE * ratio);
				this.canvas.style.width = width + 'px';
				this.canvas.style.height = LANE + 'px';
			}
			context.setTransform(ratio, 0, 0, ratio, 0, 0);
			context.clearRect(0, 0, width, LANE);
			this.paint(context, this.view.area());
		}

		// Items that are wide enough by themselves; of the others, in a column of pixels, how busy the lane was.
		paint(context, area) {
			const { from, to } = this.view, lane = this.lane, scale = area.w / (to - from);

			context.save();
			context.beginPath();
			context.rect(area.x, 0, area.w, LANE);
			context.clip();
			context.font = '11px system-ui, sans-serif';
			context.textBaseline = 'middle';
			for (let i = lane.first(from); i < lane.starts.length && lane.starts[i] < to;) {
				const x = (lane.starts[i] - from) * scale, width = (lane.ends[i] - lane.starts[i]) * scale;

				if (width >= WIDE) {
					this.paintItem(context, area, i++, x, width);
					continue;
				}
				const column = Math.max(0, Math.floor(x)), start = from + column / scale, end = start + 1 / scale;
				const next = Math.max(i + 1, lane.first(end));

				this.paintColumn(context, area.x + column, this.longest(i, next), (lane.busyUntil(end) - lane.busyUntil(start)) * scale);
				i = next;
			}
			this.frame(context, area, scale);
			context.restore();
		}

		paintColumn(context, x, i, busy) {
			const height = Math.max(2, Math.min(1, busy) * BAR);

			context.fillStyle = this.fill(i);
			context.fillRect(x, 1 + BAR - height, 1, height);
			this.underline(context, x, i, 1);
		}

		// The item among several that took most time gives their column its colour.
		longest(from, to) {
			const { starts, ends } = this.lane;
			let found = from;

			for (let i = from + 1; i < Math.min(to, from + LOOK); i++)
				if (ends[i] - starts[i] > ends[found] - starts[found])
					found = i;
			return found;
		}

		name(i) {
			return this.view.data.names[this.lane.names[i]];
		}

		fill(i) {
			return colour('--c' + this.name(i).colour);
		}

		// Launches of the chosen kernel have a line below.
		underline(context, x, i, width) {
			const { kernel } = this.name(i);

			if (kernel === undefined || kernel !== this.view.kernel)
				return;
			context.fillStyle = colour('--text');
			context.fillRect(x, BAR + 3, width, 2);
		}

		// The launch whose details are open has a frame.
		frame(context, area, scale) {
			const { launch, from } = this.view, lane = this.lane;

			if (!launch || launch.row !== this)
				return;
			context.strokeStyle = colour('--text');
			context.lineWidth = 2;
			context.strokeRect(area.x + (lane.starts[launch.i] - from) * scale, 1,
				Math.max(2, (lane.ends[launch.i] - lane.starts[launch.i]) * scale), BAR);
		}

		// Bars of ranges are pale, so that what ran stands out.
		paintItem(context, area, i, x, width) {
			const records = this.lane.records[i], left = Math.max(x, 0), room = Math.min(x + width, area.w) - left, bar = Math.max(1, width - (width > 6 ? 1 : 0));

			context.fillStyle = this.fill(i);
			context.globalAlpha = this.lane.ranges ? 0.35 : 1;
			context.fillRect(area.x + x, 1, bar, BAR);
			context.globalAlpha = 1;
			this.underline(context, area.x + x, i, bar);
			if (room < LEAST)
				return;
			context.fillStyle = this.lane.ranges ? colour('--text') : inkOn(this.fill(i));
			context.fillText(fit(context, records > 1 ? records.toLocaleString('en-US') + ' records' : this.name(i).label, room - 9),
				area.x + left + 4, 1.5 + BAR / 2);
		}

		resize() {
			this.old = true;
		}

		// What runs there: its number, its name, when and how long; null: nothing.
		describe(time, pixel) {
			const i = this.lane.find(time, 2 * pixel), lane = this.lane;

			if (i < 0)
				return null;
			const name = this.name(i), length = lane.ends[i] - lane.starts[i];

			return {
				i,
				name: lane.records[i] > 1 ? lane.records[i].toLocaleString('en-US') + ' records, close to each other; the first: '
					+ name.name : name.full || name.name,
				about: timeText(length, Math.max(1, length / 1e4)) + ', from '
					+ timeText(lane.starts[i], Math.max(1, Math.min(pixel, length) / 10)) + ', '
					+ lane.title,
			};
		}
	}

	Object.assign(offpeak.timeline, { forgetColours, swatch, AxisRow, MetricRow, LaneRow, timeText });
})();
