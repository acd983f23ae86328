# SPDX-License-Identifier: BSD-2-Clause
"""Judges what a shell test asked of JSON with `json` and `ndjson` (tap.sh), in one process for all.

Each check is four fields, each with a NUL after it: the kind, a Python expression over `j`, the command that wrote the
text, and the text. The current folder is the test's, with what the expressions open.
"""
import json
import sys


def no_constant(name):
    raise ValueError(name + " is not JSON")


def load(text):
    return json.loads(text, parse_constant=no_constant)


def flaw(kind, expression, text):
    """What is wrong, or None."""
    try:
        j = load(text) if kind == "json" else [load(line) for line in text.splitlines()]
        if not eval(expression, {"j": j, "json": json}):
            return "got " + json.dumps(j)[:300]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main():
    with open(sys.argv[1]) as file:
        fields = file.read().split("\0")[:-1]
    for kind, expression, command, text in zip(*[iter(fields)] * 4):
        wrong = flaw(kind, expression, text)
        if wrong:
            print(f"FAILED: {command[:300]}\n        {kind}: {expression}\n        {wrong}")


main()
