"""How far a comparison is: seconds of the finished cases stand for those of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from walras.simulate.compare.case import Case


class Pace:
    """Expected seconds of all cases: of a case like it (policy and trace), else of its policy, else
    of all that ended.

    Args:
        cases: All cases.
        kept: Those that were there before, whose seconds may be NaN.
    """

    def __init__(self, cases: Sequence[Case], kept: Mapping[int, tuple[object, float]]) -> None:
        self._cases = cases
        self._left = {k for k in range(len(cases)) if k not in kept}
        self._known: dict[tuple[str, ...], list[float]] = {}
        self._spent = 0.0
        for k, (_, seconds) in kept.items():
            if seconds == seconds:  # not NaN
                self._learn(k, seconds)

    def _learn(self, k: int, seconds: float) -> None:
        case = self._cases[k]
        for like in ((case.policy, case.trace), (case.policy,), ()):
            self._known.setdefault(like, []).append(seconds)

    def finished(self, k: int, seconds: float) -> None:
        """A case has ended."""
        self._left.discard(k)
        self._spent += seconds
        self._learn(k, seconds)

    def _expected(self, case: Case) -> float:
        for like in ((case.policy, case.trace), (case.policy,), ()):
            if like in self._known:
                return sum(self._known[like]) / len(self._known[like])
        return 1.0

    def thousandths(self, running: float = 0.0) -> int:
        """What is done of the work of this call, in thousandths of all seconds expected.

        Args:
            running: Seconds spent on a case that has not ended.
        """
        if not self._left:
            return 1000
        expected = sum(self._expected(self._cases[k]) for k in self._left)
        running = min(running, 0.95 * expected)
        return int(1000 * (self._spent + running) / (self._spent + expected))
