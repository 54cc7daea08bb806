"""The manifest gives the dispatcher the rights that its requests need, and no others."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.exchange.dispatch.fake_kueue import FakeKueue
from tests.exchange.dispatch.virtual import Faulty, driver_of, virtually
from typer.main import get_command

from walras.cli.exchange import kueue
from walras.exchange.dispatch import requests
from walras.exchange.dispatch.checks import POLICIES
from walras.exchange.dispatch.requests import Request

FILE = Path(__file__).resolve().parents[3] / "deploy/kueue/dispatcher.yaml"
Right = tuple[str, str, str, str, str]
"""Verb, group, resource with its part, namespace, name; empty: any."""


@cache
def documents() -> tuple[Any, ...]:
    return tuple(yaml.safe_load_all(FILE.read_text(encoding="utf-8")))


def _of(kind: str) -> Any:
    (found,) = [one for one in documents() if one["kind"] == kind]
    return found


def given_rights() -> Iterator[Right]:
    """Every right of the roles, one by one."""
    for kind in ("ClusterRole", "Role"):
        role = _of(kind)
        namespace = role["metadata"].get("namespace", "")
        for rule in role["rules"]:
            for verb in rule["verbs"]:
                for group in rule["apiGroups"]:
                    for resource in rule["resources"]:
                        for name in rule.get("resourceNames", [""]):
                            yield verb, group, resource, namespace, name


_PATH = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<part>[^/]+))?)?"
)


def needed_right(request: Request) -> Right:
    """The right that a request needs, as Kubernetes reads its path."""
    match = _PATH.fullmatch(request.path)
    assert match is not None, request.path
    name = match["name"] or ""
    verb = {"PATCH": "patch", "GET": "get" if name else "list"}[request.method]
    verb = "watch" if request.query.get("watch") == "true" else verb
    resource = match["resource"] + (f"/{match['part']}" if match["part"] else "")
    return verb, match["group"] or "", resource, match["namespace"] or "", name


def _allows(right: Right, needed: Right) -> bool:
    same = right[:3] == needed[:3]
    return same and all(a in ("", b) for a, b in zip(right[3:], needed[3:], strict=True))


def made_requests(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """What the dispatcher asks for in a long life with conflicts, each way of writing."""
    found: list[Request] = []
    for merge in (False, True):
        fake = FakeKueue(merge_gate=merge, page=2)
        fake.chain(*"abcde")
        server = Faulty(fake, 3, 0.0)
        watched = server.events

        def events(
            request: Request, refused: Any, watch: Any = watched, seen: list[Request] = found
        ) -> Any:
            seen.append(request)
            return watch(request, refused)

        monkeypatch.setattr(server, "events", events)

        async def live(
            server: Faulty = server, fake: FakeKueue = fake, merge: bool = merge
        ) -> None:
            made = driver_of(server, monkeypatch)
            made.setup = made.setup.__class__(merge)
            stop = asyncio.Event()
            work = asyncio.create_task(made.run(stop))
            for k in range(60):
                fake.workload(f"w{k}")
                await asyncio.sleep(0.3)
                fake.reserve(f"w{k}")
            stop.set()
            await work

        virtually(live)
        assert fake.writes
        found += fake.requests
    for name in POLICIES:  # the second name is looked for where the first is not there
        found += [requests.policy(name), requests.policy_binding(f"{name}-binding")]
    return found


def test_every_request_is_allowed_and_no_right_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    rights = list(given_rights())
    assert len(rights) == len(set(rights))
    needed = {needed_right(request) for request in made_requests(monkeypatch)}
    assert [one for one in sorted(needed) if not any(_allows(r, one) for r in rights)] == []
    assert [one for one in rights if not any(_allows(one, need) for need in needed)] == []
    everything = {"*", "create", "update", "delete", "deletecollection", "escalate", "bind"}
    assert {verb for verb, *_ in rights} & everything == set()
    assert [one for one in rights if one[0] == "patch"] == [
        ("patch", "kueue.x-k8s.io", "workloads/status", "", "")
    ]


def test_the_roles_are_bound_to_the_account_of_the_pod() -> None:
    account = _of("ServiceAccount")["metadata"]
    for kind, role in (("ClusterRoleBinding", "ClusterRole"), ("RoleBinding", "Role")):
        bound = _of(kind)
        assert bound["roleRef"]["kind"] == role
        assert bound["roleRef"]["name"] == _of(role)["metadata"]["name"]
        assert bound["subjects"] == [{"kind": "ServiceAccount", **account}]
    deployment = _of("Deployment")
    assert deployment["metadata"]["namespace"] == account["namespace"]
    pod = deployment["spec"]["template"]["spec"]
    assert pod["serviceAccountName"] == account["name"]


def test_the_pod_has_no_rights_on_its_machine_and_gives_options_that_exist() -> None:
    pod = _of("Deployment")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    command: Any = get_command(kueue.app)
    options = {word for one in command.commands["dispatch"].params for word in one.opts}
    assert {word.partition("=")[0] for word in container["args"]} <= options
    (mount,) = container["volumeMounts"]
    assert f"--exchange-token-file={mount['mountPath']}/token" in container["args"]
    assert [one["name"] for one in pod["volumes"]] == [mount["name"]]
