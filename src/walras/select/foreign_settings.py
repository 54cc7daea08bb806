"""Settings of other packages' ``solve``, and what to use in their place."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence

from walras.errors import InputError

_CVXPY = "or solve p.to_cvxpy(), which shares the variables"
# What cvxpy and the packages around it call a setting, and what Walras calls it.
_INSTEAD = {
    "solver": f"leave solver out: engine='exact' runs HiGHS and Clarabel; {_CVXPY}",
    "warm_start": "pass start=, an earlier solution",
    "num_cpus": "pass threads=",
    "enable_dede": "import walras.dede for programs of the dede package",
    **dict.fromkeys(
        ("eps", "eps_abs", "eps_rel", "abstol", "reltol", "feastol", "tol", "tol_gap_rel",
         "mip_rel_gap", "MIPGap"),
        "pass tolerance=, the certified relative gap",
    ),
    **dict.fromkeys(
        ("max_iter", "max_iters", "num_iter", "TimeLimit", "time_limit_secs"),
        "pass time_limit= in seconds",
    ),
    **dict.fromkeys(("gp", "qcp"), "state a convex problem, or solve p.to_cvxpy()"),
}  # fmt: skip


def refuse_unknown(
    placed: Sequence[object], unknown: Mapping[str, object], solve: Callable[..., object]
) -> None:
    """Refuse arguments that a ``solve`` does not have.

    Args:
        placed: What was given by its place, where settings have names.
        unknown: What was given by name beyond its own.
        solve: The function, whose own keywords are allowed.

    Raises:
        InputError: There are such arguments; names the first, and what to use in its place.
    """
    if not placed and not unknown:
        return
    known = [
        p.name for p in inspect.signature(solve).parameters.values() if p.kind is p.KEYWORD_ONLY
    ]
    for value in placed:
        named = (
            _INSTEAD["solver"].partition(": ")[2]
            if isinstance(value, str)
            else ("give its name with it, such as tolerance=1e-6")
        )
        raise InputError(
            f"the setting {value!r} has no name",
            where="solve",
            allowed=", ".join(known),
            remedy=named,
        )
    for name in unknown:
        close = difflib.get_close_matches(name, known, n=1)
        remedy = _INSTEAD.get(name) or (f"did you mean {close[0]}?" if close else "leave it out")
        raise InputError(
            "there is no such setting",
            where=f"setting {name}",
            allowed=", ".join(known),
            remedy=remedy,
        )
