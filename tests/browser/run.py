# SPDX-License-Identifier: BSD-2-Clause
"""Runs the functions test_* of tests/browser/case_*.py, each with a page of its own; tests/browser.sh calls it.

usage: run.py TOOL SOURCE FOLDER [NAME...]: only cases whose file or function name contains one of the names.
"""
import glob
import importlib.util
import os
import subprocess
import sys
import traceback

import harness


class Tools:
    """What cases use besides the browser: the program, recordings, a folder for files."""

    def __init__(self, tool, source, folder):
        self.tool, self.source, self.folder = tool, source, folder

    def recording(self, name):
        """The path of a shipped recording: recording("gh100-simple")."""
        return os.path.join(self.source, "data", "recordings", name + ".opk")

    def path(self, name):
        """The path of a file in a folder that is removed after the test."""
        return os.path.join(self.folder, name)

    def write(self, name, text):
        """Writes a file there and returns its path."""
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def made(self, name, program, *arguments):
        """The path of a file that a test program writes: made("new.opk", "rotate", "kernels", IN, OUT, "400")."""
        path = self.path(name)
        command = [os.path.join(os.environ["BUILD"], "tests", program)] + [path if a == "OUT" else a for a in arguments]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        return path

    def offpeak(self, *arguments):
        """Runs offpeak, which must succeed, and returns its stdout."""
        done = subprocess.run([self.tool, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", check=False)
        check(done.returncode == 0, "offpeak %s: exit code %d: %s"
              % (" ".join(arguments), done.returncode, done.stderr[:500]))
        return done.stdout


def check(condition, text):
    """Raises harness.Failure with the text unless the condition is true."""
    if not condition:
        raise harness.Failure(text)


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(names):
    """(name, function) of each case, in the order of the files and of the lines in a file."""
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "case_*.py"))):
        module = load(path)
        for name, function in vars(module).items():
            full = module.__name__ + "." + name
            if name.startswith("test_") and (not names or any(n in full for n in names)):
                yield full, function


def run(browser, tools, name, function):
    """Whether a case passed. It also fails if its page had problems."""
    try:
        browser.size(1280, 900)
        browser.media()
        function(browser, tools)
        problems = browser.problems()
        check(not problems, "the page did not keep quiet:\n        " + "\n        ".join(problems[:10]))
        return True
    except Exception as error:  # pylint: disable=broad-except
        frame = [f for f in traceback.extract_tb(error.__traceback__) if "case_" in f.filename][-1:]
        print("FAILED: %s%s: %s: %s" % (name, ", line %d" % frame[0].lineno if frame else "",
                                        type(error).__name__, error), flush=True)
        return False


def main(tool, source, folder, *names):
    failed = count = 0
    tools = Tools(tool, source, folder)
    browser = None
    try:
        for name, function in cases(names):
            count += 1
            browser = browser or harness.Browser(folder)
            if not run(browser, tools, name, function):
                failed += 1
                # The next case starts a new browser.
                browser.close()
                browser = None
    finally:
        if browser:
            browser.close()
    print("%d%%: Checks: %d, Failures: %d, Errors: 0"
          % (100 * (count - failed) // max(count, 1), count, failed))
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
