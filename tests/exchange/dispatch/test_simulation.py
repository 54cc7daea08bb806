"""The dispatcher among faults, in virtual time: what must never happen, and what must in the end.

Requests and answers are lost, refused and late; watches are cut, versions are forgotten; Kueue
reserves, admits, evicts, finishes and deletes; clusters come and go, and chains change.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.exchange.dispatch.fake_kueue import FakeKueue, RefusedError
from tests.exchange.dispatch.virtual import Faulty, driver_of, virtually

from walras.exchange.dispatch import driver, requests
from walras.exchange.dispatch.requests import Request
from walras.exchange.errors import ExchangeError

CLUSTERS = [f"c{k}" for k in range(8)]
STEPS = 120  # things that happen while there are faults
CALM = 1300.0  # seconds without faults: time to nominate all eight clusters, three each 5 minutes


class Play:
    """One run of the simulation."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch, rate: float = 0.2) -> None:
        self.random = random.Random(seed)
        self.fake = FakeKueue(merge_gate=bool(seed % 2), page=3)
        self.server = Faulty(self.fake, seed, rate)
        self.monkeypatch, self.count, self.stuck = monkeypatch, 0, 0
        self.fake.chain(*CLUSTERS[:5])
        self.fake.chain(*CLUSTERS[3:], queue="other")

    def happens(self) -> None:
        """One thing happens in the cluster."""
        names = [name for _, name in self.fake.objects["workloads"]]
        what = self.random.choices(
            [self._new, self._flip, self._admit, self._evict, self._end, self._forget, self._chain],
            [8, 6, 3, 3, 2, 1, 1],
        )[0]
        what(self.random.choice(names) if names else "")

    def _new(self, _: str) -> None:
        self.count += 1
        queue, reserved = self.random.choice(["cq", "other"]), self.random.random() < 0.8
        self.fake.workload(f"w{self.count}", queue, reserved=reserved)

    def _flip(self, _: str) -> None:
        name = self.random.choice(CLUSTERS)
        self.fake.cluster(name, active=name not in self.fake.active())

    def _admit(self, name: str) -> None:
        if name and self.fake.names(name):
            try:
                self.fake.admit(name, self.random.choice(self.fake.names(name)))
            except RefusedError:
                self.stuck += 1

    def _evict(self, name: str) -> None:
        if not name:
            return
        if self.random.random() < 0.5:
            self.fake.evict(name)
        if "admission" not in self.fake.get(name)["status"] and self.random.random() < 0.7:
            self.fake.reserve(name, self.fake.get(name)["spec"]["queueName"])

    def _end(self, name: str) -> None:
        if not name:
            return
        if self.random.random() < 0.5:
            self.fake.delete(name)
        elif "conditions" in self.fake.get(name)["status"]:
            self.fake.finish(name)

    def _forget(self, _: str) -> None:
        self.fake.forget()

    def _chain(self, _: str) -> None:
        listed = self.random.sample(CLUSTERS, self.random.randint(1, 8))
        self.fake.put("multikueueconfigs", "cq-config", {"clusters": listed})

    async def run(self) -> None:
        """Play it to the end."""
        made = driver_of(
            self.server, self.monkeypatch, self._predict if self.random.random() < 0.7 else None
        )
        made.setup = replace(made.setup, merge=self.fake.merge_gate)
        stop = asyncio.Event()
        work = asyncio.create_task(self._until_begun(made, stop))
        for _ in range(STEPS):
            await asyncio.sleep(self.random.expovariate(1 / 8.0))
            self.happens()
        self.server.rate = 0.0
        for name in CLUSTERS:
            self.fake.cluster(name)
        await asyncio.sleep(CALM)
        assert not work.done()
        stop.set()
        await work

    async def _until_begun(self, made: driver.Driver, stop: asyncio.Event) -> None:
        """What a pod does: it is started again where it cannot begin."""
        while not stop.is_set():
            with contextlib.suppress(ExchangeError):
                await made.run(stop)
            await asyncio.sleep(1.0)

    def _predict(self, features: Any, clusters: Any) -> Any:
        from tests.exchange.dispatch.virtual import predicted

        if self.random.random() < 0.2:
            raise ExchangeError("is away", where="exchange")
        return predicted(features, clusters)

    def check_end(self) -> None:
        """Every workload that waits for a cluster has all of its active ones."""
        for (_, name), found in self.fake.objects["workloads"].items():
            status = found["status"]
            conditions = {c["type"]: c["status"] for c in status.get("conditions", [])}
            closed = conditions.get("Finished") == "True" or "clusterName" in status
            if closed or conditions.get("QuotaReserved") != "True":
                continue
            queue = found["spec"]["queueName"]
            spec = self.fake.objects["multikueueconfigs"]["", f"{queue}-config"]["spec"]
            left = set(spec["clusters"]) - set(self.fake.names(name))
            if left:
                self.server.violations.append(f"{name}: {sorted(left)} never nominated")
        if self.stuck:
            self.server.violations.append("a list of names kept Kueue from admitting")


def play(seed: int, monkeypatch: pytest.MonkeyPatch, rate: float = 0.2) -> Play:
    """A run, and what was wrong in it."""
    made = Play(seed, monkeypatch, rate)
    virtually(made.run)
    made.check_end()
    return made


@pytest.mark.parametrize("seed", range(15))
def test_nothing_is_removed_or_lost_among_faults(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = play(seed, monkeypatch)
    assert made.server.violations == []
    assert len(made.fake.writes) > 10


@pytest.mark.long
@pytest.mark.parametrize("begin", range(100, 300, 50))
def test_nothing_is_removed_or_lost_in_two_hundred_runs(
    begin: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(begin, begin + 50):
        made = play(seed, monkeypatch, rate=(seed % 7) / 10)
        assert made.server.violations == [], seed


@given(seed=st.integers(0, 2**31), rate=st.floats(0.0, 0.6))
@settings(max_examples=6)
def test_nothing_is_removed_or_lost_at_any_rate_of_faults(seed: int, rate: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        assert play(seed, patch, rate).server.violations == []


def _without_version(build: Callable[..., Request]) -> Callable[..., Request]:
    """A write that does not say from which version it was made."""

    def made(*given: Any) -> Request:
        request = build(*given)
        body = json.loads(request.body or b"{}")
        del body["metadata"]["resourceVersion"]
        return replace(request, body=json.dumps(body).encode())

    return made


async def _no_look(self: driver.Driver) -> frozenset[str]:
    """No look at which clusters are active before a write."""
    return frozenset(CLUSTERS)


def _without_names(build: Callable[..., Request]) -> Callable[..., Request]:
    """A write of the new names alone."""

    def made(workload: Any, names: Any) -> Request:
        return build(workload, names[len(workload.nominated) :])

    return made


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ("version", "became"),
        ("look", "active"),
        ("names", "a name was removed"),
    ],
)
def test_a_planted_fault_is_found(fault: str, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if fault == "look":
        monkeypatch.setattr(driver.Driver, "_look_at_clusters", _no_look)
    for name in ("applying", "merging"):
        build = getattr(requests, name)
        if fault == "version":
            monkeypatch.setattr(requests, name, _without_version(build))
        if fault == "names":
            monkeypatch.setattr(requests, name, _without_names(build))
    seen: list[str] = []
    for seed in range(30):
        seen += play(seed, monkeypatch).server.violations
        if any(found in one for one in seen):
            return
    raise AssertionError(seen)


def test_without_the_policy_a_list_keeps_kueue_from_admitting() -> None:
    """The fake enforces what way A needs the policy for."""
    fake = FakeKueue(policy=False)
    fake.chain("a")
    fake.workload("w")
    found = fake.get("w")
    from walras.exchange.dispatch.workloads import workload_of

    status, _ = fake.handle(requests.applying(workload_of(found), ["a"]))
    assert status == 200
    with pytest.raises(RefusedError, match="exclude"):
        fake.admit("w", "a")
    fake.policy = True
    fake.admit("w", "a")
    assert fake.names("w") == []
    assert fake.get("w")["status"]["clusterName"] == "a"


def test_an_apply_in_kueues_name_wipes_its_other_fields() -> None:
    """Way C, which the dispatcher does not have."""
    fake = FakeKueue()
    fake.chain("a")
    fake.workload("w")
    from walras.exchange.dispatch.workloads import workload_of

    wrong = requests.applying(workload_of(fake.get("w")), ["a"])
    fake.handle(replace(wrong, query={"fieldManager": "kueue-admission", "force": "true"}))
    assert set(fake.get("w")["status"]) == {"nominatedClusterNames"}
