"""Two runs of the same tests, side by side."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version

from benchmarks.conformance.suite import Outcome


@dataclass(frozen=True)
class Verdict:
    """What a run with Walras says.

    Attributes:
        tests: Tests that pass as they are.
        solves: Problems that Walras solved.
        applicable: Of those, the ones that solve through Walras and are not listed.
        passed: Of those, the ones that pass with Walras.
        failed: Name and last words of the others.
        reasons: Tests that are not applicable, by reason.
        needless: Tests that are listed and pass all the same, or are not there.
    """

    tests: int
    solves: int
    applicable: int
    passed: int
    failed: dict[str, str]
    reasons: dict[str, int]
    needless: tuple[str, ...]

    def __str__(self) -> str:
        lines = [
            f"{self.tests:,} tests pass as they are; with Walras, {self.solves:,} problems solved",
            f"{self.applicable:,} are applicable, {self.passed:,} pass, {len(self.failed):,} fail",
        ]
        lines += [f"  FAILED {name}: {words}" for name, words in sorted(self.failed.items())]
        lines += [f"{sum(self.reasons.values()):,} are not applicable"]
        lines += [f"  {count:>4}  {reason}" for reason, count in sorted(self.reasons.items())]
        lines += [f"  listed without need: {name}" for name in self.needless]
        return "\n".join(lines)

    def as_json(self, project: str) -> str:
        """The record, with the versions that were compared."""
        versions = {name: version(name) for name in (project, "walras", "clarabel", "highspy")}
        return json.dumps({"versions": versions} | asdict(self), indent=1) + "\n"


def compare(
    baseline: Mapping[str, Outcome],
    ours: Mapping[str, Outcome],
    listed: Mapping[str, str],
    *,
    partial: bool = False,
) -> Verdict:
    """What passes as it is against the same with Walras.

    Args:
        baseline: Outcomes of the tests as they are.
        ours: Outcomes with Walras.
        listed: Tests that are not applicable, with the reason; a parametrised test by its name
            without the parameters stands for all of them.
        partial: Whether only some tests were run, so that listed ones may be missing.
    """
    good = {name for name, outcome in baseline.items() if outcome.passed}
    through = {name for name in good if name in ours and ours[name].solves}
    missing = {name for name in good if name not in ours}
    excused = {name: _listing(name, listed) for name in through}
    applicable = {name for name in through if excused[name] is None} | missing
    failed = {
        name: ours[name].words if name in ours else "was not run"
        for name in applicable
        if name in missing or not ours[name].passed
    }
    used = {key for name, key in excused.items() if key is not None and not ours[name].passed}
    return Verdict(
        tests=len(good),
        solves=sum(ours[name].solves for name in through),
        applicable=len(applicable),
        passed=len(applicable) - len(failed),
        failed=failed,
        reasons=dict(Counter(listed[key] for key in excused.values() if key is not None)),
        needless=() if partial else tuple(sorted(set(listed) - used)),
    )


def _listing(name: str, listed: Mapping[str, str]) -> str | None:
    """The entry that excuses a test, or None."""
    for key in (name, name.split("[")[0]):
        if key in listed:
            return key
    return None
