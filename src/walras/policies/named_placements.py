"""Policies of placements by name, or from a file of the user's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from walras import checks
from walras.policies.exchange import exchange
from walras.policies.named import of_file, options_of
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

_SETTINGS = tuple(field.name for field in fields(Policy) if field.name != "rules")
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
    own = of_file(name, options)
    if own is not None:
        return own
    checks.one_of(name, "policy", PLACEMENTS, "policy", remedy="name one, or FILE.py:FUNCTION")
    make = PLACEMENTS[name]
    given = [key for key in inspect.signature(make).parameters if key not in _OWN]
    known = (*given, *_SETTINGS) if name == "exchange" else given
    checks.known_keys(options, known, f"policy {name}")
    settings = {key: options.pop(key) for key in _SETTINGS if key in options}
    with options_of(name):
        if settings:
            options["settings"] = Policy(**settings)
        return make(predict=predict, **options)
