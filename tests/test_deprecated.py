"""Old keywords work for one release, and warn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from walras.deprecated import renamed_keywords
from walras.progress import OnProgress, Progress, counts


@renamed_keywords(callback="on_progress")
def worked(x: int, *, on_progress: Callable[[int], None] | None = None) -> int:
    if on_progress is not None:
        on_progress(x)
    return x


@renamed_keywords(seconds="time_limit")
@dataclass(frozen=True)
class Limits:
    time_limit: float = 1.0


@renamed_keywords(counts, progress="on_progress")
def counted(*, on_progress: OnProgress | None = None) -> None:
    if on_progress is not None:
        on_progress(Progress(2, total=5))


def test_an_old_keyword_of_a_function_is_passed_on_with_a_warning() -> None:
    seen: list[int] = []
    with pytest.warns(DeprecationWarning, match=r"worked\(callback=\) is now on_progress="):
        assert worked(3, callback=seen.append) == 3  # type: ignore[call-arg]
    worked(4, on_progress=seen.append)
    assert seen == [3, 4]


def test_an_old_keyword_of_a_class_is_passed_on_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="seconds=.* is now time_limit="):
        assert Limits(seconds=2.0).time_limit == 2.0  # type: ignore[call-arg]
    assert Limits(3.0).time_limit == 3.0


def test_an_old_hook_of_done_and_total_gets_these() -> None:
    seen: list[tuple[int, int]] = []
    with pytest.warns(DeprecationWarning, match="progress="):
        counted(progress=lambda done, total: seen.append((done, total)))  # type: ignore[call-arg]
    assert seen == [(2, 5)]
    assert Progress(2, total=5).share == 0.4
