# SPDX-License-Identifier: BSD-2-Clause
"""Nsight Compute's source page as text: ncu --import REPORT --page source --csv --print-source sass."""
import csv
import re


def short(kernel):
    """The name without its arguments and return type; template arguments stay."""
    return re.sub(r"\(.*", "", kernel).split(" ")[-1]


def instructions(page):
    """For each instruction of each kernel: the kernel, the offset in it, and the cells by their names."""
    kernel = names = first = None
    with open(page, encoding="utf-8") as lines:
        for row in csv.reader(lines):
            if row and row[0] == "Kernel Name":
                kernel, names, first = short(row[1]), None, None
            elif row and row[0] == "Address":
                names = row
            elif names and row and row[0].startswith("0x"):
                cells = dict(zip(names, row))
                address = int(cells["Address"], 16)
                first = address if first is None else first
                yield kernel, address - first, cells
