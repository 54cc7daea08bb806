"""Shadow mode for the service: a scheduler's log as bytes becomes a report that JSON can hold."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from walras.errors import DataError, WalrasError
from walras.exchange.runtime.working import OnShare
from walras.policies.placements import Policy
from walras.progress import Progress
from walras.rounds import Rules
from walras.shadow import JobLog, Shadow, compare, read_jobs
from walras.shadow.wording import MEANING, sentences

CLUSTERS = 64
"""Clusters that a log may name."""

DAYS = 3660
"""Days that a log may span."""

_ENDINGS = {"csv": "csv", "kueue": "json", "slurm": "txt"}


def shadow(facts: dict[str, Any], data: bytes, on_share: OnShare) -> dict[str, Any]:
    """Compare a log with what the exchange's policy would have done.

    Args:
        facts: ``name`` and ``scheduler`` of the log, and settings of :func:`walras.shadow.compare`
            with ``min_success``, ``cluster`` and ``slots_by``.
        data: The log.
        on_share: Called with how far it is.

    Returns:
        The fields of :class:`walras.exchange.api.shadow_views.ShadowReport`.

    Raises:
        DataError: The log cannot be read, or cannot support the claim.
        InputError: A setting does not fit the log.
    """
    on_share(0.0, "reads")
    name = facts["name"] or "the log"
    with tempfile.TemporaryDirectory() as folder:  # the log is on the disk while it is read
        path = Path(folder) / f"log.{_ENDINGS[facts['scheduler']]}"
        path.write_bytes(data)
        with _named(str(path), name):
            log = read_jobs(
                path, facts["scheduler"], cluster=facts["cluster"], slots=facts["slots_by"] or None
            )
    with _named(str(path), name):
        _check(log)
        return _compared(facts, log, on_share)


@contextmanager
def _named(path: str, name: str) -> Iterator[None]:
    """Errors name the log as its sender does."""
    try:
        yield
    except WalrasError as error:
        for part in ("what", "where", "allowed", "remedy"):
            setattr(error, part, getattr(error, part).replace(path, name))
        raise


def _compared(facts: dict[str, Any], log: JobLog, on_share: OnShare) -> dict[str, Any]:
    on_share(0.0, "learns")

    def on_progress(at: Progress) -> bool:
        on_share(at.iteration / (at.total or 1), at.note)
        return False

    found = compare(
        log,
        train=facts["train"],
        slots=facts["slots"] or None,
        prices=facts["prices"] or None,
        policy=Policy(rules=Rules(min_success=facts["min_success"])),
        only_seen=facts["only_seen"],
        least_overlap=facts["least_overlap"],
        resamples=facts["resamples"],
        level=facts["level"],
        seed=facts["seed"],
        on_progress=on_progress,
    )
    counts = {
        "unfinished": log.unfinished,
        "never started": log.never_started,
        "steps of jobs": log.steps,
    }
    made = _document(found) | {
        "log": facts["name"],
        "left_out": [str(one) for one in log.problems][:20]
        + [f"{count} {what}" for what, count in counts.items() if count],
    }
    plain: dict[str, Any] = _plain(made)
    return plain


def _document(found: Shadow) -> dict[str, Any]:
    """What was found, by the names that the API has."""
    shares = found.shares.T.tolist()
    return {
        "status": str(found.status),
        "rows_left_out": found.left_out,
        "learned_from": found.learned_from,
        "jobs": int(found.jobs.sum()),
        "days": len(found.jobs),
        "load": found.load,
        "moved": found.moved,
        "overlap": found.overlap,
        "moved_overlap": found.moved_overlap,
        "level": found.level,
        "round_seconds": found.round_seconds,
        "rounds": found.rounds,
        "measures": found.frame().to_dict("records"),
        "clusters": [
            {"cluster": name, "slots": int(slots), "share_log": of_log, "share_policy": of_policy}
            for name, slots, (of_log, of_policy) in zip(
                found.clusters, found.slots, shares, strict=True
            )
        ],
        "by_day": found.by_day().to_dict("records"),
        "sentences": sentences(found),
        "meaning": MEANING,
    }


def _plain(value: Any) -> Any:
    """A value as JSON holds it: no number that is not finite."""
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _check(log: JobLog) -> None:
    """Refuse what would take more room than a service gives."""
    days = float(np.max(log.end) - np.min(log.submit)) / 86400.0
    for what, count, most in (
        ("clusters", len(log.clusters), CLUSTERS),
        ("days", int(np.ceil(days)), DAYS),
    ):
        if count > most:
            raise DataError(
                f"has {count} {what}",
                where=log.origin,
                allowed=f"at most {most} in the service",
                remedy="name another field of the cluster, send a part of the log, or run: "
                "walras shadow LOG",
            )
