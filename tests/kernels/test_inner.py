"""Inner kernels have no entry from Python: a call from there fails."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "src/walras/kernels"


def _trees() -> Iterator[tuple[Path, ast.AST]]:
    """The files that name the kernels' package."""
    for top in ("src", "tests", "benchmarks", "examples"):
        for path in sorted((ROOT / top).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "walras.kernels" in text:
                yield path, ast.parse(text)


def _compiled(tree: ast.AST, *decorators: str) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        if set(map(ast.unparse, node.decorator_list)) & set(decorators):
            yield node


TREES = dict(_trees())
INNER = {
    (path.stem, kernel.name)
    for path, tree in TREES.items()
    if path.is_relative_to(KERNELS)
    for kernel in _compiled(tree, "inner", "inlined")
}


def _calls(path: Path, tree: ast.AST) -> Iterator[str]:
    """Where a file names an inner kernel outside kernels, directly or through its module."""
    own = path.stem if path.is_relative_to(KERNELS) else ""
    names = {name for module, name in INNER if module == own}
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("walras.kernels"):
            module = (node.module or "").rpartition(".")[2]
            names |= {a.asname or a.name for a in node.names if (module, a.name) in INNER}
            modules |= {a.asname or a.name: a.name for a in node.names}
    within = {
        id(node)
        for kernel in _compiled(tree, "jit", "jit_in_order", "inner", "inlined")
        for node in ast.walk(kernel)
    }
    for node in ast.walk(tree):
        if id(node) in within:
            continue
        match node:
            case ast.Name(id=name, lineno=line) if name in names:
                yield f"{path.relative_to(ROOT)}, line {line}"
            case ast.Attribute(value=ast.Name(id=of), attr=name, lineno=line):
                if (modules.get(of, ""), name) in INNER:
                    yield f"{path.relative_to(ROOT)}, line {line}"


def test_inner_kernels_are_called_by_kernels_alone() -> None:
    assert len(INNER) > 50
    assert [call for path, tree in TREES.items() for call in _calls(path, tree)] == []


def test_a_call_from_elsewhere_is_found() -> None:
    module, name = min(INNER)
    for text in (
        f"from walras.kernels import {module} as m\ndef f():\n    return m.{name}(1)\n",
        f"from walras.kernels.{module} import {name} as k\nprint(k(1))\n",
    ):
        assert len(list(_calls(ROOT / "src/other.py", ast.parse(text)))) == 1
    kernel = f"from walras.kernels.{module} import {name}\n@jit\ndef f():\n    return {name}(1)\n"
    assert not list(_calls(ROOT / "src/other.py", ast.parse(kernel)))
