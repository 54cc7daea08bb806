"""Clusters are offered, changed and set aside; their agents are registered."""

from __future__ import annotations

import pytest
from tests.exchange.service.east import agent

from walras.exchange.errors import ConflictError, NotFoundError, PreconditionError
from walras.exchange.service import clusters, events, listings
from walras.exchange.service.clusters import Offer
from walras.exchange.store.database import Database


def test_a_cluster_is_created_without_a_version_and_changed_with_its_own(
    database: Database,
) -> None:
    put = lambda offer, **asked: database.write(  # noqa: E731
        lambda tx: clusters.put(tx, 1.0, "west", offer, **asked)
    )
    with pytest.raises(NotFoundError, match=r"no cluster 'west'.*leave If-Match out"):
        put(Offer(4), version=1)
    assert put(Offer(4, price=2.0)) == (True, 1)
    with pytest.raises(PreconditionError, match='exists; allowed: If-Match: "1"'):
        put(Offer(4))
    assert put(Offer(8, {"gpu": "a"}), version=1) == (False, 2)
    with pytest.raises(PreconditionError, match="has version 2, not 1"):
        put(Offer(9), version=1)
    with pytest.raises(ConflictError, match=r"is 'east'; cluster west is of 'west'.*leave it out"):
        put(Offer(9, provider="east"), version=2)
    found = database.read(lambda tx: listings.one_cluster(tx, "west", 0.0))
    assert (found["slots"], found["labels"], found["price"]) == (8, {"gpu": "a"}, 0.0)
    assert found["provider"] == "west", "its own, where none is named"


def test_a_state_is_set_and_told_once(database: Database) -> None:
    for _ in range(2):
        state = database.write(lambda tx: clusters.set_state(tx, 2.0, "east", "cordoned"))
        assert state == 2, "its version"
    kinds = [row[3] for row in database.read(lambda tx: events.after(tx, 0))]
    assert kinds.count("cluster.cordoned") == 1
    with pytest.raises(NotFoundError, match="no cluster 'west'"):
        database.write(lambda tx: clusters.set_state(tx, 3.0, "west", "up"))


def test_a_cluster_is_trusted_and_no_longer(database: Database) -> None:
    for trusted in (True, False):
        database.write(lambda tx, t=trusted: clusters.trust(tx, "east", t))  # type: ignore[misc]
        found = database.read(lambda tx: listings.one_cluster(tx, "east", 0.0))
        assert found["trusted"] is trusted
    with pytest.raises(NotFoundError, match="no cluster 'west'"):
        database.write(lambda tx: clusters.trust(tx, "west", True))


def test_an_agent_is_found_again_with_its_newest_life_and_keeps_its_cluster(
    database: Database,
) -> None:
    register = lambda of: database.write(  # noqa: E731
        lambda tx: clusters.register(tx, 1.0, "one", of, "local", True)
    )
    assert register("east") == 0
    assert register("east") == 0
    kinds = [row[3] for row in database.read(lambda tx: events.after(tx, 0))]
    assert kinds.count("agent.registered") == 1
    with pytest.raises(NotFoundError, match="PUT /v1/clusters/west"):
        register("west")
    database.write(lambda tx: clusters.put(tx, 1.0, "west", Offer(1)))
    with pytest.raises(ConflictError, match="is another cluster's"):
        register("west")


def test_an_agent_has_one_backend(database: Database) -> None:
    """Runs that cannot end themselves would be taken for such that can."""
    agent(database, fences=False)
    agent(database, fences=False)
    with pytest.raises(ConflictError, match="has the backend 'slurm', not 'local'"):
        agent(database, fences=True)
