# SPDX-License-Identifier: BSD-2-Clause
"""Runs the cells of a notebook, as Jupyter shows them: python3 tests/python/notebook.py docs/notebook.ipynb writes their outputs into it."""

import ast
import base64
import contextlib
import io
import json
import os
import sys


def _picture(figure):
    made = io.BytesIO()
    figure.savefig(made, format="png", dpi=60, bbox_inches="tight")
    return base64.b64encode(made.getvalue()).decode() + "\n"


def _shown(value):
    """What a cell shows of its last value, by MIME type."""
    data = {"text/plain": repr(value).splitlines(True)}
    page = value._repr_html_() if hasattr(value, "_repr_html_") else None
    if page:
        data["text/html"] = page.splitlines(True)
    if hasattr(value, "savefig"):
        data = {"image/png": _picture(value), "text/plain": ["<Figure>"]}
    return data


def _run(text, path, names):
    """The value of the last expression, if no semicolon follows it, and what was printed."""
    tree = ast.parse(text, path)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, path, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path, "eval"), names)
    return None if text.rstrip().endswith(";") else value, printed.getvalue()


def _drawn():
    """The figures of pyplot that a cell left, which Jupyter shows after it."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()] if pyplot else []
    found = [{"output_type": "display_data", "metadata": {}, "data": _shown(figure)} for figure in figures]
    if pyplot:
        pyplot.close("all")
    return found


def outputs_of(cells, path):
    """The outputs of each cell of code, of all that are run one after the other in one session."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), 1):
        value, printed = _run("".join(cell["source"]), path, names)
        outputs = _drawn()
        if printed:
            outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": printed.splitlines(True)})
        if value is not None:
            data = _shown(value)
            outputs.append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": data})
        yield number, cell, outputs


def texts(outputs):
    """What can be compared: texts, which are the same everywhere, and that there is a picture."""
    found = []
    for output in outputs:
        data = output.get("data", {})
        found.append("".join(output.get("text", data.get("text/html", data.get("text/plain", "")))).split())
        found.append("image/png" in data)
    return found


def main(path):
    path = os.path.abspath(path)
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    os.chdir(os.path.dirname(path))
    for number, cell, outputs in outputs_of(notebook["cells"], path):
        cell["execution_count"], cell["outputs"] = number, outputs
    with open(path, "w", encoding="utf-8") as file:
        json.dump(notebook, file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
