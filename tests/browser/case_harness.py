# SPDX-License-Identifier: BSD-2-Clause
"""The harness detects what it must detect: other cases rely on it."""
from harness import Failure
from run import check

PAGE = """<!doctype html><meta charset="utf-8"><title>page</title>
<input id="field"><button onclick="this.innerText = field.value">press</button>
<div id="area" style="width: 200px; height: 100px; background: green"></div><p hidden>not seen</p>
<script>
let moved = [];
for (const type of ["mousedown", "mouseup"])
    area.addEventListener(type, e => moved.push(type + " " + e.offsetX + " " + e.offsetY));
</script>"""


def problems_of(browser, tools, text):
    browser.open(tools.write("page.html", "<!doctype html><title>page</title>" + text))
    return browser.problems()


def test_quiet_page(browser, tools):
    check(problems_of(browser, tools, "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>") == [],
          "a page that does nothing has problems")


def test_errors_are_seen(browser, tools):
    for text, wanted in (("<script>console.error('bad luck')</script>", "bad luck"),
                         ("<script>console.warn('take care')</script>", "take care"),
                         ("<script>nothing.here()</script>", "nothing is not defined"),
                         ("<script>Promise.reject(new Error('late'))</script>", "late"),
                         ("<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">"
                          "<script>let a = 1</script>", "Content Security Policy")):
        found = problems_of(browser, tools, text)
        check(any(wanted in line for line in found), "%s: found %s" % (text, found))


def test_requests_are_seen(browser, tools):
    for text, wanted in (("<img src='http://192.0.2.1/a.png'>", "http://192.0.2.1/a.png"),
                         ("<link rel=stylesheet href='https://example.invalid/b.css'>", "b.css"),
                         ("<script>fetch('https://example.invalid/c').catch(() => 0)</script>", "example.invalid/c"),
                         ("<script>new WebSocket('ws://192.0.2.1/d')</script>", "192.0.2.1/d"),
                         ("<img src='other.png'>", "other.png")):
        found = problems_of(browser, tools, text)
        check(any(line.startswith("request: ") and wanted in line for line in found),
              "%s: found %s" % (text, found))


def test_alert_is_seen(browser, tools):
    try:
        problems_of(browser, tools, "<script>setTimeout(() => alert(1))</script>")
    except Failure as failure:
        check("alert" in str(failure), str(failure))
        return
    raise Failure("alert(1) was not noticed")


def test_mouse_and_keys(browser, tools):
    browser.open(tools.write("page.html", PAGE))
    browser.fill("#field", "first")
    browser.fill("#field", "typed")
    browser.click("button")
    check(browser.texts("button, p") == ["typed"], "%s" % browser.texts("button, p"))
    check(browser.count("body > *") == 5, "elements: %d" % browser.count("body > *"))
    browser.drag("#area", (0.25, 0.5), (0.75, 0.1))
    check(browser.js("return moved") == ["mousedown 50 50", "mouseup 150 10"], "%s" % browser.js("return moved"))


def test_media(browser, tools):
    browser.open(tools.write("page.html", PAGE))
    dark = "return matchMedia('(prefers-color-scheme: dark)').matches"
    check(browser.js(dark) is False, "dark from the beginning")
    browser.media(prefers_color_scheme="dark")
    check(browser.js(dark) is True, "not dark")
    browser.media(type="print")
    check(browser.js("return matchMedia('print').matches"), "not print")


def test_screenshot(browser, tools):
    browser.open(tools.write("page.html", PAGE))
    browser.screenshot(tools.path("area.png"), "#area")
    with open(tools.path("area.png"), "rb") as png:
        start = png.read(24)
    check(start[1:4] == b"PNG" and start[16:24] == b"\0\0\0\xc8\0\0\0\x64", "%r" % start)
