"""What the demo's first act says of training through the matching, and stopping it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from walras.cli.main import app
from walras.demo import learning as section
from walras.demo.learning import LearningSection


@pytest.fixture(scope="module")
def trained() -> LearningSection:
    """A short training on whatever data are found."""
    counted: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(section, "_STEPS", 40)
        patch.setattr(section, "ROUNDS", 200)
        found = section.teach(0, lambda done, of: counted.append((done, of)), tasks=40)
    assert counted == [(k, 40) for k in range(1, 41)]
    return found


def test_the_same_model_is_judged_before_and_after_on_the_same_rounds(
    trained: LearningSection,
) -> None:
    assert [model.name for model in trained.models] == [
        section.AVERAGES,
        section.ONE_HOTS,
        section.BEFORE,
        section.AFTER,
    ]
    before, after = trained.before.learned, trained.after.learned
    assert before.settings.model == after.settings.model == "counts"
    assert repr(before.terms) == repr(after.terms)
    regrets = [regret for _, regret in after.history]
    lowered = min(regrets) < regrets[0]  # on the validation rounds that stop the training
    assert lowered != np.array_equal(trained.before.elastic, trained.after.elastic)
    means = [float(model.elastic.mean()) for model in trained.models]
    assert max(means) == means[0]  # averages are worst
    assert all(np.all(model.elastic >= -1e-9) for model in trained.models)
    assert [len(model.elastic) for model in trained.models] == [200] * 4


def test_the_gain_is_a_paired_difference_with_its_interval(trained: LearningSection) -> None:
    apart = trained.before.elastic - trained.after.elastic
    gain, half = trained.gain
    assert gain == pytest.approx(apart.mean())
    assert half == pytest.approx(1.96 * apart.std(ddof=1) / np.sqrt(200))
    rows = {row["trained"]: row for row in section.compared(trained).records()}
    saved = float(rows[section.BEFORE]["elastic"] or 0) - float(rows[section.AFTER]["elastic"] or 0)
    assert saved == pytest.approx(100 * gain)
    kept = section.record(trained)
    assert kept["gain"] == gain
    assert kept["validation"][0]["step"] == 0


def test_the_words_follow_the_numbers(trained: LearningSection) -> None:
    for shift, words in (
        (0.5, "On these rounds that is more than chance."),
        (-0.5, "less (95 % interval -"),
        (0.0, "cannot tell that from no difference"),
    ):
        noise = np.tile([0.01, -0.01], 100)
        after = replace(trained.after, elastic=trained.before.elastic - shift + noise)
        changed = replace(trained, models=(*trained.models[:-1], after))
        assert words in section.facts(changed)[0]


def test_stopping_the_training_keeps_the_placements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(seed: int, on_count: Callable[[int, int], None]) -> LearningSection:
        on_count(1, 10)
        os.kill(os.getpid(), signal.SIGINT)
        on_count(2, 10)
        raise AssertionError("it went on")

    monkeypatch.setattr(section, "teach", stopped)
    report = tmp_path / "report.html"
    arguments = ["demo", "--no-serve", "--no-open", "--tasks", "12", "--large", "0", "--no-network"]
    for output in ("table", "csv"):
        result = CliRunner().invoke(app, [*arguments, "--report", str(report), "-o", output])
        assert result.exit_code == 130, result.output
        record = json.loads((tmp_path / "run.json").read_text())
        assert record["placing"]["learning"] is None
        assert len(record["placing"]["placements"]) == 12
        assert record["rounds"] == []
        assert "Placed before they ever ran" in report.read_text()
