"""The stubs name what the extension module has, and nothing else."""

import ast
import importlib.resources

import mayfly
from mayfly import _mayfly


def declared(body):
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.ClassDef)):
            yield item.name
        elif isinstance(item, ast.AnnAssign):
            yield item.target.id


def test_stubs_and_module_agree():
    tree = ast.parse(importlib.resources.files(mayfly).joinpath("_mayfly.pyi").read_text())
    module = {name for name in dir(_mayfly) if not name.startswith("__") or name == "__version__"}
    assert set(declared(tree.body)) == module - {"__all__"}
    ordinary = {"__new__", "__init__", "__doc__", "__module__", "__weakref__", *dir(object)} - {"__weakref__"}
    for item in tree.body:
        if isinstance(item, ast.ClassDef):
            names = set(dir(getattr(_mayfly, item.name))) - ordinary
            assert set(declared(item.body)) == names - {"__weakref__"}, item.name
