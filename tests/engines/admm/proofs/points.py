"""Points that proofs are tried on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from walras.engines.admm.form import make_form
from walras.engines.admm.method import Method
from walras.engines.admm.proofs.tighten_duals import DualTightening
from walras.engines.admm.slices.row_classification import roles
from walras.engines.admm.slices.slice import Slice, cut
from walras.engines.admm.start import Beginning
from walras.engines.admm.worker_pool import Threads, WorkerPool
from walras.separable import Separable
from walras.types import Floats


@contextmanager
def standing_at(
    problem: Separable,
    x: Floats,
    t: Floats,
    prices: Floats,
    *,
    slices: int = 1,
    collapse: bool = False,
    own: bool = False,
    opened: Callable[[Sequence[Slice]], WorkerPool] | None = None,
) -> Iterator[tuple[Method, DualTightening]]:
    """A solve that stands at a point, without an iteration made."""
    form = make_form(problem, collapse=collapse, own=own)
    padded = np.append(prices, 0.0)
    first = Beginning(
        x[form.order],
        padded[form.groups.source],
        padded[form.narrow.source],
        padded[form.own.source],
        float(t[0]) if len(t) else 0.0,
        1.0,
    )
    pool = (opened or Threads().open)(
        cut(form, slices, first.x, first.price, roles(form), first.own)
    )
    tightening = DualTightening(form)
    try:
        yield Method(form, pool, first, tightening.ceiling), tightening
    finally:
        pool.close()
