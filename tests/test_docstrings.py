"""Every public name says what it does: arguments, results, errors, and an example that runs."""

from __future__ import annotations

import ast
import dataclasses
import doctest
import enum
import importlib
import inspect
import re
import textwrap
import types
import typing
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

# Public, but in no list of the packages above it.
BESIDE = (
    "walras.certificate",
    "walras.dede",
    "walras.exchange.dispatch.skypilot",
    "walras.explain",
    "walras.network.baselines",
    "walras.separable",
    "walras.start",
)

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ARRAYS = re.compile(r"ArrayLike|Floats|Ints|Longs|Bools|ndarray|NDArray|Table|DataFrame")
SHAPE = re.compile(r"\([\w.][^()]*,[^()]*\)|shape|[Aa]s in|[Oo]ne (a|per|for)\b|[Ee]ach|frame")
PROTOCOL = ("to_saved", "from_saved")  # of walras.saving; nobody else calls them
FUNCTIONS = {ast.FunctionDef, ast.AsyncFunctionDef}


def _modules(name: str) -> Iterator[types.ModuleType]:
    """A package and the public packages in it."""
    module = importlib.import_module(name)
    yield module
    for member in getattr(module, "__all__", ()):
        if find_spec("torch") is None and member == "learn":
            continue
        value = getattr(module, member)
        if isinstance(value, types.ModuleType) and value.__name__ == f"{name}.{member}":
            yield from _modules(value.__name__)


def _public() -> dict[str, Any]:
    """Public functions and classes by the shortest name that leads to them."""
    found: dict[int, tuple[str, Any]] = {}
    modules = {m.__name__: m for top in ("walras", *BESIDE) for m in _modules(top)}
    for module in modules.values():
        names = getattr(module, "__all__", None) or _own(module)
        for name in names:
            try:
                value = getattr(module, name)
            except Exception as missing:  # an extra that is not installed
                if type(missing).__name__ != "EngineError":
                    raise
                continue
            ours = getattr(value, "__module__", "").startswith("walras.")
            if ours and isinstance(value, types.FunctionType | type):
                found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return dict(sorted(found.values()))


def _own(module: types.ModuleType) -> list[str]:
    """The public names that a module without ``__all__`` defines itself."""
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


PUBLIC = _public()


def _section(doc: str, *titles: str) -> str:
    """The text below a heading of a docstring, to the next heading."""
    found = re.search(rf"^(?:{'|'.join(titles)}):\n((?:[ ]+.*\n|\n)*)", doc + "\n", re.MULTILINE)
    return textwrap.dedent(found[1]) if found else ""


def _entries(doc: str, *titles: str) -> dict[str, str]:
    """The entries of a section by name: ``name, other: text``."""
    text = "".join(_section(doc, title) for title in titles)
    out: dict[str, str] = {}
    for entry in re.findall(r"^\S.*(?:\n(?:[ ]+.*)?)*", text, re.MULTILINE):
        names, _, words = entry.partition(":")
        for name in re.split(r",\s*", names):
            out[re.sub(r"\s*\(.*", "", name).strip("*` ")] = words.strip()
    return out


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    given = inspect.signature(function).parameters.values()
    return [p for p in given if p.name not in ("self", "cls") and not p.name.startswith("_")]


def _raises(function: Callable[..., Any]) -> bool:
    """Whether a function itself raises, not those it calls or defines."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    nodes = list(ast.iter_child_nodes(tree))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Raise):
            return True
        if type(node) not in FUNCTIONS:
            nodes += ast.iter_child_nodes(node)
    return False


def _described(doc: str, wanted: list[tuple[str, Any]], label: str) -> Iterator[str]:
    """What the entries of arguments lack."""
    entries = _entries(doc, "Args", "Attributes", "Common arguments")
    for name, kind in wanted:
        if not entries.get(name):
            yield f"{label}: no entry for {name}"
        elif ARRAYS.search(str(kind)) and not SHAPE.search(entries[name]):
            yield f"{label}: no shape for {name}: {entries[name]!r}"


def _of_function(function: Callable[..., Any], label: str, *, method: bool) -> Iterator[str]:
    function = inspect.unwrap(function)
    doc = inspect.getdoc(function) or ""
    if not doc:
        yield f"{label}: no docstring"
        return
    parameters = _parameters(function)
    yield from _described(doc, [(p.name, p.annotation) for p in parameters], label)
    gives = inspect.signature(function).return_annotation not in (None, "None", inspect._empty)
    if gives and (parameters or not method) and not _section(doc, "Returns", "Yields"):
        yield f"{label}: no Returns"
    if _raises(function) and not _section(doc, "Raises"):
        yield f"{label}: no Raises"


def _of_class(kind: type) -> Iterator[str]:
    doc = inspect.getdoc(kind) or ""
    if not kind.__doc__ or (dataclasses.is_dataclass(kind) and doc.startswith(f"{kind.__name__}(")):
        yield "no docstring"
    if dataclasses.is_dataclass(kind):
        wanted = [(f.name, f.type) for f in dataclasses.fields(kind) if not f.name.startswith("_")]
        yield from _described(doc, wanted, "class")
    elif "__init__" in vars(kind) and not (
        issubclass(kind, Exception | enum.Enum) or typing.Protocol in kind.__bases__
    ):
        first = inspect.unwrap(kind.__init__)
        yield from _described(doc, [(p.name, p.annotation) for p in _parameters(first)], "class")
    for name, member in vars(kind).items():
        if name.startswith("_") or name in PROTOCOL or isinstance(member, type):
            continue
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if isinstance(member, types.FunctionType):
            yield from _of_function(member, name, method=True)
        elif isinstance(member, property) and not inspect.getdoc(member):
            yield f"{name}: no docstring"


def _example(value: Any) -> Iterator[str]:
    doc = inspect.getdoc(value) or ""
    if ">>> " not in _section(doc, "Example", "Examples"):
        yield "no example"


def lacks(value: Any) -> list[str]:
    """What a public name's docstring lacks."""
    if isinstance(value, type):
        return [*_of_class(value), *_example(value)]
    return [*_of_function(value, "function", method=False), *_example(value)]


def _run(name: str, value: Any) -> str:
    """What goes wrong with the examples of a docstring; nothing when they give their output."""
    words: list[str] = []
    doc = inspect.getdoc(value) or ""
    test = doctest.DocTestParser().get_doctest(doc, {}, name, None, None)
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=words.append)
    return "".join(words)


def test_the_names_are_found() -> None:
    assert len(PUBLIC) > 200
    assert {"walras.solve", "walras.matching.match", "walras.start.start_from"} <= PUBLIC.keys()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_documented(name: str) -> None:
    found = lacks(PUBLIC[name])
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", [n for n in PUBLIC if ">>> " in (PUBLIC[n].__doc__ or "")])
def test_the_examples_give_what_they_show(
    name: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for extra, sign in (("torch", "import torch"), ("ray", "wl.Ray(")):
        if sign in PUBLIC[name].__doc__:
            pytest.importorskip(extra)
    monkeypatch.chdir(tmp_path)
    assert not _run(name, PUBLIC[name])
