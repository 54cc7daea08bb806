"""Functions that only borrow arrays, and those that own some."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import numba as nb
import numpy as np
import pytest
from numba.typed import List

from walras.kernels import room
from walras.kernels.linked import KernelCompiler, linked
from walras.kernels.ownership import PlainFlags
from walras.kernels.parallel import inner, jit
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


@jit
def _takes_imaginary_parts(x: Floats, out: Floats) -> None:
    out[0] = _total(x[0].imag) + _total(x[0].real)


@jit
def _reads_lists(arrays: Any, out: Floats) -> None:
    out[0] = _total(arrays[0])


@jit
def _walks_lists(arrays: Any, out: Floats) -> None:
    for array in arrays:
        out[0] += _total(array)


@inner
def _filled(n: int, value: float) -> Floats:
    made: Floats = room.floats(n)
    for k in range(n):
        made[k] = value
    return made


@jit
def _reads_the_first_of_two(x: Floats, out: Floats) -> None:
    first = _filled(len(out), 3.0)
    second = _filled(len(out), 5.0)
    for k in range(len(out)):
        out[k] = first[k] + 10.0 * second[k]


def _counts(kernel: Any, x: Any = None) -> bool:
    """Whether a kernel is compiled with references counted."""
    plain = nb.njit(pipeline_class=_Shown, no_cfunc_wrapper=True)(kernel.py_func)
    plain(np.ones((2, 3)) if x is None else x, np.ones(3))
    return _Shown.counts[-1]


class _Shown(KernelCompiler):
    counts: list[bool] = []  # noqa: RUF012  # numba makes the object

    def _compile_core(self) -> Any:
        made = super()._compile_core()
        self.counts.append(bool(self.state.targetctx.enable_nrt))
        return made


@pytest.mark.parametrize(
    ("kernel", "counts"),
    [
        (_borrows, False),
        (_makes, True),
        (_chooses, True),
        (_adds, True),
        (_hands_back, True),
        (_takes_imaginary_parts, True),
        (_reads_the_first_of_two, True),
    ],
)
def test_what_makes_or_returns_an_array_counts_references(kernel: Any, counts: bool) -> None:
    assert _counts(kernel) is counts


@pytest.mark.parametrize(
    "kernel",
    [_borrows, _makes, _chooses, _adds, _hands_back, _takes_imaginary_parts],
)
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


@pytest.mark.parametrize("kernel", [_reads_lists, _walks_lists])
def test_an_item_of_a_list_is_a_reference_of_its_own(kernel: Any) -> None:
    array, out = np.arange(6.0), np.zeros(3)
    arrays, alive = List([array]), weakref.ref(array)
    kernel(arrays, out)
    assert out[0] == 15.0
    assert _counts(kernel, arrays)
    del arrays, array
    assert alive() is None


def test_an_array_made_within_is_kept_while_it_is_read() -> None:
    out = np.zeros(1000)
    for _ in range(20):
        _reads_the_first_of_two(out, out)
        assert np.all(out == 53.0)


def test_options_are_equal_where_what_is_inherited_from_them_is() -> None:
    one, other = PlainFlags(), PlainFlags()
    one.error_model = other.error_model = "numpy"
    one.release_gil, other.no_cpython_wrapper = True, True
    assert one == other
    assert hash(one) == hash(other)
    other.forceinline = True
    assert one != other
    assert one != 3
