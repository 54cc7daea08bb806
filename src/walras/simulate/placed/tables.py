"""Tables of a TOML file that state tasks on clusters with slots."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from walras import checks
from walras.errors import InputError
from walras.rounds import Rules
from walras.simulate.placed.slots import Outage, Slots

EXAMPLE = """\
[world]
kind = "placed"       # tasks on clusters with slots
min_success = 0.8     # floor under the mean chance of success of a round
# outages = [["east", 600.0, 1200.0, "down"]]

[trace]               # or: file = "jobs.trace"; its types are clusters
rate = 240.0          # tasks an hour, drawn
tasks = 500
seed = 0
tenants = 2
error = 0.3           # of predictions: deviation of the logarithm of times

[cluster]             # slots of each
east = 8
west = 8

[policy]
name = "exchange"     # or "my_policy.py:policy"

[run]
round_seconds = 30
seed = 0
"""

CLUSTER = {"east": 8, "west": 8}
DRAW = (
    *("rate", "tasks", "seed", "mean_seconds", "spread", "apart", "chance"),
    *("largest", "tenants", "error"),
)
RUN = ("round_seconds", "seed", "measured", "failures")
_RULES = ("min_success", "window", "kappa")
_TABLES = ("labels", "price", "provider", "weights", "quotas")
WORLD = ("kind", "outages", "half_life", "listed", *_RULES, *_TABLES)


def slots_of(world: Mapping[str, Any], cluster: Mapping[str, int]) -> Slots:
    """The clusters of the tables ``world`` and ``cluster``.

    Args:
        world: Rules by name, and fields of :class:`walras.simulate.Slots`.
        cluster: Cluster -> slots.

    Returns:
        The clusters.

    Raises:
        InputError: A key is unknown, or a value cannot be used.

    Example:
        >>> from walras.simulate.placed.tables import slots_of
        >>> slots_of({"kind": "placed", "quotas": {"lab": 3}}, {"east": 8}).quotas
        {'lab': 3}
    """
    checks.known_keys(world, WORLD, "scenario.world")
    for name in _TABLES:
        if not isinstance(world.get(name, {}), Mapping):
            raise InputError(
                f"is {checks.shown(world[name])}",
                where=f"scenario.world.{name}",
                allowed="a table of values",
            )
    given = {name: world[name] for name in (*_TABLES, "half_life", "listed") if name in world}
    for name in set(_RULES) & set(world):
        checks.number(world[name], f"Rules.{name}", 0.0)
    rules = Rules(**{name: world[name] for name in _RULES if name in world})
    return Slots(cluster, rules=rules, outages=_outages(world.get("outages", [])), **given)


def check_tenants(slots: Slots, tenants: Collection[str]) -> None:
    """Refuse a weight or a quota of a tenant that has no tasks.

    Args:
        slots: With weights and quotas.
        tenants: Those of the tasks, or of those that are drawn.

    Raises:
        InputError: Names the tenant.
    """
    for name in ("weights", "quotas"):
        checks.known_keys(getattr(slots, name), tenants, f"scenario.world.{name}")


def _outages(rows: object) -> list[Outage]:
    made = []
    for k, row in enumerate(rows if isinstance(rows, list) else [rows]):
        if not isinstance(row, list) or not 2 <= len(row) <= 4:
            raise InputError(
                f"is {checks.shown(row)}",
                where=f"scenario.world.outages[{k}]",
                allowed="[cluster, begin, end, state], the last two may be left out",
                remedy='write ["east", 600.0, 1200.0, "down"]',
            )
        made.append(Outage(*row))
    return made
