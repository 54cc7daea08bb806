"""Keys of cases: they change with all that the result hangs on."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.simulate.small import ONE, on_one

from walras.policies import fifo, las
from walras.policies.named import named
from walras.simulate.compare.case import Case, MakePolicy


def _key(make: MakePolicy, steps: float = 10.0) -> str:
    return Case("t", "p", 0, on_one([steps]), ONE, make, None, {}).key


def test_equal_cases_have_equal_keys_and_others_not() -> None:
    assert _key(fifo) == _key(fifo)
    assert _key(partial(las, by_speed=True)) == _key(partial(las, by_speed=True))
    keys = {_key(fifo), _key(las), _key(partial(las, by_speed=True)), _key(fifo, 11.0)}
    assert len(keys) == 4


def test_a_file_counts_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    keys = []
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        path.write_text(text, "utf-8")
        keys.append(_key(partial(named, f"{path}:policy")))
    assert keys[0] == keys[2] != keys[1]
