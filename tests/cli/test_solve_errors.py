"""``walras solve cluster`` on what it cannot use: one error for each bad table or option."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.cluster_tables import JOBS, RESOURCES, THROUGHPUT, Run, runner, words

from walras.cli.common import usage_errors as usage
from walras.cli.common.errors import guarded
from walras.cli.main import app
from walras.errors import DataError, InputError, WalrasError


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return runner(tmp_path)


BAD_TABLES: dict[str, tuple[dict[str, str], str, str]] = {
    "empty file": ({"jobs": ""}, "jobs.csv", "the file is empty"),
    "header only": ({"jobs": "job,size\n"}, "jobs.csv", "no lines below the header"),
    "semicolons": (
        {"throughput": THROUGHPUT.replace(",", ";")}, "throughput.csv, line 1",
        "separated by semicolons",
    ),
    "tabs": (
        {"jobs": JOBS.replace(",", "\t")}, "jobs.csv, line 1", "separated by tabs",
    ),
    "ragged": ({"throughput": "job,v100,k80\na,1\n"}, "throughput.csv, line 2", "has 2 cells"),
    "not a number": (
        {"throughput": THROUGHPUT.replace("4", "fast")},
        "throughput.csv, line 2, column 'v100'", "'fast' is not a number",
    ),
    "empty number": (
        {"jobs": JOBS.replace("b,2", "b,")}, "jobs.csv, line 3, column 'size'", "cell is empty",
    ),
    "NaN throughput": (
        {"throughput": THROUGHPUT.replace("4", "nan")},
        "throughput.csv, line 2, column 'v100'", "is NaN",
    ),
    "infinite throughput": (
        {"throughput": THROUGHPUT.replace("c,3,2", "c,3,inf")},
        "throughput.csv, line 4, column 'k80'", "is inf",
    ),
    "overflowing throughput": (
        {"throughput": THROUGHPUT.replace("c,3,2", "c,1e999,2")},
        "throughput.csv, line 4, column 'v100'", "is 1e999",
    ),
    "negative throughput": (
        {"throughput": THROUGHPUT.replace("b,2", "b,-2")},
        "throughput.csv, line 3, column 'v100'", "is -2",
    ),
    "negative size": (
        {"jobs": JOBS.replace("a,1", "a,-1")}, "jobs.csv, line 2, column 'size'", "is -1",
    ),
    "infinite weight": (
        {"jobs": JOBS.replace("b,2,1", "b,2,-inf")}, "jobs.csv, line 3, column 'weight'", "is -inf",
    ),
    "zero steps": (
        {"jobs": JOBS.replace("300", "0")}, "jobs.csv, line 4, column 'steps'", "is 0",
    ),
    "no capacity at all": (
        {"resources": "resource,capacity\nv100,0\nk80,0\n"}, "resources.csv", "no resource is left",
    ),
    "negative capacity": (
        {"resources": RESOURCES.replace("k80,1", "k80,-1")},
        "resources.csv, line 3, column 'capacity'", "is -1",
    ),
    "NaN limit": (
        {"quota": "group,limit\nann,1\nbob,nan\n"}, "quota.csv, line 3, column 'limit'", "is NaN",
    ),
    "negative previous": (
        {"previous": "job,v100,k80\na,0,-0.5\n"}, "previous.csv, line 2, column 'k80'", "is -0.5",
    ),
    "a job that cannot run": (
        {"throughput": THROUGHPUT.replace("b,2,", "b,0,")},
        "throughput.csv, line 3, column 'job'", "no resource type can run job 'b'",
    ),
    "missing column": ({"jobs": "job,weight\na,1\n"}, "jobs.csv, line 1", "no column 'size'"),
    "column twice": (
        {"throughput": THROUGHPUT.replace("k80", "v100")}, "throughput.csv, line 1", "comes twice",
    ),
    "key not first": (
        {"resources": "capacity,resource\n1,v100\n"}, "resources.csv, line 1", "first column",
    ),
    "job twice": (
        {"jobs": JOBS + "a,1,1,1,ann\n"}, "jobs.csv, line 6, column 'job'", "'a' comes twice",
    ),
    "job without a label": (
        {"jobs": JOBS.replace("d,1", ",1")}, "jobs.csv, line 5", "label is empty",
    ),
    "job without throughput": (
        {"jobs": JOBS + "e,1,1,1,\n"}, "jobs.csv, line 6", "unknown job 'e'",
    ),
    "throughput of an unknown job": (
        {"throughput": THROUGHPUT + "e,1,1\n"}, "throughput.csv, line 6", "unknown job 'e'",
    ),
    "misspelt resource": (
        {"throughput": THROUGHPUT.replace("k80", "k90")}, "resources.csv, line 3", "'k80'",
    ),
    "resource without throughput": (
        {"resources": RESOURCES + "p100,2\n"}, "resources.csv, line 4", "'p100'",
    ),
    "unknown group": (
        {"quota": "group,limit\nann,1\n"}, "jobs.csv, line 4, column 'group'", "group 'bob'",
    ),
    "unknown parent": (
        {"quota": "group,limit,parent\nann,1,org\nbob,1,\n"}, "quota.csv, line 2", "'org'",
    ),
    "circular groups": (
        {"quota": "group,limit,parent\nann,1,bob\nbob,1,ann\n"}, "quota.csv, line 2",
        "around itself",
    ),
    "quota without groups": (
        {"quota": "group,limit\nann,1\n", "jobs": "job,size\na,1\nb,2\nc,1\nd,1\n"},
        "jobs.csv, line 1", "no column 'group'",
    ),
    "makespan without steps": (
        {"jobs": "job,size\na,1\nb,2\nc,1\nd,1\n", "objective": "makespan"},
        "--objective makespan", "work that each job has left",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(run: Run, name: str) -> None:
    tables, where, what = BAD_TABLES[name]
    files = {name: text for name, text in tables.items() if name != "objective"}
    price = ("--churn", "1") if "previous" in tables else ()
    result = run("--objective", tables.get("objective", "max-min"), *price, **files)
    error = result.exception
    assert isinstance(error, InputError), result.output
    assert where in error.where
    assert what in error.what
    assert error.allowed
    assert error.remedy
    assert result.stdout == ""


def test_unreadable_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("group,limit\nJosé,1\n".encode("latin-1"))
    for path in (tmp_path / "missing.csv", tmp_path, tmp_path / "latin.csv"):
        error = run("--quota", str(path)).exception
        assert isinstance(error, DataError)
        assert str(path) in error.where
        assert "cannot be read" in error.what


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--normalise", "gpu", "--objective", "makespan"), "--normalise"),
        (("--alpha", "-1", "--objective", "alpha"), "walras solve cluster --help"),
        (("--churn", "1"), "leave --churn out, or add --previous FILE"),
        (("--previous", "t.csv"), "leave --previous out, or add --churn PRICE"),
        (("--tolerance", "2"), ""),
        (("--threads", "0"), ""),
        (("--levels", "0", "--objective", "leximin"), ""),
        (("--engine", "pop", "--engine-option", "seed=-1"), ""),
        (("--engine", "pop", "--engine-option", "parts=5"), ""),
        (("--engine-option", "parts=2"), "name the engine, such as --engine admm"),
        (("--engine", "admm", "--engine-option", "parts=2"), "use one of these names"),
        (("--engine", "admm", "--engine-option", "rho=soft"), "give such a value"),
        (("--parts", "2"), "leave --parts out, or add --engine pop"),
        (("--engine", "exact", "--seed", "2"), "leave --seed out, or add --engine pop"),
        (("--alpha", "3"), "leave --alpha out, or add --objective alpha"),
        (("--levels", "2", "--objective", "alpha"), "add --objective leximin"),
    ],
)
def test_bad_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], remedy: str
) -> None:
    """As a user sees them: the option, what it may be, and a remedy in the command's own words."""
    given = words(tmp_path, *options)
    with pytest.raises(SystemExit) as caught:
        guarded(lambda: usage.run(app, given), given)
    message = capsys.readouterr().err
    assert caught.value.code == 2
    assert message.startswith("error[")
    for part in ("  where:   --", "  allowed: ", "  remedy:  ", remedy):
        assert part in message
    assert "=" not in message.partition("remedy:")[2]  # a keyword of the library


def test_unknown_engine(run: Run) -> None:
    assert isinstance(run("--engine", "magic").exception, WalrasError)
