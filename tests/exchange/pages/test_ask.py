"""Pages show what the API answers to the same caller."""

from __future__ import annotations

import json
import re

from tests.exchange.pages.conftest import Site


def test_a_page_shows_its_caller_what_the_api_does(site: Site) -> None:
    site.served.task("mine", "alpha")
    site.served.task("theirs", "beta")
    for role, shown in (("alpha", {"mine"}), ("beta", {"theirs"}), ("reader", {"mine", "theirs"})):
        of_api = {one["name"] for one in site.served.get("/v1/tasks", role=role)["items"]}
        on_page = set(re.findall(r'<a href="/tasks/t-\w+">(\w+)</a>', site.text("/tasks", role)))
        assert on_page == of_api == shown


def test_what_a_caller_may_not_ask_is_left_out(quick_site: Site) -> None:
    """Tiles of the whole service are for those who see all of it."""
    assert "waiting" in quick_site.words("/rounds", "admin")
    assert "waiting" not in quick_site.words("/rounds", "alpha")


def test_the_description_is_of_the_api_alone(quick_site: Site) -> None:
    described = json.dumps(quick_site.served.get("/openapi.json"))
    assert '"/tasks"' not in described
    assert "/login?" not in described
