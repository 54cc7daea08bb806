"""Accounts of arcs: found again in any graph, and what a dead centre is owed."""

from __future__ import annotations

import numpy as np
from tests.network.instances import net

from walras.network.methods.ledger import Ledger


def test_accounts_are_those_of_the_arcs_and_of_the_arcs_back() -> None:
    ledger, graph = Ledger(20), net()
    own, back = ledger.accounts(graph)
    assert np.array_equal(ledger.tail[own], graph.tail)
    assert np.array_equal(ledger.head[own], graph.head)
    assert np.array_equal(ledger.tail[back], graph.head)
    assert np.array_equal(ledger.head[back], graph.tail)


def test_another_graph_keeps_the_books_and_opens_new_accounts() -> None:
    ledger, first, second = Ledger(20), net(seed=0), net(seed=1)
    own, _ = ledger.accounts(first)
    ledger.given[own] = 1 + np.arange(len(own))
    before = {(i, j): k for i, j, k in zip(ledger.tail, ledger.head, ledger.given, strict=True)}
    both, _ = ledger.accounts(second)
    assert np.array_equal(ledger.tail[both], second.tail)
    after = {(i, j): k for i, j, k in zip(ledger.tail, ledger.head, ledger.given, strict=True)}
    assert {key: after[key] for key in before} == before
    assert sum(after.values()) == sum(before.values())
    assert len(after) == len({*before, *zip(second.tail, second.head, strict=True)})


def test_a_dead_centre_is_owed_what_the_living_gave_it_and_is_then_forgotten() -> None:
    ledger, graph = Ledger(20), net()
    own, _ = ledger.accounts(graph)
    ledger.given[own] = graph.tail + 100
    alive = np.ones(20, bool)
    dead, other = 3, int(graph.tail[graph.head == 3][0])
    alive[[dead, other]] = False
    neighbours, given = ledger.owed(dead, alive)
    wanted = sorted(int(i) for i in graph.tail[graph.head == dead] if i != other)
    assert sorted(neighbours.tolist()) == wanted
    assert given.tolist() == [i + 100 for i in neighbours]
    assert sorted(ledger.neighbours(dead).tolist()) == sorted([*wanted, other])
    ledger.close(dead)
    assert ledger.owed(dead, alive)[1].sum() == 0
    kept = (ledger.tail != dead) & (ledger.head != dead)
    assert np.all(ledger.given[kept] == ledger.tail[kept] + 100)
