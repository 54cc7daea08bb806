"""A run of the simulator: what became of each job, and what happened in each round."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras import saving
from walras.errors import InputError
from walras.predict.logs.log import write_log
from walras.rounds.canonical import digest, pack
from walras.simulate.cluster import Cluster
from walras.simulate.ledger import COLUMNS as LEDGER
from walras.simulate.trace import Trace
from walras.types import Bools, Floats, Longs

STATES = ("ended", "running", "waiting", "not arrived", "failed")
SETTLED = ("ended", "failed", "expired")  # of which nothing more is to come
_TINY = float(np.finfo(float).tiny)
_TIMINGS = ("policy_seconds", "overhead_seconds")


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run; arrays have one entry a job of the trace, or one a round.

    Attributes:
        policy: Name of the policy.
        source: Where the trace comes from.
        seed: Of the simulator's random numbers.
        round_seconds: Length of a round; 0 where shares were realised exactly.
        types: (T,) names of the types of workers.
        workers: (T,) workers of each type.
        name: (N,) names of the jobs.
        kind: (N,) their classes.
        size: (N,) workers that a job occupies.
        arrival: (N,) seconds.
        weight: (N,) priorities.
        alone: (N, T) seconds that a job runs on each type when it has its workers all the time;
            infinite where it cannot run.
        measured: (N,) jobs whose ends were waited for.
        began: (N,) first start; NaN where it never ran.
        ended: (N,) end; NaN where it has none.
        done: (N,) share of its steps that is done.
        moves: (N,) how often it was stopped or moved while it ran.
        received: (N, T) seconds that it ran on each type.
        shared: (N,) seconds that it ran beside another job.
        stopped: (N,) how often a failure of its workers stopped it.
        failures: (N,) how often it failed by itself.
        lost: (N,) seconds that it ran for work that failures undid.
        undone: (N,) that work, as a share of its steps.
        failed: (N,) when it failed for good; NaN where it did not.
        down: (K, 4) outages: type, worker of the type (-1: all of them), begin and end, seconds.
        end: When the run stopped, seconds.
        round_at: (L,) begin of each round; rounds without jobs are left out.
        active: (L,) jobs there.
        running: (L,) jobs that ran.
        busy: (L, T) busy worker-seconds by type.
        decisions: (L,) decisions made before the round.
        refused: (L,) of these, decisions that :func:`walras.rounds.check` refused.
        value: (L,) value of the decision before the round, as its policy counts; NaN where none.
        bound: (L,) its bound: what no decision could better.
        fairness: (L,) Jain's index of what its jobs received until the next decision: the share of
            their full speed, by weight.
        grants: (K, 7) rows of the ledger, if it was kept.
        violations: Lines about refused decisions: time, code, where and what.
        policy_seconds: (L,) seconds of the policy; NaN after loading.
        overhead_seconds: (L,) seconds of the simulator; NaN after loading.

    Example:
        >>> import walras as wl
        >>> trace = wl.simulate.Trace.of(["a", "b"], steps=[600, 2000])
        >>> run = wl.simulate.run(trace, wl.simulate.Cluster({"type 0": 1}), wl.policies.fifo())
        >>> run.completion.tolist(), run.makespan
        ([600.0, 4160.0], 4160.0)
    """

    policy: str
    source: str
    seed: int
    round_seconds: float
    types: tuple[str, ...]
    workers: Longs
    name: tuple[str, ...]
    kind: tuple[str, ...]
    size: Longs
    arrival: Floats
    weight: Floats
    alone: Floats
    measured: Bools
    began: Floats
    ended: Floats
    done: Floats
    moves: Longs
    received: Floats
    shared: Floats
    stopped: Longs
    failures: Longs
    lost: Floats
    undone: Floats
    failed: Floats
    down: Floats
    end: float
    round_at: Floats
    active: Floats
    running: Floats
    busy: Floats
    decisions: Floats
    refused: Floats
    value: Floats
    bound: Floats
    fairness: Floats
    grants: Floats
    violations: tuple[str, ...]
    policy_seconds: Floats
    overhead_seconds: Floats

    @cached_property
    def completion(self) -> pd.Series:
        """Seconds from arrival to end of each measured job, by name; NaN where it has no end."""
        index = pd.Index(
            [n for n, m in zip(self.name, self.measured, strict=True) if m], name="job"
        )
        return pd.Series((self.ended - self.arrival)[self.measured], index, name="completion")

    @cached_property
    def fastest(self) -> Floats:
        """(N,) seconds that a job runs on its fastest type when it has it all the time."""
        return np.asarray(self.alone.min(axis=1))

    @property
    def makespan(self) -> float:
        """Seconds from the first arrival to the last end of a measured job. Jobs that failed for
        good or expired have no end. NaN where none ended, or one still runs or waits.
        """
        settled = np.isin(self.state, SETTLED)[self.measured]
        ends = self.ended[self.measured & ~np.isnan(self.ended)]
        known = len(ends) and settled.all()
        return float(ends.max() - self.arrival[0]) if known else float("nan")

    @property
    def complete(self) -> bool:
        """Whether every measured job ended."""
        return not bool(np.isnan(self.ended[self.measured]).any())

    @property
    def utilisation(self) -> pd.Series:
        """Share of the worker-seconds of each type that ran a job, from first round to end."""
        span = self.end - self.round_at[0] if len(self.round_at) else np.nan
        return pd.Series(self.busy.sum(axis=0) / (self.workers * span), self.types)

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """One row a round: begin, jobs there, jobs that ran, decisions, refused ones, the value of
        the decision, its bound, the gap between them relative to the value, and the evenness of
        what it came to (``fairness``; all NaN without a decision), seconds of the policy and of the
        simulator (``overhead``), busy worker-seconds by type.
        """
        with np.errstate(invalid="ignore"):  # of two infinite ones there is none
            gap = np.abs(self.value - self.bound) / np.maximum(np.abs(self.value), _TINY)
        columns = {
            "at": self.round_at,
            "active": self.active.astype(np.int64),
            "running": self.running.astype(np.int64),
            "decisions": self.decisions.astype(np.int64),
            "refused": self.refused.astype(np.int64),
            "value": self.value,
            "bound": self.bound,
            "gap": gap,
            "fairness": self.fairness,
            "seconds": self.policy_seconds,
            "overhead": self.overhead_seconds,
        }
        return pd.DataFrame(
            columns | {f"busy {t}": self.busy[:, k] for k, t in enumerate(self.types)}
        )

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """Who got what: one row a decision, job and type with a share or with seconds.

        Columns ``decision`` (its number), ``at`` and ``until`` (seconds, while it held), ``job``,
        ``type``, ``share`` (of the time, as granted), ``seconds`` (received).

        Raises:
            InputError: The run kept none.
        """
        if not len(self.grants):
            raise InputError(
                "was not kept",
                where="Run.ledger",
                allowed="a run that kept it",
                remedy="run it again with ledger=True",
            )
        frame = pd.DataFrame(self.grants, columns=LEDGER)
        frame["decision"] = frame["decision"].astype(np.int64)
        for name, names in (("job", self.name), ("type", self.types)):
            frame[name] = np.array(names)[frame[name].astype(np.int64)]
        return frame

    @cached_property
    def outages(self) -> pd.DataFrame:
        """One row an outage that began before the end of the run: ``type``, ``worker`` (of its
        type, from 0; -1: all of them), ``began`` and ``ended`` in seconds.
        """
        frame = pd.DataFrame(self.down, columns=["type", "worker", "began", "ended"])
        frame["type"] = np.array(self.types)[frame["type"].astype(np.int64)]
        frame["worker"] = frame["worker"].astype(np.int64)
        return frame

    @property
    def up(self) -> pd.Series:
        """Share of the time that the workers of each type were up, until the end."""
        kind, worker, began, ended = self.down.T
        seconds = np.minimum(ended, self.end) - began
        seconds *= np.where(worker < 0, self.workers[kind.astype(np.int64)], 1)
        down = np.bincount(kind.astype(np.int64), seconds, len(self.types))
        return pd.Series(1.0 - down / np.maximum(self.workers * self.end, _TINY), self.types)

    def save_ledger(self, path: str | Path) -> None:
        """Write the ledger as CSV or Parquet, as the name ends: ``.csv``, ``.parquet`` or ``.pq``.

        Args:
            path: The file.

        Raises:
            InputError: The run kept none, or the name ends otherwise.
            EngineError: It is Parquet, and pyarrow is not installed.
            DataError: The file cannot be written.
        """
        write_log(self.ledger, path)

    @property
    def state(self) -> tuple[str, ...]:
        """(N,) what became of each job: ``ended``, ``running`` (it has begun), ``waiting``,
        ``not arrived`` or ``failed`` (its attempts are used up).
        """
        kind = np.where(np.isnan(self.began), 2, np.where(np.isnan(self.ended), 1, 0))
        kind[(self.arrival > self.end) & np.isnan(self.began)] = 3
        kind[~np.isnan(self.failed)] = 4
        return tuple(STATES[k] for k in kind)

    def frame(self) -> pd.DataFrame:
        """One row a job of the trace.

        Returns:
            Columns ``kind``, ``size``, ``arrival``, ``began``, ``ended``, ``completion``,
            ``fastest``, ``slowdown`` (completion by fastest), ``done``, ``moves``, ``measured``,
            ``state``, ``shared`` (seconds beside another job), the seconds on each type, and
            ``stopped``, ``failures``, ``lost`` (seconds), ``undone`` and ``failed``: what failures
            did to it.
        """
        completion = self.ended - self.arrival
        columns = {
            "kind": self.kind,
            "size": self.size,
            "arrival": self.arrival,
            "began": self.began,
            "ended": self.ended,
            "completion": completion,
            "fastest": self.fastest,
            "slowdown": completion / self.fastest,
            "done": self.done,
            "moves": self.moves,
            "measured": self.measured,
            "state": self.state,
        }
        columns["shared"] = self.shared
        columns |= {f"on {t}": self.received[:, k] for k, t in enumerate(self.types)}
        harmed = ("stopped", "failures", "lost", "undone", "failed")
        columns |= {name: getattr(self, name) for name in harmed}
        return pd.DataFrame(columns, index=pd.Index(self.name, name="job"))

    def save(self, path: str | Path) -> None:
        """Write the run to one file, which :func:`walras.load` reads.

        Seconds of the policy and of the simulator differ from run to run and are left out: the same
        trace, policy and seed give the same bytes.

        Args:
            path: The file, ``.npz``.

        Raises:
            InputError: The name ends as files of another format do, such as .json.
            DataError: The file cannot be written.
        """
        saving.save(self, path)

    def to_saved(self) -> Mapping[str, Any]:
        """Its parts by name, without timings."""
        return saving.saved_fields(self, *_TIMINGS)

    @classmethod
    def from_saved(cls, parts: Mapping[str, Any]) -> Run:
        """The run of these parts; what is newer than the file has the value that it had then.

        Raises:
            ValueError: It lacks what cannot be known, or has what is not known.
        """
        made = cls._then(parts) | dict(parts)
        made |= dict.fromkeys(_TIMINGS, np.full(len(parts["round_at"]), np.nan))
        known = {item.name for item in fields(cls)}
        for names, words in (
            (known - made.keys(), "it is a run of an earlier version, which did not keep"),
            (made.keys() - known, "it is a run of a later version, which also keeps"),
        ):
            if names:
                raise ValueError(f"{words} {', '.join(sorted(names))}")
        return cls(**made)

    @classmethod
    def _then(cls, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Parts that older runs lack: nobody shared workers, nothing failed, and what a decision
        was worth was not kept.
        """
        jobs, rounds = len(parts["name"]), len(parts["round_at"])
        return {
            **{name: np.full(rounds, np.nan) for name in ("value", "bound", "fairness")},
            **{name: np.zeros(jobs, np.int64) for name in ("stopped", "failures")},
            **{name: np.zeros(jobs) for name in ("shared", "lost", "undone")},
            "failed": np.full(jobs, np.nan),
            "down": np.zeros((0, 4)),
            "grants": np.zeros((0, len(LEDGER))),
        }

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all but the timings, hexadecimal."""
        digest = hashlib.sha256()
        for name, value in self.to_saved().items():
            digest.update(name.encode())
            held = value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()
            digest.update(held)
        return digest.hexdigest()

    def trace(self) -> Trace:
        """The jobs as a trace, in shares of each job's work: one step a job."""
        with np.errstate(divide="ignore"):
            speed = 1.0 / self.alone
        return Trace(
            *(self.name, self.kind, self.size, np.ones(len(self.name)), self.weight, self.arrival),
            types=self.types,
            speed=speed,
            source=self.source,
        )

    def cluster(self) -> Cluster:
        """The workers that it ran on."""
        counts = zip(self.types, self.workers.tolist(), strict=True)
        return Cluster({name: int(count) for name, count in counts})

    @property
    def trace_hash(self) -> str:
        """SHA-256 of the jobs, the workers and which jobs were measured, hexadecimal."""
        words = {"name": list(self.name), "types": list(self.types)}
        arrays = {k: getattr(self, k) for k in ("size", "arrival", "alone", "workers", "measured")}
        return digest(pack("run-trace", 1, words, arrays))

    def __repr__(self) -> str:
        ended = int((~np.isnan(self.ended[self.measured])).sum())
        mean = self.completion.mean() / 3600 if ended else float("nan")
        words = f"{ended} of {int(self.measured.sum())} measured jobs ended, mean completion"
        return f"Run({self.policy}: {words} {mean:.6g} h, {len(self.round_at)} rounds)"
