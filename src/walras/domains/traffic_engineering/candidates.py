"""Candidate paths, found by compiled search and cached for the user."""

from __future__ import annotations

import hashlib
import logging
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Literal

import numpy as np
import platformdirs

from walras import checks
from walras.deprecated import renamed_keywords
from walras.domains.traffic_engineering.network import Network, of_kind
from walras.domains.traffic_engineering.paths import Paths
from walras.errors import DataError, StoppedError
from walras.files import replacing
from walras.kernels.paths import disjoint as kernels
from walras.kernels.paths.simple import shortest_from
from walras.progress import OnProgress, counts, tell
from walras.settings import Settings
from walras.types import Ints, Longs

Kind = Literal["edge-disjoint", "shortest"]

_VERSION = "2"  # of the search; another version must not read old files
_MOST = 64
_AHEAD = 4  # searches for each thread that may wait, so that their results stay small
_SEARCH = {"edge-disjoint": kernels.disjoint_from, "shortest": shortest_from}

_Found = tuple[Ints, Ints, Ints]
_log = logging.getLogger("walras")


@renamed_keywords(counts, progress="on_progress")
def candidate_paths(
    network: Network,
    k: int = 4,
    kind: Kind = "edge-disjoint",
    *,
    threads: int | None = None,
    cache: bool = True,
    on_progress: OnProgress | None = None,
) -> Paths:
    """Up to k candidate paths for every ordered pair of nodes, fewest hops first.

    ``edge-disjoint``: as many paths without a common link as possible, at most k, of least total
    hops (Suurballe 1974; Bhandari 1999). ``shortest``: the k simple paths of fewest hops (Yen 1971,
    Lawler 1972), which may share links. Pairs without a path are counted in
    :attr:`Paths.disconnected`.

    The peers of Xu et al. (OSDI 2025) take the disjoint paths of one maximum flow, which are as
    many but not the shortest: on UsCarrier 486,158 links on 36,248 paths, against 484,208 here.

    Args:
        network: The network; capacities are ignored.
        k: Largest number of paths for each pair, 1 to 64.
        kind: Kind of paths.
        threads: Worker threads; all cores when None.
        cache: Whether to use the user's cache, by the hash of links, k and kind.
        on_progress: Called with a Progress that counts the finished sources.

    Returns:
        The paths, ordered by pair.

    Raises:
        InputError: ``k`` or ``kind`` is unknown.
        StoppedError: ``on_progress`` returned True before the end.

    Example:
        >>> from walras.domains import traffic_engineering as te
        >>> net = te.Network(("a", "b", "c"), [0, 1, 0], [1, 2, 2], [10.0, 10.0, 5.0])
        >>> te.candidate_paths(net, k=2, cache=False).hops
        array([1, 1, 2, 1])
    """
    of_kind(network, Network, "network")
    k = checks.whole(k, "k", 1, _MOST, remedy="4 is what the field uses")
    checks.one_of(kind, "kind", _SEARCH)
    file = _cache_file(network, k, kind)
    known = _read(file, network) if cache else None
    if known is not None:
        return known
    found = Paths.of_search(network, *_search(network, k, kind, threads, on_progress), kind=kind)
    if cache:
        _write(file, found)
    return found


def cache_folder() -> Path:
    """The folder for candidate paths, by the rules of the operating system."""
    return platformdirs.user_cache_path("walras") / "paths"


def _search(
    network: Network, k: int, kind: Kind, threads: int | None, on_progress: OnProgress | None
) -> tuple[Longs, Ints, Ints]:
    """Search paths from all sources in parallel: (pairs,) counts, hops, links, by source."""
    graph = kernels.make_graph(network.nodes, network.source, network.target)
    scratch = threading.local()
    search = _SEARCH[kind]

    def run(source: int) -> _Found:
        if not hasattr(scratch, "work"):
            scratch.work = kernels.make_work(network.nodes, network.links)
        found: _Found = search(graph, scratch.work, source, int(k))
        return found

    stopped = tell(on_progress, 0, network.nodes)
    done: list[_Found | None] = [None] * network.nodes
    for finished, (source, found) in enumerate(_in_threads(run, network.nodes, threads), 1):
        done[source] = found
        stopped = tell(on_progress, finished, network.nodes) or stopped
        if stopped and finished < network.nodes:
            raise StoppedError(
                f"was stopped after {finished} of {network.nodes} sources",
                where="the search for candidate paths",
                allowed="all sources",
                remedy="let it end; the paths are then kept for the next time",
            )
    parts = [found for found in done if found is not None]
    counts = np.concatenate([part[0] for part in parts]).astype(np.int64)
    return counts, np.concatenate([p[1] for p in parts]), np.concatenate([p[2] for p in parts])


def _in_threads(
    run: Callable[[int], _Found], count: int, threads: int | None
) -> Iterator[tuple[int, _Found]]:
    """(source, result) as they finish; few wait at a time, so that Ctrl-C ends it soon."""
    workers = Settings(threads=threads).workers
    with ThreadPoolExecutor(workers, thread_name_prefix="walras-paths") as pool:
        waiting: dict[Future[_Found], int] = {}
        for source in range(count):
            waiting[pool.submit(run, source)] = source
            if len(waiting) >= _AHEAD * workers:
                ready, _ = wait(waiting, return_when=FIRST_COMPLETED)
                yield from ((waiting.pop(job), job.result()) for job in ready)
        yield from ((source, job.result()) for job, source in waiting.items())


def _cache_file(network: Network, k: int, kind: Kind) -> Path:
    digest = hashlib.sha256(network.shape_hash.encode())
    digest.update(f"{k} {kind} {_VERSION}".encode())
    return cache_folder() / f"{digest.hexdigest()[:32]}.npz"


def _read(file: Path, network: Network) -> Paths | None:
    """Read the paths in a file of the cache; None if it is absent or damaged."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            counts, hops, links = (stored[name] for name in ("counts", "hops", "links"))
            kind = str(stored["kind"])
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    if int(counts.sum()) != len(hops) or int(hops.sum(dtype=np.int64)) != len(links):
        return None
    return Paths.of_search(network, counts, hops, links.astype(np.int32), kind=kind)


def _write(file: Path, found: Paths) -> None:
    """Write paths to the cache; a cache that cannot be written costs only time."""
    counts = np.zeros(found.network.nodes**2, dtype=np.uint8)
    counts[found.source.astype(np.int64) * found.network.nodes + found.target] = np.diff(
        found.first
    )
    narrow = np.int16 if found.network.links < np.iinfo(np.int16).max else np.int32
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as fresh, fresh.open("wb") as stream:
            np.savez(
                stream,
                counts=counts,
                hops=found.hops.astype(np.int16),
                links=found.links.astype(narrow),
                kind=np.array(found.kind),
            )
    except (OSError, DataError) as error:
        _log.info("candidate paths are not kept in %s: %s", file.parent, error)
