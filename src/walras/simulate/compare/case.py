"""One case of a comparison: a policy, or the bound of all, on a trace with a seed; and its key."""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from walras.progress import OnProgress
from walras.rounds.canonical import digest, pack
from walras.rounds.fields import split
from walras.simulate.cluster import Cluster
from walras.simulate.compare.comparison import NO_POLICY, Bounds
from walras.simulate.placed import Placer, Slots, TaskTrace
from walras.simulate.result import Run
from walras.simulate.run import run
from walras.simulate.time_shared import Policy
from walras.simulate.trace import Trace
from walras.version import __version__

MakePolicy = Callable[..., Policy | Placer]
"""Makes a policy anew for each run: policies may remember. One that places tasks is made with
``predict=``: what is predicted of the tasks of that run."""

Bound = Callable[..., Bounds]
"""From a trace, a cluster and ``measured=`` to what no policy can beat there."""


@dataclass(frozen=True, eq=False)
class Case:
    """What is run once.

    Attributes:
        trace: Name of the trace.
        policy: Name of the policy.
        seed: The seed.
        jobs: The trace; tasks for ``Slots``.
        cluster: The workers.
        make: Makes the policy; of a bound, None.
        bound: Computes the bound; of a policy, None.
        settings: Arguments of :func:`walras.simulate.run`.
    """

    trace: str
    policy: str
    seed: int
    jobs: Trace | TaskTrace
    cluster: Cluster | Slots
    make: MakePolicy | None
    bound: Bound | None
    settings: Mapping[str, Any]

    def solve(self, on_progress: OnProgress | None = None) -> Run | Bounds:
        """The run, or the bounds."""
        jobs = self.jobs
        if self.bound is not None:
            shared = jobs.to_trace() if isinstance(jobs, TaskTrace) else jobs
            workers = Cluster(self.cluster.counts)
            return self.bound(shared, workers, measured=self.settings.get("measured"))
        if self.make is None:
            raise ValueError("a case has a policy or a bound")
        known = {"predict": jobs.predict} if isinstance(jobs, TaskTrace) else {}
        parts: Any = jobs, self.cluster, self.make(**known)  # of one world, as run checks
        found: Run = run(*parts, **self.settings, seed=self.seed, on_progress=on_progress)
        return found

    @property
    def row(self) -> tuple[str, str, int]:
        """Trace, policy and seed of its row; the policy of a bound is :data:`NO_POLICY`."""
        return self.trace, NO_POLICY if self.make is None else self.policy, self.seed

    @property
    def key(self) -> str:
        """SHA-256 of all that the result hangs on, hexadecimal: equal for equal cases."""
        words, arrays = split(self.jobs)
        slots = {"slots": repr(vars(self.cluster))} if isinstance(self.cluster, Slots) else {}
        stated = slots | {
            "cluster": list(map(list, self.cluster.counts.items())),
            "policy": _identity(self.make or self.bound),
            "settings": repr(sorted((k, _exact(v)) for k, v in self.settings.items())),
            "seed": self.seed if self.bound is None else 0,
            "version": __version__,
        }
        return digest(
            pack("case", 1, {**words, **{f"case.{k}": v for k, v in stated.items()}}, arrays)
        )


def _identity(given: object) -> str:
    """What a function is: where it comes from, its source, its arguments, the files they name."""
    if isinstance(given, partial):
        inside = [_identity(given.func), *map(_identity, given.args)]
        inside += [f"{name}={_identity(value)}" for name, value in sorted(given.keywords.items())]
        return f"partial({', '.join(inside)})"
    if callable(given):
        where = f"{getattr(given, '__module__', '')}.{getattr(given, '__qualname__', repr(given))}"
        try:
            return f"{where}: {inspect.getsource(given)}"
        except (OSError, TypeError):  # typed into a console
            return where
    if isinstance(given, str):
        file = Path(given.rpartition(":")[0] if ".py:" in given else given)
        if file.suffix in (".py", ".csv") and file.is_file():
            return f"{given!r}: {file.read_bytes()!r}"
    return _exact(given)


def _exact(given: object) -> str:
    """A value as text. Large arrays and tables have a shortened ``repr``: these are hashed."""
    if isinstance(given, np.ndarray | pd.DataFrame | pd.Series):
        return f"{type(given).__name__} {hashlib.sha256(pickle.dumps(given, 5)).hexdigest()}"
    return repr(given)
