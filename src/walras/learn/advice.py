"""``advise``: what pays on given data, by cross-validation; and ``fit("auto")``, which does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from walras.deprecated import renamed_keywords
from walras.learn.decide import placed_by
from walras.learn.fitting import FittedModel, fit_problem, viewed
from walras.learn.settings import LearnSettings, named
from walras.learn.training_problem import (
    Evaluator,
    TrainingProblem,
    complete,
    data_of,
    draw,
    problem_of_tasks,
    training_problem,
)
from walras.predict import Recipe, Tasks
from walras.progress import OnProgress, Stoppable, counts, tell
from walras.status import Status
from walras.types import Floats

Measured = tuple[str, Floats, LearnSettings]  # name, regret of every round, settings

_FOLDS = 3
_ROUNDS = 400
_MODELS = ("linear", "counts", "mlp")
# What may be done to a model class; each is measured against the plain one.
_OPTIONS: dict[str, dict[str, Any]] = {
    "hard decoding": {"decoder": "hard", "margin": 0.0},
    "hard decoding, tuned margin": {"decoder": "hard"},
    "tuned margin": {},
    "bagging": {"members": 5, "margin": 0.0},
    "decision-focused": {"method": "mfcp-ad", "margin": 0.0},
}
_PLAIN: dict[str, Any] = {"method": "tsm", "margin": 0.0}


@dataclass(frozen=True)
class Finding:
    """One candidate, measured on rounds of tasks that it did not see.

    Attributes:
        name: What it is, in words.
        settings: How it is trained and decoded.
        regret: Mean relative excess over the oracle of makespan + price x missing success.
        gain: How much lower that is than the regret of the plain model of its class. For a plain
            model: than the regret of the plain linear one.
        error: Twice the standard error of the gain over the rounds.

    Example:
        >>> from walras.learn import Finding, LearnSettings
        >>> found = Finding("linear: bagging", LearnSettings(members=5), 0.12, 0.03, error=0.01)
        >>> found.pays
        True
    """

    name: str
    settings: LearnSettings
    regret: float
    gain: float
    error: float

    @property
    def pays(self) -> bool:
        """Whether the gain is more than twice its standard error."""
        return self.gain > self.error


@dataclass(frozen=True)
class Advice:
    """What was measured, and what to do.

    Attributes:
        findings: Plain model classes first, then the options of the best of them.
        status: ``feasible``, or ``interrupted`` where ``on_progress`` left candidates out.

    Example:
        >>> from walras.learn import Advice, Finding, LearnSettings
        >>> plain = Finding("linear", LearnSettings(), regret=0.15, gain=0.0, error=0.0)
        >>> bagging = Finding("linear: bagging", LearnSettings(members=5), 0.12, 0.03, 0.01)
        >>> Advice((plain, bagging)).best.name
        'linear: bagging'
    """

    findings: tuple[Finding, ...]
    status: Status = Status.FEASIBLE

    def __repr__(self) -> str:
        found = f"{len(self.findings)} candidates, best {self.best.name!r}"
        return f"Advice({found}, regret {self.best.regret:.4g})"

    @property
    def value(self) -> float:
        """The regret of the best."""
        return self.best.regret

    @property
    def best(self) -> Finding:
        """The least regret among the plain models and the options that pay."""
        plain = [f for f in self.findings if f.settings.method == "tsm" and ":" not in f.name]
        first = min(plain, key=lambda f: f.regret)
        return min(
            [first, *(f for f in self.findings if ":" in f.name and f.pays)], key=lambda f: f.regret
        )

    def frame(self) -> pd.DataFrame:
        """Columns ``what``, ``regret``, ``gain``, ``error``, ``pays``, ``chosen``."""
        rows = [(f.name, f.regret, f.gain, f.error, f.pays, f is self.best) for f in self.findings]
        return pd.DataFrame(rows, columns=["what", "regret", "gain", "error", "pays", "chosen"])


@renamed_keywords(counts, progress="on_progress")
def advise(
    data: Recipe | Tasks,
    *,
    tasks_per_round: int = 15,
    seed: int = 0,
    min_success: float | None = None,
    on_progress: OnProgress | None = None,
    settings: LearnSettings | None = None,
    **changes: Any,
) -> Advice:
    """Measure by cross-validation what pays on your data: model class, decoding, margin, bagging,
    training through the decisions.

    A recipe's candidates are trained on its training tasks, stopped on half of its validation tasks
    and measured on the other half, both ways round; tasks of a log go through three folds. The test
    set is not looked at.

    Args:
        data: A recipe of :func:`walras.predict.recipe`, or tasks of a log.
        tasks_per_round: Tasks in a round, at least 1.
        seed: Seed of everything that is drawn.
        min_success: Least mean success of a round, 0 to 1; one that binds in half of the rounds if
            None.
        on_progress: Called with a Progress that counts the candidates, its ``note`` the next one;
            True returns those so far.
        settings: Settings of every candidate; ``model`` other than ``auto`` keeps to that class.
        changes: Settings of :class:`LearnSettings`, by name.

    Returns:
        The candidates with what was measured, and the best.

    Raises:
        InputError: A setting is out of range, or there are too few tasks.
        EngineError: A method needs torch, which is missing.

    Example:
        >>> import walras as wl
        >>> sizes = {"train_tasks": 40, "validation_tasks": 80, "test_tasks": 20}
        >>> data = wl.predict.recipe("nb201", clusters="A", synthetic=True, **sizes)
        >>> short = {"model": "linear", "steps": 2, "check_every": 2, "rounds": 20}
        >>> advice = wl.learn.advise(data, tasks_per_round=5, **short)
        >>> [found.name for found in advice.findings][:2]
        ['linear', 'linear: hard decoding']
    """
    base = (settings or named("auto", seed)).with_(**changes)
    hook = Stoppable(on_progress)
    contest = _Contest(data, base, tasks_per_round, min_success, hook)
    plain = list[Measured]()
    for m in contest.models:
        if not hook.stopped:
            plain.append(contest.measure(str(m), base.with_(**_PLAIN, model=m)))
    best = min(plain, key=lambda found: found[1].mean())
    findings = [_finding(*found, plain[0][1]) for found in plain]
    for name, options in contest.options.items():
        if hook.stopped:
            break
        own = {"method": "tsm", "margin": "tuned", "model": best[2].model} | options
        found = contest.measure(f"{best[0]}: {name}", base.with_(**own))
        findings.append(_finding(*found, best[1]))
    return Advice(tuple(findings), hook.status)


class _Contest:
    """The folds, and the candidates measured on them."""

    def __init__(
        self,
        data: Recipe | Tasks,
        base: LearnSettings,
        size: int,
        floor: float | None,
        on_progress: OnProgress,
    ) -> None:
        self.base, self._size, self._on_progress = base, size, on_progress
        self._folds = list(_folds(data_of(data), base, size, floor))
        graphs = bool((data if isinstance(data, Tasks) else data.train).graphs)
        torch = find_spec("torch") is not None
        self.models: Sequence[Any] = [base.model]
        if isinstance(base.model, str) and base.model == "auto":
            has = {"linear": True, "counts": graphs, "mlp": torch}
            self.models = [model for model in _MODELS if has[model]]
        self.options = {k: v for k, v in _OPTIONS.items() if torch or "method" not in v}
        self._names = [*map(str, self.models), *self.options]
        self._done = 0

    def measure(self, name: str, settings: LearnSettings) -> Measured:
        """The relative excess of every round of every fold."""
        found = []
        for made, evaluator in self._folds:
            learned = fit_problem(made, settings)
            seen = learned.predictor.predict(viewed(evaluator.tasks, settings))
            placed = placed_by(evaluator, seen.times, seen.success, settings, learned.margin)
            found.append(evaluator.elastic(placed))
        self._done += 1
        following = self._names[self._done] if self._done < len(self._names) else ""
        tell(self._on_progress, self._done, len(self._names), note=following)
        return name, np.concatenate(found), settings


def _finding(name: str, regret: Floats, settings: LearnSettings, base: Floats) -> Finding:
    gain = base - regret
    error = 2.0 * float(gain.std(ddof=1)) / len(gain) ** 0.5
    return Finding(name, settings, float(regret.mean()), float(gain.mean()), error)


def _folds(
    data: Recipe | Tasks, settings: LearnSettings, size: int, floor: float | None
) -> Iterator[tuple[TrainingProblem, Evaluator]]:
    """Training problems, each with an evaluator of tasks that it does not have."""
    for k, (train, held, kept) in enumerate(_parts(data, settings.seed)):
        made = problem_of_tasks(train, held, settings, size, floor)
        rounds = draw(
            complete(kept), _ROUNDS, size, (settings.seed, 26, k), f"part {k + 1} of the data"
        )
        yield made, Evaluator(kept, rounds, made.terms)


def _parts(data: Recipe | Tasks, seed: int) -> Iterator[tuple[Tasks, Tasks, Tasks]]:
    """(train, validation, judged) tasks of each fold."""
    rng = np.random.default_rng((seed, 27))
    if not isinstance(data, Tasks):
        order = rng.permutation(len(data.validation))
        halves = [data.validation.take(np.sort(part)) for part in np.array_split(order, 2)]
        yield data.train, halves[0], halves[1]
        yield data.train, halves[1], halves[0]
        return
    parts = np.array_split(rng.permutation(len(data)), _FOLDS + 1)
    for k in range(_FOLDS):
        rest = [part for j, part in enumerate(parts) if j not in (k, k + 1)]
        chosen = (np.concatenate(rest), parts[k + 1], parts[k])
        train, held, kept = (data.take(np.sort(part)) for part in chosen)
        yield train, held, kept


def fit_best(
    data: Recipe | Tasks,
    settings: LearnSettings,
    tasks_per_round: int,
    min_success: float | None,
    on_progress: OnProgress | None,
) -> FittedModel:
    """Train what :func:`advise` finds best, on all training tasks; see :func:`walras.learn.fit`."""
    hook = Stoppable(on_progress)
    advice = advise(
        data,
        tasks_per_round=tasks_per_round,
        min_success=min_success,
        on_progress=hook,
        settings=settings,
    )
    chosen = advice.best.settings
    made = training_problem(data, chosen, tasks_per_round=tasks_per_round, min_success=min_success)
    learned = fit_problem(made, chosen)
    return replace(learned, settings=chosen, choice=advice.findings, status=hook.status)
