// What happened over time, unpacked: tracks of samples, whose envelope of any stretch of time is found at once, and
// lanes of what ran. Times are ns from the beginning; lib/series/pack.c has written them.
(function () {
	'use strict';

	const NONE = 65535, HIGHEST = 65534;
	const STEP = 16; // buckets of one level of the pyramid that are one of the next

	async function inflate(bytes) {
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));

		return new Uint8Array(await new Response(stream).arrayBuffer());
	}

	// Numbers of seven bits a byte, from a place on.
	function reader(bytes, at) {
		return {
			next() {
				let number = 0, scale = 1, byte;

				do {
					byte = bytes[at++];
					number += (byte & 127) * scale;
					scale *= 128;
				} while (byte > 127);
				return number;
			},
			signed() {
				const number = this.next();

				return number % 2 ? -(number + 1) / 2 : number / 2;
			},
		};
	}

	// ---- tracks

	// Least, most and mean of all values from one bucket on, before another one; NONE where there is no value. `length`:
	// of buckets, each more than 0, by which means are weighed.
	class Pyramid {
		constructor(least, most, mean, length) {
			this.levels = [{ least, most, mean, length }];
		}

		level(n) {
			while (this.levels.length <= n)
				this.levels.push(coarser(this.levels[this.levels.length - 1]));
			return this.levels[n];
		}

		// Goes up while whole buckets of the next level fit, and takes what is left at both ends: [least, most, mean].
		reduce(from, to, out) {
			out[0] = NONE;
			out[1] = -1;
			out[2] = out[3] = 0;
			for (let level = 0; from < to; level++) {
				const a = Math.ceil(from / STEP), b = Math.floor(to / STEP), buckets = this.level(level);

				if (a >= b) {
					take(buckets, from, to, out);
					break;
				}
				take(buckets, from, a * STEP, out);
				take(buckets, b * STEP, to, out);
				from = a;
				to = b;
			}
			out[2] /= out[3];
		}
	}

	// out[2] is the sum of values, each times its length; out[3] of the lengths.
	function take({ least, most, mean, length }, from, to, out) {
		for (let i = from; i < to; i++) {
			if (least[i] === NONE)
				continue;
			if (least[i] < out[0])
				out[0] = least[i];
			if (most[i] > out[1])
				out[1] = most[i];
			out[2] += mean[i] * length[i];
			out[3] += length[i];
		}
	}

	function coarser(finer) {
		const count = Math.ceil(finer.least.length / STEP), out = [0, 0, 0, 0];
		const least = new Uint16Array(count).fill(NONE), most = new Uint16Array(count);
		const mean = new Float32Array(count), length = new Float32Array(count);

		for (let i = 0; i < count; i++) {
			out[0] = NONE;
			out[1] = out[2] = out[3] = 0;
			take(finer, i * STEP, Math.min((i + 1) * STEP, finer.least.length), out);
			least[i] = out[0];
			most[i] = out[1];
			mean[i] = out[3] ? out[2] / out[3] : 0;
			length[i] = out[3];
		}
		return { least, most, mean, length };
	}

	function unpack(packing, packed) {
		return packed === HIGHEST ? packing.highest : packing.lowest + packed * packing.step;
	}

	// The first of ascending numbers that is more than this one.
	function after(numbers, number) {
		let low = 0, high = numbers.length;

		while (low < high) {
			const middle = (low + high) >> 1;

			if (numbers[middle] > number)
				high = middle;
			else
				low = middle + 1;
		}
		return low;
	}

	class Track {
		constructor(data, bytes) {
			const each = data.fold > 1 ? 3 : 1; // least, most and mean, or one value
			const values = new Uint16Array(bytes.buffer, 0, data.count * data.metrics.length * each);
			const list = n => values.subarray(n * data.count, (n + 1) * data.count);

			Object.assign(this, data);
			this.readTimes(reader(bytes, values.byteLength));
			const lengths = Float32Array.from(this.starts, (start, i) => Math.max(1, this.ends[i] - start));

			this.pyramids = data.metrics.map((metric, i) =>
				new Pyramid(list(each * i), list(each * i + (each > 1)), list(each * i + 2 * (each > 1)), lengths));
		}

		readTimes(numbers) {
			let end = 0, length = 0;

			this.starts = new Float64Array(this.count);
			this.ends = new Float64Array(this.count);
			for (let i = 0; i < this.count; i++) {
				this.starts[i] = end + numbers.signed();
				length += numbers.signed();
				end = this.ends[i] = this.starts[i] + length;
			}
		}

		// For each of so many equal parts of a stretch of time the buckets that touch it: from, and before.
		columns(from, to, count) {
			const first = new Int32Array(count), end = new Int32Array(count), part = (to - from) / count;

			for (let c = 0; c < count; c++) {
				first[c] = after(this.ends, from + c * part);
				end[c] = after(this.starts, from + (c + 1) * part);
			}
			return { first, end };
		}

		// The least, most and mean of a metric in a part as numbers, or null: there is no value.
		range(metric, first, end) {
			const out = [0, 0, 0, 0];

			this.pyramids[metric].reduce(first, end, out);
			return out[1] < 0 ? null : out.slice(0, 3).map(packed => unpack(this.metrics[metric], packed));
		}

		// The buckets that touch a stretch of time.
		touching(from, to) {
			return [after(this.ends, from), after(this.starts, to)];
		}
	}

	// ---- lanes

	class Lane {
		constructor(data, bytes) {
			const count = data.count, next = reader(bytes, data.at);
			let start = 0, busy = 0;

			Object.assign(this, data);
			this.starts = Float64Array.from({ length: count }, () => start += next.next());
			this.ends = this.starts.map(time => time + next.next());
			this.names = Uint32Array.from({ length: count }, () => next.next());
			this.shapes = Uint32Array.from({ length: count }, () => next.next());
			this.records = Uint32Array.from({ length: count }, () => next.next() + 1);
			// Time that was taken before each of them.
			this.busy = this.starts.map((time, i) => {
				const before = busy;

				busy += this.ends[i] - time;
				return before;
			});
			this.total = this.records.reduce((a, b) => a + b, 0);
		}

		first(time) {
			return after(this.ends, time);
		}

		busyUntil(time) {
			const i = after(this.starts, time) - 1;

			return i < 0 ? 0 : this.busy[i] + Math.min(time, this.ends[i]) - this.starts[i];
		}

		// The index of the item that runs at a time, or within some distance of it; -1: none.
		find(time, distance) {
			const i = after(this.ends, time - distance);

			return i < this.starts.length && this.starts[i] <= time + distance ? i : -1;
		}
	}

	// ---- all of a recording

	offpeak.timeline = {
		async load(run) {
			const data = offpeak.data(run, 'timeline');
			const lanes = data.lanes.length ? await inflate(offpeak.bytes(run, 'timeline-lanes')) : null;

			// The page has no room for some names: these are only the numbers of their colours.
			data.names = data.names.map(name => typeof name === 'number' ? { colour: name, name: 'name left out' } : name);
			for (const name of data.names)
				name.label = name.kernel === undefined ? name.name : offpeak.label(run, name.kernel);
			data.lanes = data.lanes.map(lane => new Lane(lane, lanes));
			for (const device of data.devices) {
				device.lanes = device.lanes.map(number => data.lanes[number]);
				if (device.track)
					device.track = new Track(device.track,
						await inflate(offpeak.bytes(run, 'timeline-track-' + device.track.number)));
			}
			return data;
		},
	};
})();
