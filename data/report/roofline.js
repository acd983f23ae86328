// The roofline moves and grows under mouse and keys; a click on a level in its legend hides its marks.
(function () {
	'use strict';

	const element = offpeak.element;
	const MOST = 200;

	function number(node, name) {
		return Number(node.getAttribute(name));
	}

	// "0.02", "5 k", "1.2 T"
	function short(value) {
		const prefixes = ['', ' k', ' M', ' G', ' T', ' P', ' E'];
		let at = 0;

		while (value >= 999.5 && at < 6) {
			value /= 1000;
			at++;
		}
		return Number(value.toPrecision(3)) + prefixes[at];
	}

	// Round numbers between two: powers of ten, and more digits where these are few.
	function ticks(from, to) {
		const decades = Math.log10(to / from), found = [];
		const digits = decades > 3 ? [1] : decades > 0.8 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9];

		for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++)
			for (const digit of digits) {
				const value = digit * Math.pow(10, power);

				if (value >= from && value <= to)
					found.push(value);
			}
		return found;
	}

	function setUp(figure) {
		const svg = figure.querySelector('svg.picture'), field = svg.querySelector('.field');
		const axes = svg.querySelector('.axes'), lines = [...field.querySelectorAll('line')];
		const moving = [...field.querySelectorAll('[data-x]')];
		const box = { x: number(field, 'x'), y: number(field, 'y'), width: number(field, 'width'), height: number(field, 'height') };
		const range = {};
		let view = { scale: 1, x: 0, y: 0 }; // a place p is at p * scale + x, y
		let drag = null;

		for (const name of ['x-from', 'x-to', 'y-from', 'y-to'])
			range[name] = Math.log10(number(axes, 'data-' + name));

		// The value at a place before it moved.
		function valueAt(axis, share) {
			return Math.pow(10, range[axis + '-from'] + share * (range[axis + '-to'] - range[axis + '-from']));
		}

		function drawAxes() {
			const left = (box.x - view.x) / view.scale, right = (box.x + box.width - view.x) / view.scale;
			const top = (box.y - view.y) / view.scale, bottom = (box.y + box.height - view.y) / view.scale;
			const shareX = x => (x - box.x) / box.width, shareY = y => 1 - (y - box.y) / box.height;
			const placeX = value => (box.x + (Math.log10(value) - range['x-from']) / (range['x-to'] - range['x-from']) * box.width) * view.scale + view.x;
			const placeY = value => (box.y + (1 - (Math.log10(value) - range['y-from']) / (range['y-to'] - range['y-from'])) * box.height) * view.scale + view.y;
			const end = box.y + box.height;

			axes.textContent = '';
			for (const value of ticks(valueAt('x', shareX(left)), valueAt('x', shareX(right)))) {
				const x = placeX(value);

				axes.append(element('line', { class: 'grid', x1: x, x2: x, y1: box.y, y2: end }),
					element('text', { class: 'label', x, y: end + 16, 'text-anchor': 'middle', text: short(value) }));
			}
			for (const value of ticks(valueAt('y', shareY(bottom)), valueAt('y', shareY(top)))) {
				const y = placeY(value);

				axes.append(element('line', { class: 'grid', x1: box.x, x2: box.x + box.width, y1: y, y2: y }),
					element('text', { class: 'label', x: box.x - 6, y: y + 4, 'text-anchor': 'end', text: short(value) }));
			}
			axes.append(element('line', { class: 'axis', x1: box.x, x2: box.x + box.width, y1: end, y2: end }),
				element('line', { class: 'axis', x1: box.x, x2: box.x, y1: box.y, y2: end }));
		}

		// Nothing outside of what is drawn is shown.
		function draw() {
			const least = (begin, length) => (begin + length) * (1 - view.scale);

			view.x = Math.min(box.x * (1 - view.scale), Math.max(least(box.x, box.width), view.x));
			view.y = Math.min(box.y * (1 - view.scale), Math.max(least(box.y, box.height), view.y));
			for (const node of moving) {
				const x = number(node, 'data-x'), y = number(node, 'data-y');

				// Names of roofs stay at the right edge.
				const across = node.classList.contains('at-right') ? 0 : x * view.scale + view.x - x;

				node.setAttribute('transform', 'translate(' + across + ' ' + (y * view.scale + view.y - y) + ')');
			}
			for (const line of lines) {
				line.setAttribute('vector-effect', 'non-scaling-stroke');
				line.setAttribute('transform', 'matrix(' + [view.scale, 0, 0, view.scale, view.x, view.y].join(' ') + ')');
			}
			svg.dataset.zoom = view.scale.toFixed(3);
			drawAxes();
		}

		function zoom(factor, x, y) {
			const scale = Math.max(1, Math.min(MOST, view.scale * factor)), by = scale / view.scale;

			view = { scale, x: x - (x - view.x) * by, y: y - (y - view.y) * by };
			draw();
		}

		// From the window's pixels to the picture's.
		function place(event) {
			const matrix = svg.getScreenCTM().inverse();

			return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
		}

		figure.addEventListener('wheel', event => {
			const at = place(event);

			// The page scrolls on, unless the picture is meant: with Ctrl, or after a click into it.
			if (!event.ctrlKey && (document.activeElement !== figure || (event.deltaY > 0 && view.scale === 1)))
				return;
			event.preventDefault();
			zoom(Math.exp(-event.deltaY / 300), at.x, at.y);
		}, { passive: false });
		figure.addEventListener('pointerdown', event => {
			if (event.button === 0 && !event.target.closest('.level'))
				drag = { at: place(event), x: view.x, y: view.y };
		});
		window.addEventListener('pointermove', event => {
			if (!drag)
				return;
			const at = place(event);

			view = { scale: view.scale, x: drag.x + at.x - drag.at.x, y: drag.y + at.y - drag.at.y };
			draw();
		});
		window.addEventListener('pointerup', () => {
			drag = null;
		});
		figure.addEventListener('dblclick', () => {
			view = { scale: 1, x: 0, y: 0 };
			draw();
		});
		figure.addEventListener('keydown', event => {
			const steps = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
			const factors = { '+': 1.4, '=': 1.4, '-': 1 / 1.4, '0': 1e-9 };

			if (event.ctrlKey || event.metaKey || event.altKey)
				return;
			if (factors[event.key]) {
				zoom(factors[event.key], box.x + box.width / 2, box.y + box.height / 2);
			} else if (steps[event.key] && view.scale > 1) {
				view = { scale: view.scale, x: view.x + steps[event.key][0], y: view.y + steps[event.key][1] };
				draw();
			} else {
				return;
			}
			event.preventDefault();
		});

		for (const key of svg.querySelectorAll('.level')) {
			const toggle = () => {
				const off = key.classList.toggle('off');

				key.setAttribute('aria-pressed', String(!off));
				for (const mark of field.querySelectorAll('.mark'))
					if (mark.dataset.level === key.dataset.level)
						mark.classList.toggle('off', off);
			};

			for (const [name, value] of [['tabindex', '0'], ['role', 'button'], ['aria-pressed', 'true']])
				key.setAttribute(name, value);
			key.addEventListener('click', toggle);
			key.addEventListener('keydown', event => {
				if (event.key !== 'Enter' && event.key !== ' ')
					return;
				event.preventDefault();
				toggle();
			});
		}
		svg.dataset.zoom = '1.000';
	}

	function draw(section) {
		for (const figure of section.querySelectorAll('figure.roofline'))
			setUp(figure);
	}

	offpeak.part('roofline', draw);
	offpeak.part('rooflines', draw);
})();
