"""Quotas: limits on the GPUs of groups of jobs, which may be nested."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np

from walras import checks
from walras.errors import InputError
from walras.types import Floats, Ints

_SHOWN = 5  # number of names that an error lists


@dataclass(frozen=True)
class Quota:
    """Limits on the GPUs that groups of jobs hold together, averaged over the round.

    Two groups are disjoint, or one contains the other (an organisation and a user in it).

    Attributes:
        groups: Jobs of each group, by label or by position.
        limits: GPUs of each group, > 0.
        jobs: Number of jobs that positions refer to, None if unknown.

    Example:
        >>> from walras.domains.cluster_scheduling import Quota
        >>> quota = Quota.of_users(["ada", "bob", "ada"], limits={"ada": 1.0})
        >>> quota.groups, quota.limits
        ({'ada': [0, 2]}, {'ada': 1.0})
    """

    groups: Mapping[str, Sequence[int] | Sequence[str]]
    limits: Mapping[str, float]
    jobs: int | None = field(default=None, compare=False)

    @classmethod
    def of_users(cls, users: Sequence[Hashable], limits: Mapping[str, float]) -> Quota:
        """Make a quota for each user, from the user of each job in order.

        Args:
            users: (jobs,) the user of each job; users without a limit are unlimited.
            limits: GPUs of each user; users without jobs in this round are ignored.

        Returns:
            One group per user with a limit.

        Raises:
            InputError: No user with a limit has jobs.
        """
        known = {str(user) for user in users}
        if limits and known.isdisjoint(map(str, limits)):
            raise InputError(
                f"no user with a limit has jobs; the first is '{next(iter(limits))}'",
                where="limits",
                allowed=f"users such as {', '.join(sorted(known)[:_SHOWN])}",
                remedy="spell users in limits as in users, or leave the quota out",
            )
        groups: dict[str, list[int]] = {name: [] for name in limits}
        for j, user in enumerate(users):
            if str(user) in groups:
                groups[str(user)].append(j)
        present = {name: jobs for name, jobs in groups.items() if jobs}
        return cls(present, {name: limits[name] for name in present}, len(users))


@dataclass(frozen=True, eq=False)
class Limits:
    """A checked quota as arrays.

    Attributes:
        names: (groups,) the groups, largest first.
        limit: (groups,) GPUs.
        level: (depth, jobs) the group of each job at each depth of nesting, -1 if there is none.
        members: (groups,) number of jobs.
    """

    names: tuple[str, ...]
    limit: Floats
    level: Ints
    members: Ints


def resolve(quota: Quota, demand_names: Sequence[str]) -> Limits:
    """Find the jobs of each group, and the nesting of groups.

    Args:
        quota: The quota.
        demand_names: (jobs,) labels.

    Raises:
        InputError: Unknown or repeated jobs, a bad limit, or two groups that overlap in part.
    """
    _check_types(quota)
    _check_limits(quota)
    position = {name: j for j, name in enumerate(demand_names)}
    if quota.jobs is not None and quota.jobs != len(position):
        raise InputError(
            f"users are given for {quota.jobs} jobs",
            where="quota",
            allowed=f"{len(position)} users, one a job",
            remedy="give the user of every job",
        )
    members = {name: _members(name, jobs, position, quota) for name, jobs in quota.groups.items()}
    names = tuple(sorted(members, key=lambda name: -len(members[name])))
    inner = np.full(len(position), -1, dtype=np.int32)  # innermost group of each job so far
    depth = np.zeros(len(position), dtype=np.int32)
    levels: list[Ints] = []
    for g, name in enumerate(names):
        jobs = members[name]
        around = np.unique(inner[jobs])
        if len(around) > 1:
            # The smallest of the groups met cannot contain this one, so they overlap in part.
            raise InputError(
                f"the groups '{names[around[-1]]}' and '{name}' overlap, and neither contains the "
                "other",
                where="quota.groups",
                allowed="groups that are apart or nested",
                remedy="move the shared jobs into one of them, or nest the groups",
            )
        at = int(depth[jobs[0]])
        if at == len(levels):
            levels.append(np.full(len(position), -1, dtype=np.int32))
        levels[at][jobs] = g
        inner[jobs] = g
        depth[jobs] += 1
    return Limits(
        names=names,
        limit=np.array([float(quota.limits[name]) for name in names]),
        level=np.array(levels, dtype=np.int32).reshape(len(levels), len(position)),
        members=np.array([len(members[name]) for name in names], dtype=np.int32),
    )


def _check_types(quota: object) -> None:
    remedy = "write Quota(groups={'ann': jobs}, limits={'ann': gpus})"
    given = checks.of_kind(quota, Quota, "quota", "a Quota, or None", remedy=remedy)
    for name in ("groups", "limits"):
        allowed = "a mapping from the groups' names"
        checks.of_kind(
            getattr(given, name), Mapping, f"quota.{name}", allowed, remedy="pass a dict"
        )


def _check_limits(quota: Quota) -> None:
    for missing in sorted(set(quota.groups) ^ set(quota.limits)):
        what = "has no limit" if missing in quota.groups else "has a limit but no jobs"
        raise InputError(
            f"group '{missing}' {what}",
            where="quota",
            allowed="one limit a group",
            remedy="give groups and limits the same names",
        )
    for name, limit in quota.limits.items():
        checks.number(
            limit,
            f"quota.limits['{name}']",
            above=0.0,
            words=" GPUs",
            remedy="leave an unlimited group out; remove the jobs of a group that may not run",
        )


def _members(
    name: str, jobs: Sequence[int] | Sequence[str], position: Mapping[str, int], quota: Quota
) -> Ints:
    where = f"quota.groups['{name}']"
    checks.distinct(jobs, where, "label or position", remedy="list the group's jobs once each")
    found = []
    for job in jobs:
        # Jobs with numbers as labels are meant by label, unless users are given for each job.
        j = position.get(str(job), _position(job)) if quota.jobs is None else _position(job)
        if not 0 <= j < len(position):
            raise InputError(
                f"unknown job '{job}'",
                where=where,
                allowed=f"{len(position)} labels or positions",
                remedy="use the labels of throughput's columns",
            )
        found.append(j)
    if not found or len(set(found)) < len(found):
        raise InputError(
            "has no jobs" if not found else "names a job twice",
            where=where,
            allowed="each job once, at least one",
            remedy="list the group's jobs once each",
        )
    return np.array(found, dtype=np.int32)


def _position(job: object) -> int:
    """The position given, or -1 if it is not an integer."""
    return int(job) if isinstance(job, Integral) else -1
