"""cvxpy's warnings about how it goes about a problem itself: users can do nothing about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_ITS_OWN = (
    ".* a sparse CVXPY expression",  # it reads variables with a pattern as it says not to
    r"\s*You didn't specify the order",  # nor does it, in its reductions
    "You are solving a parameterized problem",  # the report says that nothing is kept
)


@contextmanager
def cvxpy_quiet() -> Iterator[None]:
    """Without the warnings that cvxpy gives about itself."""
    with warnings.catch_warnings():
        for message in _ITS_OWN:
            warnings.filterwarnings("ignore", message=message)
        yield
