"""Place centres on the nodes of a Ray cluster; their messages still use ZeroMQ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from walras.executors.ray_cluster import connect, stay_local
from walras.network.drivers.bundle import Json
from walras.network.drivers.launch import Child, Host

_SECONDS = 60.0


class _ProcessActor:
    """An actor that holds one centre's process on its node."""

    def __init__(self, address: str, log: str) -> None:
        self._child = Child(Host(address), Path(log))

    def say(self, line: Json) -> None:
        self._child.say(line)

    def hear(self) -> list[Json]:
        return self._child.hear()

    def ended(self) -> bool:
        return self._child.ended()

    def end(self) -> None:
        self._child.end()


class RayChild:
    """:class:`walras.network.drivers.launch.Started` on some node of a Ray cluster.

    Args:
        host: Address at which the centre listens on its node.
        log: File for its standard error, on that node.
    """

    def __init__(self, host: Host, log: Path) -> None:
        stay_local()  # Ray reads its switches when it is first imported
        import ray  # noqa: PLC0415

        if not ray.is_initialized():
            connect(None, 1)
        self._ray = ray
        # A centre mostly waits, so the cluster's cores stay free for its training.
        actor = ray.remote(num_cpus=0.01, max_restarts=0)(_ProcessActor)
        self._actor: Any = actor.remote(host.address, str(log))
        self._gone = False

    def say(self, line: Json) -> None:
        """Write a line to its standard input."""
        self._ask("say", line)

    def hear(self) -> list[Json]:
        """Read the lines that it wrote since the last call."""
        found: list[Json] | None = self._ask("hear")
        return found or []

    def ended(self) -> bool:
        """Whether it has ended, or its node is lost."""
        return bool(self._ask("ended")) or self._gone

    def end(self) -> None:
        """End the process and the actor."""
        self._ask("end")
        self._ray.kill(self._actor)

    def _ask(self, name: str, *args: object) -> Any:
        if self._gone:
            return None
        try:
            return self._ray.get(getattr(self._actor, name).remote(*args), timeout=_SECONDS)
        except self._ray.exceptions.RayActorError:
            self._gone = True
            return None
