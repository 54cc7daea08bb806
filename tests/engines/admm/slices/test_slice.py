"""Demands cut into slices: all of them, once, with about equal work, and their own rows."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bank.random_problems import build

import walras as wl
from walras.engines.admm.form import make_form
from walras.engines.admm.slices.row_classification import roles
from walras.engines.admm.slices.slice import Leaves, cut, parts
from walras.separable import Separable, Utility

te = wl.domains.traffic_engineering


def flows() -> Separable:
    net = te.load_topology("B4", synthetic=True)
    return te.max_total_flow_by_link(net, te.lognormal_traffic(net, seed=0))


@pytest.mark.parametrize("count", [1, 2, 5, 99])
def test_slices_hold_every_demand_once_in_order(count: int) -> None:
    form = make_form(build(Utility.LOG, 3, 4, 9))
    x = np.linspace(0.5, 9.5, form.entries.count)
    price = np.random.default_rng(0).random(form.groups.kind.shape)
    slices = cut(form, count, x, price, roles(form))
    assert len(slices) == min(count, len(form.entries.ptr) - 1)
    np.testing.assert_array_equal(np.concatenate([s.x for s in slices]), x)
    np.testing.assert_array_equal(np.concatenate([s.price for s in slices]), price)
    found = np.concatenate([s.groups.source for s in slices])
    np.testing.assert_array_equal(found, form.groups.source)
    np.testing.assert_array_equal(np.concatenate([s.entries.a for s in slices]), form.entries.a)
    assert [k for s in slices for k in s.run] == list(range(slices[-1].run.stop))
    for s in slices:
        assert s.edges[0] == 0
        assert s.edges[-1] == len(s.groups.source) == len(s.entries.ptr) - 1
        assert s.entries.ptr[-1] == len(s.x)


@pytest.mark.parametrize("count", [1, 3, 8, 99])
def test_parts_hold_every_demand_of_a_slice_once_with_its_leaves(count: int) -> None:
    form = make_form(build(Utility.LOG, 3, 4, 40))
    x = np.linspace(0.5, 9.5, form.entries.count)
    price = np.random.default_rng(0).random(form.groups.kind.shape)
    (whole,) = cut(form, 1, x, price, roles(form))
    found = parts(whole, count)
    assert len(found) == min(count, len(whole.run))
    assert [k for part, _, _ in found for k in part.run] == list(whole.run)
    ends = {edge + groups.start for part, groups, _ in found for edge in part.edges}
    assert ends == set(whole.edges)
    for part, groups, entries in found:
        np.testing.assert_array_equal(part.x, x[entries])
        np.testing.assert_array_equal(part.price, price[groups])
        np.testing.assert_array_equal(part.groups.source, whole.groups.source[groups])
        np.testing.assert_array_equal(part.entries.cost, whole.entries.cost[entries])
        assert part.entries.ptr[-1] == len(part.x)
        assert part.roles is not None
        assert whole.roles is not None
        np.testing.assert_array_equal(part.roles.packing, whole.roles.packing[groups])
    np.testing.assert_array_equal(np.concatenate([part.x for part, _, _ in found]), x)
    np.testing.assert_array_equal(
        np.concatenate([part.entries.a for part, _, _ in found]), whole.entries.a
    )


@pytest.mark.parametrize("count", [2, 4])
def test_each_slice_has_about_an_equal_share_of_the_work(count: int) -> None:
    problem = wl.domains.cluster_scheduling.total_throughput(
        np.ones((5, 400)), np.ones(400), np.full(5, 9.0)
    )
    form = make_form(problem)
    none = np.zeros(form.groups.kind.shape)
    slices = cut(form, count, np.zeros(problem.entries), none)
    work = np.array([len(s.x) + len(s.entries.a) for s in slices])
    assert np.ptp(work) <= 0.05 * work.mean()


def test_own_rows_go_with_their_demand_and_copies_name_them() -> None:
    form = make_form(flows(), own=True)
    assert len(form.own.source) > 0
    own_price = np.linspace(1.0, 2.0, len(form.own.source))
    slices = cut(
        form, 3, np.zeros(form.entries.count), np.zeros(form.groups.kind.shape), None, own_price
    )
    found = np.concatenate([s.own.source for s in slices])
    np.testing.assert_array_equal(found, form.own.source)
    np.testing.assert_array_equal(np.concatenate([s.own_price for s in slices]), own_price)
    shared, matrix = len(form.narrow.source) - 1, form.problem.rows.matrix
    for s in slices:
        assert s.narrow == shared + 1 + len(s.own.source)
        assert s.entries.row.max() < s.narrow
        rows = np.concatenate([form.narrow.source[:-1], s.own.source, [-1]])
        of_copy = rows[s.entries.row]  # the row of the problem that each copy stands for
        for value, row in zip(s.entries.a, of_copy, strict=True):
            assert value == 0.0 if row < 0 else value in matrix[[int(row)]].toarray()


def test_leaves_add_up_to_the_whole() -> None:
    form = make_form(build(Utility.LOG, 3, 4, 9))
    (one,) = cut(form, 1, np.ones(form.entries.count), np.zeros(form.groups.kind.shape))
    leaves = Leaves(one)
    seen: list[int] = []

    def counted(leaf: tuple[slice, ...]) -> np.ndarray:
        seen.extend(range(leaf[1].start, leaf[1].stop))
        return np.array([float(leaf[0].stop - leaf[0].start), float(np.sum(one.x[leaf[1]]))])

    total = leaves.sums(counted).sum(axis=0)
    assert total.tolist() == [len(one.entries.ptr) - 1, form.entries.count]
    assert seen == list(range(form.entries.count))
    assert leaves.whole[1] == slice(0, form.entries.count)
