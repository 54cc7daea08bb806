"""How far a comparison is: seconds of its cases, and how far the running ones are, stand for the
others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from walras.simulate.compare.case import Case

_TELLS = 0.005  # share of a run from which its seconds say how long it will take
_LEAST = 0.05  # of its expected seconds: what a case that tells no share has left at least

Running = Mapping[int, tuple[float, float]]
"""Case -> its seconds so far, and the share of it that is done; 0 where it tells none."""


class Pace:
    """Expected seconds of all cases: of a case like it (policy and trace), else of its policy, else
    of all that ended or tell how far they are.

    Args:
        cases: All cases.
        kept: Those that were there before, whose seconds may be NaN.
        workers: Cases that run at a time.
    """

    def __init__(
        self, cases: Sequence[Case], kept: Mapping[int, tuple[object, float]], workers: int = 1
    ) -> None:
        self._cases, self._workers = cases, workers
        self._left = {k for k in range(len(cases)) if k not in kept}
        self._known = {k: seconds for k, (_, seconds) in kept.items() if seconds == seconds}

    def finished(self, k: int, seconds: float) -> None:
        """A case has ended."""
        self._left.discard(k)
        self._known[k] = seconds

    def share(self, elapsed: float, running: Running | None = None) -> float:
        """What is done of the seconds that all cases are expected to take together, 0 to 1.

        Args:
            elapsed: Seconds since the work began; the start of the processes is among them.
            running: How far the cases are that have begun.
        """
        now = {k: state for k, state in (running or {}).items() if k in self._left}
        means = self._means(now)
        if not self._left:
            return 1.0
        if not means:
            return 0.0
        left = 0.0
        for k in self._left:
            expected = next(means[like] for like in self._likes(k) if like in means)
            seconds, share = now.get(k, (0.0, 0.0))
            rest = expected * (1.0 - share) if share >= _TELLS else expected - seconds
            left += max(rest, _LEAST * expected * (1.0 - share))
        return elapsed / (elapsed + left / min(self._workers, len(self._left)))

    def _means(self, now: Running) -> dict[tuple[str, ...], float]:
        """Expected seconds of cases by what they have in common."""
        guessed = {k: seconds / share for k, (seconds, share) in now.items() if share >= _TELLS}
        sums: dict[tuple[str, ...], tuple[float, int]] = {}
        for k, seconds in (self._known | guessed).items():
            for like in self._likes(k):
                total, count = sums.get(like, (0.0, 0))
                sums[like] = total + seconds, count + 1
        return {like: total / count for like, (total, count) in sums.items()}

    def _likes(self, k: int) -> tuple[tuple[str, ...], ...]:
        case = self._cases[k]
        return (case.policy, case.trace), (case.policy,), ()
