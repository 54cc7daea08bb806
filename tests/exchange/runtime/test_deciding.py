"""What the process beside the service is asked for, and what it answers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from walras.errors import WalrasError
from walras.exchange.runtime.deciding import asked, decided, warmed
from walras.policies.placements import Policy
from walras.predict import Training
from walras.predict.by_cluster import Runs, fit_runs
from walras.rounds import Clusters, Decision, FeatureSet, Rules, Snapshot, Tasks, Tenants, check

POLICY = Policy(rules=Rules(min_success=0.0), explore=0.0)


@cache
def _model() -> bytes:
    """A predictor of clusters east (fast) and west, trained on the feature ``rows``."""
    rng = np.random.default_rng(0)
    rows = rng.uniform(1.0, 4.0, 200)
    cluster = np.arange(200) % 2
    seconds = np.exp(0.5 * rows) * np.where(cluster == 0, 1.0, 20.0)
    runs = Runs(
        [f"n{k}" for k in range(200)],
        ("east", "west"),
        rows[:, None],
        np.arange(200),
        cluster,
        seconds,
        np.ones(200),
        np.ones(200),
        ("rows",),
    )
    return fit_runs(runs, Training()).to_bytes()


def _snapshot(*names: tuple[str, ...]) -> Snapshot:
    """A task of each feature set, two clusters with room for all."""
    n = len(names)
    kinds = list(dict.fromkeys(names))
    features = tuple(
        FeatureSet(kind, np.full((names.count(kind), len(kind)), 2.0, np.float32)) for kind in kinds
    )
    tasks = Tasks.of([f"t{k}" for k in range(n)], feature_set=[kinds.index(one) for one in names])
    clusters = Clusters.of(["east", "west"], slots=[n, n])
    return Snapshot.of(tasks, clusters, Tenants.of(["lab"]), features=features)


def _decided(taken: Snapshot, model: bytes, policy: str | None = None) -> Decision:
    given = POLICY.document() if policy is None else policy
    question = asked(taken.to_bytes(), model, given, 7, 5.0, "predictor 3")
    made = Decision.from_bytes(decided(question))
    assert check(taken, made) == []
    return made


def test_a_round_is_decided_by_the_model_and_the_seed_that_were_given() -> None:
    taken = _snapshot(*[("rows",)] * 4)
    made = _decided(taken, _model())
    assert (made.snapshot, made.predictor, made.seed) == (taken.hash, "predictor 3", 7)
    assert [made.clusters[i] for i in made.cluster] == ["east"] * 4
    assert np.all(np.isfinite(made.seconds_high))


def test_without_a_model_all_have_the_prior() -> None:
    made = _decided(_snapshot(*[("rows",)] * 3), b"")
    assert made.seconds.tolist() == [60.0] * 3
    assert np.all(np.isinf(made.seconds_high))


def test_tasks_of_other_features_have_the_prior_and_break_no_round() -> None:
    """One predictor serves one feature set; names count, neither their number nor order."""
    others = [("depth",), ("rows", "depth"), ()]
    taken = _snapshot(("rows",), *others, ("rows",))
    made = _decided(taken, _model())
    assert made.placed.all()
    assert made.state == "ok"
    served = [0, 4]
    assert np.all(np.isfinite(made.seconds_high[served]))
    assert made.seconds[1:4].tolist() == [taken.typical] * 3
    assert np.all(np.isinf(made.seconds_high[1:4]))
    assert made.chance[1:4].tolist() == [1.0] * 3


def test_a_snapshot_or_a_policy_that_cannot_be_used_is_refused() -> None:
    taken = _snapshot(("rows",))
    with pytest.raises(WalrasError):
        decided(asked(b"x" + taken.to_bytes(), b"", POLICY.document(), 1, 1.0, "prior"))
    with pytest.raises(WalrasError, match="has no 'speed'"):
        _decided(taken, b"", '{"speed": 3}')
    with pytest.raises(WalrasError):
        _decided(taken, b"no predictor")


def test_it_is_warmed_by_a_small_round() -> None:
    assert warmed(b"x") == b"x"
