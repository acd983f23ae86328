# SPDX-License-Identifier: BSD-2-Clause
"""report_page.py PAGE KERNEL: whether the page's policy names its scripts, its data can be read, and KERNEL is first.

KERNEL may be "", for a list of the kernels before that.
"""
import base64
import hashlib
import html.parser
import json
import re
import sys


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.policy, self.inside, self.parts, self.data, self.handlers = "", None, [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        known = dict(attributes)
        self.handlers += [name for name in known if name.startswith("on") or name == "style"]
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]
        if tag in ("script", "style"):
            self.inside = (tag, known.get("type"), known.get("id"))
            self.parts.append([self.inside, ""])

    def handle_endtag(self, tag):
        if self.inside and tag == self.inside[0]:
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.parts[-1][1] += data


def main(path, kernel):
    with open(path, encoding="utf-8", newline="") as file:
        page = Page(file.read())
    hashes = set(re.findall("'sha256-([^']+)'", page.policy))
    for (tag, kind, name), text in page.parts:
        if kind == "application/json":
            page.data[name] = json.loads(text)
        elif kind is None and base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() not in hashes:
            return "a %s is not in the policy" % tag
    first = page.data["data-0-kernels"]["rows"][0]
    if page.handlers:
        return "the policy forbids attributes: %s" % page.handlers
    if not kernel:
        print("\n".join(ascii(row["name"]) for row in page.data["data-0-kernels"]["rows"]))
        return "sound"
    return "sound" if kernel in (first["name"], first.get("full")) else "first is %r" % first


print(main(*sys.argv[1:]))
