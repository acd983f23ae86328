#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Prints lines that one output of a program has more often ('> ') or less often ('< ') than its other outputs.

    steady.py OUTPUT OTHER...

Lines may come in any order. Numbers that differ among the other outputs, such as times and addresses, may differ in
OUTPUT, too, and are printed as N; all others must be the same. Lines with equal words belong together: if their third
numbers, sorted, are the same in each of the other outputs, they must be so in OUTPUT.
"""
import re
import sys
from collections import Counter, defaultdict

NUMBER = re.compile(r"(0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:e[-+]\d+)?)")


def read(path):
    """Lists of a line's parts, in which every second one is a number, by the line's words."""
    lines = defaultdict(list)
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            parts = NUMBER.split(" ".join(line.split()))
            lines[tuple(parts[::2])].append(parts)
    return lines


def varying(outputs, words):
    """Places of the numbers that differ among the outputs' lines with these words."""
    columns = [[sorted(column) for column in zip(*output[words])] for output in outputs]
    return [place for place, values in enumerate(zip(*columns)) if place % 2 and values.count(values[0]) < len(values)]


def count(output, others):
    """How often each line occurs, with N for numbers that may differ."""
    lines = Counter()
    for words, equal in output.items():
        masked = varying(others, words)
        lines.update("".join("N" if place in masked else part for place, part in enumerate(parts)) for parts in equal)
    return lines


def main(path, *paths):
    others = [read(other) for other in paths]
    here, there = count(read(path), others), count(others[0], others)
    for sign, lines in ("> ", here - there), ("< ", there - here):
        for line in sorted(lines.elements()):
            print(sign + line)


main(*sys.argv[1:])
