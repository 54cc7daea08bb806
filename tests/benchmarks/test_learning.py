"""The learning studies: what they state, that they go on, and the page they write."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.learning.__main__ import main, measure, narrowed
from benchmarks.learning.page import table, write_page
from benchmarks.learning.studies import STUDIES, Study
from benchmarks.tables import Tables

from walras.learn import LearnSettings

TINY = Study(
    "tiny",
    "Tiny",
    "Runs?",
    {name: LearnSettings(method=name) for name in ("tsm-raw", "tsm-log")},
    settings=("A",),
    train_tasks=(20,),
    options={"rounds": 20},
    terms={
        "test_rounds": 20,
        "recipe_options": {"synthetic": True, "validation_tasks": 40, "test_tasks": 40},
    },
)


def test_every_study_has_the_baselines_it_is_compared_with() -> None:
    assert len({study.name for study in STUDIES}) == len(STUDIES)
    for study in STUDIES:
        assert {"tsm-raw", "tsm-log"} <= set(study.methods)
        for own in study.methods.values():
            own.with_(**study.options)  # settings that fit together


def test_a_study_is_measured_goes_on_and_has_its_table(tmp_path: Path) -> None:
    kept = Tables("learning", tmp_path)
    first = measure(TINY, range(1), tmp_path / "scratch", kept, 1)
    assert len(first) == 2
    both = measure(TINY, range(2), tmp_path / "scratch", kept, 1)
    pd.testing.assert_frame_equal(both.iloc[:2], first)
    page = write_page([TINY, STUDIES[0]], kept).read_text()
    assert "1 cells x 2 seeds (synthetic stand-in data)" in page
    assert "Not measured yet." in page
    assert kept.picture("tiny").stat().st_size > 5000
    assert table(both.assign(error=None)).count("| tsm-") == 2


def test_studies_are_narrowed_and_unknown_ones_refused(capsys: pytest.CaptureFixture[str]) -> None:
    study = narrowed(STUDIES[0], "tsm-raw,mfcp-ad", "40")
    assert list(study.methods) == ["tsm-raw", "mfcp-ad"]
    assert study.train_tasks == (40,)
    with pytest.raises(SystemExit):
        main(["unknown"])
    assert "no study 'unknown'" in capsys.readouterr().err
    assert main(["--list"]) == 0
    assert "Linear models" in capsys.readouterr().out
