"""What each study compares: methods, and the settings, sizes and terms that they meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from benchmarks.learning.scenarios import compare_scenarios
from walras.learn.analysis import BASELINES
from walras.learn.comparison import compare
from walras.learn.settings import LearnSettings
from walras.matching import Decay

TWO_STAGE = {"tsm-raw": LearnSettings(method="tsm-raw"), "tsm-log": LearnSettings(method="tsm-log")}
CORE: Mapping[str, LearnSettings] = {
    "tam": LearnSettings(method="tam"),
    **TWO_STAGE,
    "tsm+margin": LearnSettings(method="tsm", margin="tuned"),
    "bagged": LearnSettings(method="tsm", members=5),
    "mfcp-ad": LearnSettings(method="mfcp-ad"),
    "mfcp-fg": LearnSettings(method="mfcp-fg", samples=3),
    "pool-expected": LearnSettings(method="pool-expected"),
}
_PRINTED: dict[str, Any] = {
    "decoder": "relaxed", "barrier": "log", "temperature": 0.5, "mode": "orthogonal",
}  # fmt: skip
_PAPER: Mapping[str, LearnSettings] = {
    **{
        name: own.with_(**_PRINTED)
        for name, own in (
            ("tam", CORE["tam"]), *TWO_STAGE.items(),
            ("ucb-pessimistic", LearnSettings(method="ucb-pessimistic")),
            ("mfcp-ad", CORE["mfcp-ad"]), ("mfcp-fg", CORE["mfcp-fg"]),
        )
    },
    "exact tsm-raw": TWO_STAGE["tsm-raw"],
    "exact tsm-log": TWO_STAGE["tsm-log"],
}  # fmt: skip


@dataclass(frozen=True)
class Study:
    """One comparison.

    Attributes:
        name: Of its table.
        title: Heading.
        question: What it asks, in a sentence or two.
        methods: By name.
        settings: Letters.
        train_tasks: Sizes.
        tasks_per_round: Sizes of rounds.
        options: Of every method.
        terms: Other arguments of ``compare``.
        seeds: Run unless told otherwise.
        floors: gamma, each for all; the one that binds in half of the rounds if empty.
        pairs: Tasks run together as fast as the data's measured pairs do.
        run: In place of ``compare``.
        baselines: Whose best in each cell the others are compared with.
    """

    name: str
    title: str
    question: str
    methods: Mapping[str, LearnSettings]
    settings: tuple[str | tuple[str, ...], ...] = ("A", "B", "C", "D")
    train_tasks: tuple[int, ...] = (40, 100, 200)
    tasks_per_round: tuple[int, ...] = (5,)
    options: Mapping[str, Any] = field(default_factory=dict)
    terms: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 20
    floors: tuple[float, ...] = ()
    pairs: bool = False
    run: Callable[..., pd.DataFrame] = compare
    baselines: tuple[str, ...] = BASELINES


def _some(*names: str) -> dict[str, LearnSettings]:
    return {name: CORE[name] for name in names}


_COUNTS: Mapping[str, Any] = {"model": "counts", "link": "exp"}
_SINGLE = _some("tsm-raw", "tsm-log", "tsm+margin", "bagged", "mfcp-ad")
_FEW_ROUNDS: Mapping[str, Any] = {"rounds": 150}  # to validate with, where rounds are large


STUDIES: tuple[Study, ...] = (
    Study(
        "counts", "Operation counts, N = 5",
        "A misspecified model: times exponential in the numbers of operations of each kind.",
        CORE, options={"model": "counts", "link": "exp"},
    ),
    Study(
        "linear", "Linear models, N = 5",
        "A nearly well specified model: a softplus of the one-hots of the six operations.",
        CORE,
    ),
    Study(
        "no-floor", "Operation counts without a floor",
        "Times alone: the floor is 0.",
        _some("tsm-raw", "tsm-log", "mfcp-ad", "pool-expected"),
        options={"model": "counts", "link": "exp"}, terms={"min_success": 0.0},
    ),
    Study(
        "auto", "fit('auto')",
        "Choosing among margin, bagging and training through decisions by cross-validation.",
        {**TWO_STAGE, "auto": LearnSettings(method="auto")}, train_tasks=(40, 200),
    ),
    Study(
        "auto-counts", "fit('auto') within operation counts",
        "Against the single choice that is best in each cell, picked on the judged rounds.",
        {**_SINGLE, "auto": LearnSettings(method="auto", margin="tuned")}, train_tasks=(40,),
        options=_COUNTS, baselines=tuple(_SINGLE),
    ),
    Study(
        "auto-linear", "fit('auto') within linear models",
        "Against the single choice that is best in each cell, picked on the judged rounds.",
        {**_SINGLE, "auto": LearnSettings(method="auto", margin="tuned")}, train_tasks=(40,),
        baselines=tuple(_SINGLE),
    ),
    Study(
        "auto-mlp", "fit('auto') within networks",
        "Against the single choice that is best in each cell, picked on the judged rounds.",
        {**_SINGLE, "auto": LearnSettings(method="auto", margin="tuned")}, train_tasks=(40,),
        options={"model": "mlp"}, baselines=tuple(_SINGLE),
    ),
    Study(
        "auto-any", "fit('auto') over the model classes",
        "Against two-stage fully connected networks, the paper's TSM.",
        {
            **{name: own.with_(model="mlp") for name, own in TWO_STAGE.items()},
            "auto": LearnSettings(method="auto", model="auto", margin="tuned"),
        },
        train_tasks=(40,),
    ),
    Study(
        "counts-30", "Operation counts at three times the price",
        "Missing success costs 30 even loads in place of 10, in decoder, oracle, loss and metric.",
        _some("tsm-raw", "tsm-log", "mfcp-ad", "mfcp-fg"), options={**_COUNTS, "price": 30.0},
    ),
    Study(
        "linear-30", "Linear models at three times the price",
        "Missing success costs 30 even loads in place of 10, in decoder, oracle, loss and metric.",
        _some("tsm-raw", "tsm-log", "mfcp-ad", "mfcp-fg"), options={"price": 30.0},
    ),
    Study(
        "counts-15", "Operation counts, N = 15",
        "Rounds of 15 tasks.",
        _some("tsm-raw", "tsm-log", "mfcp-ad"), tasks_per_round=(15,),
        options={**_COUNTS, **_FEW_ROUNDS}, terms={"test_rounds": 150},
    ),
    Study(
        "linear-15", "Linear models, N = 15",
        "Rounds of 15 tasks.",
        _some("tsm-raw", "tsm-log", "mfcp-ad"), tasks_per_round=(15,),
        options=_FEW_ROUNDS, terms={"test_rounds": 150},
    ),
    Study(
        "mlp-15", "Fully connected networks, N = 15",
        "Rounds of 15 tasks.",
        _some("tsm-raw", "tsm-log", "mfcp-ad"), tasks_per_round=(15,),
        options={"model": "mlp", **_FEW_ROUNDS}, terms={"test_rounds": 150},
    ),
    Study(
        "mlp", "Fully connected networks, N = 5",
        "Networks on the one-hots, which nearly interpolate their training tasks.",
        _some("tsm-raw", "tsm-log", "mfcp-ad"), options={"model": "mlp"},
    ),
    Study(
        "rounds", "Tasks a round (figure 5)",
        "Setting A, 100 tasks to train on, rounds of 5 to 25 tasks.",
        _some("tam", "tsm-raw", "tsm-log", "mfcp-ad"), settings=("A",), train_tasks=(100,),
        tasks_per_round=(5, 10, 15, 20, 25),
        options={"model": "counts", "link": "exp", "rounds": 100}, terms={"test_rounds": 100},
    ),
    Study(
        "ablation", "Ablations of table 1",
        "Training for the mean load, with a kinked penalty, and by directions.",
        {
            **TWO_STAGE,
            "mean load": LearnSettings(method="mfcp-ad", linear_loss=True),
            "hard penalty": LearnSettings(method="mfcp-ad", barrier="hard"),
            "log barrier": LearnSettings(method="mfcp-ad", barrier="log"),
            "zeroth order": CORE["mfcp-fg"],
            "mfcp-ad": CORE["mfcp-ad"],
            "alternating": LearnSettings(method="mfcp-ad", joint="alternating"),
        },
        settings=("A", "C"), train_tasks=(40,), options={"model": "counts", "link": "exp"},
    ),
    Study(
        "sensitivity", "Temperature",
        "The relaxed matching warmer and colder.",
        {
            **TWO_STAGE,
            **{
                f"temperature {tau:g}": LearnSettings(method="mfcp-ad", temperature=tau)
                for tau in (0.01, 0.03, 0.1, 0.3)
            },
        },
        settings=("A", "C"), train_tasks=(40,), options={"model": "counts", "link": "exp"},
    ),
    Study(
        "floors", "The floor (gamma)",
        "Floors of mean success from one that hardly binds to one that nearly always does.",
        {**TWO_STAGE, "mfcp-ad": CORE["mfcp-ad"]}, settings=("A", "C"), train_tasks=(40,),
        options={"model": "counts", "link": "exp"}, floors=(0.6, 0.7, 0.75, 0.8, 0.85),
    ),
    Study(
        "samples", "Directions of MFCP-FG",
        "Fewer orthogonal directions than the N = 5 that make the estimate exact, and more.",
        {
            **TWO_STAGE,
            **{
                f"{s} directions": LearnSettings(method="mfcp-fg", samples=s)
                for s in (1, 2, 3, 5, 10)
            },
            "mfcp-ad": CORE["mfcp-ad"],
        },
        settings=("A", "C"), train_tasks=(40,), options={"model": "counts", "link": "exp"},
    ),
    Study(
        "other-losses", "Other ways to train through decisions",
        "The score function, losses on pools of placements, the perturbed optimiser.",
        {
            **TWO_STAGE,
            **{
                name: LearnSettings(method=name)
                for name in ("ucb-optimistic", "ucb-pessimistic", "score-function", "perturbed",
                             "pool-expected", "pool-contrastive", "pool-listwise")
            },
        },
        settings=("A", "C"), train_tasks=(40,), options={"model": "counts", "link": "exp"},
    ),
    Study(
        "linear-objective", "The linear ablation",
        "Least sum of the times, success known: SPO+ and black-box differentiation are valid here.",
        {
            **{n: LearnSettings(method=n, objective="sum") for n in TWO_STAGE},
            **{
                n: LearnSettings(method=n, objective="sum", noise=1.0)
                for n in ("spo+", "black-box")
            },
        },
        settings=("A", "C"), train_tasks=(40,), options={"model": "counts", "link": "exp"},
    ),
    Study(
        "paper", "The paper's protocol",
        "Its decoder (largest shares of a warm relaxed matching), log barrier, no margin; and "
        "the same two-stage predictors decoded exactly.",
        _PAPER, settings=("A", "B", "C"), train_tasks=(100,),
    ),
    Study(
        "paper-together", "The paper's protocol, tasks together (table 2)",
        "The same where the ratio of tasks together falls from 1 to 0.6, at a rate of 0.5 a task, "
        "which the paper does not state.",
        _PAPER, settings=("A", "B", "C"), train_tasks=(100,),
        options={"speedup": Decay(), "rounds": 100}, terms={"test_rounds": 100},
    ),
    Study(
        "together", "Tasks together",
        "Clusters run tasks in parallel: the ratio falls from 1 to 0.6, at a rate of 0.5 a task.",
        _some("tam", "tsm-raw", "tsm-log", "mfcp-ad"),
        settings=("A",), train_tasks=(100,),
        options={"model": "counts", "link": "exp", "speedup": Decay(), "steps": 40, "rounds": 100},
        terms={"test_rounds": 100},
    ),
    Study(
        "together-gavel", "Tasks together as measured",
        "Gavel's jobs, together at the ratio that its pairs were measured to have on each GPU type "
        "(median .73, .89, .95 of two jobs), falling to 0.6 beyond two, which nothing measures.",
        {
            **_some("tam", "tsm-raw", "tsm-log"),
            "ucb-pessimistic": LearnSettings(method="ucb-pessimistic"),
            **_some("mfcp-ad", "mfcp-fg"),
        },
        settings=(("v100", "p100", "k80"),), train_tasks=(40,), pairs=True,
        options={"steps": 40, "rounds": 100}, terms={"data": "gavel", "test_rounds": 100},
    ),
    Study(
        "scenarios", "Scenario matching",
        "Five bagged one-hot models: the mean of their predictions decoded, against the placement "
        "of least expected cost over their predictions, without and with drawn errors.",
        {**TWO_STAGE, "bagged": CORE["bagged"]}, train_tasks=(40,), run=compare_scenarios,
    ),
    Study(
        "scenarios-counts", "Scenario matching, operation counts",
        "The same on operation counts.",
        {**TWO_STAGE, "bagged": CORE["bagged"]}, train_tasks=(40,), run=compare_scenarios,
        options={"model": "counts", "link": "exp"},
    ),
    Study(
        "scenarios-mlp", "Scenario matching, networks",
        "The same with fully connected networks, whose members disagree most.",
        {**TWO_STAGE, "bagged": CORE["bagged"]}, train_tasks=(40,), run=compare_scenarios,
        options={"model": "mlp"},
    ),
    Study(
        "gavel", "Training jobs (Gavel)",
        "Jobs on three GPU types; success is composed from other clusters' failure rates.",
        _some("tam", "tsm-raw", "tsm-log", "bagged", "mfcp-ad"),
        settings=(("v100", "p100", "k80"),), train_tasks=(40,), terms={"data": "gavel"},
    ),
    Study(
        "zeus", "Training configurations (Zeus)",
        "Epochs on GPUs, with measured shares of runs that reached their target.",
        _some("tam", "tsm-raw", "tsm-log", "bagged", "mfcp-ad"),
        settings=(("a40", "v100", "p100"),), train_tasks=(16,), terms={"data": "zeus"},
    ),
    Study(
        "fifteen", "Fifteen clusters",
        "All devices measured at batch size 1, 15 tasks a round.",
        _some("tam", "tsm-raw", "tsm-log", "mfcp-ad"),
        settings=(
            ("titan_rtx_1", "gold_6226", "pixel3", "2080ti_1", "silver_4210r", "essential_ph_1",
             "titanxp_1", "gold_6240", "raspi4", "1080ti_1", "titanx_1", "silver_4114", "pixel2",
             "samsung_a50", "samsung_s7"),
        ),
        train_tasks=(100,), tasks_per_round=(15,), options={"rounds": 30, "steps": 60},
        terms={"test_rounds": 30},
    ),
)  # fmt: skip
