"""Kernels compiled in a second process: what they are, and that the process ends."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from tests.policies.placements.predictions import at_random
from tests.policies.placements.small import stated, trusted

from walras.demo import precompile as warm
from walras.kernels.matching import derivatives as match_pull_back
from walras.kernels.matching import placing, rounds
from walras.kernels.matching import relaxed as match_relaxed
from walras.learn import implicit_gradient
from walras.matching import match, relaxed_match
from walras.policies.placements import decide

KERNELS = (match_relaxed._run, match_pull_back._pull)


def test_compiling_leaves_kernels_that_a_later_run_finds() -> None:
    warm.compile_kernels()
    assert warm.compiled()
    with warm.compiled_beside() as child:
        assert child is None
    known = [list(kernel.signatures) for kernel in KERNELS]
    shape = (2, 3, 4)
    relaxed = relaxed_match(np.full(shape, 0.5), np.full(shape, 0.9), 0.8)
    implicit_gradient(relaxed, torch.ones(shape, dtype=torch.float64))
    assert [list(kernel.signatures) for kernel in KERNELS] == known  # training needs no others


def test_the_part_for_placing_leaves_what_a_matching_needs() -> None:
    warm.compile_kernels("placing")
    known = list(rounds._run_apart.signatures)
    assert known
    match(np.full((3, 50), 0.5), np.full((3, 50), 0.9))
    assert list(rounds._run_apart.signatures) == known


def test_the_part_for_placing_leaves_what_the_live_demos_rounds_need() -> None:
    warm.compile_kernels("placing")
    known = [list(kernel.signatures) for kernel in (placing.insert, placing.cheapest)]
    assert all(known)
    decision = decide(stated(5, trusted(3, slots=[2, 2, 2])), at_random(0))
    assert np.all(decision.cluster >= 0)
    assert [list(kernel.signatures) for kernel in (placing.insert, placing.cheapest)] == known


def test_the_process_runs_beside_and_ends_with_the_body(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "compiled", lambda: False)
    asleep = (sys.executable, "-c", "import time; time.sleep(99)")
    monkeypatch.setattr(warm, "_COMMAND", asleep)
    with warm.compiled_beside() as child:
        assert child is not None
        assert child.poll() is None
    assert child.returncode is not None


def test_without_a_second_process_the_first_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "compiled", lambda: False)
    monkeypatch.setattr(warm, "_COMMAND", (str(tmp_path / "no-such-program"),))
    with warm.compiled_beside() as child:
        assert child is None


def test_a_cache_without_them_asks_for_compiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stats = match_pull_back._pull.stats._replace(cache_path=str(tmp_path))
    monkeypatch.setattr(type(match_pull_back._pull), "stats", property(lambda self: stats))
    assert not warm.compiled()
