"""Options that policies have in common; those that solve nothing need no solver to check them."""

from __future__ import annotations

from walras import checks
from walras.errors import InputError


def needs_speeds(*, by_speed: bool, sharing: bool) -> None:
    """Refuse a policy that is to share workers and knows no speeds.

    Raises:
        InputError: ``sharing`` is asked for without ``by_speed``, or one is not True or False.
    """
    checks.flag(by_speed, "by_speed")
    if checks.flag(sharing, "sharing") and not by_speed:
        raise InputError(
            "is given without by_speed",
            where="sharing",
            allowed="with by_speed=True",
            remedy="let the policy know the speeds that sharing changes",
        )
