"""A solve over many machines: the demands partitioned over the actors of a Ray cluster.

Each actor holds a slice of the demands with all their copies, for as long as the solve lasts. What
crosses in an iteration are sums over narrow rows (resources) and a few scalars. A proof may need
sums over pairs of resources as well. Their size does not depend on the number of demands.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from walras import checks
from walras.engines.admm.slices.slice import Slice
from walras.engines.admm.worker_pool import Executor, WorkerPool
from walras.errors import EngineError, InputError
from walras.extras import install_hint

if TYPE_CHECKING:
    from walras.executors.ray_pool import Actors

_MOST = 100_000


@dataclass(frozen=True)
class Ray:
    """Settings of an executor that keeps the demands in actors of a Ray cluster.

    It pays when the demands do not fit one machine, or when a pass over a slice takes longer than a
    message. Each pass costs a message to every actor and back, a few milliseconds an iteration. On
    one machine, threads (no executor) are quicker.

    A local Ray that it starts listens on the loopback interface alone and ends with the program.

    Attributes:
        actors: Number of actors, each of which holds a slice of the demands and uses one core.
        address: ``host:port`` of a running cluster's head, ``auto`` for the one that Ray finds, or
            None: the cluster that this program is connected to, else a local one.

    Raises:
        InputError: ``actors`` is out of range, or ``address`` is no address.
        EngineError: Ray is not installed.

    Example:
        >>> import walras as wl
        >>> engine = wl.engines.ADMM(executor=wl.Ray(actors=4))  # wl.solve(problem, engine=engine)
        >>> engine.executor
        Ray(actors=4, address=None)
    """

    actors: int = 2
    address: str | None = None

    def __post_init__(self) -> None:
        checks.setting(self, "actors", 1, _MOST, integer=True)
        if self.address not in (None, "auto") and not _is_address(self.address):
            raise InputError(
                f"is {self.address!r}",
                where="setting address",
                allowed="'host:port', 'auto' or None",
                remedy="give the address that `ray start --head` printed",
            )
        if importlib.util.find_spec("ray") is None:
            raise EngineError(
                "ray is not installed",
                where="walras.Ray",
                allowed="solves in this process",
                remedy=f"{install_hint('scale')}, or leave executor out",
            )

    def slices(self, workers: int) -> int:
        """One slice per actor; the threads of this process do not matter.

        Args:
            workers: Threads of this process.

        Returns:
            The number of slices.
        """
        return self.actors

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        """Connect, and give every slice to an actor of its own.

        Args:
            slices: The slices of the demands.

        Returns:
            The pool of actors.

        Raises:
            EngineError: The cluster cannot be reached, or has too few cores for the actors.
        """
        from walras.executors.ray_pool import RayPool  # noqa: PLC0415 (loads ray)

        return RayPool(slices, self.actors_for(len(slices)))

    def actors_for(self, slices: int) -> Actors:
        """Connect, and start an actor for each slice.

        Args:
            slices: Number of slices.

        Returns:
            The actors.

        Raises:
            EngineError: The cluster cannot be reached, or has too few cores for the actors.
        """
        from walras.executors.ray_cluster import connect  # noqa: PLC0415 (loads ray)
        from walras.executors.ray_pool import Actors  # noqa: PLC0415

        connect(self.address, slices)
        return Actors(slices)

    @contextmanager
    def persistent(self) -> Iterator[Executor]:
        """See :class:`walras.engines.admm.worker_pool.Executor`: the actors stay."""
        pool = _PersistentRay(self)
        try:
            yield pool
        finally:
            pool.end()


class _PersistentRay:
    """Starts actors for the first solve, and others where their number changes."""

    def __init__(self, settings: Ray) -> None:
        self._settings = settings
        self._actors: Actors | None = None

    def __repr__(self) -> str:
        return repr(self._settings)

    def slices(self, workers: int) -> int:
        return self._settings.slices(workers)

    def open(self, slices: Sequence[Slice]) -> WorkerPool:
        from walras.executors.ray_pool import RayPool  # noqa: PLC0415 (loads ray)

        if self._actors is None or len(self._actors.holders) != len(slices):
            self.end()
            self._actors = self._settings.actors_for(len(slices))
        return RayPool(slices, self._actors, ends=False)

    @contextmanager
    def persistent(self) -> Iterator[Executor]:
        yield self

    def end(self) -> None:
        if self._actors is not None:
            self._actors.end()


def _is_address(text: object) -> bool:
    host, colon, port = text.rpartition(":") if isinstance(text, str) else ("", "", "")
    return bool(host and colon and "/" not in host) and port.isdecimal() and int(port) < 65536
