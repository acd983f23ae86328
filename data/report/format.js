// Numbers for people: five digits at most, and a unit that makes them short. null is nan, and stays visible.
(function () {
	'use strict';

	function digits(value) {
		const size = Math.abs(value);

		if (value === 0)
			return '0';
		if (size >= 1e6 || size < 1e-4)
			return value.toExponential(3).replace('e+', 'e');
		return value.toLocaleString('en-US', { maximumSignificantDigits: 5, maximumFractionDigits: 6 });
	}

	// Three digits, for percentages.
	function short(value) {
		return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
	}

	let units; // by name the multiples of each: from which number on, divisor, unit

	function scaleOf(size, unit) {
		units = units || JSON.parse(document.getElementById('units').textContent);
		return units[unit || ''].filter(multiple => size >= multiple[0]).pop().slice(1);
	}

	function mostOf(values) {
		return values.reduce((a, v) => v === null || v === undefined ? a : Math.max(a, Math.abs(v)), 0);
	}

	// Text and unit of one value. `size`: of those whose unit it shares.
	function format(value, unit, size) {
		if (value === null || value === undefined)
			return { text: 'nan', unit: scaleOf(0, unit)[1] };
		const [scale, name] = scaleOf(size === undefined ? Math.abs(value) : size, unit);

		return { text: digits(value / scale), unit: name };
	}

	function line(value, unit, size) {
		const made = format(value, unit, size);

		return made.unit === '%' ? made.text + '%' : (made.text + ' ' + made.unit).trim();
	}

	// Three digits and a unit.
	function brief(value, unit) {
		const [scale, name] = scaleOf(Math.abs(value), unit);

		return (Number((value / scale).toPrecision(3)).toLocaleString('en-US') + ' ' + name).trim();
	}

	// Values that are compared, in one unit.
	function lines(values, unit) {
		return values.map(value => line(value, unit, mostOf(values)));
	}

	// For a column of numbers: one unit, and as many decimals in each. `beside`: numbers whose unit they share.
	function column(values, unit, beside) {
		const most = mostOf(values), [scale, name] = scaleOf(beside && mostOf(beside) || most, unit);
		const places = most > 0 ? Math.max(0, Math.min(4, 3 - Math.floor(Math.log10(most / scale)))) : 0;
		const whole = values.every(v => !v || Number.isInteger(v / scale));
		const style = { minimumFractionDigits: whole ? 0 : places, maximumFractionDigits: whole ? 0 : places };

		function text(value) {
			if (value === null || value === undefined)
				return 'nan';
			if (value !== 0 && Math.abs(value / scale) < 0.5 * 10 ** -style.maximumFractionDigits)
				return (value / scale).toPrecision(2);
			return (value / scale).toLocaleString('en-US', style);
		}
		return { unit: name, text };
	}

	// What tables call a metric, and what they say about it.
	function words(column) {
		return column.words || column.name;
	}

	function meaning(column) {
		return column.name + (column.about ? ': ' + column.about : '');
	}

	Object.assign(window.offpeak, { words, meaning, digits, format, scale: scaleOf, formatLine: line, formatLines: lines, formatColumn: column, formatShort: short, formatBrief: brief });
})();
