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
        ("multiKueue: walras.dev/exchange", "not set"),
        ("multiKueue: {dispatcherName: [walras.dev/exchange]}", "not a name"),
        ('multiKueue: {dispatcherName: "a\\e[2Jb"}', "not a name"),
        (f"multiKueue: {{dispatcherName: {'x' * 10_000}}}", "is not a name"),
        ("featureGates: 5", "not set"),
    ],
)
def test_the_workloads_of_another_dispatcher_are_left_alone(text: str, named: str) -> None:
    with pytest.raises(ConflictError, match=named) as caught:
        _check(kueue_manager_config=_config(text))
    assert "multiKueue.dispatcherName: walras.dev/exchange" in caught.value.remedy


_BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)
_MERGES = "a0: &a0 {x: y}\n" + "".join(
    f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 12)
)


def test_a_name_that_would_be_endless_is_refused_at_once() -> None:
    with pytest.raises(ConflictError, match="is not a name") as caught:
        _check(kueue_manager_config=_config(_BOMB + "multiKueue: {dispatcherName: *a11}"))
    assert len(str(caught.value)) < 500
    _check(kueue_manager_config=_config(_BOMB + _MERGES.replace("a", "b") + OURS))


@pytest.mark.parametrize("text", ["a: 2026-13-45\n", "a: 0x\nb: 1:99:99\nc: !!int z\n"])
def test_values_that_are_no_business_of_ours_are_not_judged(text: str) -> None:
    _check(kueue_manager_config=_config(text + OURS))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "? {a: 1}\n: 2\n",
        "a text",
        "[" * 5000,
        5,
        ["x"],
        {},
        "a: 1\n---\nb: 2",
        " " * 2**18 + OURS,
    ],
)
def test_a_configuration_that_cannot_be_read_is_one_clear_error(text: Any) -> None:
    with pytest.raises(ConflictError, match="no configuration that can be read") as caught:
        _check(kueue_manager_config=_config(text))
    assert "--manager-config ''" in caught.value.remedy


@pytest.mark.parametrize("data", [None, 5, "x", [], {"controller_manager_config.yaml": None}])
def test_a_config_map_without_data_has_no_configuration(data: Any) -> None:
    with pytest.raises(ConflictError, match=r"has no controller_manager_config\.yaml"):
        _check(kueue_manager_config=(200, {"data": data}))


@pytest.mark.parametrize("bound", [{"spec": "x"}, {"spec": None}, {}])
def test_a_binding_of_another_shape_binds_nothing(bound: Any) -> None:
    with pytest.raises(ConflictError, match="does not bind the policy"):
        _check(None, None, **{f"{POLICY}-binding": (200, bound)})


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
