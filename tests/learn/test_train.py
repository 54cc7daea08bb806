"""Training is resumed to the digit, extended, stopped, and ends where a loss is no number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from walras.errors import DataError, EngineError, InputError
from walras.learn import fit, train
from walras.predict import Recipe
from walras.progress import Progress


class _CtrlCError(Exception):
    pass


def test_a_resumed_training_ends_where_an_uninterrupted_one_does(
    small: Recipe, quick: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick, "steps": 12}

    def stop(step: Progress) -> None:
        if step.iteration == 6:  # two steps after the last checkpoint
            raise _CtrlCError

    whole = fit("mfcp-ad", small, **options)
    with pytest.raises(_CtrlCError):
        fit("mfcp-ad", small, checkpoint=path, on_progress=stop, **options)
    resumed = fit("mfcp-ad", small, checkpoint=path, **options)
    assert resumed.history == whole.history
    np.testing.assert_array_equal(resumed.times(small.test), whole.times(small.test))
    for changes in ({"seed": 1}, {"learning_rate": 0.1}):
        with pytest.raises(InputError, match="of other data or settings"):
            fit("mfcp-ad", small, checkpoint=path, **(options | changes))
    other = replace(small, train=small.train.take(np.arange(30)))
    with pytest.raises(InputError, match="of other data or settings"):
        fit("mfcp-ad", other, checkpoint=path, **options)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(DataError, match="cannot be read as a checkpoint"):
        fit("mfcp-ad", small, checkpoint=path, **options)
    with pytest.raises(DataError, match="cannot be written"):
        fit("mfcp-ad", small, checkpoint=tmp_path / "no" / "run.pt", **options)


def test_a_checkpoint_is_extended_to_more_steps_and_has_a_format(
    small: Recipe, quick: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick}
    short = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 4}))
    longer = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))
    assert longer.history[: len(short.history)] == short.history
    assert longer.history[-1][0] == 12
    assert min(r for _, r in longer.history) <= min(r for _, r in short.history)
    again = fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))
    assert again.history == longer.history
    monkeypatch.setattr(train, "FORMAT", 2)
    with pytest.raises(DataError, match="it has format 1, this version reads 2"):
        fit("mfcp-ad", small, checkpoint=path, **(options | {"steps": 12}))


def test_true_stops_a_training_which_goes_on_from_its_checkpoint(
    small: Recipe, quick: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.pt"
    options: dict[str, Any] = {"tasks_per_round": 5, **quick, "steps": 12}
    part = fit("mfcp-ad", small, checkpoint=path, on_progress=lambda s: s.iteration == 5, **options)
    assert part.history[-1][0] < 6
    whole = fit("mfcp-ad", small, **options)
    assert fit("mfcp-ad", small, checkpoint=path, **options).history == whole.history


def test_a_loss_that_is_no_number_ends_the_training(
    small: Recipe, quick: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(train._LOSSES, "mfcp-ad", lambda s: lambda t, a, truth: torch.nan * t)
    with pytest.raises(EngineError, match=r"the loss is nan at step 0.*learning_rate"):
        fit("mfcp-ad", small, tasks_per_round=5, **quick)
    monkeypatch.undo()
    with pytest.raises(EngineError, match=r"the loss is nan at step \d+.*learning_rate"):
        fit("mfcp-ad", small, tasks_per_round=5, link="exp", learning_rate=99.0, **quick)
