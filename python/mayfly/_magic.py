"""The magics ``%sql`` and ``%%sql`` of IPython and Jupyter: ``%load_ext mayfly``."""

import shlex
import sys
import threading
import time

import mayfly

#: How long a statement runs before its progress is shown, and how often it is.
SHOWN_AFTER, SHOWN_EVERY = 2.0, 0.25


class Line:
    """The last line of a terminal's standard error."""

    def __init__(self, stream=None):
        self.stream = stream or sys.stderr
        self.is_there = self.stream.isatty()

    def show(self, text):
        self.stream.write(f"\r\x1b[K{text}")
        self.stream.flush()


class Output:
    """The output of a notebook's cell: a line in it, which each text replaces."""

    is_there = True

    def __init__(self):
        self.handle = None

    def show(self, text):
        from IPython.display import Pretty, display

        if self.handle is None:
            self.handle = display(Pretty(text), display_id=True)
        else:
            self.handle.update(Pretty(text))


class Progress:
    """Says how far a statement is, while the block runs."""

    def __init__(self, connection, shown):
        self.connection, self.shown = connection, shown
        self.ended = threading.Event()
        self.thread = None

    def __enter__(self):
        if self.shown.is_there:
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
            self.shown.show(f"{read:,} rows{part} read, {time.monotonic() - began:.0f} s")
            wait, shown = SHOWN_EVERY, True
        if shown:
            self.shown.show("")


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
            # Notebooks have a kernel, and no terminal.
            with Progress(self.connection, Output() if hasattr(self.shell, "kernel") else Line()):
                exec("cursor.execute(text)", scope | {}, names)  # noqa: S102
                cursor = names["cursor"]
                return cursor.df() if cursor.description else None

    return SqlMagics


def load_ipython_extension(shell):
    """Called by ``%load_ext mayfly``."""
    shell.register_magics(_magics())
