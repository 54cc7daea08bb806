"""Why tasks were not placed: every reason, as a code and numbers; the words in one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from walras.errors import InputError
from walras.rounds.fields import LARGEST, take, take_texts
from walras.types import Floats, Longs

WORDS = {
    "cluster": "no cluster is up: 0 of {0:g}",
    "label": "label {word}: {0:g} of {1:g} clusters",
    "labels": "labels {word} together: {0:g} of {1:g} clusters",
    "state": "none of the {0:g} clusters that match is up",
    "size": "slots asked {0:g}, largest cluster {1:g}",
    "slots": "slots asked {0:g}, free {1:g}",
    "pin": "pinned to {word}, which cannot take it now",
    "quota": "quota {0:g} of {1:g} slots, asked {2:g}",
    "deadline": "deadline passed {0:.0f} s ago",
    "success": "least success {0:g}, best {1:.4g}",
    "tried": "failed before on {0:g} of {1:g} clusters that match",
    "provider": "provider {word} is at its bound: {0:g} of {1:g} tasks",
    "reserved": "free slots are kept for {word}, which starts in {0:.0f} s",
    "behind": "behind {0:.0f} tasks",
    "left": "left out by the plan ({word}): free slots on {0:g} clusters",
    "turn": "higher priority: {0:.0f} waiting tasks; the same, due earlier or older: {1:.0f}",
}
"""Code -> words; {0}, {1} and {2} are the blocker's numbers. Stored rounds number the codes in this
order: new ones come last."""

MEANINGS = {
    "cluster": "no cluster is up",
    "label": "too few clusters have a label that they need",
    "labels": "no cluster has all labels that they need",
    "state": "none of the clusters that match is up",
    "size": "they ask for more slots than any cluster has",
    "slots": "they ask for more slots than are free now",
    "pin": "they are pinned to a cluster that cannot take them now",
    "quota": "their tenant is at its quota",
    "deadline": "their deadline has passed",
    "success": "no cluster reaches the least success that they ask for",
    "tried": "they failed before on the clusters that match",
    "provider": "the provider is at its bound",
    "reserved": "free slots are kept for a larger task",
    "behind": "tasks before them in the queue take the free slots",
    "left": "the plan is better without them, although slots are free",
    "turn": "tasks of higher priority, or as high and older, come first",
}
"""Code -> what it says of the tasks that it keeps waiting, without numbers."""

CODES = tuple(WORDS)

USED = {
    "cluster": 1,
    "label": 2,
    "labels": 2,
    "state": 1,
    "size": 2,
    "slots": 2,
    "pin": 0,
    "quota": 3,
    "deadline": 1,
    "success": 2,
    "tried": 2,
    "provider": 2,
    "reserved": 1,
    "behind": 1,
    "left": 1,
    "turn": 2,
}
"""Code -> how many numbers it has."""


@dataclass(frozen=True)
class Blocker:
    """One reason why a task was not placed.

    Attributes:
        code: One of :data:`CODES`.
        numbers: Its numbers, in the order of :data:`WORDS`.
        word: The label, task or provider it is about; empty where there is none.

    Example:
        >>> from walras.rounds import Blocker
        >>> str(Blocker("slots", (4.0, 3.0)))
        'slots asked 4, free 3'
    """

    code: str
    numbers: tuple[float, ...]
    word: str = ""

    def __str__(self) -> str:
        return WORDS[self.code].format(*self.numbers, word=self.word)

    def document(self) -> dict[str, Any]:
        """The blocker as plain values.

        Returns:
            ``code``, ``numbers``, ``word`` and ``text``.
        """
        return {
            "code": self.code,
            "numbers": list(self.numbers),
            "word": self.word,
            "text": str(self),
        }


@dataclass(frozen=True, eq=False)
class Blockers:
    """All blockers of a decision, sorted by task, then by code.

    Attributes:
        task: (B,) which task.
        code: (B,) index into :data:`CODES`.
        numbers: (B, 3) numbers; 0 where a code has fewer.
        word: (B,) index into ``words``, or -1.
        words: Labels, tasks and providers.

    Raises:
        InputError: A shape or a number cannot be used.

    Example:
        >>> from walras.rounds import Blocker, Blockers
        >>> found = Blockers.of([(0, Blocker("behind", (412.0,))), (0, Blocker("slots", (4, 3)))])
        >>> [str(blocker) for blocker in found.about(0)]
        ['slots asked 4, free 3', 'behind 412 tasks']
    """

    task: Longs
    code: Longs
    numbers: Floats
    word: Longs
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(np.atleast_1d(self.task))
        words = take_texts(self, "words", None, distinct=True)
        take(self, "task", np.int64, (count,), 0, LARGEST)
        take(self, "code", np.int64, (count,), 0, len(CODES) - 1)
        take(self, "numbers", np.float64, (count, 3), -1e300, 1e300)
        take(self, "word", np.int64, (count,), -1, words - 1)
        if np.any(np.diff(self.task) < 0):
            raise InputError("is not sorted", where="Blockers.task", allowed="ascending")

    @classmethod
    def none(cls) -> Blockers:
        """No blockers.

        Returns:
            Arrays of no entries.
        """
        empty = np.zeros(0, np.int64)
        return cls(empty, empty, np.zeros((0, 3)), empty, ())

    @classmethod
    def of(cls, found: Sequence[tuple[int, Blocker]]) -> Blockers:
        """Blockers from a list.

        Args:
            found: Pairs of a task and a blocker, in any order.

        Returns:
            The blockers, sorted.

        Raises:
            InputError: A number cannot be used.
        """
        table = Table()
        for j, blocker in found:
            numbers = [np.array([number], float) for number in blocker.numbers]
            table.add(blocker.code, np.array([j]), *numbers, word=blocker.word)
        return table.blockers()

    def __len__(self) -> int:
        return len(self.task)

    def about(self, j: int) -> list[Blocker]:
        """The blockers of a task.

        Args:
            j: Which task.

        Returns:
            All of them, in the order of :data:`CODES`.
        """
        low, high = np.searchsorted(self.task, [j, j + 1])
        return [self._blocker(k) for k in range(low, high)]

    def __iter__(self) -> Iterator[tuple[int, Blocker]]:
        for k in range(len(self)):
            yield int(self.task[k]), self._blocker(k)

    def _blocker(self, k: int) -> Blocker:
        code, word = CODES[self.code[k]], int(self.word[k])
        numbers = tuple(float(v) for v in self.numbers[k, : USED[code]])
        return Blocker(code, numbers, self.words[word] if word >= 0 else "")

    @cached_property
    def counts(self) -> dict[str, int]:
        """Code -> tasks that it blocks; codes that block none are left out."""
        pairs = np.unique(np.column_stack([self.code, self.task]), axis=0)[:, 0]
        tallies = np.bincount(pairs, minlength=len(CODES))
        return {code: int(n) for code, n in zip(CODES, tallies, strict=True) if n}


class Table:
    """Collects blockers, many tasks at a time."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._parts: list[tuple[Longs, Longs, Floats, Longs]] = []

    def add(
        self, code: str, tasks: Longs, *numbers: npt.ArrayLike, word: str | Sequence[str] = ""
    ) -> None:
        """Add a blocker of several tasks.

        Args:
            code: Of all of them.
            tasks: (n,) which.
            numbers: Each a number, or (n,) one a task.
            word: One for all, or (n,) one a task.
        """
        n = len(tasks)
        if not n:
            return
        held = np.zeros((n, 3))
        for k, number in enumerate(numbers):
            held[:, k] = number
        given = [word] * n if isinstance(word, str) else list(word)
        words = [self._words.setdefault(text, len(self._words)) if text else -1 for text in given]
        kind = np.full(n, CODES.index(code))
        self._parts.append((np.asarray(tasks, np.int64), kind, held, np.array(words, np.int64)))

    def blockers(self) -> Blockers:
        """What was added, sorted."""
        if not self._parts:
            return Blockers.none()
        task, code, word = (np.concatenate([p[k] for p in self._parts]) for k in (0, 1, 3))
        numbers = np.concatenate([p[2] for p in self._parts])
        order = np.lexsort((word, code, task))
        return Blockers(task[order], code[order], numbers[order], word[order], tuple(self._words))
