"""Networks in virtual time that people look at: each runs in a process of its own.

They are kept in memory: they end with the service, and when nobody has looked at them for a while.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
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

MOST = 4
"""Networks that a service has at once."""

EACH = 2
"""Networks that a token has at once."""

PAUSE_AFTER = 120.0
"""Seconds without a look after which a network that runs is paused."""

END_AFTER = 1800.0
"""Seconds without a look after which a network is ended."""

_SLICE = 0.2  # seconds that a network computes before it is looked at again
_STEP = 10.0  # seconds that a step may compute
_LATE = 60.0  # seconds after which its process is taken for dead
_PLACE = "walras.exchange.runtime.networking"
_FUNCTIONS = {"network": f"{_PLACE}:answered", "give_way": f"{_PLACE}:give_way"}


class RunningNetwork:
    """One network: its process, its pace, and the last state that the process reported.

    Args:
        owner: The token that made it.
        by: Name of the token.
        sample: What it is made of.
        compute: Its process.
        steady: A clock that does not jump, seconds.

    Attributes:
        uid: Its name.
        speed: Rounds a second that were asked for while it runs.
        pace: Rounds a second that it makes.
        state: ``paused``, ``running`` or ``failed``.
        why: Why it is in that state, where that needs words.
    """

    def __init__(
        self,
        owner: str,
        by: str,
        sample: Mapping[str, Any],
        compute: Compute,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.uid = f"n-{secrets.token_hex(4)}"
        self.owner, self.by, self.sample = owner, by, dict(sample)
        self.state, self.why, self.speed, self.pace = "paused", "", 0.0, 0.0
        self._compute, self._steady = compute, steady
        self._lock = threading.RLock()  # one request after the other, and its answer kept
        self._turns = Turns(f"network {self.uid}")
        self._news = threading.Event()
        self._left: int | None = None
        self._looked = steady()
        self._closed = False
        self._report: dict[str, Any] = {}
        self._thread: threading.Thread | None = None

    def make(self) -> None:
        """Begin its process and make the network.

        Raises:
            FieldError: The values of the sample do not go together.
            ComputeError: The process could not begin.
        """
        self._compute.call("give_way", b"", _LATE)
        self._ask(do="make", sample=self.sample)

    @property
    def made(self) -> bool:
        """Whether its process has made it; nobody sees it before."""
        return bool(self._report)

    @property
    def pid(self) -> int:
        """Its process; 0 where it has ended."""
        return self._compute.pid or 0

    def look(self) -> dict[str, Any]:
        """Its state, as of the last round that its process reported."""
        self._looked = self._steady()
        return self.peek()

    def peek(self) -> dict[str, Any]:
        """As :meth:`look`, and nobody is taken to have looked."""
        own = {
            "uid": self.uid,
            "by": self.by,
            "state": self.state,
            "why": self.why,
            "speed": self.speed,
            "pace": self.pace if self.state == "running" else 0.0,
            "sample": self.sample,
        }
        return own | self._report

    @property
    def unseen(self) -> float:
        """Seconds since somebody looked."""
        return self._steady() - self._looked

    def change(self, do: str, **what: Any) -> dict[str, Any]:
        """Do something to it; its state after that.

        Args:
            do: ``advance``, ``cut``, ``mend``, ``stop``, ``restart`` or ``faults``.
            what: What belongs to it.

        Raises:
            BusyError: Others wait for it.
            FieldError: The network refuses it.
            ConflictError: It has ended, or its process has died.
        """
        if do == "advance":
            what["seconds"] = _STEP
        with self._turns.one():
            self._ask(do=do, **what)
        return self.look()

    def run(self, speed: float, rounds: int | None) -> dict[str, Any]:
        """Let it go on by itself.

        Args:
            speed: Rounds a second.
            rounds: After how many it pauses; None for no such end.

        Raises:
            ConflictError: Its process has died.
        """
        with self._turns.one(), self._lock:
            self._alive()
            self.speed, self._left, self.state, self.why = speed, rounds, "running", ""
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._go_on, name=f"walras-network-{self.uid}", daemon=True
                )
                self._thread.start()
        self._news.set()
        return self.look()

    def pause(self, why: str = "") -> dict[str, Any]:
        """Let it rest; a round that is being made is made."""
        with self._turns.one(), self._lock:
            if self.state == "running":
                self.state, self.why, self.speed = "paused", why, 0.0
        return self.look()

    def close(self) -> None:
        """End its process and its thread."""
        self._closed = True
        self._news.set()
        self._compute.close()
        if self._thread is not None:
            self._thread.join(5.0)
        self._compute.close()

    def _go_on(self) -> None:
        """Make rounds at the asked pace while it runs."""
        while not self._closed:
            with self._lock:  # both of one moment: a network that rests has no pace
                state, speed = self.state, self.speed
            if state != "running":
                self._news.wait()
                self._news.clear()
                continue
            began = self._steady()
            if self.unseen > PAUSE_AFTER:
                self._rest(f"nobody looked for {PAUSE_AFTER:g} s")
                continue
            period = max(1.0 / speed, _SLICE)
            before = int(self._report["round"])
            try:
                self._slice(max(1, round(speed * period)))
            except Exception as error:  # noqa: BLE001 - whatever it is, the state says so
                self._fail(error)
                continue
            self._news.wait(max(0.0, began + period - self._steady()))
            self._news.clear()
            made = int(self._report["round"]) - before
            self.pace = made / max(self._steady() - began, 1e-9)

    def _slice(self, rounds: int) -> None:
        with self._lock:
            if self.state != "running":
                return
            before = int(self._report["round"])
            asked = rounds if self._left is None else min(rounds, self._left)
            self._ask(do="advance", rounds=asked, seconds=_SLICE)
            made = int(self._report["round"]) - before
            if self._left is not None:
                self._left -= made
            if self._report["audit"]["alarm"]:
                self._rest("the books are wrong")
            elif made == 0:
                self._rest("it has made all its rounds")
            elif self._left == 0:
                self._rest("the rounds that were asked for are made")

    def _rest(self, why: str) -> None:
        with self._lock:
            self.state, self.why, self.speed = "paused", why, 0.0

    def _fail(self, error: Exception) -> None:
        with self._lock:
            if self.state != "failed":
                self.state, self.why, self.speed = "failed", f"its process failed: {error}", 0.0

    def _alive(self) -> None:
        if self.state == "failed" or self._closed:
            raise ConflictError(
                "has ended" if self._closed else self.why,
                where=f"network {self.uid}",
                allowed="a network whose process lives",
                remedy="end it and start another one",
            )

    def _ask(self, **asked: Any) -> None:
        """Ask the process, and keep the state that it tells."""
        with self._lock:
            self._alive()
            try:
                answer = self._compute.call("network", json.dumps(asked).encode(), _LATE)
            except ComputeError as error:
                if self._closed:
                    self._alive()
                self._fail(error)
                raise
            found = json.loads(answer)
            if "refused" in found:
                refused = found["refused"]
                raise FieldError(**refused, pointer=_pointer(refused["where"], self.sample))
            self._report = found


def _pointer(where: str, sample: Mapping[str, Any]) -> str:
    """The field of a sample that an error names."""
    words = [word for part in where.split(",") for word in part.split(".")]
    named = [word.strip() for word in words if word.strip() in sample]
    return f"/{named[-1]}" if named else ""


class Networks:
    """All networks of a service.

    Args:
        stopping: Says that the service ends.
        steady: A clock that does not jump, seconds.

    Attributes:
        replies: The newest answers, for requests that are sent again.
    """

    def __init__(
        self,
        stopping: Callable[[], bool] = lambda: False,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stopping, self._steady = stopping, steady
        self._lock = threading.Lock()
        self._all: dict[str, RunningNetwork] = {}
        self.replies = Replies()
        self._timer: threading.Thread | None = None
        self._ending = threading.Event()

    def start(self, owner: str, by: str, sample: Mapping[str, Any]) -> RunningNetwork:
        """Make a network, in a process that begins now.

        Args:
            owner: The token that asks.
            by: Its name.
            sample: What it is made of.

        Returns:
            The network, paused before its first round.

        Raises:
            BusyError: There are as many as there may be.
            FieldError: The values of the sample do not go together.
            ComputeError: Its process could not begin.
        """
        compute = Compute(self._stopping, _FUNCTIONS, once=True)
        made = RunningNetwork(owner, by, sample, compute, self._steady)
        with self._lock:
            self._check_room(owner)
            self._all[made.uid] = made
            if self._timer is None:
                self._timer = threading.Thread(
                    target=self._sweep, name="walras-networks", daemon=True
                )
                self._timer.start()
        try:
            made.make()
        except BaseException:
            self.end(made.uid)
            raise
        return made

    def _check_room(self, owner: str) -> None:
        own = sum(one.owner == owner for one in self._all.values())
        for count, most, what in ((own, EACH, "a token"), (len(self._all), MOST, "a service")):
            if count >= most:
                raise BusyError(
                    f"has {count} networks",
                    where=what.removeprefix("a "),
                    allowed=f"at most {most} at once",
                    remedy="end one: POST /v1/networks/NAME:end",
                )

    def list(self) -> list[RunningNetwork]:
        """All that are made, the newest first."""
        return [one for one in self._every() if one.made]

    def _every(self) -> tuple[RunningNetwork, ...]:
        with self._lock:
            return tuple(self._all.values())[::-1]

    def get(self, uid: str) -> RunningNetwork:
        """One of them.

        Raises:
            NotFoundError: There is none of that name, or it has ended.
        """
        with self._lock:
            found = self._all.get(uid)
        if found is None or not found.made:
            raise NotFoundError(
                "is not there, or has ended",
                where=f"network {uid}",
                allowed="a network of this service; one that nobody looks at for "
                f"{END_AFTER / 60.0:g} min ends",
                remedy="start one: POST /v1/networks",
            )
        return found

    def end(self, uid: str) -> None:
        """End one; one that has ended stays so."""
        with self._lock:
            found = self._all.pop(uid, None)
        if found is not None:
            found.close()

    def sweep(self) -> None:
        """End those that nobody has looked at for long."""
        for one in self.list():
            if one.unseen > END_AFTER:
                self.end(one.uid)

    def _sweep(self) -> None:
        while not self._ending.wait(10.0):
            self.sweep()

    def close(self) -> None:
        """End all of them."""
        self._ending.set()
        for one in self._every():
            self.end(one.uid)
