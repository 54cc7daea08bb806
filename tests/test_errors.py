"""One family of errors: each says what, where, what is allowed and what to do, if it is known."""

from __future__ import annotations

import pytest

from walras import errors
from walras.errors import InputError, WalrasError

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, WalrasError)
]


def test_a_message_has_its_parts_in_order_and_leaves_out_empty_ones() -> None:
    whole = InputError("is -1", where="size[2]", allowed="0 or more", remedy="count again")
    assert str(whole) == "size[2]: is -1; allowed: 0 or more; remedy: count again"
    assert (whole.what, whole.where) == ("is -1", "size[2]")
    assert str(InputError("is -1")) == "is -1"
    assert str(InputError("is -1", remedy="count again")) == "is -1; remedy: count again"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_kind_has_a_code_of_its_own(kind: type[WalrasError]) -> None:
    assert kind.code.startswith("WAL-")
    assert [other for other in KINDS if other.code == kind.code] == [kind]
