"""Users' matrices and vectors, dense, labelled or sparse, as plain checked arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from walras import checks
from walras.errors import InputError
from walras.types import Bools, Floats

Labels = tuple[str, ...]
Matrix = npt.ArrayLike | pd.DataFrame | sp.sparray | sp.spmatrix
Vector = npt.ArrayLike | pd.Series
Sizes = npt.ArrayLike | pd.Series | pd.DataFrame
SPARSE = (sp.sparray, sp.spmatrix)
_Array = TypeVar("_Array", npt.NDArray[Any], sp.csc_array)
_SHAPES = (
    "give throughput as (resources, demands), size and weight one number a demand, capacity one "
    "number a resource"
)


@dataclass(frozen=True)
class Names:
    """Labels of the two sides; None while only positions are known."""

    resources: Labels | None
    demands: Labels | None

    def resource(self, i: int) -> str:
        """The name of resource ``i`` in errors."""
        return f"{i} ({self.resources[i]})" if self.resources else str(i)

    def demand(self, j: int) -> str:
        """The name of demand ``j`` in errors."""
        return f"{j} ({self.demands[j]})" if self.demands else str(j)


def labels(given: Sequence[object] | pd.Index | None, name: str) -> Labels | None:
    """Turn labels into distinct strings.

    Raises:
        InputError: They are not a sequence, or two are the same.
    """
    if given is None:
        return None
    return checks.distinct(given, name, remedy="give one label a row or column of throughput")


def compressed(given: Any, where: str) -> sp.csc_array:
    """Convert a SciPy sparse matrix or array to columns, with each pair once.

    Raises:
        InputError: It is not numeric, or not two-dimensional.
    """
    try:
        if given.dtype.kind == "c":
            raise TypeError("complex numbers have no order")
        out = sp.csc_array(given, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"is not a numeric matrix: {error}",
            where=where,
            allowed="two-dimensional numbers",
            remedy="give one row a resource type and one column a job",
        ) from error
    out.sum_duplicates()
    return out


def shaped(array: _Array, shape: tuple[int, ...], where: str, words: str) -> _Array:
    """Check that an array has the shape of the instance.

    Raises:
        InputError: It has another shape.
    """
    return checks.shaped(array, shape, where, words, remedy=_SHAPES)


def vector(
    given: Vector,
    name: str,
    known: Labels | None,
    side: str,
    length: int,
    remedy: str,
    *,
    zero: bool = False,
) -> Floats:
    """Check a vector of positive numbers; a labelled Series is matched by label.

    Args:
        given: The numbers.
        name: The argument's name, for errors.
        known: Labels of that side.
        side: ``resource`` or ``demand``, for errors.
        length: Expected number.
        remedy: Remedy for a number that is not positive.
        zero: Whether 0 is allowed.

    Raises:
        InputError: Wrong length, unknown or missing label, or a number that is not > 0.
    """
    if isinstance(given, pd.Series) and known is not None:
        given = _matched(given, known, name, side)
    array = shaped(checks.numeric(given, name), (length,), name, f"one number a {side}")

    def where(at: tuple[int, ...]) -> str:
        return f"{name}[{at[0]}]" + (f" ({known[at[0]]})" if known else "")

    endless = "give a number; where nothing limits, one larger than all that can be used"
    allowed = f"finite and {'>= 0' if zero else '> 0'}"
    checks.refuse_first(~np.isfinite(array), array, where, allowed=allowed, remedy=endless)
    if zero:
        return checks.within(array, where, 0.0, remedy=remedy)
    return checks.within(array, where, above=0.0, remedy=remedy)


def sizes(given: Sizes, shape: tuple[int, int], names: Names) -> Floats:
    """GPUs of every job on every type: one number a job, or one for each type and job.

    Args:
        given: (jobs,) or (resources, jobs); a labelled Series or frame is matched by label.
        shape: Resources and jobs.
        names: Labels of both sides.

    Returns:
        (resources, jobs) sizes; a view of one row where they are the same on every type.

    Raises:
        InputError: Wrong shape or labels, or a number that is not finite and > 0.
    """
    remedy = "give every job the GPUs it occupies"
    if not isinstance(given, pd.DataFrame) and np.ndim(checks.numeric(given, "size")) < 2:
        alone = vector(given, "size", names.demands, "demand", shape[1], remedy)
        return np.broadcast_to(alone, shape)
    if isinstance(given, pd.DataFrame) and names.resources and names.demands:
        given = aligned(given, names.resources, names.demands, "size")
    array = shaped(checks.numeric(given, "size"), shape, "size", "as throughput, or one a demand")

    def where(at: tuple[int, ...]) -> str:
        return f"size[{names.resource(at[0])}, {names.demand(at[1])}]"

    checks.refuse_first(
        ~np.isfinite(array),
        array,
        where,
        allowed="finite and > 0",
        remedy="give any size where a job cannot run: its throughput of 0 says so",
    )
    return checks.within(array, where, above=0.0, remedy=remedy)


def _matched(given: pd.Series, known: Labels, name: str, side: str) -> Floats:
    own = labels(given.index, f"labels of {name}") or ()
    checks.same_names(
        own,
        known,
        f"labels of {name}",
        side,
        allowed=f"the {side}s of throughput",
        remedy="give throughput, size, weight and capacity the same labels",
    )
    ordered = pd.Series(given.to_numpy(), index=list(own)).reindex(list(known))
    return checks.numeric(ordered, name)


def boolean(given: Matrix, shape: tuple[int, int], names: Names) -> Bools | sp.csc_array:
    """Check the mask of allowed pairs, dense or sparse; a labelled frame is matched by label.

    Raises:
        InputError: Wrong shape or labels, or values that are not booleans.
    """
    if isinstance(given, SPARSE):
        return shaped(compressed(given, "allowed"), shape, "allowed", "as throughput")
    if isinstance(given, pd.DataFrame) and names.resources and names.demands:
        given = aligned(given, names.resources, names.demands, "allowed")
    try:
        mask = np.asarray(given)
    except ValueError as error:
        raise InputError(
            "has rows of different lengths",
            where="allowed",
            allowed=f"shape {shape}",
            remedy="give every row the same length",
        ) from error
    shaped(mask, shape, "allowed", "as throughput")
    if mask.dtype != np.bool_ and not np.all((mask == 0) | (mask == 1)):
        raise InputError(
            f"holds values of type {mask.dtype} other than 0 and 1",
            where="allowed",
            allowed="booleans",
            remedy="pass throughput > 0, or a boolean mask",
        )
    return mask.astype(np.bool_, copy=False)


def aligned(frame: pd.DataFrame, resources: Labels, demands: Labels, name: str) -> npt.NDArray[Any]:
    """Put a labelled frame into the order of the given labels.

    Raises:
        InputError: A label is missing.
    """
    own_rows = labels(frame.index, f"rows of {name}") or ()
    own_columns = labels(frame.columns, f"columns of {name}") or ()
    for side, own, wanted in (
        ("resource", own_rows, resources),
        ("demand", own_columns, demands),
    ):
        checks.same_names(
            [*(set(own) & set(wanted))],
            wanted,
            name,
            side,
            allowed=f"all {len(wanted)} {side}s",
            remedy="give it the labels of throughput",
        )
    renamed = frame.set_axis(list(own_rows), axis=0).set_axis(list(own_columns), axis=1)
    return renamed.loc[list(resources), list(demands)].to_numpy()
