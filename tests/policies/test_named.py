"""Policies by name and from files."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.policies.drawn import random_jobs

from walras import DataError, InputError
from walras.policies import NAMED, named
from walras.rounds import check

MINE = '''"""A policy."""
import numpy as np

SHARE = 0.1


def policy(snapshot):
    """A tenth of the time on the first type for the first job."""
    time = np.zeros(snapshot.speed.shape)
    time[0, 0] = SHARE
    return snapshot.shares(time, policy="mine")
'''


@pytest.mark.parametrize("name", sorted(NAMED))
def test_every_policy_decides(name: str) -> None:
    jobs = random_jobs(0)
    if name == "predicted":
        with pytest.raises(InputError, match="no option 'policy'"):
            named(name)
        return
    if name == "allox":
        with pytest.raises(InputError):
            named(name)(jobs)
        return
    assert check(jobs, named(name)(jobs)) == []


def test_a_function_of_a_file_is_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "my_policy.py"
    path.write_text(MINE, encoding="utf-8")
    found = named(f"{path}:policy")(random_jobs(0))
    assert found.policy == "mine"
    for name, said in ((f"{path}:other", "no function 'other'"), (f"{path}:SHARE", "no function")):
        with pytest.raises(InputError, match=said):
            named(name)
    with pytest.raises(InputError, match="no options"):
        named(f"{path}:policy", by_speed=True)


def test_files_that_do_not_run_are_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text("raise KeyError('x')", encoding="utf-8")
    with pytest.raises(DataError, match="raises KeyError"):
        named(f"{path}:policy")
    with pytest.raises(DataError, match="is no file"):
        named(f"{tmp_path / 'missing.py'}:policy")


def test_predicted_speeds_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "speeds.csv"
    path.write_text("class,type 0,type 2\njob,1,9\n", encoding="utf-8")
    jobs = random_jobs(0)
    policy = named("predicted", policy="fifo", throughputs=str(path), by_speed=True)
    found = policy(jobs)
    assert policy.__name__ == found.policy == "fifo by speed, predicted"
    first = int(np.flatnonzero(jobs.fits[:, 2])[0])
    assert found.time[first, 2] == 1.0
    with pytest.raises(InputError, match="unknown key"):
        named("predicted", policy="fifo", throughputs=str(path), by_sped=True)
    with pytest.raises(DataError, match="cannot be read"):
        named("predicted", policy="fifo", throughputs=str(tmp_path / "none.csv"))


def test_unknown_names_and_options_are_refused() -> None:
    with pytest.raises(InputError, match="no policy 'lass'"):
        named("lass")
    with pytest.raises(InputError, match="unknown key 'by_sped'"):
        named("las", by_sped=True)


@pytest.mark.parametrize("given", ["no", "false", 0, 3, None])
def test_an_option_that_is_true_or_false_takes_nothing_else(given: object) -> None:
    with pytest.raises(InputError, match="by_speed of policy las"):
        named("las", by_speed=given)


def test_a_file_that_ends_the_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import sys\nsys.exit(0)\n")
    with pytest.raises(DataError, match="raises SystemExit"):
        named(f"{path}:policy")
    path.write_text("import sys\ndef policy(snapshot):\n    sys.exit(0)\n")
    with pytest.raises(DataError, match="raises SystemExit"):
        named(f"{path}:policy")(random_jobs(0))


def test_what_a_file_prints_goes_to_the_error_stream(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE.replace("    time = ", "    print('two')\n    time = ") + "print('one')\n")
    named(f"{path}:policy")(random_jobs(0))
    assert capsys.readouterr() == ("", "one\ntwo\n")


_WRONG: dict[str, tuple[object, ...]] = {
    "bool": ("x", 1, -3.0, None, [True]),
    "int": ("x", "1", -1, 1.5, True, None, [1], float("nan"), 10**400),
    "float": ("x", "0.1", -1.0, 2.0, True, None, [0.1], float("nan"), float("inf")),
    "float | None": ("x", -1.0, 0.0, True, [1.0], float("nan"), float("inf")),
    "str": ("", "x", 3, True, None, ["max_min"]),
    "str | None": ("", "x", 3, True, ["exact"]),
    "str | Engine": ("", "x", 3, True, None, ["exact"]),
    "str | Mapping[str, str]": ("", "x", 3, True, None, ["fifo"], {"a": "x"}, {"a": 1}),
    "Mapping[str, str] | None": ("x", 3, True, ["a"], {"a": 1}),
    "Mapping[str, float] | None": ("x", 3, True, ["a"], {"a": "x"}, {"a": 0.0}, {"a": True}),
}
"""Annotation of an option -> values that no option of it takes."""


@pytest.mark.parametrize("name", sorted(set(NAMED) - {"predicted"}))
def test_every_option_of_every_policy_is_checked(name: str) -> None:
    for option, parameter in inspect.signature(NAMED[name]).parameters.items():
        for given in _WRONG[parameter.annotation]:
            with pytest.raises(InputError) as caught:
                named(name, **{option: given})
            assert name in caught.value.where, (option, given)
            assert option in str(caught.value), (option, given)
            assert caught.value.allowed
            assert caught.value.remedy


@pytest.mark.parametrize(
    "options",
    [
        {"policy": 3, "throughputs": "x.csv"},
        {"policy": "fifo", "throughputs": 3},
        {"policy": "fifo", "throughputs": "speeds.csv", "judge": 3},
        {"policy": "fifo", "throughputs": "speeds.csv", "judge": "x"},
        {"policy": "gandiva", "throughputs": "speeds.csv", "seed": "x"},
    ],
)
def test_every_option_of_predicted_is_checked(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("speeds.csv").write_text("class,type 0\njob,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="policy"):
        named("predicted", **options)


def test_a_function_called_with_other_arguments_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import functools\n\ndef two(snapshot, more):\n    return more\n\n\ndef none():\n    pass\n"
        "\n\ndef deep(snapshot):\n    return inner(snapshot)\n\n\ndef inner(snapshot):\n"
        "    return 1 / 0\n\n\nbuilt = functools.partial(int, base='x')\n",
        encoding="utf-8",
    )
    for function, line in (("two", 3), ("none", 7), ("deep", 16)):
        with pytest.raises(DataError) as caught:
            named(f"{path}:{function}")(random_jobs(0))
        assert caught.value.where.endswith(f"mine.py:{function}, line {line}")
    with pytest.raises(DataError) as caught:
        named(f"{path}:built")(random_jobs(0))
    assert caught.value.where.endswith("mine.py:built")


def test_a_file_may_hold_dataclasses_and_a_name_that_a_module_has(tmp_path: Path) -> None:
    """Dataclasses look up their module by its name; the file's name is not to hide a package."""
    path = tmp_path / "numpy.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass Policy:\n    share: float = 0.5\n    def __call__(self, snapshot):\n"
        "        return snapshot.shares(self.share * (snapshot.speed < 0.0), policy='mine')\n"
        "policy = Policy()\n",
        encoding="utf-8",
    )
    assert named(f"{path}:policy")(random_jobs(0)).policy == "mine"
    assert sys.modules["numpy"] is np
