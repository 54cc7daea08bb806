"""Policies of placements by name, or from a file of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from walras import checks
from walras.policies.exchange import exchange
from walras.policies.named import defaults_of, of_file, options_of
from walras.policies.place import place
from walras.policies.placements import Policy
from walras.policies.placing import best_fit, fastest_cluster, first_fit
from walras.rounds import Predict
from walras.simulate.placed import Placer

PLACEMENTS: Mapping[str, Callable[..., Placer]] = {
    "best_fit": best_fit,
    "exchange": exchange,
    "fastest_cluster": fastest_cluster,
    "first_fit": first_fit,
    "place": place,
}
"""Policies of placements by name: functions of what predicts and of their options."""

_SETTINGS = {field.name: field.default for field in fields(Policy) if field.name != "rules"}
_OWN = ("settings", "predict")  # arguments that no option gives


def named_placement(name: str, predict: Predict | None = None, **options: Any) -> Placer:
    """A policy of placements by its name, or from a Python file.

    Args:
        name: A name of :data:`PLACEMENTS`, or ``FILE.py:FUNCTION`` for a function from a
            :class:`walras.rounds.Snapshot` to a :class:`walras.rounds.Decision`. The file is run.
        predict: What is predicted of tasks; a function of a file does without.
        options: Of a named policy; those of ``exchange`` are ``seed``, ``time_limit`` and the
            fields of :class:`walras.policies.placements.Policy` but its rules.

    Returns:
        The policy.

    Raises:
        InputError: There is no such policy, option or function.
        DataError: The file cannot be read or run.

    Example:
        >>> import walras as wl
        >>> wl.policies.named_placement("exchange", explore=0.0).__name__
        'exchange'
    """
    of_user = of_file(name, options)
    if of_user is not None:
        return of_user
    checks.one_of(name, "policy", PLACEMENTS, "policy", remedy="name one, or FILE.py:FUNCTION")
    checks.known_keys(options, placement_defaults(name), f"policy {name}")
    make = PLACEMENTS[name]
    own = defaults_of(make)
    settings = {key: value for key, value in options.items() if key not in own}
    given = {key: value for key, value in options.items() if key in own}
    with options_of(name):
        if settings:
            given["settings"] = Policy(**settings)
        return make(predict=predict, **given)


def placement_defaults(name: str) -> dict[str, Any]:
    """Options of a policy of placements with their defaults.

    Args:
        name: A name of :data:`PLACEMENTS`.

    Example:
        >>> placement_defaults("place")
        {'most': 'slots', 'tolerance': 0.001, 'seed': 0}
    """
    known = defaults_of(PLACEMENTS[name])
    own = {key: default for key, default in known.items() if key not in _OWN}
    return own | (dict(_SETTINGS) if "settings" in known else {})
