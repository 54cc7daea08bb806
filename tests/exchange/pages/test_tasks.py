"""Pages of tasks."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site


def test_the_filter_asks_the_api_for_what_was_chosen(site: Site) -> None:
    site.served.running("one")
    site.served.task("second", requires={"gpu": "h100"})
    assert "one" in site.words("/tasks?state=leased&name=&cluster=&round=")
    assert "second" not in site.words("/tasks?state=leased&name=&cluster=&round=")
    assert "No task like that" in site.words("/tasks?name=three")
    text = site.text("/tasks?state=leased&cluster=c1&round=1")
    assert 'value="leased" checked' in text
    assert 'name="cluster" value="c1"' in text


def test_pages_follow_one_another(quick_site: Site) -> None:
    quick_site.served.post(
        "/v1/tasks:batch", {"tasks": [{"name": f"n-{k}", "command": ["true"]} for k in range(60)]}
    )
    first = quick_site.text("/tasks?state=pending")
    link = first.split('<a href="/tasks?cursor=')[1].split('"')[0].replace("&amp;", "&")
    second = quick_site.words(f"/tasks?cursor={link}")
    assert "n-0" in second
    assert "n-59" not in second
    assert "Older tasks" not in second


def test_a_waiting_task_tells_every_blocker(site: Site) -> None:
    site.served.running("one")
    uid = site.served.task("second", requires={"gpu": "h100"})
    site.served.post("/v1/rounds:run")
    site.served.round()
    why = site.served.get(f"/v1/tasks/{uid}/why")
    words = site.words(f"/tasks/{uid}")
    assert why["blockers"]
    for one in why["blockers"]:
        assert f"{one['code']} {one['text']}" in words
    assert "It was not placed yet" in words
    assert "Cancel" in words
    assert "Cancel" not in site.words(f"/tasks/{uid}", "reader")


def test_an_ended_task_shows_what_it_printed(site: Site) -> None:
    uid, grant = site.served.running("one")
    done = {
        "placement": grant["placement"],
        "token": grant["token"],
        "outcome": "completed",
        "seconds": 1.0,
        "exit": 0,
        "log": "it is <done>",
    }
    site.served.sync(9, finished=[done])
    text = site.text(f"/tasks/{uid}")
    assert "it is &lt;done&gt;" in text
    words = site.words(f"/tasks/{uid}")
    assert "has succeeded on c1" in words
    assert "Cancel" not in words


def test_the_form_says_what_the_command_line_would(quick_site: Site) -> None:
    text = quick_site.text("/submit", "alpha")
    assert 'data-api="POST /v1/tasks"' in text
    assert "walras task submit" in text
