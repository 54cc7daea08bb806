"""Check that traces fit together: each centre's memory against the others' memory of it.

A trace can lose its end, by a restored snapshot or by a loss of power before the disk was written.
The node then looks sound but holds CPU that it gave away later. Only its neighbours can tell: they
took messages that it does not remember, or hold records that it does not remember making.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from walras.errors import DataError
from walras.network.protocol.node import Node

Json = dict[str, Any]


def knowledge(node: Node) -> Json:
    """A node's knowledge of its links, closed ones too, and of all centres' records, as JSON."""
    opened = {(j, link.epoch): link for j, link in node.ledger.links.items()}
    return {
        "epoch": node.life[1],
        "held": int(node.ledger.held[0]),
        "ended": node.view.ended.tolist(),
        "versions": node.view.versions,
        "links": [
            {
                "to": [j, epoch],
                "open": (j, epoch) in opened,
                "number": link.number,
                "latest": link.latest,
                "confirmed": link.confirmed,
                "sent": int(link.sent[0]),
                "credited": int(link.credited[0]),
            }
            for (j, epoch), link in (node.ledger.closed | opened).items()
        ],
    }


def check(known: Mapping[int, Json], total: int) -> None:
    """Check that no centre has forgotten something that another one knows of it.

    Args:
        known: :func:`knowledge` of all centres, by number, while none of them runs.
        total: The budget in quanta.

    Raises:
        DataError: A centre has forgotten something, or quanta held and in flight exceed the budget.
    """
    for centre in known:
        check_one(known, centre)
    living = alive(known)
    flights = list(in_flight(known, living))
    over = sum(known[k]["held"] for k in living) + sum(flights) - total
    if over > 0 or min(flights, default=0) < 0:
        raise DataError(
            f"are {over} quanta over the budget, {min(flights, default=0)} on a link at least",
            where="the shares in the traces",
            allowed="the budget, and 0 or more on every link",
            remedy="the traces are not of one moment: restore the newest ones",
        )


def check_one(known: Mapping[int, Json], centre: int) -> None:
    """Check that a stopped centre has forgotten nothing that others know of it.

    Args:
        known: :func:`knowledge` of the centre and of others, by number.
        centre: Its number.

    Raises:
        DataError: It has forgotten something.
    """
    for other in known:
        what = _forgotten(known, centre, other) if other != centre else ""
        if what:
            raise DataError(
                f"ends before {what}",
                where=f"trace of centre {centre}",
                allowed="all that the centre wrote until it ended",
                remedy="restore the newest trace; one whose end is lost (no power, an older copy) "
                "cannot go on: start a new deployment in another folder",
            )


def alive(known: Mapping[int, Json]) -> list[int]:
    """Centres whose present lives no centre knows to be over."""
    return [
        k
        for k, own in known.items()
        if all(other["ended"][k] <= own["epoch"] for other in known.values())
    ]


def in_flight(known: Mapping[int, Json], living: list[int]) -> Iterator[int]:
    """Quanta sent and not credited over each link between living centres."""
    for i in living:
        for link in known[i]["links"]:
            j, epoch = link["to"]
            if link["open"] and j in living and epoch == known[j]["epoch"]:
                back = _link(known, j, i)
                yield link["sent"] - (0 if back is None else back["credited"])


def _forgotten(known: Mapping[int, Json], i: int, j: int) -> str:
    """The fact that centre j knows of centre i and i has forgotten; empty if there is none."""
    version = known[j]["versions"][i]
    if version > known[i]["versions"][i]:
        return f"record {version} of its, which centre {j} holds"
    mine, theirs = _link(known, i, j), _link(known, j, i)
    if theirs is None:
        return ""
    if theirs["latest"] > (0 if mine is None else mine["number"]):
        return f"message {theirs['latest']}, which centre {j} took from it"
    if theirs["confirmed"] > (0 if mine is None else mine["latest"]):
        return f"message {theirs['confirmed']} of centre {j}, which it had confirmed"
    return ""


def _link(known: Mapping[int, Json], i: int, j: int) -> Json | None:
    """Centre i's end of its link to centre j's present life."""
    to = [j, known[j]["epoch"]]
    return next((link for link in known[i]["links"] if link["to"] == to), None)
