# SPDX-License-Identifier: BSD-2-Clause
"""What people need to read a report: contrast, size, words in one piece, and names that stay in sight."""
from __main__ import check

# The contrast of letters and what is below them, as WCAG 2 defines it; letters' sizes on the screen.
TEXTS = r"""
const part = v => v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
const colour = text => text.match(/[\d.]+/g).map(Number);
const below = e => { for (; e; e = e.parentElement) { const c = colour(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.5) return c; } return [255, 255, 255]; };
return [...document.querySelectorAll('body *')].filter(e => e.checkVisibility() && !/^(script|style|title|desc|noscript|option|optgroup)$/i.test(e.tagName)
	&& [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {
	const style = getComputedStyle(e), drawn = e.ownerSVGElement, a = light(colour(drawn ? style.fill : style.color)), b = light(below(e));
	const scale = drawn ? Math.hypot(e.getScreenCTM().a, e.getScreenCTM().b) : 1;
	return [e.textContent.trim().slice(0, 30), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), parseFloat(style.fontSize) * scale]; });
"""

# Words that are cut at the end of a line; kernels' whole names may be.
CUT = r"""
return [...document.querySelectorAll('main *')].filter(e => e.checkVisibility() && !e.closest('svg, pre, .full')).flatMap(e => [...e.childNodes]
	.filter(n => n.nodeType === 3).flatMap(n => [...n.textContent.matchAll(/[\p{L}\p{N}%.]+/gu)].filter(word => {
		const range = document.createRange();
		range.setStart(n, word.index);
		range.setEnd(n, word.index + word[0].length);
		return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1;
	}).map(word => word[0])));
"""


def test_looks(browser, tools):
    pages = [["gh100-rotated"], ["gh100-limits"], ["gh100-before", "gh100-after"], ["gh100-ranks"], ["gh100-top-down"],
             ["gh100-training-gemm"], ["gh100-ranks-pm"]]
    browser.size(800, 900)
    for names in pages:
        tools.offpeak("report", *[tools.recording(name) for name in names], "-o", tools.path("looks.html"))
        for theme in "light", "dark":
            browser.media(prefers_color_scheme=theme)
            browser.open(tools.path("looks.html"))
            browser.wait("document.body.dataset.ready")
            if browser.count("[data-part=timeline]"):
                browser.wait("document.querySelector('section[data-part=timeline][data-ready]')")
                browser.type(".timeline-view", "\ue007")
                check(browser.count(".timeline-launch dd") > 5, "details of a launch are open")
            texts = browser.js(TEXTS)
            check(len(texts) > 40, "texts of %s: %d" % (names, len(texts)))
            faint = [text for text in texts if text[1] < 4.5]
            check(faint == [], "less contrast than 4.5 in %s, %s: %s" % (names, theme, faint[:5]))
            small = [text for text in texts if text[2] < 11]
            check(small == [], "letters of less than 11 pixels in %s: %s" % (names, small[:5]))
        cut = browser.js(CUT)
        check(cut == [], "words in two lines in %s: %s" % (names, cut[:5]))


# The contrast of letters in the map of kernels by rank, on the colours of their cells.
HEAT = TEXTS.split("return [...document")[0] + r"""
const over = (top, share, under) => top.slice(0, 3).map((part, i) => part * share + under[i] * (1 - share));
return [...document.querySelectorAll('.heat td svg')].flatMap(svg => {
	const [back, more] = svg.querySelectorAll('rect'), fill = e => colour(getComputedStyle(e).fill);
	const share = more && more.classList.contains('straggler') ? 0 : more ? getComputedStyle(more).opacity * getComputedStyle(more).fillOpacity : 0;
	const cell = light(more ? over(fill(more), share, fill(back)) : fill(back));
	return [...svg.querySelectorAll('text')].map(text => { const letters = light(fill(text)); return (Math.max(letters, cell) + 0.05) / (Math.min(letters, cell) + 0.05); }); });
"""


def test_colours_below_numbers(browser, tools):
    tools.offpeak("report", tools.recording("gh100-ranks-pm"), "-o", tools.path("heat.html"))
    for theme in "light", "dark":
        browser.media(prefers_color_scheme=theme)
        browser.open(tools.path("heat.html"))
        browser.wait("document.body.dataset.ready")
        found = browser.js(HEAT)
        check(len(found) > 100 and min(found) >= 4.5 and max(found) > 2 * min(found), "%s: %s to %s" % (theme, min(found), max(found)))


def test_names_stay_in_sight(browser, tools):
    tools.offpeak("report", tools.recording("gh100-training-gemm"), "-o", tools.path("sticky.html"))
    browser.size(700, 900)
    browser.open(tools.path("sticky.html"))
    browser.wait("document.body.dataset.ready")
    places = browser.js("const frame = document.querySelector('section.kernels .scroll'); frame.scrollLeft = 300;"
                        "const left = of => frame.querySelector(of).getBoundingClientRect().left - frame.getBoundingClientRect().left;"
                        "return [frame.scrollLeft, left('th.name'), left('td.name'), left('td.number')]")
    check(places[0] > 100 and abs(places[1]) < 3 and abs(places[2]) < 3 and places[3] < 200, "%s" % places)
    names = browser.js("return [...document.querySelectorAll('section.kernels td.name')].map(e => [e.textContent, e.title])")
    check(len({name for name, _ in names}) == 9, "labels differ: %s" % names)
    check(any("tilesize64x64x8_stage3" in label and len(title) > len(label) for label, title in names), "%s" % names)


def test_other_is_a_heading(browser, tools):
    """Columns that no heading holds have one of their own, in the values and in the list of columns to add."""
    tools.offpeak("report", tools.recording("gh100-before"), "-o", tools.path("other.html"))
    browser.open(tools.path("other.html"))
    browser.wait("document.body.dataset.ready")
    titles = browser.texts("section.kernels .details h3")
    groups = browser.js("return [...document.querySelectorAll('section.kernels optgroup')].map(e => e.label)")
    check(groups == titles and len(titles) > 2, "%s, %s" % (groups, titles))
    browser.js("const table = offpeak.data(offpeak.runs[0], 'kernels'); delete table.columns[0].heading; offpeak.select(offpeak.runs[0], 0)")
    check(browser.texts("section.kernels .details h3")[-1] == "Other", "%s" % browser.texts("section.kernels .details h3"))
