"""What every Python suite shares: where the server is, the common files, and a check with a name that prints its outcome.

A suite prints `ok NAME`, `skip NAME: reason` or `FAIL NAME: what happened` for each check and exits with 1 if any failed.
"""

import os
import pathlib
import re
import sys
import threading
import time
import traceback

HOST = os.environ["ROUND_HOST"]
PORT = int(os.environ["ROUND_PORT"])
SOCKET = os.environ["ROUND_SOCKET"]
USER = os.environ["ROUND_USER"]
PASSWORD = os.environ.get("ROUND_PASSWORD", "")
# "mayfly", "mysql" or "mariadb".
SERVER = os.environ["ROUND_SERVER"]
DATABASE = os.environ["ROUND_DATABASE"]
TEMPORARY = pathlib.Path(os.environ["ROUND_TEMPORARY"])
COMMON = pathlib.Path(__file__).resolve().parent.parent / "common"

MIB = 1 << 20


class Skip(Exception):
    """This server or client has not what the check is about."""


def needs(condition, reason):
    if not condition:
        raise Skip(reason)


def equal(got, expected, what=""):
    if got != expected or type(got) is bool and type(expected) is not bool:
        raise AssertionError(f"{what + ': ' if what else ''}got {shorten(got)}, expected {shorten(expected)}")


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def shorten(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:200]}... ({len(text)} characters)"


def statements(name):
    """The statements of a common SQL file."""
    lines = [line for line in (COMMON / name).read_text("utf-8").splitlines() if not line.startswith("--")]
    return [text.strip() for text in re.split(r";\s*$", "\n".join(lines), flags=re.M) if text.strip()]


def rows_of(name):
    """The lines of a common file of tab-separated values."""
    return [line.split("\t") for line in (COMMON / name).read_text("utf-8").splitlines()]


def wait_until(condition, what, seconds=10):
    end = time.monotonic() + seconds
    while not condition():
        true(time.monotonic() < end, f"{what} did not come true within {seconds} s")
        time.sleep(0.02)


class Background:
    """Runs something in a thread; `join` gives what it returned, or raises what it raised."""

    def __init__(self, work):
        self.outcome = None
        self.error = None
        self.thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self.thread.start()

    def _run(self, work):
        try:
            self.outcome = work()
        except BaseException as error:  # Raised again where it is waited for.
            self.error = error

    def running(self):
        return self.thread.is_alive()

    def join(self, seconds=30):
        self.thread.join(seconds)
        true(not self.thread.is_alive(), f"still waiting after {seconds} s")
        if self.error is not None:
            raise self.error
        return self.outcome


class Round:
    """The checks of a client, run in the order in which they are defined."""

    def __init__(self):
        self.checks = []

    def check(self, function):
        self.checks.append((function.__name__.replace("__", "."), function))
        return function

    def run(self):
        failed = 0
        only = os.environ.get("ROUND_CHECK", "")
        for name, function in self.checks:
            if only not in name:
                continue
            try:
                function()
                print(f"ok {name}", flush=True)
            except Skip as reason:
                print(f"skip {name}: {reason}", flush=True)
            except Exception as error:
                failed += 1
                frame = traceback.extract_tb(error.__traceback__)[-1]
                own = [f for f in traceback.extract_tb(error.__traceback__) if "site-packages" not in f.filename]
                where = f"{pathlib.Path((own or [frame])[-1].filename).name}:{(own or [frame])[-1].lineno}"
                text = " ".join(f"{type(error).__name__}: {error}".split())
                print(f"FAIL {name}: {text} ({where})", flush=True)
        sys.exit(1 if failed else 0)
