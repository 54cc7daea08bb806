"""``kill -9`` of a service that trains and promotes: one is active, and none is half kept."""

from __future__ import annotations

import contextlib
import hashlib
import random
import time
from pathlib import Path

import pytest
from tests.exchange.processes.invariants import view
from tests.exchange.processes.rig import Rig
from tests.exchange.processes.template import Template

from walras.exchange.client import Client
from walras.exchange.errors import ExchangeError

_STATES = {"shadow", "active", "retired", "rejected"}


def _runs(seed: int, count: int = 120) -> list[dict[str, object]]:
    """Runs from elsewhere; the first cluster is twice as fast. Times are drawn at random."""
    draw = random.Random(seed)
    made = []
    for k in range(count):
        size, cluster = draw.uniform(1.0, 4.0), k % 2
        seconds = 2.0 * size * (1 + cluster) * draw.lognormvariate(0.0, 0.1)
        one: dict[str, object] = {
            "cluster": f"c{cluster}",
            "features": {"size": size},
            "outcome": "completed",
        }
        made.append(one | {"seconds": seconds, "at": float(k + 1)})
    return made


def _wrong(url: str) -> list[str]:
    """What does not hold of the predictors."""
    with view(url) as rows:
        found = rows("SELECT version, state, sha256, model FROM predictor ORDER BY version")
    active = [version for version, state, _, _ in found if state == "active"]
    wrong = [f"{active} are active"] if len(active) > 1 else []
    for version, state, digest, model in found:
        if state not in _STATES:
            wrong.append(f"{version} is {state}")
        if model is None and state in ("shadow", "active"):
            wrong.append(f"{version} is {state} and has no model")
        if model is not None and hashlib.sha256(bytes(model)).hexdigest() != digest:
            wrong.append(f"{version} is half written")
    return wrong


@pytest.mark.parametrize("kills", [6, pytest.param(60, marks=pytest.mark.long)])
def test_a_training_that_is_killed_leaves_no_half_of_a_predictor(
    template: Template, tmp_path: Path, kills: int
) -> None:
    draw = random.Random(kills)
    with Rig(tmp_path, template, think=None) as rig:
        rig.start()
        load = rig.load(0.2, most=20)
        with Client(rig.served[0].url, rig.token_file.read_text().strip()) as client:
            while len(client.clusters.list()) < 2:  # the agents create them
                time.sleep(0.05)
            assert client.predictors.add_observations(_runs(0)) == 120
            load.start()
            for k in range(kills):
                client.predictors.train()
                if k % 2:  # a promotion just before the end
                    time.sleep(1.5 * draw.random())
                    shadows = [p for p in client.predictors.list() if p.state == "shadow"]
                    if shadows:
                        with contextlib.suppress(ExchangeError):  # a newer one was trained
                            client.predictors.promote(shadows[0].version)
                else:
                    time.sleep(2.5 * draw.random())
                rig.kill(rig.served[0])
                assert _wrong(rig.url) == []
                rig.start_service(rig.served[0])
            client.wait(client.predictors.train(), 60.0)
            newest = client.predictors.list()[0]
            assert client.predictors.promote(newest.version).state == "active"
            load.stop()
            rig.settle(load, 60.0)
            placed = client.wait(client.rounds.run(), 60.0)
            assert placed.state == "done"
            assert client.rounds.list(1)[0].predictor in (None, f"predictor {newest.version}")
        assert rig.broken(load) == []
        assert _wrong(rig.url) == []
        with view(rig.url) as rows:
            assert rows("SELECT version FROM predictor WHERE state = 'active'") == [
                (newest.version,)
            ]
    assert load.runnable
