# SPDX-License-Identifier: BSD-2-Clause
"""Drives Debian's chromium, headless, through chromium-driver's WebDriver; needs Python's standard library alone.

Browser.problems() returns what a page wrote to the console, and what it requested from the network.
"""
import base64
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # as the WebDriver standard names a reference
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
    "--disable-sync", "--no-default-browser-check", "--hide-scrollbars", "--force-color-profile=srgb",
    "--lang=en-US",
]


class Failure(Exception):
    """A check failed, or the browser could not do what it was asked for."""


class Browser:
    """One chromium; a page at a time. Use it in a with statement."""

    def __init__(self, folder, width=1280, height=900):
        self.log = open(os.path.join(folder, "chromedriver.log"), "w+", encoding="utf-8", errors="replace")
        environment = dict(os.environ, TMPDIR=folder, HOME=folder)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL,
                                       stdout=self.log, stderr=subprocess.STDOUT, env=environment,
                                       start_new_session=True)
        self.page, self.session = None, None
        try:
            self.address = "http://127.0.0.1:%d/session" % self._port()
            self.session = self._call("POST", "", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "goog:chromeOptions": {"args": ARGUMENTS + ["--window-size=%d,%d" % (width, height)]},
                "timeouts": {"script": 60000, "pageLoad": 60000},
                "unhandledPromptBehavior": "dismiss and notify",
            }}})["sessionId"]
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends chromium and its driver, with all their processes."""
        try:
            if self.session:
                self._call("DELETE", "/" + self.session)
        except (OSError, Failure):
            pass
        finally:
            self.driver.terminate()
            try:
                self.driver.wait(10)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.wait()
            self.log.close()

    def _port(self):
        for _ in range(300):
            with open(self.log.name, encoding="utf-8", errors="replace") as text:
                found = re.search(r"started successfully on port (\d+)", text.read())
            if found:
                return int(found.group(1))
            if self.driver.poll() is not None:
                break
            time.sleep(0.1)
        with open(self.log.name, encoding="utf-8", errors="replace") as text:
            raise Failure("chromedriver did not start: " + text.read()[-1000:])

    def _call(self, method, path, body=None):
        request = urllib.request.Request(self.address + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise Failure("%s: %s" % (value["error"], value["message"].splitlines()[0])) from None

    def do(self, what, body=None, method="POST"):
        """A command of the WebDriver standard, such as do("refresh")."""
        return self._call(method, "/%s/%s" % (self.session, what), {} if body is None and method == "POST" else body)

    def devtools(self, command, **parameters):
        """A command of the DevTools protocol."""
        return self.do("goog/cdp/execute", {"cmd": command, "params": parameters})

    # ---- pages ------------------------------------------------------------------------------

    def open(self, path):
        """Loads a file, and forgets what earlier pages did."""
        self.do("url", {"url": "about:blank"})
        self._logs()
        self.page = "file://" + urllib.parse.quote(os.path.abspath(path))
        self.do("url", {"url": self.page})

    def _logs(self):
        return [self.do("se/log", {"type": kind}) for kind in ("browser", "performance")]

    def problems(self):
        """Problems since the last call, one a line: warnings and errors of the console, uncaught
        exceptions, and requests beyond the page itself. Waits for what a page does a moment later."""
        self.js("return new Promise(done => setTimeout(done, 200))")
        console, events = self._logs()
        found = ["console: " + entry["message"] for entry in console if entry["level"] in ("SEVERE", "WARNING")]
        for entry in events:
            event = json.loads(entry["message"])["message"]
            if event["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                parameters = event["params"]
                address = parameters.get("request", parameters)["url"]
                if address.split("#")[0] not in (self.page, "about:blank") and \
                        not address.startswith(("data:", "blob:")):
                    found.append("request: " + address)
        return found

    def size(self, width, height):
        """The page's own size in pixels."""
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                      mobile=False)

    def media(self, **features):
        """Sets what media queries see: media(prefers_color_scheme="dark"), media(type="print")."""
        kind = features.pop("type", "")
        self.devtools("Emulation.setEmulatedMedia", media=kind, features=[
            {"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    # ---- what is on a page ------------------------------------------------------------------

    def js(self, script, *arguments):
        """The value that a function body returns; arguments[0] is the first argument. Waits for a promise."""
        return self.do("execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, expression, seconds=10):
        """Waits until a JavaScript expression is true, and returns its value."""
        end = time.monotonic() + seconds
        while True:
            value = self.js("return " + expression)
            if value:
                return value
            if time.monotonic() > end:
                raise Failure("after %g s this is not true: %s" % (seconds, expression))
            time.sleep(0.05)

    def find(self, selector):
        """The first element that a CSS selector matches."""
        return self.do("element", {"using": "css selector", "value": selector})[ELEMENT]

    def count(self, selector):
        """How many elements a CSS selector matches."""
        return self.js("return document.querySelectorAll(arguments[0]).length", selector)

    def texts(self, selector):
        """The visible texts of the elements that a CSS selector matches; hidden elements have none."""
        return self.js("return Array.from(document.querySelectorAll(arguments[0])).filter(e => e.checkVisibility())"
                       ".map(e => e.innerText.trim())", selector)

    def click(self, selector):
        """Clicks an element as a person does: it must be visible, with nothing in front of it."""
        self.do("element/%s/click" % self.find(selector))

    def type(self, selector, text):
        """Types into an element; "\\ue007" is Enter, "\\ue00c" Escape, "\\ue004" Tab, "\\ue015" Down."""
        self.do("element/%s/value" % self.find(selector), {"text": text})

    def fill(self, selector, text):
        """Empties a field, then types."""
        self.do("element/%s/clear" % self.find(selector))
        self.type(selector, text)

    def mouse(self, selector, *steps):
        """Moves the mouse over an element: each step is "down", "up", or a place (x, y) from 0 to 1 in it."""
        box = self.js("const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'});"
                      "const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]", selector)
        actions = []
        for step in steps:
            if step in ("down", "up"):
                actions.append({"type": "pointer" + step.title(), "button": 0})
            else:
                actions.append({"type": "pointerMove", "duration": 50, "x": round(box[0] + step[0] * box[2]),
                                "y": round(box[1] + step[1] * box[3])})
        self.do("actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions,
                                         "parameters": {"pointerType": "mouse"}}]})

    def drag(self, selector, start, end):
        """Drags with the left button from one place (x, y), 0 to 1, of an element to another."""
        self.mouse(selector, start, "down", ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end, "up")

    def screenshot(self, path, selector=None):
        """Saves a PNG of the visible page, or of one element."""
        what = "element/%s/screenshot" % self.find(selector) if selector else "screenshot"
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.do(what, method="GET")))
