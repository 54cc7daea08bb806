"""What makes arrays a problem: types, lengths, ranges; each fault is one error that names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from walras.errors import InputError

if TYPE_CHECKING:
    from walras.separable.form import Separable

_SIDES = 3
_UTILITIES = 6


def check(p: Separable) -> None:
    """Refuse arrays that are no problem.

    Raises:
        InputError: Something is no array, has another length, or is out of range.
    """
    _check_types(p)
    _check_lengths(p)
    _check_owners(p)
    _check_names(p)
    _check_rows(p)
    _check_numbers(p)


def check_sparse(matrix: object) -> None:
    """Refuse what is no sparse matrix by columns.

    Raises:
        InputError: It is dense, or sparse in another form.
    """
    if not isinstance(matrix, sp.csc_array | sp.csc_matrix):
        raise InputError(
            f"is a {type(matrix).__name__}",
            where="rows.matrix",
            allowed="a scipy.sparse.csc_array",
            remedy="pass scipy.sparse.csc_array(matrix)",
        )


def _check_types(p: Separable) -> None:
    own = ("resource", "demand", "cost", "quadratic", "lower", "upper", "scalar_cost",
           "scalar_lower", "scalar_upper")  # fmt: skip
    rows = ("scalar_matrix", "lower", "upper", "side", "owner", "utility", "weight", "parameter")
    given = {name: getattr(p, name) for name in own}
    given |= {f"rows.{name}": getattr(p.rows, name) for name in rows}
    if p.integer is not None:
        given["integer"] = p.integer
    for name, array in given.items():
        kinds = "b" if name == "integer" else "iuf"
        if not isinstance(array, np.ndarray) or array.dtype.kind not in kinds:
            raise InputError(
                f"is a {type(array).__name__}"
                + (f" of {array.dtype}" if isinstance(array, np.ndarray) else ""),
                where=name,
                allowed="a numpy array of " + ("booleans" if kinds == "b" else "numbers"),
                remedy="pass numpy.asarray of it",
            )
    for name, scale in (("gap_scale", p.gap_scale), ("constant", p.constant)):
        fine = scale is None or (np.isfinite(scale) and (scale > 0 or name == "constant"))
        if not fine:
            raise InputError(
                f"is {scale}",
                where=name,
                allowed="finite" if name == "constant" else "finite and > 0, or None",
                remedy="leave it out",
            )


def _check_lengths(p: Separable) -> None:
    n, s, r = p.entries, p.scalars, p.rows.count
    expected = {
        "resource": (p.resource.shape, (n,)),
        "demand": (p.demand.shape, (n,)),
        "quadratic": (p.quadratic.shape, (n,)),
        "lower": (p.lower.shape, (n,)),
        "upper": (p.upper.shape, (n,)),
        "scalar_lower": (p.scalar_lower.shape, (s,)),
        "scalar_upper": (p.scalar_upper.shape, (s,)),
        "rows.matrix": (p.rows.matrix.shape, (r, n)),
        "rows.scalar_matrix": (p.rows.scalar_matrix.shape, (r, s)),
        "rows.upper": (p.rows.upper.shape, (r,)),
        "rows.side": (p.rows.side.shape, (r,)),
        "rows.owner": (p.rows.owner.shape, (r,)),
        "rows.utility": (p.rows.utility.shape, (r,)),
        "rows.weight": (p.rows.weight.shape, (r,)),
        "rows.parameter": (p.rows.parameter.shape, (r,)),
    }
    if p.integer is not None:
        expected["integer"] = (p.integer.shape, (n,))
    for name, (got, want) in expected.items():
        if tuple(got) != want:
            raise InputError(
                f"has shape {tuple(got)}",
                where=name,
                allowed=f"{want}",
                remedy="give every array of the problem the same entries, scalars and rows",
            )
    if n == 0:
        raise InputError(
            "the problem has no entries",
            where="Separable",
            allowed="at least one entry",
            remedy="check that some resource can serve some demand",
        )


def _check_names(p: Separable) -> None:
    for name, given in (("resource", p.resource_names), ("demand", p.demand_names)):
        if not isinstance(given, list | tuple) or len(set(given)) == len(given):
            continue
        twice = next(label for k, label in enumerate(given) if label in given[:k])
        raise InputError(
            f"'{twice}' comes twice", where=f"{name}_names", allowed="distinct names",
            remedy=f"give every {name} a name of its own",
        )  # fmt: skip


def _check_owners(p: Separable) -> None:
    for name, owner, count in zip(
        ("resource", "demand"), (p.resource, p.demand), p.shape, strict=True
    ):
        bad = (owner < -1) | (owner >= count)
        if np.any(bad):
            k = int(np.argmax(bad))
            raise InputError(
                f"is {owner[k]}",
                where=f"{name}[{k}]",
                allowed=f"0 to {count - 1}, or -1 for none",
                remedy=f"number each entry's {name} as in {name}_names",
            )


def _check_rows(p: Separable) -> None:
    rows, (resources, demands) = p.rows, p.shape
    most = np.array([resources, demands, 0])
    ranges = (
        ("side", rows.side, (rows.side < 0) | (rows.side >= _SIDES), "a value of Side"),
        (
            "utility",
            rows.utility,
            (rows.utility < 0) | (rows.utility >= _UTILITIES),
            "a value of Utility",
        ),
    )
    for name, array, bad, allowed in ranges:
        if np.any(bad):
            k = int(np.argmax(bad))
            raise InputError(
                f"is {array[k]}",
                where=f"rows.{name}[{k}]",
                allowed=allowed,
                remedy="use walras.separable's own numbers",
            )
    bad = (rows.owner < -1) | (rows.owner >= most[rows.side])
    if np.any(bad):
        k = int(np.argmax(bad))
        raise InputError(
            f"is {rows.owner[k]}",
            where=f"rows.owner[{k}] ({rows.name(k)})",
            allowed="the owner's number on its side, -1 on a coupled row",
            remedy="number owners as in resource_names and demand_names",
        )
    bad = rows.is_utility & (rows.weight < 0)
    if np.any(bad):
        k = int(np.argmax(bad))
        raise InputError(
            f"is {rows.weight[k]:g}",
            where=f"rows.weight[{k}] ({rows.name(k)})",
            allowed=">= 0 on a row with a utility",
            remedy="a negative weight makes the objective concave to minimise",
        )


def _check_numbers(p: Separable) -> None:
    finite = {
        "cost": p.cost,
        "quadratic": p.quadratic,
        "scalar_cost": p.scalar_cost,
        "rows.matrix": p.rows.matrix.data,
        "rows.scalar_matrix": p.rows.scalar_matrix.ravel(),
        "rows.weight": p.rows.weight,
        "rows.parameter": p.rows.parameter,
    }
    for name, array in finite.items():
        if not np.all(np.isfinite(array)):
            raise InputError(
                "is not finite",
                where=f"{name}[{int(np.argmin(np.isfinite(array)))}]",
                allowed="finite numbers",
                remedy="remove NaN and infinity from the data",
            )
    if np.any(p.quadratic < 0):
        raise InputError(
            "is negative",
            where=f"quadratic[{int(np.argmax(p.quadratic < 0))}]",
            allowed=">= 0",
            remedy="the objective must be convex in every entry",
        )
    ordered = (
        ("lower", p.lower, p.upper),
        ("scalar_lower", p.scalar_lower, p.scalar_upper),
        ("rows.lower", p.rows.lower, p.rows.upper),
    )
    for name, low, high in ordered:
        bad = ~(low <= high) | (low == np.inf) | (high == -np.inf)
        if np.any(bad):
            k = int(np.argmax(bad))
            label = p.rows.name(k) if name.startswith("rows") else f"{name}[{k}]"
            raise InputError(
                f"the bounds [{low[k]:g}, {high[k]:g}] admit no number",
                where=label,
                allowed="lower <= upper",
                remedy="swap or loosen the bounds",
            )
