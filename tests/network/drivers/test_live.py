"""A live network under cuts, kills, loss and churn, with sums of our own over the raw ledgers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem

from walras.errors import InputError
from walras.network.drivers import live as module
from walras.network.drivers.live import LiveNetwork, centres
from walras.network.graph.network import Network
from walras.network.links.faults import Faults

FULL = Network.of(5, [(i, j) for i in range(5) for j in range(i)])


def _live(network: Network = RING, *, trains: bool = False, **more: object) -> LiveNetwork:
    return LiveNetwork(problem(network.centres, trains=trains), network, **more)  # type: ignore[arg-type]


def _own_sum(live: LiveNetwork) -> int:
    """Quanta held, and sent over each link and not credited, by whole numbers of Python.

    It is all there is while every centre is in its first life, and no end was signed.
    """
    total = 0
    for node in live.world.nodes:
        total += int(node.ledger.held[0])
        for j, link in node.ledger.links.items():
            back = live.world.nodes[j].ledger.links.get(node.life[0])
            total += int(link.sent[0]) - (int(back.credited[0]) if back else 0)
    return total


def _used(live: LiveNetwork) -> int:
    return sum(
        node.share(live.world.now)
        for node, up in zip(live.world.nodes, live.world.up, strict=True)
        if up
    )


def test_the_sum_stays_whatever_links_do() -> None:
    live = _live(FULL, faults=Faults(loss=0.3, duplication=0.2, delay=2))
    total, rng = problem().quanta.total, np.random.default_rng(5)
    for _ in range(60):
        link = live.links[int(rng.integers(len(live.links)))]
        (live.cut if rng.random() < 0.3 else live.mend)([link])
        assert live.advance(4) == 4
        assert not live.ended
        assert _own_sum(live) == total
        assert _used(live) <= total
    assert live.worst == 0
    assert not live.alarm
    assert all(row.audit == 0 for row in live.rows)


def test_what_a_killed_centre_held_is_idle_and_then_moves_on() -> None:
    live = _live(FULL)
    live.advance(200)
    total = live.problem.quanta.total
    held = int(live.world.nodes[4].ledger.held[0])
    live.stop(4)
    live.advance(5)
    row = live.row()
    assert row.owed == pytest.approx(held * live.problem.quanta.unit)
    assert _used(live) + held <= total, "nobody uses it yet"
    live.advance(500)
    assert live.settled == {(4, 0)}
    assert int(live.books.held[0]) + int(live.books.in_flight[0]) == total
    assert live.row().owed == 0.0
    slopes = [
        (node.local.node_config.cost.center, node.local.node_config.cost.scale)  # type: ignore[attr-defined]
        for node in live.world.nodes[:4]
    ]
    prices = [(x - c) / k for x, (c, k) in zip(live.world.shares, slopes, strict=False)]
    assert np.ptp(prices) < 1e-5, "the survivors' marginal costs agree: their optimum"
    said = [event.what for event in live.events]
    assert said[-3:] == ["stopped", "given up", "settled"]


def test_a_centre_that_was_cut_off_begins_anew_when_links_are_mended() -> None:
    live = _live()
    live.advance(100)
    around = [link for link in live.links if 2 in link]
    live.cut(around)
    live.advance(200)
    assert not live.leased[2]
    assert live.leased.sum() == 4
    assert (2, 0) in live.ended
    live.mend(around)
    live.advance(400)
    assert live.leased.all()
    assert live.world.nodes[2].life == (2, 1)
    assert live.row().used == pytest.approx(live.problem.budget)
    words = [event.text for event in live.events if event.what in ("cut", "mended")]
    assert words == ["links 1-2, 2-3 are cut", "links 1-2, 2-3 are mended"]


def test_without_a_majority_nobody_uses_a_share_and_nothing_is_lost() -> None:
    live = _live(FULL)
    live.advance(100)
    for centre in (0, 1, 2):
        live.stop(centre)
    live.advance(300)
    assert _used(live) == 0
    assert live.worst == 0
    assert np.isnan(live.row().gap)
    for centre in (0, 1, 2):
        live.restart(centre)
    live.advance(400)
    assert live.leased.all()
    assert live.row().used == pytest.approx(live.problem.budget)


def test_churn_crashes_and_brings_back_and_keeps_a_majority() -> None:
    live = _live(FULL, churn=50.0, seed=2)
    least = 5
    for _ in range(120):
        live.advance(5)
        least = min(least, int(live.world.up.sum()))
    assert live.worst == 0
    assert least == 3
    assert len(live.world.lives) > 6
    live.set_faults(Faults(), 0.0)
    live.advance(200)
    assert live.world.up.all(), "those that churn stopped come back"


def test_a_wrong_balance_is_an_alarm_and_no_round_follows() -> None:
    live = _live()
    live.advance(50)
    live.world.nodes[2].ledger.held[0] -= 3
    assert live.advance(10) == 1
    assert "[-3] quanta are over or missing" in live.alarm
    assert (live.worst, live.rows[-1].audit, live.events[-1].what) == (3, 3, "alarm")
    assert live.advance(10) == 0


def test_the_model_is_learnt_and_the_gaps_close() -> None:
    live = _live(trains=True)
    live.advance(400)
    first, last = live.rows[20], live.rows[-1]
    assert 0.0 < last.loss_gap < 1e-3 * first.loss_gap
    assert last.consensus < 1e-3
    assert abs(last.gap) < 1e-6


def test_the_history_is_thinned_out_and_keeps_its_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT", 20)
    live = _live()
    live.advance(200)
    rounds = [row.round for row in live.rows]
    assert len(rounds) <= 20
    assert len(set(np.diff(rounds))) == 1
    assert rounds[-1] > 180


def test_time_is_kept_and_rounds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    assert _live().advance(100, seconds=5.0, steady=lambda: float(next(ticks))) == 5
    monkeypatch.setattr(module, "MOST_ROUNDS", 30)
    live = _live()
    assert (live.advance(100), live.advance(1)) == (30, 0)


def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    live = _live()
    with pytest.raises(InputError, match="no neighbours"):
        live.cut([(0, 1), (0, 2)])
    assert not live.world.cuts, "nothing of it was done"
    with pytest.raises(InputError, match="centre: is 5"):
        live.stop(5)
    for centre in (0, 1, 2, 3, 3):
        live.stop(centre)
    with pytest.raises(InputError, match="is the last one that runs"):
        live.stop(4)
    monkeypatch.setattr(module, "MOST_LIVES", 6)
    live.restart(0)
    live.restart(0)
    with pytest.raises(InputError, match="has had 6 lives"):
        live.restart(1)
    with pytest.raises(InputError, match="churn"):
        live.set_faults(Faults(), -1.0)


def test_centres_are_named_in_words() -> None:
    assert centres([1]) == "centre 1"
    assert centres([1, 4]) == "centres 1, 4"
