"""Functions that become machine code within kernels alone."""

from __future__ import annotations

import numba as nb
import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from walras.kernels.linked import linked
from walras.types import Floats


@linked()
def _square(x: float) -> float:
    return x * x


@linked()
def _norm(x: Floats) -> float:
    total = np.zeros(1)
    for k in range(len(x)):
        total[0] += _square(x[k])
    return float(np.sqrt(total[0]))


def test_a_kernel_takes_in_functions_that_take_in_others() -> None:
    kernel = nb.njit(lambda x: _norm(x) + _square(2.0))
    assert kernel(np.array([3.0, 4.0])) == 9.0


def test_no_machine_code_is_made_of_them_by_themselves() -> None:
    apart = nb.njit(no_cpython_wrapper=True)(_square.py_func)
    for function, makes in ((apart, True), (linked()(_square.py_func), False)):
        function.compile((nb.int64,))
        (made,) = function.overloads.values()
        with global_compiler_lock:
            place = made.library.get_pointer_to_function(made.fndesc.mangled_name)
        assert bool(place) is makes


def test_a_call_from_python_is_an_error() -> None:
    with pytest.raises(TypeError, match="not tuple"):
        _square(3.0)


@linked()
def _next(k: int) -> int:
    return k + 1


def test_constants_and_short_integers_share_one_version() -> None:
    kernel = nb.njit(lambda x, k: _next(3) + _next(x[0]) + _next(k))
    assert kernel(np.array([5], dtype=np.int32), 7) == 18
    assert _next.signatures == [(nb.int64,)]


def test_an_integer_of_32_bits_does_not_overflow_within() -> None:
    kernel = nb.njit(lambda x: _next(x[0]))
    assert kernel(np.array([2**31 - 1], dtype=np.int32)) == 2**31
