// A sorted table of many rows, of which only those in view are made: source lines, or instructions.
(function () {
	'use strict';

	const { element } = offpeak;
	const ROW = 22, BEYOND = 12; // pixels; rows above and below what is in view

	function isMissing(value) {
		return value === null || value === undefined || Number.isNaN(value);
	}

	// Columns: {title, get(row), cell(row), number, about}. The first one is the rows' own order.
	class Pane {
		constructor(kind, label, listener) {
			Object.assign(this, { listener, columns: [], order: [], places: [], selected: -1, linked: () => false, made: new Map() });
			this.head = element('thead');
			this.body = element('tbody');
			this.frame = element('div', { class: 'panel scroll pane ' + kind, tabindex: 0, role: 'group', 'aria-label': label }, [
				element('table', { class: 'rows' }, [this.head, this.body])]);
			new ResizeObserver(() => this.drawRows()).observe(this.frame);
			this.frame.addEventListener('scroll', () => this.drawRows(), { passive: true });
			this.frame.addEventListener('keydown', event => this.key(event));
			this.body.addEventListener('click', event => this.withRow(event, row => this.listener.select(row)));
			this.body.addEventListener('mouseover', event => this.withRow(event, row => this.listener.hover(row)));
			this.body.addEventListener('mouseleave', () => this.listener.hover(-1));
		}

		withRow(event, act) {
			const row = event.target.closest('tr[data-row]');

			if (row)
				act(Number(row.dataset.row));
		}

		// `rows`: the numbers of those that a search accepts, in their own order.
		fill(columns, rows) {
			this.columns = columns;
			this.rows = rows;
			this.selected = -1;
			this.sort = 0;
			this.down = false;
			this.arrange();
			this.frame.scrollTop = 0;
		}

		filter(rows) {
			this.rows = rows;
			this.arrange();
		}

		arrange() {
			const { get } = this.columns[this.sort], turn = this.down ? -1 : 1;

			this.order = this.rows.slice();
			if (this.sort || this.down)
				this.order.sort((a, b) => {
					const x = get(a), y = get(b);

					if (isMissing(x) || isMissing(y))
						return isMissing(x) - isMissing(y) || a - b;
					return turn * (typeof x === 'string' ? x.localeCompare(y) : x - y) || a - b;
				});
			this.places = new Map(this.order.map((row, place) => [row, place]));
			this.drawHead();
			this.drawRows(true);
		}

		drawHead() {
			this.head.replaceChildren(element('tr', {}, this.columns.map((column, at) => {
				const button = element('button', { type: 'button', class: 'sort' }, [element('span', { text: column.title })]);

				button.addEventListener('click', () => this.sortBy(at));
				return element('th', { class: column.kind, scope: 'col', title: column.about,
					'aria-sort': this.sort === at ? (this.down ? 'descending' : 'ascending') : null }, [button]);
			})));
		}

		// As in the table of kernels, except that the first column gives the rows' own order again.
		sortBy(at) {
			this.down = this.sort === at ? !this.down : at > 0 && !this.columns[at].text;
			this.sort = at;
			this.arrange();
			this.show(this.selected);
		}

		space(rows) {
			const row = element('tr', { class: 'space', 'aria-hidden': 'true' });

			row.style.height = rows * ROW + 'px';
			return row;
		}

		drawRows(anew) {
			const first = Math.max(0, Math.floor(this.frame.scrollTop / ROW) - BEYOND);
			const end = Math.min(this.order.length, first + Math.ceil(this.frame.clientHeight / ROW) + 2 * BEYOND);

			if (!anew && this.first === first && this.end === end)
				return;
			Object.assign(this, { first, end });
			this.made = new Map(this.order.slice(first, end).map(row => [row, this.makeRow(row)]));
			this.body.replaceChildren(this.space(first), ...this.made.values(), this.space(this.order.length - end));
			this.mark();
		}

		makeRow(row) {
			return element('tr', { 'data-row': row, class: this.listener.kind ? this.listener.kind(row, this.sort === 0) : null },
				this.columns.map(column => {
					const made = column.cell(row);

					return typeof made === 'string' ? element('td', { class: column.kind, text: made })
						: element('td', { class: column.kind }, made);
				}));
		}

		// Rows stay the same elements: the mouse may be over one.
		mark() {
			for (const [row, made] of this.made) {
				made.classList.toggle('linked', this.linked(row));
				made.setAttribute('aria-selected', String(row === this.selected));
			}
		}

		select(row) {
			this.selected = row;
			this.show(row);
			this.mark();
		}

		// `rows`: those that belong to what is chosen in the other pane.
		link(rows) {
			const all = new Set(rows), places = rows.map(row => this.places.get(row)).filter(place => place !== undefined);

			this.linked = row => all.has(row);
			this.mark();
			if (places.length && !places.some(place => this.isInView(place)))
				this.scrollTo(places.reduce((a, b) => Math.min(a, b)));
		}

		room() {
			return this.frame.clientHeight - this.head.offsetHeight;
		}

		isInView(place) {
			const top = this.frame.scrollTop;

			return place * ROW >= top && (place + 1) * ROW <= top + this.room();
		}

		scrollTo(place) {
			this.frame.scrollTop = Math.max(0, place * ROW - this.room() / 3);
			this.drawRows();
		}

		show(row) {
			const place = this.places.get(row);

			if (place !== undefined && !this.isInView(place))
				this.scrollTo(place);
		}

		key(event) {
			if (event.target !== this.frame)
				return;
			const page = Math.max(1, Math.floor(this.room() / ROW) - 1), all = this.order.length;
			const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -all, End: all }[event.key];
			const place = this.places.has(this.selected) ? this.places.get(this.selected) : -1;

			if (event.key === 'Enter')
				this.listener.enter();
			else if (event.key === 'Escape')
				this.listener.select(-1);
			else if (step && all)
				this.listener.select(this.order[Math.max(0, Math.min(all - 1, place + step))]);
			else
				return;
			event.preventDefault();
		}
	}

	offpeak.Pane = Pane;
})();
