"""The rules of the house that no linter holds: locks, sizes, the task runner."""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from itertools import combinations
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src/walras").rglob("*.py"))
EXTRA_LOCKS = {
    "mutants": "requirements-peers.lock",
    "peers": "requirements-peers.lock",
    "scale": "requirements-scale.lock",
    "parquet": "requirements-scale.lock",
}
LOCKS = ("requirements.lock", *dict.fromkeys(EXTRA_LOCKS.values()))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _pins(lock: str) -> Iterator[tuple[str, str]]:
    """Each package of a lock with the lines that belong to it."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    for entry in re.findall(r"^\S.*(?:\n .*)*", text, re.MULTILINE):
        yield re.split(r"[=\s]", entry)[0], entry


def _names(requirements: list[str]) -> set[str]:
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {name[0].lower() for name in found if name}


@pytest.mark.parametrize("lock", LOCKS)
def test_locks_hold_exact_versions_and_hashes_and_no_address(lock: str) -> None:
    pins = list(_pins(lock))
    assert len(pins) > 30
    for name, entry in pins:
        assert re.match(rf"{re.escape(name)}==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry
        assert "://" not in entry
        assert "index" not in entry


def test_every_requirement_is_locked() -> None:
    extras = dict(PROJECT["project"]["optional-dependencies"])
    torch = _names(extras.pop("torch"))
    assert torch == {"torch"}  # its builds differ by platform: a constraint takes the lock's place
    constraint = (ROOT / "constraints-torch.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"torch==\S+\n", constraint)
    for extra, lock in EXTRA_LOCKS.items():
        assert _names(extras.pop(extra)) - {name for name, _ in _pins(lock)} == set()
    wanted = _names(PROJECT["project"]["dependencies"])
    wanted |= {name for requirements in extras.values() for name in _names(requirements)}
    wanted |= _names(PROJECT["dependency-groups"]["build"])
    assert wanted - {name for name, _ in _pins("requirements.lock")} == set()


@pytest.mark.parametrize(("one", "other"), list(combinations(LOCKS, 2)))
def test_the_locks_agree(one: str, other: str) -> None:
    first, second = (
        {name: entry.split()[0] for name, entry in _pins(lock)} for lock in (one, other)
    )
    common = first.keys() & second.keys()
    assert common
    assert {name for name in common if first[name] != second[name]} == set()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 600
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            if body:  # without the signature and the docstring, which tell and do nothing
                length = (node.end_lineno or body[0].lineno) - body[0].lineno + 1
                assert length <= 60, f"{node.name}, line {node.lineno}: {length} lines"


def test_few_statements_leave_the_formatter() -> None:
    folders = (ROOT / name for name in ("src", "tests", "benchmarks", "examples", "docs"))
    found = (path for folder in folders for path in folder.rglob("*.py"))
    files = [path for path in found if ".environments" not in path.parts]  # peers' packages
    skips = sum(path.read_text(encoding="utf-8").count("# fmt: " + "skip") for path in files)
    assert len(files) > 0
    assert skips <= 80


def _imports(path: Path) -> set[str]:
    """The modules of Walras that a file imports, under TYPE_CHECKING or in functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_no_imports_run_in_a_circle() -> None:
    modules = {".".join(p.relative_to(ROOT / "src").with_suffix("").parts): p for p in SOURCES}
    graph = {
        name: sorted(_imports(path) & modules.keys() - {name})
        for name, path in modules.items()
        if path.name != "__init__.py"
    }
    assert sum(map(len, graph.values())) > 1000
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle
    for folder in _folders(graph).values():
        tuple(TopologicalSorter(folder).static_order())


def _folders(graph: dict[str, list[str]]) -> dict[str, dict[str, set[str]]]:
    """For each folder, which of its files and folders import which others of them."""
    found: dict[str, dict[str, set[str]]] = {}
    for name, targets in graph.items():
        for target in targets:
            one, other = name.split("."), target.split(".")
            depth = next(
                (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None
            )
            if depth is not None:  # not between a folder and what is in it
                inside = found.setdefault(".".join(one[:depth]), {})
                inside.setdefault(one[depth], set()).add(other[depth])
    return found


def test_the_contracts_cover_every_room() -> None:
    contract = PROJECT["tool"]["importlinter"]["contracts"][0]
    assert contract["containers"] == ["walras"]
    assert contract["exhaustive"]
    named = [name for layer in contract["layers"] for name in re.findall(r"\w+", layer)]
    rooms = {path.stem for path in (ROOT / "src/walras").glob("*.py")}
    rooms |= {path.parent.name for path in (ROOT / "src/walras").glob("*/__init__.py")}
    assert sorted(named) == sorted(rooms - {"__init__", "__main__"})


def test_each_array_type_is_named_once() -> None:
    again = re.compile(r"^\w+ = npt\.NDArray\[np\.(float64|int32|int64|bool_)\]", re.MULTILINE)
    for path in SOURCES:
        if path != ROOT / "src/walras/types.py":
            assert not again.search(path.read_text(encoding="utf-8")), path


def _dev(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / "dev"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_dev_explains_its_tasks() -> None:
    run = _dev("--help")
    assert run.returncode == 0
    for task in ("demo", "test", "bench", "docs", "lint", "setup", "lock"):
        assert re.search(rf"^  {task}\b", run.stdout, re.MULTILINE), task
    assert "--newest | --oldest" in run.stdout


def test_dev_refuses_an_unknown_task() -> None:
    run = _dev("dance")
    assert run.returncode == 2
    assert "unknown task: dance" in run.stderr


def test_the_files_that_run_first_exist() -> None:
    files = (ROOT / "tests/longest.txt").read_text(encoding="utf-8").split()
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert len(set(files)) == len(files) > 20


def test_the_source_distribution_has_what_the_tests_import() -> None:
    """Without a list of its own it holds all that git does; a list once lacked the benchmarks."""
    assert "include" not in PROJECT["tool"]["hatch"]["build"]["targets"].get("sdist", {})
    assert "only-include" not in PROJECT["tool"]["hatch"]["build"]["targets"].get("sdist", {})


def _heading() -> re.Match[str]:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## \[(\S+)\] - (unreleased|\d{4}-\d{2}-\d{2})$", text, re.MULTILINE)
    assert found
    return found


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    assert _heading()[1] == version
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (\S+)$", citation, re.MULTILINE) == [version]


def test_the_changelog_has_the_four_sections_of_a_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest, *older = text[_heading().end() :].split("\n## ")
    sections = re.findall(r"^### (.+)$", newest, re.MULTILINE)
    assert sections == ["Added", "Changed", "Fixed", "Removed"]
    assert older


def test_the_project_says_who_writes_it_and_how_to_report_a_problem() -> None:
    assert PROJECT["project"]["authors"] == [{"name": "Walras developers"}]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    for key in ("cff-version: 1.2.0", "title: ", "authors:", "license: Apache-2.0"):
        assert f"\n{key}" in f"\n{citation}", key
    for label, address in PROJECT["project"]["urls"].items():
        assert len(label) <= 32
        assert address.removeprefix("https://doi.org/") in citation, label
    security = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "## Report a problem" in security


def test_hooks_before_a_commit_download_nothing() -> None:
    yaml = pytest.importorskip("yaml")  # an extra of the docs
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert "://" not in text
    hooks = []
    for repository in yaml.safe_load(text)["repos"]:
        assert repository["repo"] == "local"
        hooks += repository["hooks"]
    assert {hook["id"] for hook in hooks} >= {"ruff-check", "ruff-format", "mypy"}
    assert {hook["language"] for hook in hooks} == {"system"}


def test_integration_runs_every_python_and_both_edges() -> None:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    pythons = jobs["test"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    assert pythons == named
    assert f">={pythons[0]}" == PROJECT["project"]["requires-python"]
    edges = jobs["edges"]["strategy"]["matrix"]["include"]
    assert {edge["which"]: edge["python"] for edge in edges} == {
        "oldest": pythons[0],
        "newest": pythons[-1],
    }
    commands = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    assert [run for run in commands if run] == [".ci/run", "./dev test --${{ matrix.which }}"]


def test_contributing_names_every_task_and_what_can_be_added() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for task in ("demo", "test", "mutants", "docs", "lint", "setup", "lock"):
        assert f"./dev {task}" in text, task
    for thing in ("an engine", "a domain", "a benchmark", "a loss", "a data set"):
        assert f"\n## Add {thing}\n" in text, thing
    assert "\n## Change or remove a public name\n" in text


def test_contributing_names_every_room() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    layout = text.split("```text\n")[1].split("```")[0]
    names = set(re.findall(r"\w+", "\n".join(line[:24] for line in layout.splitlines())))
    rooms = {path.parent.name for path in (ROOT / "src/walras").glob("*/__init__.py")}
    assert rooms - names == set()


_BRANCHES = (ast.If, ast.For, ast.While, ast.Try, ast.Match, ast.IfExp, ast.comprehension)
_FEW = 6  # statements of a function without a branch


def _has_logic(path: Path) -> bool:
    """Whether a function of the module branches, loops or has many statements."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = [below for statement in node.body for below in ast.walk(statement)]
            statements = sum(isinstance(below, ast.stmt) for below in inner)
            if statements > _FEW or any(isinstance(below, _BRANCHES) for below in inner):
                return True
    return False


def test_each_module_with_logic_has_its_tests_at_its_place() -> None:
    away = []
    for path in SOURCES:
        module = path.relative_to(ROOT / "src/walras").with_suffix("")
        place = ROOT / "tests" / module.parent / f"test_{module.name.lstrip('_')}.py"
        if not module.name.startswith("__") and not place.exists() and _has_logic(path):
            away.append(module.as_posix())
    assert away == [], "write tests/a/test_b.py for a/b"
