"""The ledger: seconds add up to what each job received, shares are those that were granted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulate.small import ONE, equal_shares, on_one, random_trace

import walras as wl
from walras import InputError
from walras.policies import fifo, las
from walras.simulate import Cluster, Run, run
from walras.simulate.ledger import jain

CLUSTER = Cluster({"a": 4, "b": 5, "c": 3})


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), length=st.sampled_from([0.0, 360.0]), by_speed=st.booleans())
def test_seconds_add_up(seed: int, length: float, by_speed: bool) -> None:
    trace = random_trace(seed, 12)
    rules = {"round_seconds": length, "whole_steps": False, "ledger": True}
    done = run(trace, CLUSTER, fifo(by_speed=by_speed), **rules)  # type: ignore[call-overload]
    found = done.ledger.pivot_table(
        index="job", columns="type", values="seconds", aggfunc="sum", fill_value=0.0
    ).reindex(index=done.name, columns=done.types, fill_value=0.0)
    assert found.to_numpy() == pytest.approx(done.received)
    assert (done.ledger["until"] >= done.ledger["at"]).all()
    assert done.ledger["decision"].nunique() <= done.decisions.sum() + 1


def test_shares_are_those_granted_and_the_file_holds_them(tmp_path: Path) -> None:
    done = run(on_one([720, 1440]), ONE, equal_shares, ledger=True, between_decisions=0)
    first = done.ledger[done.ledger["decision"] == 0]
    assert first["share"].tolist() == [0.5, 0.5]
    assert first["seconds"].tolist() == [720.0, 360.0]  # until the first job ends, at 1080 s
    done.save(tmp_path / "run.npz")
    saved = wl.load(tmp_path / "run.npz")
    assert isinstance(saved, Run)
    saved.save_ledger(tmp_path / "ledger.csv")
    again = pd.read_csv(tmp_path / "ledger.csv")
    pd.testing.assert_frame_equal(again, done.ledger, check_dtype=False)


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = run(on_one([720, 1440]), ONE, equal_shares, ledger=True)
    done.save_ledger(tmp_path / "ledger.parquet")
    again = pd.read_parquet(tmp_path / "ledger.parquet")
    pd.testing.assert_frame_equal(again, done.ledger, check_dtype=False)


def test_a_ledger_that_was_not_kept_is_said() -> None:
    with pytest.raises(InputError, match="ledger=True"):
        _ = run(on_one([720]), ONE, equal_shares).ledger


def test_jain_is_one_for_equals_and_least_for_one_who_has_all() -> None:
    assert jain(np.full(7, 0.3)) == pytest.approx(1.0)
    assert jain(np.eye(5)[0]) == pytest.approx(1 / 5)
    assert np.isnan(jain(np.zeros(3)))
    assert np.isnan(jain(np.zeros(0)))


def test_rounds_are_as_even_as_the_policy() -> None:
    """Five equal jobs on one worker: FIFO serves one at a time, max-min all alike."""
    trace = on_one([7200.0] * 5)
    queue, fair = (run(trace, ONE, policy, round_seconds=0) for policy in (fifo(), las()))
    assert queue.rounds["fairness"].tolist() == pytest.approx([1 / 5, 1 / 4, 1 / 3, 1 / 2, 1.0])
    assert fair.rounds["fairness"].dropna().tolist() == pytest.approx([1.0])


def test_decisions_keep_value_bound_and_gap() -> None:
    done = run(random_trace(3), CLUSTER, las(by_speed=True))
    rounds = done.rounds
    decided = rounds["decisions"] > 0
    assert decided.any()
    assert rounds.loc[decided, "value"].gt(0).all()
    assert rounds.loc[decided, "gap"].lt(1e-4).all()
    assert rounds.loc[~decided, ["value", "bound", "gap", "fairness"]].isna().to_numpy().all()
