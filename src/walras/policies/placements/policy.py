"""How the exchange decides: the rules of every plan, and the settings of the search."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from walras import checks
from walras.errors import InputError
from walras.rounds import Rules


@dataclass(frozen=True)
class Policy:
    """Settings of the exchange's rounds.

    Attributes:
        rules: What every plan must keep; a snapshot carries them.
        half_life: Seconds in which slot-seconds that a tenant used count half.
        explore: Share of the placements that are drawn at random, 0 to 1.
        near: A placement is drawn among clusters whose time is within this share of the best.
        price_weight: Seconds that a price of one for a slot-hour counts as, for each second of
            work; 0 leaves prices out.
        shortfall_price: Seconds of makespan that a unit of missing mean success may save, where
            no plan reaches the floor.
        tolerance: A plan whose search was cut short is a fallback where its gap is wider.
        avoid_tried: Whether a task avoids clusters on which it has failed, as long as there are
            others.
        reserve: Large tasks that may keep free slots of a cluster from tasks that run longer.
        listed: Tasks that a snapshot lists beside twice those that the window can hold.

    Raises:
        InputError: A number is outside its range.

    Example:
        >>> from walras.policies.placements import Policy
        >>> Policy.from_document(Policy(explore=0.0).document()).explore
        0.0
    """

    rules: Rules = field(default_factory=Rules)
    half_life: float = 3600.0
    explore: float = 0.02
    near: float = 0.2
    price_weight: float = 0.0
    shortfall_price: float = 3600.0
    tolerance: float = 0.03
    avoid_tried: bool = True
    reserve: int = 8
    listed: int = 500

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            whole = name in _WHOLE
            checks.setting(self, name, low, high, integer=whole, where=f"policy.{name}")
        checks.flag(self.avoid_tried, "policy.avoid_tried", ", in JSON true or false")

    def document(self) -> str:
        """The policy as JSON with sorted keys, as a round stores it.

        Returns:
            The text.
        """
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_document(cls, text: str | Mapping[str, Any]) -> Policy:
        """The policy of a document; what it leaves out has its default.

        Args:
            text: JSON, or what JSON was read into.

        Returns:
            The policy.

        Raises:
            InputError: The document is no JSON, or names what there is not.
        """
        try:
            given = dict(json.loads(text) if isinstance(text, str) else text)
            rules = dict(given.pop("rules", {}))
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(
                f"is no policy: {error}",
                where="policy",
                allowed="a JSON object",
                remedy="walras.policies.placements.Policy().document() shows one",
            ) from error
        for names, known in ((given, cls), (rules, Rules)):
            unknown = sorted(names.keys() - {f.name for f in fields(known)})
            if unknown:
                allowed = ", ".join(f.name for f in fields(known))
                raise InputError(f"has no '{unknown[0]}'", where="policy", allowed=allowed)
        try:
            return cls(rules=Rules(**rules), **given)
        except (TypeError, ValueError) as error:
            raise InputError(f"cannot be used: {error}", where="policy") from error


_RANGES = {
    "half_life": (1.0, 1e9),
    "explore": (0.0, 1.0),
    "near": (0.0, 1e6),
    "price_weight": (0.0, 1e6),
    "shortfall_price": (0.0, 1e12),
    "tolerance": (0.0, 1.0),
    "reserve": (0, 10_000),
    "listed": (1, 1_000_000),
}
_WHOLE = ("reserve", "listed")


def decayed(used: float, seconds: float, half_life: float) -> float:
    """Slot-seconds after a time without any.

    Args:
        used: Slot-seconds before.
        seconds: The time; a negative one changes nothing.
        half_life: Seconds in which they count half.

    Returns:
        What is left of them.

    Example:
        >>> from walras.policies.placements import decayed
        >>> decayed(100.0, 3600.0, 3600.0)
        50.0
    """
    return used * math.exp2(-max(seconds, 0.0) / half_life)
