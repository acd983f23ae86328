// What limits each kernel, how busy the GPU's parts are, and what to try. A click chooses the kernel on the whole page.
(function () {
	'use strict';

	const { element } = offpeak;
	const FIRST = 10;
	const BARS = [['compute', 'compute'], ['issue', 'issue'], ['l1', 'L1'], ['l2', 'L2'], ['dram', 'DRAM']];

	function plural(count, word, ending) {
		return count.toLocaleString('en-US') + ' ' + word + (count === 1 ? '' : ending);
	}

	// ---- one kernel

	function facts(row) {
		return [row.time > 0 ? offpeak.formatBrief(row.time, 'nanosecond') : '', row.share === null ? '' : offpeak.formatShort(row.share) + '% of the time',
			row.launches].filter(Boolean).map(text => element('span', { text }));
	}

	function bar(part, label, percent) {
		const known = percent !== null;

		return element('div', { class: 'busy' }, [
			element('span', { class: 'label', text: label }),
			element('span', { class: known ? 'value' : 'value nan', text: known ? Math.round(percent) + '%' : '?', title: known ? null : 'not known' }),
			element('svg', { viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, [
				element('rect', { class: 'bar-back', width: 100, height: 8, rx: 1 }),
				element('rect', { class: 'of-' + part, width: Math.max(0, Math.min(100, percent || 0)), height: 8, rx: 1 })])]);
	}

	function finding(row, found) {
		const saved = found.gain * row.time, share = row.share === null ? '' : ' (' + offpeak.formatShort(found.gain * row.share) + '% of ' + row.whole + ')';
		const most = saved > 0 ? '; at most ' + offpeak.formatBrief(saved, 'nanosecond') + ' less' + share : '';

		return element('li', {}, [element('p', { class: 'says', text: found.text }),
			element('p', { class: 'try' }, [element('b', { text: 'Try: ' }), found.try + most + '.']),
			element('p', { class: 'because muted' }, [element('b', { text: 'Evidence: ' }), found.because])]);
	}

	function findings(row) {
		const made = row.findings.map(found => finding(row, found)), rest = made.slice(1);

		return [made.length ? element('ul', { class: 'findings' }, made.slice(0, 1)) : row.none ? element('p', { class: 'none muted', text: row.none + '.' }) : null,
			rest.length ? element('details', {}, [element('summary', { text: plural(rest.length, 'more finding', 's') }),
				element('ul', { class: 'findings' }, rest)]) : null];
	}

	function card(run, row, number) {
		const chosen = row.kernel !== undefined;
		const name = element(chosen ? 'button' : 'span', { class: 'name mono', type: chosen ? 'button' : null, title: row.name.length > 60 ? row.name : null },
			offpeak.pieces(row.name));

		return element('li', { class: 'answer panel', 'data-kernel': row.kernel }, [
			element('div', { class: 'head' }, [element('span', { class: 'rank', text: number }), name, element('span', { class: 'facts' }, facts(row))]),
			element('p', { class: 'limit' }, [element('span', { text: row.text + '.' }),
				row.next ? element('span', { class: 'muted', text: row.next + '.' }) : null]),
			row.remark ? element('p', { class: 'remark muted', text: row.remark }) : null,
			element('div', { class: 'busies' }, BARS.map(([part, label], i) => bar(part, label, row.bars[i])).concat([bar('warps', 'warps', row.warps)])),
		].concat(findings(row)));
	}

	// ---- all of them

	function introduction(data) {
		return element('p', { class: 'intro', text: data.head + '. Bars are percent of the peak over the whole time of a kernel; warps are percent of those that an SM can hold.' });
	}

	function draw(section, run) {
		const data = offpeak.data(run, 'answers'), list = element('ol', { class: 'answers' });
		const show = rows => list.replaceChildren(...rows.map((row, i) => card(run, row, i + 1)));
		const more = element('button', { type: 'button', class: 'more', text: 'Show all ' + data.rows.length.toLocaleString('en-US'), hidden: data.rows.length <= FIRST });

		data.rows.forEach(row => {
			row.whole = data.whole;
		});
		show(data.rows.slice(0, FIRST));
		more.addEventListener('click', () => {
			show(data.rows);
			more.hidden = true;
			offpeak.mark(run);
		});
		list.addEventListener('click', event => {
			const chosen = event.target.closest('.answer[data-kernel]');

			if (chosen && !event.target.closest('summary') && !String(getSelection()))
				offpeak.select(run, Number(chosen.dataset.kernel));
		});
		section.append(introduction(data), list, more, element('p', { class: 'muted', hidden: data.rows.length === data.total,
			text: 'The page has the ' + data.rows.length.toLocaleString('en-US') + ' that took most time; “offpeak show --top” has all.' }));
	}

	offpeak.part('answers', draw);
})();
