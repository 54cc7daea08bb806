"""Long computations that people ask for: each in a process of its own, with its progress.

They are kept in memory and end with the service. There are few at once, and few results are kept.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from walras.exchange.errors import (
    BusyError,
    ComputeError,
    ConflictError,
    FieldError,
    NotFoundError,
)
from walras.exchange.runtime.compute import Compute
from walras.exchange.runtime.replies import Replies
from walras.exchange.runtime.turns import Turns

_LOOK = 0.3  # seconds between two looks at a computation
_LATE = 60.0  # seconds after which its process is taken for dead
_LONGEST = 3600.0  # seconds after its end for which a process answers at most
_NOTHING = {"what": "", "where": "", "allowed": "", "remedy": ""}
_FUNCTIONS = {
    "work": "walras.exchange.runtime.working:answered",
    "give_way": "walras.exchange.runtime.networking:give_way",
}


@dataclass(frozen=True)
class Kind:
    """What is computed, and how much of it.

    Attributes:
        name: What one is called.
        path: Where the API has them.
        function: ``module:function`` that computes it, as :mod:`walras.exchange.runtime.working`
            asks.
        most: How many a service computes at once.
        each: How many an owner has computed at once.
        kept: How many a service keeps.
        kept_each: How many of an owner it keeps.
        seconds: How long one may take.
        lingers: Seconds after its end, or the last question, for which its process answers.
    """

    name: str
    path: str
    function: str
    most: int = 2
    each: int = 1
    kept: int = 16
    kept_each: int = 8
    seconds: float = 900.0
    lingers: float = 0.0


ALLOCATION = Kind(
    "allocation",
    "/v1/allocations",
    "walras.exchange.runtime.allocating:allocation",
    kept=4,
    kept_each=2,
    seconds=600.0,
    lingers=600.0,
)
"""Shares of a cluster's time, beside HiGHS."""

SHADOW = Kind("shadow", "/v1/shadows", "walras.exchange.runtime.shadowing:shadow")
"""A comparison of a scheduler's log with the exchange's policy."""


class Work:
    """One computation.

    Args:
        kind: What it is.
        owner: Whose it is.
        by: Name of the token that asked.
        facts: What it is asked, small: it is shown.
        now: The service's time.
        compute: Its process.

    Attributes:
        uid: Its name.
        state: ``running``, ``done``, ``refused``, ``failed`` or ``cancelled``.
        share: Share that is done.
        note: What is being done.
        why: Why it was refused or failed: what, where, allowed, remedy.
        result: What was found, so far while it runs.
        seconds: How long it has taken.
    """

    def __init__(
        self,
        kind: Kind,
        owner: str,
        by: str,
        facts: Mapping[str, Any],
        now: float,
        compute: Compute,
    ) -> None:
        self.uid = f"{kind.name[0]}-{secrets.token_hex(4)}"
        self.kind, self.owner, self.by, self.facts, self.started = kind, owner, by, facts, now
        self.state, self.share, self.note = "running", 0.0, "reads"
        self.why: dict[str, str] | None = None
        self.result: dict[str, Any] | None = None
        self._compute, self._began = compute, time.monotonic()
        self._ended: float | None = None
        self._stop = threading.Event()
        self._asked = time.monotonic()  # when the last question came
        self._turns = Turns(f"{kind.name} {self.uid}")
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def pid(self) -> int:
        """Its process; 0 where it has ended."""
        return self._compute.pid or 0

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return (self._ended or time.monotonic()) - self._began

    def begin(self, data: bytes) -> None:
        """Start its process; returns at once.

        Args:
            data: What the function computes on.
        """
        name = f"walras-{self.kind.name}-{self.uid}"
        self._thread = threading.Thread(target=self._follow, args=(data,), name=name, daemon=True)
        self._thread.start()

    def look(self) -> dict[str, Any]:
        """What is known of it, without the result."""
        return {
            "uid": self.uid,
            "by": self.by,
            "started": self.started,
            "seconds": self.seconds,
            "state": self.state,
            "share": self.share,
            "note": self.note if self.state == "running" else "",
            "why": self.why,
            **self.facts,
        }

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """The answer of its process to a question about the result.

        Raises:
            BusyError: Others wait for its answers.
            ConflictError: It is not done, or its process has ended since.
            FieldError: The question is refused.
        """
        if self.state != "done" or self._stop.is_set():
            raise self._silent()
        with self._turns.one():
            self._asked = time.monotonic()
            try:
                found = self._ask({"do": "ask", "question": dict(question)})
            except ComputeError as error:
                if self.pid:  # it lives: the question failed
                    raise
                self._stop.set()
                raise self._silent() from error
        if "refused" in found:
            raise FieldError(**found["refused"])
        return found

    def _silent(self) -> ConflictError:
        minutes = self.kind.lingers / 60.0
        return ConflictError(
            f"is {self.state}" if self.state != "done" else "answers no more",
            where=f"{self.kind.name} {self.uid}",
            allowed=f"one that is done, for {minutes:g} min after the last question",
            remedy=f"wait for it, or start it again: POST {self.kind.path}",
        )

    def cancel(self) -> None:
        """End its process; the state is ``cancelled`` unless it had ended.

        Raises:
            ConflictError: It has ended already.
        """
        if not self._end("cancelled"):
            raise ConflictError(
                f"is {self.state}",
                where=f"{self.kind.name} {self.uid}",
                allowed=f"a {self.kind.name} that runs",
                remedy="nothing is left to cancel",
            )
        self.close()

    def close(self) -> None:
        """End its process and its thread."""
        self._end("cancelled")
        self._stop.set()
        self._compute.close()
        if self._thread is not None:
            self._thread.join(5.0)
        self._compute.close()

    def _end(self, state: str, why: dict[str, str] | None = None) -> bool:
        """Let it be over; False where it was."""
        with self._lock:
            if self.state != "running":
                return False
            self.state, self._ended = state, time.monotonic()
            self.why = None if why is None else _NOTHING | why
            return True

    def _follow(self, data: bytes) -> None:
        try:
            self._compute.call("give_way", b"", _LATE)
            head = {"do": "begin", "function": self.kind.function, "facts": dict(self.facts)}
            found = self._ask(head, data)
            while found["state"] == "running":
                self.share, self.note = found["share"], found["note"] or self.note
                self.result = found.get("result")
                if self.seconds > self.kind.seconds:
                    self._end("failed", {"what": f"took more than {self.kind.seconds:g} s"})
                    return
                if self._stop.wait(_LOOK):
                    return
                found = self._ask({"do": "look"})
            if found["state"] == "done":
                self.result, self._asked = found["result"], time.monotonic()
            self.share = found["share"]
            self._end(found["state"], found.get("why"))
            self._linger()
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
            self._end("failed", {"what": f"its process failed: {error}"})
        finally:
            self._stop.set()
            self._compute.close()

    def _linger(self) -> None:
        """Let the process answer questions about what was found, for a while."""
        last = time.monotonic() + _LONGEST
        while self.state == "done":
            left = min(self._asked + self.kind.lingers, last) - time.monotonic()
            if left <= 0.0 or self._stop.wait(left):
                return

    def _ask(self, head: Mapping[str, Any], data: bytes = b"") -> dict[str, Any]:
        answer = self._compute.call("work", json.dumps(head).encode() + b"\n" + data, _LATE)
        found: dict[str, Any] = json.loads(answer)
        return found


class Works:
    """All computations of one kind.

    Args:
        kind: The kind.
        stopping: Says that the service ends.

    Attributes:
        replies: The newest answers, for requests that are sent again.
    """

    def __init__(self, kind: Kind, stopping: Callable[[], bool] = lambda: False) -> None:
        self.kind, self.replies = kind, Replies()
        self._stopping = stopping
        self._lock = threading.Lock()
        self._all: dict[str, Work] = {}

    def start(self, owner: str, by: str, facts: Mapping[str, Any], data: bytes, now: float) -> Work:
        """Begin one.

        Args:
            owner: Whose it is.
            by: Name of the token.
            facts: What is asked, as it is shown.
            data: What it computes on; it is not kept here.
            now: The service's time.

        Raises:
            BusyError: There are as many as there may be.
        """
        compute = Compute(self._stopping, _FUNCTIONS, once=True)
        made = Work(self.kind, owner, by, facts, now, compute)
        with self._lock:
            self._check_room(owner)
            self._all[made.uid] = made
            dropped = self._forget(owner)
        for one in dropped:
            one.close()
        made.begin(data)
        return made

    def _check_room(self, owner: str) -> None:
        running = [one for one in self._all.values() if one.state == "running"]
        own = sum(one.owner == owner for one in running)
        kind = self.kind
        for count, most, who in ((own, kind.each, "caller"), (len(running), kind.most, "service")):
            if count >= most:
                raise BusyError(
                    f"has {count} {kind.path.rpartition('/')[2]} at work",
                    where=who,
                    allowed=f"at most {most} at once",
                    remedy=f"wait for it, or cancel it: POST {kind.path}/NAME:cancel",
                )

    def _forget(self, owner: str) -> list[Work]:
        """Drop the oldest that have ended, where there are more than are kept."""
        ended = [one for one in self._all.values() if one.state != "running"]
        own = [one for one in ended if one.owner == owner]
        own_over = sum(one.owner == owner for one in self._all.values()) - self.kind.kept_each
        dropped = own[: max(own_over, 0)]
        others = [one for one in ended if one not in dropped]
        over = len(self._all) - len(dropped) - self.kind.kept
        dropped += others[: max(over, 0)]
        for one in dropped:
            self._all.pop(one.uid, None)
        return dropped

    def list(self) -> list[Work]:
        """All that are kept, the newest first."""
        with self._lock:
            return list(self._all.values())[::-1]

    def get(self, uid: str) -> Work:
        """One of them.

        Raises:
            NotFoundError: There is none of that name, or it was forgotten.
        """
        with self._lock:
            found = self._all.get(uid)
        if found is None:
            raise NotFoundError(
                "is not there, or was forgotten",
                where=f"{self.kind.name} {uid}",
                allowed=f"one of the newest {self.kind.kept_each} of yours since the service began",
                remedy=f"start one: POST {self.kind.path}",
            )
        return found

    def close(self) -> None:
        """End all of them."""
        for one in self.list():
            one.close()
