"""Functions that only borrow arrays, and those that own some."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
import pytest

from walras.kernels.linked import KernelCompiler, linked
from walras.kernels.parallel import jit
from walras.types import Floats


@linked()
def _total(row: Floats) -> float:
    total = 0.0
    for value in row:
        total += value
    return total


@jit
def _borrows(x: Floats, out: Floats) -> None:
    for i in range(len(x)):
        row = x[i]
        out[i] = _total(row[1:]) + _total(x.T[0])


@jit
def _makes(x: Floats, out: Floats) -> None:
    doubled = np.empty_like(x)
    doubled[:] = x
    out[0] = _total(doubled[0])


@jit
def _chooses(x: Floats, out: Floats) -> None:
    out[0] = _total(x[0][out > 0.0])


@jit
def _adds(x: Floats, out: Floats) -> None:
    out[:] = x[0] + x[1]


@jit
def _hands_back(x: Floats, out: Floats) -> Floats:
    return x[0]


def _counts(kernel: Any) -> bool:
    """Whether a kernel is compiled with references counted."""
    plain = nb.njit(pipeline_class=_Shown, no_cfunc_wrapper=True)(kernel.py_func)
    plain(np.ones((2, 3)), np.ones(3))
    return _Shown.counts[-1]


class _Shown(KernelCompiler):
    counts: list[bool] = []  # noqa: RUF012  # numba makes the object

    def _compile_core(self) -> Any:
        made = super()._compile_core()
        self.counts.append(bool(self.state.targetctx.enable_nrt))
        return made


@pytest.mark.parametrize(
    ("kernel", "counts"),
    [(_borrows, False), (_makes, True), (_chooses, True), (_adds, True), (_hands_back, True)],
)
def test_what_makes_or_returns_an_array_counts_references(kernel: Any, counts: bool) -> None:
    assert _counts(kernel) is counts


@pytest.mark.parametrize("kernel", [_borrows, _makes, _chooses, _adds, _hands_back])
def test_no_reference_is_lost_or_left(kernel: Callable[..., Any]) -> None:
    x, out = np.arange(6.0).reshape(2, 3), np.ones(3)
    kernel(x, out)
    before = sys.getrefcount(x), sys.getrefcount(out)
    for _ in range(50):
        kernel(x, out)
    assert (sys.getrefcount(x), sys.getrefcount(out)) == before


def test_views_are_summed_as_numpy_sums_them() -> None:
    x, out = np.arange(12.0).reshape(3, 4), np.zeros(3)
    _borrows(x, out)
    np.testing.assert_allclose(out, x[:, 1:].sum(axis=1) + x[:, 0].sum())
