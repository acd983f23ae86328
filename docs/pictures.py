# SPDX-License-Identifier: BSD-2-Clause
"""Takes the pictures of the documentation: reports of shipped recordings in chromium.

    docs/pictures.py build/tools/offpeak [FOLDER]

writes FOLDER/NAME.png, in docs by default; tests/browser.sh does that, too, and looks at their sizes. Needs Debian's
chromium and chromium-driver, as tests/browser does, and nothing else.
"""
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "browser"))
import harness  # pylint: disable=wrong-import-position

WIDTH, LARGEST, COLOURS, ALIKE = 1000, 100000, 256, 40
SCREENS, LARGEST_SCREEN, ALL = (800, 1400, 2000), 200000, 2500000


# ---- small PNGs: chromium's have 16 million colours and little compression -------------------

def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def unfilter(kind, line, above, step):
    """Undoes one of the five filters of a line, in place."""
    for i in range(len(line)):
        left = line[i - step] if i >= step else 0
        up = above[i]
        if kind == 1:
            line[i] = (line[i] + left) & 255
        elif kind == 2:
            line[i] = (line[i] + up) & 255
        elif kind == 3:
            line[i] = (line[i] + (left + up) // 2) & 255
        elif kind == 4:
            corner = above[i - step] if i >= step else 0
            guess = left + up - corner
            line[i] = (line[i] + min((left, up, corner), key=lambda p: abs(guess - p))) & 255


def read_png(data):
    """Lines of pixels, each of three bytes."""
    parts = list(chunks(data))
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    assert depth == 8 and kind in (2, 6) and not interlaced, "not a PNG as chromium writes them"
    step = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    above, lines = bytearray(width * step), []
    for y in range(height):
        at = y * (width * step + 1)
        line = bytearray(raw[at + 1:at + 1 + width * step])
        unfilter(raw[at], line, above, step)
        lines.append([bytes(line[i:i + 3]) for i in range(0, len(line), step)])
        above = line
    return lines


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other))


def find_palette(lines):
    """The most frequent of colours that differ, and for every colour which of them is nearest."""
    counts = Counter(pixel for line in lines for pixel in line)
    palette = []
    for colour, _ in counts.most_common():
        if len(palette) < COLOURS and all(distance(colour, other) > ALIKE for other in palette):
            palette.append(colour)
    nearest = {colour: min(range(len(palette)), key=lambda i, c=colour: distance(palette[i], c)) for colour in counts}
    return palette, nearest


def write_png(path, lines):
    palette, nearest = find_palette(lines)
    raw = b"".join(b"\0" + bytes(nearest[pixel] for pixel in line) for line in lines)
    header = struct.pack(">IIBBBBB", len(lines[0]), len(lines), 8, 3, 0, 0, 0)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n")
        for kind, body in ((b"IHDR", header), (b"PLTE", b"".join(palette)), (b"IDAT", zlib.compress(raw, 9)),
                           (b"IEND", b"")):
            out.write(struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)))


# ---- the pictures ---------------------------------------------------------------------------

def show(browser, selector, height, width=WIDTH):
    """The page from this element on, so many pixels of it."""
    browser.size(width, height)
    browser.js("document.querySelector(arguments[0]).scrollIntoView({block: 'start', behavior: 'instant'});"
               "return new Promise(done => setTimeout(done, 500))", selector)


def comparison(browser):
    show(browser, "section[data-part=diff]", 620, 1100)  # all columns


def answers(browser):
    show(browser, "section[data-part=answers]", 760)


def memory(browser):
    browser.click(".answer:nth-child(4) .name")
    show(browser, "section[data-part=memory]", 560)


def kernel(browser):
    show(browser, "section[data-part=kernels]", 760)


def roofline(browser):
    show(browser, "section[data-part=roofline]", 960)


def source(browser):
    show(browser, "section[data-part=source]", 960, 1280)


def timeline(browser):
    browser.wait("document.querySelector('section[data-part=timeline][data-ready]')")
    show(browser, "section[data-part=timeline]", 720)
    browser.drag(".timeline-row.metric .plot", (0.42, 0.5), (0.52, 0.5))
    show(browser, "section[data-part=timeline]", 720)


def launch(browser):
    """The details of a launch, in its lane."""
    browser.wait("document.querySelector('section[data-part=timeline][data-ready]')")
    browser.js("const view = offpeak.shown.timeline, lane = view.data.lanes.find(lane => !lane.ranges);"
               "view.show(lane.starts[1238] - 1e3, lane.ends[1242] + 1e3); view.time = lane.starts[1241]; view.enter()")
    show(browser, "section[data-part=timeline]", 940)


def ranks(browser, width):
    """Ranks below each other."""
    browser.wait("document.querySelector('section[data-part=timeline][data-ready]')")
    show(browser, "section[data-part=timeline]", 1240, width)


def first(browser, width):
    """The beginning of a page."""
    show(browser, "main", 1000, width)


# Several recordings are compared, or merged for the options that come last.
PICTURES = {
    "report-answers": (["gh100-rotated"], answers),
    "report-memory": (["gh100-rotated"], memory),
    "report-comparison": (["gh100-before", "gh100-after"], comparison),
    "report-kernel": (["gh100-before"], kernel),
    "report-roofline": (["gh100-roofline"], roofline),
    "report-source": (["gh100-source", "gh100-hot"], source, ["--embed-source", "--source-path", "/src=tests/gpu"]),
    "report-timeline": (["gh100-training-kernels"], timeline),
    "report-launch": (["gh100-training-kernels"], launch),
}


# Whole windows: NAME-WIDTH-light and -dark.
PAGES = {
    "page-answers": ("gh100-rotated", first),
    "page-timeline": ("gh100-ranks-pm", ranks),
}


def names():
    """Of all pictures."""
    return [*PICTURES, *("%s-%d-%s" % (name, width, theme) for name in PAGES for width in SCREENS for theme in ("light", "dark"))]


def save(browser, folder, scratch, name, largest):
    """The page as it is now, as a small PNG."""
    picture = os.path.join(scratch, name + ".png")
    browser.screenshot(picture)
    with open(picture, "rb") as data:
        write_png(os.path.join(folder, name + ".png"), read_png(data.read()))
    size = os.path.getsize(os.path.join(folder, name + ".png"))
    if size > largest:
        raise harness.Failure("%s.png has %d bytes" % (name, size))


def take(browser, offpeak, folder, scratch, name):
    recordings, prepare, *options = PICTURES[name]
    files = [os.path.join("data/recordings", r + ".opk") for r in recordings]
    if options:
        merged = os.path.join(scratch, "merged.opk")
        subprocess.run([offpeak, "merge", "-o", merged, *files], cwd=TOP, check=True)
        files = [merged, *options[0]]
    page = os.path.join(scratch, name + ".html")
    subprocess.run([offpeak, "report", *files, "-o", page], cwd=TOP, check=True, stdout=subprocess.DEVNULL)
    browser.size(WIDTH, 800)
    browser.open(page)
    prepare(browser)
    save(browser, folder, scratch, name, LARGEST)


def take_screens(browser, offpeak, folder, scratch, name):
    recording, prepare = PAGES[name]
    page = os.path.join(scratch, name + ".html")
    subprocess.run([offpeak, "report", "data/recordings/%s.opk" % recording, "-o", page], cwd=TOP, check=True,
                   stdout=subprocess.DEVNULL)
    for width in SCREENS:
        for theme in "light", "dark":
            browser.media(prefers_color_scheme=theme)
            browser.size(width, 800)
            browser.open(page)
            prepare(browser, width)
            save(browser, folder, scratch, "%s-%d-%s" % (name, width, theme), LARGEST_SCREEN)
    browser.media()


def take_all(browser, offpeak, folder):
    with tempfile.TemporaryDirectory() as scratch:
        for name in PICTURES:
            take(browser, os.path.abspath(offpeak), folder, scratch, name)
        for name in PAGES:
            take_screens(browser, os.path.abspath(offpeak), folder, scratch, name)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home, harness.Browser(home) as chromium:
        take_all(chromium, sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(TOP, "docs"))
