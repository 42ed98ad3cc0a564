"""The magics of IPython, and the line that shows progress."""

import io
import time

import mayfly
import pytest
from mayfly import _magic

testing = pytest.importorskip("IPython.testing.globalipapp")


@pytest.fixture(scope="module")
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "mayfly")
    yield shell
    InteractiveShell.clear_instance()


def test_a_cell_gives_a_frame(shell):
    frame = shell.run_cell_magic("sql", "", "SELECT 1 AS a, 'x' AS b")
    assert frame.to_dict("records") == [{"a": 1, "b": "x"}]
    assert shell.run_line_magic("sql", "SELECT 2 AS a")["a"].tolist() == [2]
    assert shell.run_cell_magic("sql", "kept", "SELECT 3 AS a") is None
    assert shell.user_ns["kept"]["a"].tolist() == [3]


def test_variables_of_the_notebook_are_tables(shell):
    shell.run_cell("import pandas; towns = pandas.DataFrame({'n': [1, 2, 4]})")
    assert shell.run_line_magic("sql", "SELECT SUM(n) AS s FROM towns")["s"].tolist() == [7]


def test_connections(shell, tmp_path):
    assert shell.run_cell_magic("sql", f"--connect {tmp_path}/data", "CREATE TABLE t AS SELECT 5 AS n") is None
    with mayfly.connect(tmp_path / "data") as con:
        assert con.execute("SELECT n FROM t").fetchall() == [(5,)]
    shell.user_ns["mine"] = mayfly.connect()
    shell.user_ns["mine"].execute("CREATE TABLE only_mine AS SELECT 6 AS n")
    assert shell.run_cell_magic("sql", "--connection mine", "SELECT n FROM only_mine")["n"].tolist() == [6]
    with pytest.raises(ValueError, match="--wrong"):
        shell.run_cell_magic("sql", "--wrong", "SELECT 1")
    shell.run_line_magic("sql", "--connect")
    with pytest.raises(mayfly.ProgrammingError):
        shell.run_line_magic("sql", "SELECT * FROM only_mine")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_terminals_alone(con, monkeypatch):
    monkeypatch.setattr(_magic, "SHOWN_AFTER", 0.1)
    monkeypatch.setattr(_magic, "SHOWN_EVERY", 0.05)
    terminal, file = Terminal(), io.StringIO()
    with _magic.Progress(con, _magic.Line(terminal)), _magic.Progress(con, _magic.Line(file)):
        con.execute("SELECT SLEEP(0.3)")
    assert "rows" in terminal.getvalue() and terminal.getvalue().endswith("\r\x1b[K")
    assert file.getvalue() == ""
    quick = Terminal()
    with _magic.Progress(con, _magic.Line(quick)):
        con.execute("SELECT 1")
    assert quick.getvalue() == ""
    time.sleep(0.1)


def test_progress_in_a_notebook_is_a_line_of_the_output(shell, monkeypatch):
    """As a kernel of Jupyter shows it: one line that is replaced, and empty in the end."""
    monkeypatch.setattr(_magic, "SHOWN_AFTER", 0.1)
    monkeypatch.setattr(_magic, "SHOWN_EVERY", 0.05)
    monkeypatch.setattr(type(shell), "kernel", object(), raising=False)
    published = []
    monkeypatch.setattr(
        shell.display_pub, "publish", lambda data, *_, transient=None, update=False, **__: published.append((data["text/plain"], transient, update))
    )
    assert shell.run_cell_magic("sql", "", "SELECT SLEEP(0.3) AS a")["a"].tolist() == [0]
    texts, places, updates = zip(*published)
    assert "rows" in texts[0] and texts[-1] == "" and len(texts) > 2
    assert len({place["display_id"] for place in places}) == 1
    assert updates[0] is False and all(updates[1:])
