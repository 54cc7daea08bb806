"""cvxpy's warnings about its own ways are left out; those about the problem are not."""

from __future__ import annotations

import warnings

import pytest

from walras.problem.quiet import cvxpy_quiet


def test_only_warnings_about_cvxpy_itself_are_left_out() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with cvxpy_quiet():
            warnings.warn("Writing to a sparse CVXPY expression", UserWarning, stacklevel=1)
            warnings.warn("\n  You didn't specify the order of it", FutureWarning, stacklevel=1)
            warnings.warn("the problem is odd", UserWarning, stacklevel=1)
    assert [str(one.message) for one in seen] == ["the problem is odd"]
    with pytest.warns(UserWarning, match="a sparse CVXPY expression"):
        warnings.warn("Writing to a sparse CVXPY expression", UserWarning, stacklevel=1)
