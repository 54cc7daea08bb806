"""Signing in: a link works once, its session is a cookie that scripts cannot read."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site


def test_a_link_gives_a_session_once(site: Site) -> None:
    link = site.link()
    answer = site.served.client.get(link, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("walras_session=wls_")
    for word in ("HttpOnly", "SameSite=lax", "Max-Age=43200", "Path=/"):
        assert word in cookie
    assert "Secure" not in cookie
    site.served.client.cookies.clear()
    again = site.served.client.get(link, follow_redirects=False)
    assert again.status_code == 401
    assert "was used before, or is not valid" in again.text
    assert "set-cookie" not in again.headers
    actions = [entry["action"] for entry in site.served.get("/v1/audit")["items"]]
    assert actions.count("login.use") == 1


def test_behind_tls_the_cookie_is_for_tls_alone(quick_site: Site) -> None:
    headers = {"x-forwarded-proto": "https"}
    link = quick_site.link()
    answer = quick_site.served.client.get(link, headers=headers, follow_redirects=False)
    assert "Secure" in answer.headers["set-cookie"]


def test_a_browser_that_looks_ahead_does_not_use_the_link_up(quick_site: Site) -> None:
    link = quick_site.link()
    ahead = quick_site.served.client.get(link, headers={"sec-purpose": "prefetch;prerender"})
    assert ahead.status_code == 204
    assert quick_site.served.client.get(link, follow_redirects=False).status_code == 303


def test_without_a_link_the_page_says_how_to_have_one(quick_site: Site) -> None:
    text = quick_site.served.client.get("/login").text
    assert "walras login --server http://testserver --token-file TOKEN_FILE" in text
    assert quick_site.served.client.get("/login?link=nonsense").status_code == 422


def test_another_site_neither_signs_a_browser_in_nor_uses_a_link_up(quick_site: Site) -> None:
    link, client = quick_site.link(), quick_site.served.client
    for headers in (
        {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"},
        {"sec-fetch-site": "cross-site", "sec-fetch-dest": "document"},
        {"sec-fetch-site": "same-origin", "sec-fetch-dest": "image"},
    ):
        answer = client.get(link, headers=headers, follow_redirects=False)
        assert answer.status_code == 200
        assert "set-cookie" not in answer.headers
        assert f'href="{link}">Sign in</a>' in answer.text
    own = {"sec-fetch-site": "same-origin", "sec-fetch-dest": "document"}
    answer = client.get(link, headers=own, follow_redirects=False)
    assert answer.status_code == 303
    client.cookies.clear()


def test_who_offers_a_cluster_comes_to_the_clusters(quick_site: Site) -> None:
    assert quick_site.get("/", "provider-c1").headers["location"] == "/clusters"
    assert quick_site.get("/", "reader").headers["location"] == "/rounds"
    refused = quick_site.get("/rounds", "provider-c1")
    assert refused.status_code == 403
    assert '<a href="/">To the first page</a>' in refused.text
