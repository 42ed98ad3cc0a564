"""The code in the documents runs."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["docs/python.md", "README.md"])
def test_code_runs(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parts = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S)
    assert parts
    scope = {}
    for part in parts:
        # What a document shows with the connection of its first part runs in that of a database of its own.
        if "connection" in scope and scope["connection"].closed:
            import mayfly

            scope["connection"] = mayfly.connect("data")
        exec(compile(part, name, "exec"), scope)  # noqa: S102
    assert "home" in capsys.readouterr().out
