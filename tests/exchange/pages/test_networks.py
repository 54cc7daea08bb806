"""Pages of networks in virtual time."""

from __future__ import annotations

import json
import re
import tomllib
from html import unescape

from tests.exchange.pages.conftest import Site

from walras.exchange.pages.networks import toml
from walras.network.scenario.scenario import scenario


def test_without_a_network_the_page_says_how_to_start_one(quick_site: Site) -> None:
    words = quick_site.words("/network")
    assert "Start a sample" in words
    assert "client.networks.start(centres=20" in words
    plain = quick_site.words("/network", "reader")
    assert "Start a sample" not in plain
    assert "No network runs" in plain
    assert quick_site.get("/network", "alpha").status_code == 403
    gone = quick_site.get("/network/n-0")
    assert gone.status_code == 404
    assert "is not there, or has ended" in gone.text


def test_a_network_has_its_balance_its_tables_and_its_controls(quick_site: Site) -> None:
    served = quick_site.served
    made = served.post("/v1/networks", {"centres": 6, "graph": "ring", "learns": False})
    path, page = f"/v1/networks/{made['uid']}", f"/network/{made['uid']}"
    assert "Nothing has happened yet" in quick_site.words(page)
    served.post(f"{path}:step", {"rounds": 80})
    served.post(f"{path}:cut", {"links": [[0, 1]]})
    found = served.post(f"{path}:kill", {"centre": 2})
    text, words = quick_site.text(page), quick_site.words(page)
    assert "|Σx − b| 0 quanta" in words
    assert "centres running 5 of 6, 4 needed" in words
    assert "2 stopped Start Cut off 0" in words
    assert "0–1 cut" in words
    assert f"{found['notes'][0]['text'][:40]}" in words
    assert "Round 80: centre 2 stops" in words
    bodies = [json.loads(unescape(one)) for one in re.findall(r'data-body="([^"]*)"', text)]
    assert {"centre": 2} in bodies
    assert {"links": [[0, 1], [0, 5]]} in bodies
    assert f'action="POST {path}:start"' not in text
    assert f'data-api="POST {path}:start"' in text
    reader = quick_site.text(page, "reader")
    assert "data-api" not in reader.partition("<main")[2]
    assert made["uid"] in quick_site.words("/network")
    stated = re.search(r"<pre tabindex=.0.><code>(.*?)</code>", text, re.DOTALL)
    assert stated is not None
    again = scenario(tomllib.loads(unescape(stated[1])))
    assert again.network.centres == 6


def test_a_network_whose_process_failed_says_so_and_offers_no_control(quick_site: Site) -> None:
    served = quick_site.served
    uid = served.post("/v1/networks", {"centres": 3, "graph": "ring", "learns": False})["uid"]
    one = served.service.networks.get(uid)
    one.state, one.why = "failed", "its process failed: it died"
    words = quick_site.words(f"/network/{uid}")
    assert "Failed: its process failed: it died." in words
    assert "100 rounds" not in words


def test_tables_are_told_as_toml() -> None:
    tables = {"seed": 1, "network": {"kind": "grid", "p": 0.5}, "loss": {"samples": 3}}
    assert tomllib.loads(toml(tables)) == tables
