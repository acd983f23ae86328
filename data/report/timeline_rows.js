// The rows of a timeline: the axis, a plot for each metric, lanes of what ran. dygraphs lays plots out and draws their
// axes and grids; what is between comes from envelopes, so that a frame costs as much as there are pixels.
(function () {
	'use strict';

	const AXIS = 58;      // pixels for the numbers at the left of plots
	const LANE = 22, NAMED = 34, WIDE = 3; // pixels: a lane's height; items with names; items by themselves

	const element = offpeak.element;

	// The page's colours, read once: asking for them takes longer than drawing with them.
	const colours = {};

	function colour(name) {
		if (!colours[name])
			colours[name] = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
		return colours[name];
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
						axisLabelWidth: AXIS, pixelsPerLabel: 26,
						axisLabelFormatter: number => offpeak.digits(number / this.scale),
					},
				},
			});
		}

		// A column of pixels has all from the least to the most of its samples, and a pale one down to 0.
		paint(context, area) {
			const width = Math.max(1, Math.floor(area.w)), [low, high] = this.bounds;
			const columns = this.view.columns(this.track, width), out = [0, 0];
			const pyramid = this.track.pyramids[this.number], { lowest, step } = this.metric;
			const y = value => area.y + area.h * (1 - (value - low) / (high - low));
			const zero = y(0), tops = new Float32Array(width).fill(NaN), bottoms = new Float32Array(width);

			for (let c = 0; c < width; c++) {
				if (columns.first[c] >= columns.end[c])
					continue;
				pyramid.extremes(columns.first[c], columns.end[c], out);
				if (out[1] < 0)
					continue;
				tops[c] = y(lowest + out[1] * step);
				bottoms[c] = y(lowest + out[0] * step);
			}
			context.fillStyle = colour('--c0');
			context.globalAlpha = 0.16;
			for (let c = 0; c < width; c++)
				if (tops[c] <= bottoms[c] && bottoms[c] !== zero)
					context.fillRect(area.x + c, Math.min(bottoms[c], zero), 1, Math.abs(zero - bottoms[c]));
			context.globalAlpha = 1;
			for (let c = 0; c < width; c++)
				if (tops[c] <= bottoms[c])
					context.fillRect(area.x + c, tops[c] - 0.75, 1, bottoms[c] - tops[c] + 1.5);
		}

		// What was measured from one time until another: a value, or the least and the most of several.
		say(from, to) {
			const track = this.track, [first, end] = track.touching(from, to);
			const range = first < end ? track.range(this.number, first, end) : null;
			const text = value => offpeak.digits(value / this.scale);

			this.value.textContent = first >= end ? 'not sampled' : !range ? 'nan'
				: range[0] === range[1] ? text(range[0]) : text(range[0]) + ' to ' + text(range[1]);
		}

		hush() {
			this.value.textContent = '';
		}
	}

	// ---- lanes

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
			const soft = colour('--muted');

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
				const busy = (lane.busyUntil(end) - lane.busyUntil(start)) * scale;
				const height = Math.max(2, Math.min(1, busy) * (LANE - 4));

				context.fillStyle = this.fill(i, soft);
				context.fillRect(area.x + column, LANE - 2 - height, 1, height);
				i = Math.max(i + 1, lane.first(end));
			}
			context.restore();
		}

		fill(i, otherwise) {
			const name = this.view.data.names[this.lane.names[i]], chosen = this.view.kernel;

			if (name.kernel !== undefined && chosen !== null && chosen !== undefined)
				return name.kernel === chosen ? colour('--c1') : colour('--faint');
			return otherwise && name.kernel !== undefined ? otherwise : colour('--c' + name.colour);
		}

		paintItem(context, area, i, x, width) {
			const text = this.view.data.names[this.lane.names[i]].name, records = this.lane.records[i];
			const left = Math.max(x, 0), room = Math.min(x + width, area.w) - left;

			context.fillStyle = this.fill(i);
			context.globalAlpha = this.lane.ranges ? 0.35 : 0.85;
			context.fillRect(area.x + x, 2, Math.max(1, width - (width > 6 ? 1 : 0)), LANE - 4);
			context.globalAlpha = 1;
			if (room < NAMED)
				return;
			context.save();
			context.beginPath();
			context.rect(area.x + left, 0, room - 4, LANE);
			context.clip();
			context.fillStyle = this.lane.ranges ? colour('--text') : colour('--background');
			context.fillText(records > 1 ? records.toLocaleString('en-US') + ' records' : text,
				area.x + left + 4, LANE / 2 + 1);
			context.restore();
		}

		resize() {
			this.old = true;
		}

		// What runs there: its name, when and how long; null: nothing.
		describe(time, pixel) {
			const i = this.lane.find(time, 2 * pixel), lane = this.lane;

			if (i < 0)
				return null;
			const name = this.view.data.names[lane.names[i]], length = lane.ends[i] - lane.starts[i];
			const several = lane.records[i] > 1;

			return {
				kernel: several ? undefined : name.kernel,
				name: several ? lane.records[i].toLocaleString('en-US') + ' records, close to each other; the first: '
					+ name.name : name.full || name.name,
				about: timeText(length, Math.max(1, length / 1e4)) + ', from '
					+ timeText(lane.starts[i], Math.max(1, Math.min(pixel, length) / 10)) + ', '
					+ lane.title,
			};
		}
	}

	Object.assign(offpeak.timeline, { forgetColours, AxisRow, MetricRow, LaneRow, timeText });
})();
