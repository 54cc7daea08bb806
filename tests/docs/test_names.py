"""Modules that the pages name exist, and words that standard terms replaced stay away."""

from __future__ import annotations

import ast
import importlib
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("[!_]*/*.md")]
NAMED = re.compile(r"`((?:walras\.)?[a-z_]+(?:\.[a-z_]+)+)`")
PACKAGES = sorted(
    {path.name for path in (ROOT / "src/walras").iterdir() if (path / "__init__.py").exists()}
    | {path.name for path in (ROOT / "src/walras/engines").iterdir() if path.is_dir()}
    - {"__pycache__"}
)


def _exists(name: str) -> bool:
    for prefix in ("walras.", "walras.engines."):
        parts = (prefix + name).split(".")
        for k in range(len(parts), 1, -1):
            try:
                found: object = importlib.import_module(".".join(parts[:k]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[k:]:
                found = getattr(found, attribute, None)
            if found is not None:
                return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_modules_named_in_pages_exist(page: Path) -> None:
    names = {
        name.removeprefix("walras.")
        for name in NAMED.findall(page.read_text(encoding="utf-8"))
        if name.removeprefix("walras.").split(".")[0] in PACKAGES
    }
    assert [name for name in sorted(names) if not _exists(name)] == []


CODE = [
    path
    for folder in ("src", "tests", "benchmarks", "examples", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
TERMS = {
    "act": "section",
    "charter": "configuration",
    "condemned": "suspected dead",
    "crew": "worker pool, processes",
    "diary": "iteration log",
    "estates": "settlement",
    "heir": "successor",
    "keeper": "actor, pool, trap",
    "lesson": "training problem",
    "rival": "baseline, peer",
    "rivals": "baselines, peers",
    "told": "a name of the thing: details, result, on_progress",
    "whom": "a name of the thing",
}
"""Words for which the field has another, each with what to write."""
KEPT = {("src/walras/network/protocol/node.py", "_estates")}  # a key of the traces on disk
_PROSE = re.compile(
    r"\b(?:condemned|crew|diary|heir|rivals?)\b"
    r"|\b(?:is|are|was|were|be|been|not|as) told\b(?! (?:apart|by|from|to|otherwise)\b)",
    re.IGNORECASE,
)
_WORDS = re.compile(rf"\b_*(?:{'|'.join(TERMS)})_*\b", re.IGNORECASE)
"""Names and texts that are refused have one of these: other files need not be parsed."""
_QUOTED = re.compile(r"``[^`]+``|`[^`]+`|\"rivals\"")


def _named(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The names that a module gives, each with its line."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node.lineno
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield name, node.lineno
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, node.lineno
            case ast.ClassDef(name=name):
                yield name, node.lineno


def _texts(path: Path) -> Iterator[tuple[str, int]]:
    """Lines of comments and strings of a module, or of a page; each with its number."""
    if path.suffix == ".md":
        yield from ((line, k) for k, line in enumerate(path.read_text("utf-8").split("\n"), 1))
        return
    with path.open("rb") as lines:
        for token in tokenize.tokenize(lines.readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                for k, line in enumerate(token.string.split("\n")):
                    yield line, token.start[0] + k


def _suspects(paths: list[Path]) -> list[Path]:
    return [path for path in paths if _WORDS.search(path.read_text(encoding="utf-8"))]


def test_no_name_is_a_word_that_a_standard_term_replaced() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}: write {TERMS[name.strip('_').lower()]}"
        for path in _suspects(CODE)
        for name, line in _named(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_").lower() in TERMS
        and (path.relative_to(ROOT).as_posix(), name) not in KEPT
    ]
    assert found == []


def test_no_text_has_a_word_that_a_standard_term_replaced() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {text.strip()}"
        for path in _suspects([*CODE, *PAGES])
        if path != Path(__file__)
        for text, line in _texts(path)
        if _PROSE.search(_QUOTED.sub("", text))
    ]
    assert found == []
