"""What a client sends is checked before it is sent, and told in words where it cannot be."""

from __future__ import annotations

import pytest

from walras.errors import InputError
from walras.exchange.outgoing import check_address, check_token, part


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "",
        "localhost:8765",
        "127.0.0.1:8765",
        "ftp://x",
        "http://",
        "http://a b:1",
        "http://127.0.0.1:999999",
        "http://127.0.0.1:x",
        "http://x:0",
        "http://a\n",
    ],
)
def test_an_address_of_no_service_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="http://") as raised:
        check_address(url)
    assert raised.value.where == "server"


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8765", "https://walras.example.org/", "http://[::1]:8765"]
)
def test_an_address_of_a_service_is_taken(url: str) -> None:
    check_address(url)


@pytest.mark.parametrize(
    "token", ["wlr_secret\nwlr_other", "wlr_secret é", "wlr_secret\x00", "a b"]
)
def test_a_token_that_no_header_carries_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(InputError, match="one token") as raised:
        check_token(token)
    assert "secret" not in str(raised.value)


def test_a_name_opens_no_other_route() -> None:
    assert part("here:drain?a/../b") == "here%3Adrain%3Fa%2F..%2Fb"
    assert part("\udcff") == "%FF"
