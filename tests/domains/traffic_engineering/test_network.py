"""Networks as checked arrays: their names, failures, and bad input."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.domains.traffic_engineering.networks import network

from walras.domains import traffic_engineering as te
from walras.domains.traffic_engineering.network import generator, of_kind
from walras.errors import InputError

NAN = float("nan")
NONE = np.zeros(0, dtype=np.int32)


def square(capacity: tuple[float, ...] = (3.0, 4.0, 5.0, 6.0)) -> te.Network:
    return network([(0, 1), (1, 3), (0, 2), (2, 3)], list(capacity))


def test_arrays_are_copied_and_cannot_be_changed() -> None:
    capacity = np.array([3.0, 5.0])
    net = te.Network(("a", "b"), [0, 1], [1, 0], capacity)  # type: ignore[arg-type]
    capacity[0] = 9.0
    assert net.capacity.tolist() == [3.0, 5.0]
    assert (net.nodes, net.links) == (2, 2)
    assert net.link_names == ("a->b", "b->a")
    for array in (net.source, net.target, net.capacity):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_links_that_fail_are_left_out_and_the_rest_keep_their_nodes() -> None:
    net = square()
    left = net.without([2, 0, 2])
    assert left.link_names == ("n1->n3", "n2->n3")
    assert left.capacity.tolist() == [4.0, 6.0]
    assert left.node_names == net.node_names
    assert left.origin == f"{net.origin}; 2 links failed"
    assert net.without([]).origin == net.origin


def test_the_hash_is_of_the_shape_alone() -> None:
    net = square()
    assert net.shape_hash == square((1.0, 1.0, 1.0, 1.0)).shape_hash
    assert net.shape_hash != net.without([0]).shape_hash
    assert net.shape_hash != network([(0, 1), (1, 3), (0, 2), (2, 3)], 1.0, nodes=5).shape_hash


def test_random_failures_are_distinct_sorted_and_seeded() -> None:
    net = network([(v, (v + 1) % 20) for v in range(20)], 1.0)
    drawn = te.random_failures(net, 8, 3)
    assert np.all(np.diff(drawn) > 0)
    assert 0 <= drawn[0] <= drawn[-1] < net.links
    np.testing.assert_array_equal(drawn, te.random_failures(net, 8, 3))
    assert not np.array_equal(drawn, te.random_failures(net, 8, 4))
    assert te.random_failures(net, 0, 3).size == 0
    assert len(te.random_failures(net, 19, 3)) == 19


def test_seeds_and_kinds_are_checked() -> None:
    assert generator(5).random() == np.random.default_rng(5).random()
    with pytest.raises(InputError, match=r"seed: is 1\.5"):
        generator(1.5)  # type: ignore[arg-type]
    net = square()
    assert of_kind(net, te.Network, "network") is net
    with pytest.raises(InputError, match=r"network: is None.*load_topology"):
        of_kind(None, te.Network, "network")


CASES: dict[str, tuple[Callable[[], object], str]] = {
    "zero capacity": (lambda: network([(0, 1), (1, 2)], [1.0, 0.0]), r"link 1 \(n1->n2\).*> 0"),
    "negative capacity": (lambda: network([(0, 1)], [-2.0]), r"link 0 \(n0->n1\).*is -2"),
    "NaN capacity": (lambda: network([(0, 1)], [NAN]), r"link 0.*NaN"),
    "self-loop": (lambda: network([(0, 1), (1, 1)], 1.0), r"link 1 \(n1->n1\).*loop.*merge"),
    "doubled link": (
        lambda: network([(0, 1), (1, 0), (0, 1)], 1.0),
        r"link 2 \(n0->n1\).*twice.*merge",
    ),
    "no such node": (lambda: network([(0, 7)], 1.0, nodes=2), r"link 0 \(n0->7\).*does not exist"),
    "no links": (lambda: te.Network(("a", "b"), NONE, NONE, np.zeros(0)), "0 links"),
    "doubled name": (
        lambda: te.Network(("a", "a"), np.array([0]), np.array([1]), np.ones(1)),
        "'a'.*twice",
    ),
    "lengths": (
        lambda: te.Network(("a", "b"), np.array([0]), np.array([1]), np.ones(2)),
        "one number a link",
    ),
    "failed link": (lambda: square().without([9]), "there is no link 9.*0 to 3"),
    "all failed": (lambda: square().without(range(4)), "0 links"),
    "too many failures": (lambda: te.random_failures(square(), 4, 0), "count: is 4.*0 to 3"),
    "half a failure": (lambda: te.random_failures(square(), 0.5, 0), "count: is 0.5"),  # type: ignore[arg-type]
    "seed": (lambda: te.random_failures(square(), 1, -1), "seed: is -1"),
    "half a node": (
        lambda: te.Network(("a", "b"), np.array([0.5]), np.array([1]), np.ones(1)),
        r"source\[0\]: is 0.5.*whole",
    ),
    "node by name": (
        lambda: te.Network(("a", "b"), np.array(["a"]), np.array([1]), np.ones(1)),
        "source: is not numeric.*from 0",
    ),
    "failed link by name": (lambda: square().without(["a->b"]), "links: is not numeric"),  # type: ignore[list-item]
}


@pytest.mark.parametrize("name", CASES)
def test_one_clear_error(name: str) -> None:
    call, text = CASES[name]
    with pytest.raises(InputError, match=f"(?s){text}") as caught:
        call()
    assert caught.value.remedy
    assert caught.value.allowed
