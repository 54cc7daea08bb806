"""Results are run again elsewhere: which, by which cluster, and what follows; on both databases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from walras.exchange.errors import ConflictError, NotFoundError
from walras.exchange.service import (
    audits,
    clusters,
    listings,
    outcomes,
    queries,
    rounds,
    snapshot_clusters,
    tasks,
    tokens,
    trust,
)
from walras.exchange.service.messages import Finished, Grant, Running, Sync
from walras.exchange.service.sync import sync
from walras.exchange.service.timing import Timing
from walras.exchange.store.database import Database, open_database
from walras.exchange.store.migrate import migrate
from walras.exchange.store.statements import Statement, Transaction

TIMING = Timing()
SECRET = "s"
PENDING = Statement(
    sa.text(
        "SELECT t.id, t.version, t.slots, t.uid, n.name, r.labels FROM task t "
        "JOIN tenant n ON n.id = t.tenant JOIN requirement r ON r.id = t.requirement "
        "WHERE t.state = 'pending' ORDER BY t.id"
    )
)
KEYS = Statement(sa.text("SELECT provider, id FROM cluster ORDER BY id"))
WEIGHTS = Statement(sa.text("SELECT weight FROM observation ORDER BY id"))
DISTRUSTED = Statement(sa.text("SELECT provider FROM cluster WHERE distrusted IS NOT NULL"))


class Market:
    """Providers p, q, r (and the trusted s) with one cluster and one agent each."""

    def __init__(self, database: Database, providers: str = "pqr") -> None:
        self.database, self.now, self.seq = database, 100.0, 0
        database.write(lambda tx: tokens.add_tenant(tx, 1.0, "lab", 1.0, 1))
        for name in providers:
            offer = clusters.Offer(100, provider=name, trusted=name == "s")
            database.write(lambda tx, n=name, o=offer: clusters.put(tx, 1.0, f"c-{n}", o))  # type: ignore[misc]
            database.write(
                lambda tx, n=name: clusters.register(tx, 1.0, f"a-{n}", f"c-{n}", "local", True)  # type: ignore[misc]
            )
            self.sync(name)

    def sync(self, name: str, **more: Any) -> list[Grant]:
        self.seq += 1
        message = Sync(1, self.seq, 100, **more)
        found = self.database.write(lambda tx: sync(tx, self.now, f"a-{name}", message, TIMING))
        return found.run

    def submit(self, uid: str, **more: Any) -> None:
        made = tasks.NewTask(uid, uid, ("true",), {"x": 1.0}, **({"auditable": True} | more))
        self.database.write(lambda tx: tasks.submit(tx, self.now, "lab", [made]))

    def place(self, provider: str, receipt: str | None = None) -> list[Grant]:
        """Place all that waits: audits where they must run, the others at a provider."""
        keys = {str(row[0]): int(row[1]) for row in self.database.read(lambda tx: tx.rows(KEYS))}
        plan, at = [], set()
        for key, version, slots, _, _, labels in self.database.read(lambda tx: tx.rows(PENDING)):
            where = json.loads(labels).get("provider", provider)
            at.add(where)
            placed = rounds.Placed(
                key, version, keys[where], slots, receipt=receipt, predicted=10.0
            )
            plan.append(placed)
        self.database.write(
            lambda tx: rounds.publish(
                tx, self.now, rounds.begin(tx, self.now, "{}", 0), "published", plan
            )
        )
        return [grant for name in sorted(at) for grant in self.sync(name)]

    def run(self, provider: str, seconds: float, outcome: str = "completed") -> list[Grant]:
        """Whatever waits runs and ends; audits end at their auditor."""
        grants = self.place(provider)
        code = 0 if outcome == "completed" else 1
        self.now += seconds
        for name in self.names():
            done = [Finished(g.placement, g.token, outcome, seconds, code) for g in grants]
            self.sync(name, finished=done, running=[])  # stale where it is another agent's
        return grants

    def names(self) -> list[str]:
        return [str(row[0]) for row in self.database.read(lambda tx: tx.rows(KEYS))]

    def audit(self) -> int:
        """A turn of the service: heard are all clusters."""
        self.database.write(lambda tx: audits.judge(tx, self.now, SECRET, TIMING))
        return self.database.write(lambda tx: audits.review(tx, self.now, SECRET, TIMING))

    def listed(self) -> list[dict[str, Any]]:
        return self.database.read(lambda tx: audits.page(tx, 500, None))[0][::-1]

    def weights(self) -> list[str]:
        return [str(row[0]) for row in self.database.read(lambda tx: tx.rows(WEIGHTS))]

    def state(self, uid: str) -> dict[str, Any]:
        return self.database.read(lambda tx: queries.detail(tx, uid, "lab"))


@pytest.fixture
def database(new_url: Callable[[], str]) -> Iterator[Database]:
    url = new_url()
    migrate(url)
    made = open_database(url)
    yield made
    made.close()


def test_an_audit_that_agrees_confirms_a_result_and_changes_nothing_else(
    database: Database,
) -> None:
    market = Market(database)
    market.submit("t-1", environment={"SEED": "1"})
    (first,) = market.run("p", 10.0)
    before = market.state("t-1")
    assert market.audit() == 1
    (asked,) = market.listed()
    assert (asked["task"], asked["provider"], asked["state"]) == ("t-1", "p", "asked")
    assert (asked["cause"], asked["chance"]) == ("drawn", 1.0)
    assert asked["auditor"] in ("q", "r")
    tenants = {t["name"]: t for t in database.read(lambda tx: listings.tenants(tx, market.now))}
    assert (tenants["lab"]["pending"], tenants[audits.OWNER]["pending"]) == (0, 1)
    (again,) = market.run("p", 12.0)
    # To the agent it is a task as any other: the same work under another name.
    assert again.spec == first.spec
    assert again.task.startswith("t-")
    assert again.task != "t-1"
    assert market.audit() == 0  # an audit is not audited
    (agreed,) = market.listed()
    assert (agreed["state"], agreed["weight"]) == ("agreed", "audited")
    assert market.weights() == ["audited", "used"]
    assert market.state("t-1") == before
    marks = database.read(lambda tx: audits.marks(tx, "t-1", "lab", 1))
    assert (marks["result"], marks["audits"], marks["audit_of"]) == ("audited", ["agreed"], None)
    other = database.read(lambda tx: audits.marks(tx, again.task, None, 1))
    assert other["audit_of"] == "t-1"
    with pytest.raises(NotFoundError):  # the consumer sees its own task alone
        database.read(lambda tx: audits.marks(tx, again.task, "lab", 1))


def test_two_that_disagree_make_a_forgery_and_it_costs_all(database: Database) -> None:
    market = Market(database)
    for k in range(3):
        market.submit(f"t-{k}", auditable=k == 2)
        market.run("p", 10.0 if k < 2 else 0.1)
    work = database.read(snapshot_clusters.recent).confirmed
    assert sum(work.values()) == pytest.approx(20.1)
    for turn in (1, 2):
        market.audit()
        assert len(market.listed()) == turn  # a second opinion of the third provider
        assert market.weights()[:3] == ["used"] * 3
        market.run("p", 10.0)
    market.audit()
    first, second = market.listed()
    assert {first["auditor"], second["auditor"]} == {"q", "r"}
    assert (first["cause"], second["cause"]) == ("drawn", "second")
    assert [one["state"] for one in (first, second)] == ["disagreed"] * 2
    assert second["why"] == "took 0.1 s, where 1 s are the least to be expected"
    assert market.weights() == ["quarantined"] * 3 + ["used"] * 2
    assert [str(r[0]) for r in database.read(lambda tx: tx.rows(DISTRUSTED))] == ["p"]
    keys = {str(name): int(key) for name, key in database.read(lambda tx: tx.rows(KEYS))}
    work = database.read(snapshot_clusters.recent).confirmed
    assert work.get(keys["p"], 0.0) == 0.0
    assert database.read(lambda tx: trust.valid_in_a_row(tx, "p")) == 0
    assert market.state("t-2")["state"] == "succeeded"


def test_one_that_disagrees_convicts_nobody(database: Database) -> None:
    """The third provider's word is with the audited one: its result is confirmed."""
    market = Market(database)
    market.submit("t-1", max_attempts=1)
    market.run("p", 10.0)
    market.audit()
    market.run("p", 10.0, "failed")  # the auditor lies
    market.audit()
    assert [one["state"] for one in market.listed()] == ["disagreed", "asked"]
    market.run("p", 10.0)
    market.audit()
    assert [one["state"] for one in market.listed()] == ["disagreed", "agreed"]
    assert market.weights() == ["audited", "used", "used"]


def test_a_result_that_nobody_else_can_judge_is_disputed(database: Database) -> None:
    """Of two providers one lies, and nobody knows which: the one result counts no more."""
    market = Market(database, "pq")
    market.submit("t-0", auditable=False)
    market.run("p", 10.0)
    market.submit("t-1")
    market.run("p", 0.1)
    market.audit()
    market.run("p", 10.0)
    market.audit()
    assert [one["state"] for one in market.listed()] == ["disagreed", "unanswered"]
    assert market.weights() == ["used", "disputed", "used"]
    assert database.read(lambda tx: tx.rows(DISTRUSTED)) == []


def test_the_word_of_a_trusted_cluster_is_enough(database: Database) -> None:
    market = Market(database, "pqs")
    market.submit("t-1")
    market.run("p", 0.1)
    market.audit()
    assert market.listed()[0]["auditor"] == "s"
    market.run("p", 10.0)
    market.audit()
    assert market.weights() == ["quarantined", "used"]
    market.submit("t-2")
    market.run("s", 0.1)  # and its own results are not audited
    market.audit()
    assert len(market.listed()) == 1


def test_an_audit_that_was_given_up_and_reports_after_all_is_judged_by_that_run(
    database: Database,
) -> None:
    market = Market(database, "pq")
    market.submit("t-1")
    market.run("p", 10.0)
    market.audit()
    (grant,) = market.place("p")
    market.now += TIMING.held + 1.0
    database.write(lambda tx: outcomes.expire_leases(tx, market.now, TIMING))
    plan = database.read(lambda tx: tx.rows(PENDING))
    offer = [rounds.Placed(key, version, 2, slots) for key, version, slots, *_ in plan]
    seq = database.write(lambda tx: rounds.begin(tx, market.now, "{}", 0))
    database.write(lambda tx: rounds.publish(tx, market.now, seq, "published", offer))
    market.sync("q", finished=[Finished(grant.placement, grant.token, "completed", 10.0, 0)])
    market.audit()
    assert [one["state"] for one in market.listed()] == ["agreed"]


def test_while_nobody_is_heard_the_silent_are_asked_and_the_heard_before_them(
    database: Database,
) -> None:
    """As after a start of the service, or a jump of its clock."""
    market = Market(database, "pqs")
    market.submit("t-1")
    market.run("p", 10.0)
    market.now += 3600.0
    market.audit()
    assert [one["auditor"] for one in market.listed()] == ["s"]
    market.submit("t-2")
    market.run("p", 10.0)  # all sync
    market.now += 3600.0
    market.sync("q")
    market.audit()
    assert market.listed()[-1]["auditor"] == "q"


def test_the_time_that_an_audit_waited_accuses_nobody(database: Database) -> None:
    """The task was expected to take 20 s and took 0.5 s; its audit did, after 60 s in a queue."""
    market = Market(database)
    market.submit("t-1")
    market.run("p", 0.5)
    market.audit()
    (grant,) = market.place("p")
    market.now += 60.0
    done = [Finished(grant.placement, grant.token, "completed", 0.6, 0)]
    for name in "qr":
        market.sync(name, finished=done)
    market.audit()
    assert [one["state"] for one in market.listed()] == ["agreed"]


@pytest.mark.parametrize("given_up", [False, True])
@pytest.mark.parametrize(("set_anew", "state"), [(False, "disagreed"), (True, "agreed")])
def test_a_run_over_which_the_clock_was_set_is_not_accused_by_its_time(
    database: Database, given_up: bool, set_anew: bool, state: str
) -> None:
    """By the service's clock it took 80 s, of 500 s at least; its agent says 900 s."""
    market = Market(database)
    market.submit("t-1")
    (grant,) = market.place("p", receipt='{"seconds_interval":[500.0,2000.0]}')
    market.now += 80.0
    if given_up:
        database.write(lambda tx: outcomes.expire_leases(tx, market.now, TIMING))
    if set_anew:
        database.write(lambda tx: outcomes.extend_leases(tx, market.now, TIMING))
    market.sync("p", finished=[Finished(grant.placement, grant.token, "completed", 900.0, 0)])
    for name in "qr":
        market.sync(name)  # both are heard
    market.audit()
    market.run("p", 900.0)
    market.audit()
    assert market.listed()[0]["state"] == state


def test_only_what_a_consumer_allows_is_run_again(database: Database) -> None:
    market = Market(database)
    market.submit("t-1", auditable=False)
    market.run("p", 10.0)
    assert market.audit() == 0
    market.submit("t-2", requires={"provider": "p"})  # nobody else may run it
    market.run("p", 10.0)
    market.audit()
    (asked,) = market.listed()
    assert (asked["state"], asked["auditor"]) == ("unanswered", None)
    assert market.weights() == ["used", "used"]


def test_an_audit_that_never_ran_decides_nothing(database: Database) -> None:
    market = Market(database)
    market.submit("t-1")
    market.run("p", 10.0)
    market.audit()
    market.now += 90_000.0
    database.write(lambda tx: tasks.expire(tx, market.now))
    market.audit()
    (one,) = market.listed()
    assert (one["state"], one["why"]) == ("unanswered", "its task is expired")
    assert market.weights() == ["used"]


def test_from_ten_valid_results_on_some_are_audited_by_a_drawing_that_can_be_repeated(
    database: Database,
) -> None:
    market = Market(database)
    for k in range(60):
        market.submit(f"t-{k}")
        market.run("p", 10.0)
        market.audit()
        market.run("p", 10.0)
        market.audit()
    asked = [one for one in market.listed() if one["provider"] == "p"]
    assert {one["state"] for one in asked} == {"agreed"}
    assert [one["chance"] for one in asked[:10]] == [1.0] * 10
    assert 10 < len(asked) < 30  # of 60: 10, then at most one in ten
    for one in asked[10:]:
        assert one["chance"] <= 0.1


def test_a_rejected_result_counts_no_more_and_is_audited(database: Database) -> None:
    market = Market(database)
    market.submit("t-1")
    with pytest.raises(ConflictError, match="is pending; allowed: a task that has succeeded"):
        _reject(market, "t-1")
    market.run("p", 10.0)
    assert _reject(market, "t-1") == "disputed"
    with pytest.raises(ConflictError, match="was rejected before"):
        _reject(market, "t-1")
    with pytest.raises(NotFoundError):
        _reject(market, "t-1", "other")
    assert market.weights() == ["disputed"]
    assert database.read(lambda tx: tx.rows(DISTRUSTED)) == []
    market.audit()
    assert market.listed()[0]["cause"] == "rejected"
    market.run("p", 10.0)
    market.audit()
    # An audit sees that the work was done, not that it was done well: the consumer's word stays.
    assert market.listed()[0]["state"] == "agreed"
    assert market.weights() == ["disputed", "used"]
    marks = database.read(lambda tx: audits.marks(tx, "t-1", "lab", 1))
    assert (marks["reason"], marks["rejected"] is not None) == ("empty", True)
    assert market.state("t-1")["state"] == "succeeded"


def test_a_rejected_result_that_may_not_run_again_is_not_audited(database: Database) -> None:
    market = Market(database)
    market.submit("t-1", auditable=False)
    market.run("p", 10.0)
    _reject(market, "t-1")
    assert market.audit() == 0


def test_the_word_of_an_operator_is_final(database: Database) -> None:
    market = Market(database)
    for k in range(2):
        market.submit(f"t-{k}")
        market.run("p", 10.0)
    assert _reject(market, "t-0", None, final=True) == "quarantined"
    assert market.weights() == ["quarantined", "quarantined"]


def test_a_failed_task_has_no_result_to_reject(database: Database) -> None:
    market = Market(database)
    market.submit("t-1", max_attempts=1)
    market.run("p", 10.0, "failed")
    with pytest.raises(ConflictError, match="is failed"):
        _reject(market, "t-1")


def _reject(market: Market, uid: str, owner: str | None = "lab", *, final: bool = False) -> str:
    def work(tx: Transaction) -> str:
        return audits.reject(tx, market.now, uid, owner, "empty", actor="ann", final=final)

    return market.database.write(work)


def test_the_secret_is_made_once(database: Database) -> None:
    assert database.write(lambda tx: audits.secret(tx, "one")) == "one"
    assert database.write(lambda tx: audits.secret(tx, "two")) == "one"


def test_a_run_that_is_listed_is_not_touched_by_an_audit(database: Database) -> None:
    """An audit's run of a task is another task: both may be alive."""
    market = Market(database)
    market.submit("t-1")
    market.run("p", 10.0)
    market.audit()
    market.submit("t-2")
    grants = market.place("p")
    assert len(grants) == 2
    mine = next(g for g in grants if g.task == "t-2")
    market.sync("p", running=[Running(mine.placement, mine.token)])
    assert market.state("t-2")["state"] == "running"
