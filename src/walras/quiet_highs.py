"""HiGHS without a word on standard output, from its making on."""

from __future__ import annotations

import highspy


class QuietHighs(highspy.Highs):
    """HiGHS whose output is off before anything can be printed.

    From 1.16.0 on its constructor subscribes to callbacks, and that prints a banner. A process gets
    one banner, which counts as printed where the console is off: HiGHS made later by others, such
    as cvxpy, then prints none.
    """

    def enableCallbacks(self) -> None:
        """What the constructor calls last; the console is off before it."""
        self.setOptionValue("log_to_console", False)
        super().enableCallbacks()


def new_highs() -> highspy.Highs:
    """A silent HiGHS."""
    solver = QuietHighs()
    solver.silent()
    return solver


def hush_highs() -> None:
    """See to it that HiGHS as others make it prints no banner either."""
    QuietHighs()
