"""Replay recorded rounds through another policy, and compare.

Each round is decided anew from the snapshot that the exchange took then: what the other policy
would have changed in earlier rounds is not carried on (:mod:`walras.exchange.history.carried` does
so). Where it places a task on the cluster that
the exchange chose, the outcome is known; elsewhere there is what was predicted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import checks
from walras.errors import InputError
from walras.exchange.history.read import History, Outcome, Recorded
from walras.exchange.runtime.deciding import loaded
from walras.policies.placements import Policy, decide, predicting
from walras.predict.logs.log import write_log
from walras.progress import OnProgress, Progress
from walras.rounds import Decision, Predict, Rules, Snapshot, Violation, check
from walras.simulate.placed import Placer

Makes = Callable[[Predict | None], Placer]
"""A policy of what predicts, such as :func:`walras.policies.first_fit` by its ``predict``."""

_RULES = tuple(Rules.__dataclass_fields__)
_SETTINGS = tuple(name for name in Policy.__dataclass_fields__ if name != "rules")


@dataclass(frozen=True, eq=False)
class Replayed:
    """Recorded rounds, and the same rounds by another policy.

    Attributes:
        history: What was replayed.
        policy: Name of the other policy.
        decisions: Its decision of each round replayed; fewer where it was stopped.
        refused: Rounds whose decision broke a rule, with the first rule; they place nothing.

    Example:
        >>> import walras as wl
        >>> from walras.exchange.history import History, replay
        >>> replay(History("none", (), {}, {})).frame().shape
        (17, 4)
    """

    history: History
    policy: str
    decisions: tuple[Decision, ...]
    refused: tuple[tuple[int, Violation], ...]

    @cached_property
    def recorded_placements(self) -> pd.DataFrame:
        """One row a placement of the recorded rounds; see :meth:`placements`."""
        rounds = self.history.rounds[: len(self.decisions)]
        return _placements(self.history, [recorded.decision for recorded in rounds])

    @cached_property
    def placements(self) -> pd.DataFrame:
        """One row a placement: ``round``, ``at``, ``task``, ``cluster``, ``submitted``, predicted
        ``seconds`` and ``chance``, and what is known: ``outcome``, ``took`` (seconds), ``ended``.
        """
        return _placements(self.history, self.decisions)

    @cached_property
    def as_recorded(self) -> pd.DataFrame:
        """The rows of :attr:`placements` that the exchange made as well. Those without an outcome
        are recorded, and not measured yet.
        """
        keys = ["round", "task", "cluster"]
        return self.placements.merge(self.recorded_placements[keys], on=keys)

    @property
    def alike(self) -> float:
        """Share of the recorded placements that the other policy makes as well; 1 for none."""
        count = len(self.recorded_placements)
        return len(self.as_recorded) / count if count else 1.0

    def save_placements(self, path: str | Path) -> None:
        """Write :attr:`placements` as CSV or Parquet: ``.csv``, ``.parquet`` or ``.pq``.

        Args:
            path: The file.

        Raises:
            InputError: The name ends otherwise.
            EngineError: It is Parquet, and pyarrow is not installed.
            DataError: The file cannot be written.
        """
        write_log(self.placements, path)

    def frame(self) -> pd.DataFrame:
        """The comparison: columns ``measure``, ``recorded``, ``replayed`` and ``unit``.

        Returns:
            Completion counts from submission. ``observed`` rows count the placements alone whose
            outcome is known: for the replayed policy, those that the exchange made as well.
            ``expected`` rows take what was observed where it is known, and what was predicted
            elsewhere; times later by ``lateness``, the mean by which the recorded placements ended
            later than predicted. ``deadlines missed`` counts tasks that the last round before their
            deadline left waiting. NaN where there is nothing to count.
        """
        rounds = self.history.rounds[: len(self.decisions)]
        before = self.recorded_placements
        late = _lateness(before)
        columns = [
            _figures(rounds, [recorded.decision for recorded in rounds], before, late),
            _figures(rounds, self.decisions, self.placements, late),
        ]
        rows = [
            (name, columns[0][name][0], columns[1][name][0], unit)
            for name, (_, unit) in columns[0].items()
        ]
        rows.insert(3, ("placed as recorded", 1.0, self.alike, ""))
        return pd.DataFrame(rows, columns=["measure", "recorded", "replayed", "unit"])


def replay(
    history: History,
    settings: Mapping[str, Any] | None = None,
    *,
    policy: Makes | None = None,
    on_progress: OnProgress | None = None,
) -> Replayed:
    """Decide recorded rounds anew by another policy.

    Args:
        history: The rounds.
        settings: Rules and settings that replace those recorded: ``min_success``, ``window``,
            ``kappa`` and fields of :class:`walras.policies.placements.Policy`.
        policy: Makes a policy of what predicts; the exchange's own if None. It has the seed that
            was recorded, and no limit of time.
        on_progress: Called after each round with a :class:`walras.progress.Progress`; True ends
            the replay there.

    Returns:
        The comparison.

    Raises:
        InputError: There is no such setting, or its value cannot be used.
    """
    changed = dict(settings or {})
    check_changes(changed, policy)
    made, refused = [], []
    for k, recorded in enumerate(history.rounds):
        snapshot, decision = _decided(history, recorded, changed, policy)
        broken = check(snapshot, decision)
        if broken:
            refused.append((recorded.seq, broken[0]))
            decision = Decision.empty(decision.tasks, decision.clusters, method=decision.method)
        made.append(decision)
        total = len(history.rounds)
        if on_progress is not None and on_progress(Progress(k + 1, elapsed=0.0, total=total)):
            break
    words = ", ".join(f"{name}={value}" for name, value in changed.items())
    named = "the recorded policy" if policy is None else made[0].method if made else ""
    return Replayed(
        history, f"{named}{' with ' + words if words else ''}", tuple(made), tuple(refused)
    )


def check_changes(changed: Mapping[str, Any], policy: Makes | None) -> None:
    """Refuse settings that are none, or that another policy than the exchange's does not have.

    Raises:
        InputError: There is such a setting.
    """
    checks.known_keys(changed, (*_RULES, *_SETTINGS), "settings")
    if policy is not None and changed.keys() & set(_SETTINGS):
        name = min(changed.keys() & set(_SETTINGS))
        raise InputError(
            f"has '{name}', a setting of the exchange's search",
            where="settings",
            allowed=", ".join(_RULES) + ": rules, which every policy must keep",
            remedy="leave it out, or replay the exchange's own policy",
        )


def changed_policy(policy: Policy, changed: Mapping[str, Any]) -> Policy:
    """A policy with rules and settings that replace its own.

    Raises:
        InputError: A value cannot be used.
    """
    document = json.loads(policy.document())
    document |= {name: changed[name] for name in _SETTINGS if name in changed}
    document["rules"] |= {name: changed[name] for name in _RULES if name in changed}
    return Policy.from_document(document)


def predict_of(history: History, recorded: Recorded) -> Predict | None:
    """What the predictor of a round says; None where it had none."""
    model = history.models.get(recorded.predictor)
    if model is None:
        return None
    return predicting(loaded(hashlib.sha256(model).hexdigest(), model), recorded.snapshot.typical)


def _decided(
    history: History, recorded: Recorded, changed: Mapping[str, Any], makes: Makes | None
) -> tuple[Snapshot, Decision]:
    policy = changed_policy(recorded.policy, changed)
    rules = {name: getattr(policy.rules, name) for name in _RULES if name in changed}
    snapshot, predict = recorded.snapshot.with_rules(**rules), predict_of(history, recorded)
    if makes is not None:
        return snapshot, makes(predict)(snapshot)
    name = recorded.predictor if predict is not None else "prior"
    return snapshot, decide(snapshot, predict, policy, seed=recorded.seed, predictor=name)


_COLUMNS = {
    "round": np.int64,
    "at": np.float64,
    "task": np.int64,
    "cluster": np.int64,
    "submitted": np.float64,
    "seconds": np.float64,
    "chance": np.float64,
    "outcome": object,
    "took": np.float64,
    "ended": np.float64,
}


def _placements(history: History, decisions: Any) -> pd.DataFrame:
    rows = []
    unknown = Outcome("", np.nan, np.nan)
    for recorded, decision in zip(history.rounds, decisions, strict=False):
        snapshot = recorded.snapshot
        for j in np.flatnonzero(decision.placed).tolist():
            task = int(snapshot.tasks.key[j])
            cluster = int(snapshot.clusters.key[decision.cluster[j]])
            known = history.outcomes.get((recorded.seq, task, cluster), unknown)
            rows.append(
                (
                    *(recorded.seq, snapshot.at, task, cluster, snapshot.tasks.submitted[j]),
                    *(decision.seconds[j], decision.chance[j]),
                    *(known.outcome, known.seconds, known.ended),
                )
            )
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)


def _lateness(placed: pd.DataFrame) -> float:
    """Mean seconds by which placements that completed ended later than predicted; 0 for none."""
    good = placed[placed["outcome"] == "completed"]
    late = good["ended"] - good["at"] - good["seconds"]
    return float(late.mean()) if len(late) else 0.0


def _figures(
    rounds: tuple[Recorded, ...], decisions: Any, placed: pd.DataFrame, late: float
) -> dict[str, tuple[float, str]]:
    known = placed["outcome"] != ""
    good = placed["outcome"] == "completed"
    waited = placed["at"] - placed["submitted"]
    predicted, observed = waited + placed["seconds"], placed["ended"] - placed["submitted"]
    ends = np.where(good, placed["ended"] - placed["at"], placed["seconds"] + late)
    left = [
        r.snapshot.waiting - int(d.placed.sum()) for r, d in zip(rounds, decisions, strict=True)
    ]
    chance = np.where(known, good, placed["chance"])
    return {
        "rounds": (float(len(rounds)), ""),
        "fallback rounds": (float(sum(d.state != "ok" for d in decisions)), ""),
        "tasks placed": (float(len(placed)), ""),
        "left waiting a round": (_mean(left), ""),
        "deadlines missed": (float(_missed(rounds, decisions)), ""),
        "predicted completion": (_mean(predicted), "s"),
        "observed outcomes": (float(known.sum()), ""),
        "lateness": (late, "s"),
        "observed completion": (_mean(observed[good]), "s"),
        "expected completion": (_mean(np.where(good, observed, predicted + late)), "s"),
        "predicted makespan": (_mean(placed.groupby("round")["seconds"].max()), "s"),
        "expected makespan": (_mean(pd.Series(ends).groupby(placed["round"]).max()), "s"),
        "predicted time": (_mean(placed["seconds"]), "s"),
        "predicted success": (_mean(placed["chance"]), ""),
        "observed success": (_mean(good[known]), ""),
        "expected success": (_mean(chance), ""),
    }


def _missed(rounds: tuple[Recorded, ...], decisions: Any) -> int:
    """Tasks that a round leaves waiting though the next one comes after their deadlines."""
    missed = set()
    for k, (recorded, decision) in enumerate(zip(rounds, decisions, strict=True)):
        after = rounds[k + 1].snapshot.at if k + 1 < len(rounds) else np.inf
        tasks = recorded.snapshot.tasks
        late = (tasks.deadline < after) & np.isfinite(tasks.deadline) & ~decision.placed
        missed |= set(tasks.key[late].tolist())
    return len(missed)


def _mean(values: Any) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
