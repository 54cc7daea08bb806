"""What must be so before the dispatcher writes anything; else it refuses, and says what to do.

Way A (server-side apply as a manager of its own) needs the policy that clears the list when a
workload is admitted or evicted: Kueue cannot clear what another manager owns, and would admit no
workload (kueue/issues/6185). Way B (merge patch) needs a feature gate of the manager.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from walras.exchange.dispatch.requests import Request, config_map, policy, policy_binding
from walras.exchange.dispatch.server import Reply, Server
from walras.exchange.errors import ConflictError, ExchangeError

NAME = "walras.dev/exchange"
"""Name of the dispatcher, for Kueue's configuration."""
POLICIES = ("kueue-clear-nominated-cluster-names", "clear-nominated-cluster-names")
"""Names of the policy: as Helm's release ``kueue`` and as the plain manifest install it."""
GATE = "WorkloadRequestUseMergePatch"
CONFIG = "kueue-system/kueue-manager-config"
_KEY = "controller_manager_config.yaml"
_LONGEST = 2**18  # characters of a configuration
_NAME = re.compile(r"[A-Za-z0-9._/-]{1,316}")  # a prefix of 253, a slash, a name of 62
_OFF = frozenset({"false", "no", "off"})


@dataclass(frozen=True)
class Setup:
    """How the dispatcher writes, and what Kueue was configured to.

    Attributes:
        merge: Whether it writes merge patches (way B).
        policies: Names that the policy may have.
        config: ``NAMESPACE/NAME`` of the ConfigMap of Kueue's manager; empty to look at none.
        name: Name of the dispatcher.
    """

    merge: bool = False
    policies: tuple[str, ...] = POLICIES
    config: str = CONFIG
    name: str = NAME


async def check(server: Server, setup: Setup) -> None:
    """Refuse to begin where the manager is not set up for the dispatcher.

    Args:
        server: The API server of the manager cluster.
        setup: How the dispatcher writes.

    Raises:
        ConflictError: The policy, its binding, the gate or the dispatcher's name is missing.
        ExchangeError: The server does not answer, or refuses.
    """
    if setup.config:
        _of_manager(await _configuration(server, setup.config), setup)
    if not setup.merge:
        await _policy(server, setup.policies)


async def _configuration(server: Server, place: str) -> dict[str, Any]:
    """The manager's configuration."""
    namespace, _, name = place.partition("/")
    request = config_map(namespace, name)
    reply = await server.send(request)
    if reply.status not in (200, 404):
        raise server.refusal(request, reply)
    text = _under(reply.body, "data", _KEY) if reply.status == 200 else None
    if text is None:
        raise ConflictError(
            f"has no {_KEY}" if reply.status == 200 else "is not there",
            where=f"ConfigMap {place}",
            allowed="the configuration of Kueue's manager",
            remedy="name it with --manager-config NAMESPACE/NAME, or give --manager-config '' and "
            "see yourself that multiKueue.dispatcherName is right",
        )
    return _read(text, place)


def _read(text: Any, place: str) -> dict[str, Any]:
    """The mapping that a text is; each scalar stays a text, and nothing is merged or converted."""
    found: Any = None
    if isinstance(text, str) and len(text) <= _LONGEST:
        try:
            found = yaml.BaseLoader(text).get_single_data()
        except (yaml.YAMLError, RecursionError):
            found = None
    if not isinstance(found, dict):
        raise ConflictError(
            f"{_KEY} is no configuration that can be read",
            where=f"ConfigMap {place}",
            allowed=f"one YAML mapping of at most {_LONGEST} characters",
            remedy="mend it and restart Kueue's manager, or give --manager-config '' and see "
            "yourself that multiKueue.dispatcherName is right",
        )
    return found


def _under(found: Any, *names: str) -> Any:
    """What is under names in mappings; None where it is not there."""
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _of_manager(found: dict[str, Any], setup: Setup) -> None:
    """Refuse a manager that asks another dispatcher, or whose gate is off."""
    named = _under(found, "multiKueue", "dispatcherName") or "not set"
    if named != setup.name:
        if named != "not set" and not (isinstance(named, str) and _NAME.fullmatch(named)):
            named = "not a name"
        raise ConflictError(
            f"multiKueue.dispatcherName is {named}: another dispatcher nominates there",
            where=f"ConfigMap {setup.config}",
            allowed=setup.name,
            remedy=f"set multiKueue.dispatcherName: {setup.name} and restart Kueue's manager, or "
            "give the name with --dispatcher-name",
        )
    gate = _under(found, "featureGates", GATE)
    if setup.merge and isinstance(gate, str) and gate.lower() in _OFF:
        raise ConflictError(
            f"the feature gate {GATE} is off",
            where=f"ConfigMap {setup.config}",
            allowed=f"{GATE}: true",
            remedy="switch the gate on, or leave out --workload-request-use-merge-patch",
        )


async def _policy(server: Server, names: Sequence[str]) -> None:
    """Refuse where no policy of these names is bound."""
    for name in names:
        if await _there(server, policy(name)) is None:
            continue
        bound = await _there(server, policy_binding(f"{name}-binding"))
        if _under(bound, "spec", "policyName") == name:
            return
        raise _missing(f"MutatingAdmissionPolicyBinding {name}-binding", "does not bind the policy")
    raise _missing(f"MutatingAdmissionPolicy {names[0]}", "is not there")


async def _there(server: Server, request: Request) -> Any:
    reply: Reply = await server.send(request)
    if reply.status == 404:  # the object, or all of the API: Kubernetes before 1.36
        return None
    if reply.status != 200:
        raise server.refusal(request, reply)
    return reply.body


def _missing(where: str, what: str) -> ExchangeError:
    return ConflictError(
        f"{what}: Kueue could not clear the names that are nominated, and would admit nothing",
        where=where,
        allowed="Kubernetes 1.36 or newer, with Kueue 0.18.6, 0.19.2 or newer and its policy",
        remedy="install Kueue with --set enableMutatingAdmissionPolicy=true, or kubectl apply -f "
        f"workload-map.yaml of its release; or switch on the gate {GATE} and give "
        "--workload-request-use-merge-patch; another name: --policy NAME",
    )
