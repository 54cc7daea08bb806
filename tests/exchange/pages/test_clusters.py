"""Pages of clusters."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site

from walras.exchange.pages.clusters import covered


def test_the_list_says_who_is_heard(site: Site) -> None:
    assert "No cluster yet" in site.words("/clusters")
    site.served.put("/v1/clusters/c1", {"slots": 4, "labels": {"gpu": "h100"}, "price": 1.5})
    words = site.words("/clusters")
    assert "c1 up silent" in words
    assert "gpu=h100" in words
    assert "c1" not in site.words("/clusters", "provider-c2")


def test_a_cluster_has_its_runs_and_its_agents(site: Site) -> None:
    uid, grant = site.served.running("one")
    assert "No run has ended here yet" in site.words("/clusters/c1")
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    site.served.sync(9, finished=[done | {"seconds": 1.0}])
    text = site.text("/clusters/c1")
    assert f'<a href="/tasks/{uid}">' in text
    assert "/v1/observations?limit=500&amp;cluster=c1" in text
    assert "its runs end themselves" in text
    words = site.words("/clusters/c1")
    assert "confirmed work 100 % of a round it gets 100 % at most, and one task" in words
    assert "c1 100 % 100 %" in site.words("/clusters")


def test_only_who_may_is_offered_a_change(site: Site) -> None:
    site.served.put("/v1/clusters/c1", {"slots": 4})
    offered = {
        role: ("Drain" in words, "What if it were drained?" in words)
        for role in ("admin", "operator", "provider-c1", "reader", "alpha")
        if (words := site.words("/clusters/c1", role))
    }
    assert offered == {
        "admin": (True, True),
        "operator": (True, True),
        "provider-c1": (True, False),
        "reader": (False, False),
        "alpha": (False, False),
    }
    site.served.post("/v1/clusters/c1:drain")
    assert "Uncordon" in site.words("/clusters/c1")


def test_only_completed_runs_with_an_interval_count_as_covered(site: Site) -> None:
    run = {"outcome": "completed", "seconds": 2.0, "seconds_interval": [1.0, 3.0]}
    failed, open_end = run | {"outcome": "failed"}, run | {"seconds_interval": [1.0, None]}
    runs = [run, run | {"seconds": 3.5}, failed, open_end, run | {"seconds_interval": None}]
    assert covered(runs) == (1, 2)
    _, grant = site.served.running("one")
    done = {"placement": grant["placement"], "token": grant["token"], "outcome": "completed"}
    site.served.sync(9, finished=[done | {"seconds": 1.0}])
    assert "90 % interval" in site.words("/clusters/c1")
    assert "times in their 90 % interval" not in site.words("/clusters/c1"), "the prior gives none"
