"""The magics ``%sql`` and ``%%sql`` of IPython and Jupyter: ``%load_ext mayfly``."""

import shlex
import sys
import threading
import time

import mayfly

#: How long a statement runs before its progress is shown, and how often it is.
SHOWN_AFTER, SHOWN_EVERY = 2.0, 0.25


class Progress:
    """A line on a terminal's standard error that says how far a statement is, while the block runs."""

    def __init__(self, connection, stream=None):
        self.connection, self.stream = connection, stream or sys.stderr
        self.ended = threading.Event()
        self.thread = None

    def __enter__(self):
        if self.stream.isatty():
            self.thread = threading.Thread(target=self._show, daemon=True)
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.thread is not None:
            self.thread.join()

    def _show(self):
        began, wait, shown = time.monotonic(), SHOWN_AFTER, False
        while not self.ended.wait(wait):
            read, expected = self.connection.progress
            part = f" of {expected:,} ({min(read / expected, 1):.0%})" if expected else ""
            self.stream.write(f"\r\x1b[K{read:,} rows{part} read, {time.monotonic() - began:.0f} s")
            self.stream.flush()
            wait, shown = SHOWN_EVERY, True
        if shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def _magics():
    from IPython.core.magic import Magics, line_cell_magic, magics_class, needs_local_scope

    @magics_class
    class SqlMagics(Magics):
        """The magics, with the connection that they use."""

        connection = None

        @needs_local_scope
        @line_cell_magic
        def sql(self, line, cell=None, local_ns=None):
            """Runs a statement and shows its rows as a frame of pandas.

            ``%sql --connect PATH`` opens another database (without PATH one in memory); ``%%sql NAME`` stores the rows in a
            variable; ``%%sql --connection VARIABLE`` uses a connection of yours. Variables are tables: ``FROM df``.
            """
            scope = {**self.shell.user_ns, **(local_ns or {})}
            words = shlex.split(line) if cell is not None or line.lstrip().startswith("--") else []
            target = None
            while words:
                word = words.pop(0)
                if word == "--connect":
                    self._use(mayfly.connect(words.pop(0) if words else None, autocommit=True))
                elif word == "--connection" and words:
                    self._use(scope[words.pop(0)])
                elif target is None and word.isidentifier():
                    target = word
                else:
                    raise ValueError(f"%sql does not know {word!r}")
            text = cell if cell is not None else (None if line.lstrip().startswith("--") else line)
            if not text or not text.strip():
                return None
            if self.connection is None:
                self._use(mayfly.connect(autocommit=True))
            result = self._run(text, scope)
            if target is None:
                return result
            self.shell.user_ns[target] = result
            return None

        def _use(self, connection):
            self.connection = connection

        def _run(self, text, scope):
            # The statement sees the variables of the notebook as globals of the code that runs it.
            names = {"cursor": self.connection.cursor(), "text": text}
            with Progress(self.connection):
                exec("cursor.execute(text)", scope | {}, names)  # noqa: S102
                cursor = names["cursor"]
                return cursor.df() if cursor.description else None

    return SqlMagics


def load_ipython_extension(shell):
    """Called by ``%load_ext mayfly``."""
    shell.register_magics(_magics())
