"""What the dispatcher refuses to begin with, each with its remedy."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.exchange.dispatch.fake_kueue import POLICY, FakeKueue

from walras.exchange.dispatch.checks import Setup, check
from walras.exchange.dispatch.requests import Request
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import ConflictError, ForbiddenError, UnreachableError

CONFIG = "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config"


class Changed(Server):
    """The fake, with other answers to some paths."""

    def __init__(self, fake: FakeKueue, **answers: tuple[int, Any]) -> None:
        super().__init__("http://fake")
        self.fake, self.answers = fake, answers

    async def send(self, request: Request) -> Reply:
        """As :meth:`Server.send`."""
        for end, (status, body) in self.answers.items():
            if request.path.endswith(end.replace("_", "-")):
                return Reply(status, body)
        return Reply(*self.fake.handle(request))


def _check(setup: Setup | None = None, fake: FakeKueue | None = None, **answers: Any) -> None:
    asyncio.run(check(Changed(fake or FakeKueue(), **answers), setup or Setup()))


def _config(text: str) -> tuple[int, Any]:
    return 200, {"data": {"controller_manager_config.yaml": text}}


OURS = "multiKueue: {dispatcherName: walras.dev/exchange}\n"


def test_a_manager_that_is_set_up_is_taken() -> None:
    fake = FakeKueue()
    _check(fake=fake)
    assert [request.path for request in fake.requests] == [
        CONFIG,
        f"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/{POLICY}",
        f"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/{POLICY}-binding",
    ]


def test_the_policy_may_have_its_plain_name() -> None:
    plain = "clear-nominated-cluster-names"
    answers: dict[str, Any] = {
        POLICY: (404, {}),
        f"/{plain}": (200, {"metadata": {}}),
        f"/{plain}-binding": (200, {"spec": {"policyName": plain}}),
    }
    _check(None, None, **answers)


def test_without_the_policy_it_refuses_and_says_what_to_do() -> None:
    with pytest.raises(ConflictError) as caught:
        _check(fake=FakeKueue(policy=False))
    assert caught.value.where == f"MutatingAdmissionPolicy {POLICY}"
    assert "would admit nothing" in caught.value.what
    assert "enableMutatingAdmissionPolicy=true" in caught.value.remedy
    assert "Kubernetes 1.36" in caught.value.allowed


@pytest.mark.parametrize("answer", [(404, {}), (200, {"spec": {"policyName": "another"}})])
def test_a_policy_that_is_not_bound_is_none(answer: Any) -> None:
    with pytest.raises(ConflictError, match="does not bind the policy"):
        _check(None, None, **{f"{POLICY}-binding": answer})


def test_merge_patches_need_no_policy() -> None:
    fake = FakeKueue(policy=False)
    _check(Setup(merge=True), fake)
    assert [request.path for request in fake.requests] == [CONFIG]
    gate = OURS + "featureGates: {WorkloadRequestUseMergePatch: %s}\n"
    _check(Setup(merge=True), fake, kueue_manager_config=_config(gate % "true"))
    with pytest.raises(ConflictError, match="WorkloadRequestUseMergePatch is off"):
        _check(Setup(merge=True), fake, kueue_manager_config=_config(gate % "false"))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (
            "multiKueue: {dispatcherName: kueue.x-k8s.io/multikueue-dispatcher-incremental}",
            "multikueue-dispatcher-incremental",
        ),
        ("multiKueue: {}", "not set"),
        ("", "not set"),
        ("{", "not set"),
        ("a text", "not set"),
    ],
)
def test_the_workloads_of_another_dispatcher_are_left_alone(text: str, named: str) -> None:
    with pytest.raises(ConflictError, match=named) as caught:
        _check(kueue_manager_config=_config(text))
    assert "multiKueue.dispatcherName: walras.dev/exchange" in caught.value.remedy


def test_another_name_of_ours() -> None:
    fake = FakeKueue(dispatcher="lab.example.org/walras")
    _check(Setup(name="lab.example.org/walras"), fake)


@pytest.mark.parametrize("answer", [(404, {}), (200, {"data": {"other.yaml": ""}})])
def test_without_the_managers_configuration_it_asks_where_it_is(answer: tuple[int, Any]) -> None:
    with pytest.raises(ConflictError, match="kueue-system/kueue-manager-config") as caught:
        _check(kueue_manager_config=answer)
    assert "--manager-config" in caught.value.remedy
    _check(Setup(config=""), kueue_manager_config=answer)


def test_what_the_server_refuses_is_told() -> None:
    with pytest.raises(ForbiddenError, match="may not do this: no"):
        _check(kueue_manager_config=(403, {"message": "no"}))
    with pytest.raises(UnreachableError, match="HTTP 503"):
        _check(None, None, **{POLICY: (503, None)})
