"""The page of the API has every operation and every schema."""

from __future__ import annotations

from tests.exchange.pages.conftest import Site


def test_every_operation_and_schema_is_there(quick_site: Site) -> None:
    described = quick_site.served.get("/openapi.json")
    text = quick_site.text("/reference")
    count = 0
    for path, operations in described["paths"].items():
        for method in operations:
            assert f"{method.upper()}</span> <code>{path}</code>" in text
            count += 1
    assert count > 40
    for name in described["components"]["schemas"]:
        assert f'id="schema-{name}"' in text
    assert 'Body: <a href="#schema-TaskIn">TaskIn</a>' in text
