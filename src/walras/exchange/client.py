"""A typed client of the service; the command line is written on it.

A request that changes something carries an Idempotency-Key and is sent again where no answer came,
so that it takes effect once.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx2
from pydantic import BaseModel

from walras.exchange import wire
from walras.exchange.answers import checked, events, seconds
from walras.exchange.api import views
from walras.exchange.client_allocations import Allocations
from walras.exchange.client_networks import Networks
from walras.exchange.client_shadows import Shadows
from walras.exchange.errors import ConflictError, UnreachableError
from walras.exchange.outgoing import check_address, check_token, part
from walras.exchange.service.messages import Answer, Sync

M = TypeVar("M", bound=BaseModel)

_PATIENCE = 30.0  # seconds for an answer
_AGAIN = (0.2, 1.0, 3.0)  # seconds before a request is sent again
_BATCH = 500  # tasks that one request may add
_JSON = {"Content-Type": "application/json"}
_UID = re.compile(r"t-[0-9a-f]{20}")  # of a task; a name may begin with t-, too


class Client:
    """A client of one service, with one token.

    Args:
        url: Address of the service, such as ``http://127.0.0.1:8765``.
        token: Bearer token.
        patience: Seconds to wait for an answer.
        tries: How often a request is sent until it is answered, 1 to 4.
        transport: An HTTP client to use instead; for tests.

    Attributes:
        tasks: Submit, list, explain, cancel.
        clusters: Offer, change, cordon, drain.
        rounds: List, look at, compare, ask for one, play one.
        predictors: List, train, promote, roll back; predict a task.
        networks: Centres in virtual time: start, step, cut, kill, mend, end.
        allocations: Rounds of clusters, solved beside HiGHS: start, look, explain, cancel.
        shadows: Logs of schedulers against the exchange's policy: start, list, cancel.
        tokens: Create, list, revoke.
        tenants: Add, list, change.

    Raises:
        InputError: The address is none of a service, or no header can carry the token.

    Example:
        >>> import walras as wl
        >>> with wl.exchange.Client("http://127.0.0.1:1", "wlr_of_nobody", tries=1) as client:
        ...     try:
        ...         client.tasks.submit("train-7", ["python", "train.py"])
        ...     except wl.exchange.ExchangeError as error:
        ...         print(error.code, error.where)
        WAL-2506 http://127.0.0.1:1
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        patience: float = _PATIENCE,
        tries: int = 4,
        transport: httpx2.Client | None = None,
    ) -> None:
        check_address(url)
        check_token(token)
        self.url = url
        self._pauses = (*_AGAIN[: max(tries - 1, 0)], None)
        self._waits: dict[str, float] = {}  # how long a sync waits, once the lease is known
        self._own, self._patience = transport is None, patience
        self._http = transport or httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            timeout=patience,
            follow_redirects=False,
        )
        self.tasks = Tasks(self)
        self.clusters = Clusters(self)
        self.rounds = Rounds(self)
        self.predictors = Predictors(self)
        self.networks = Networks(self)
        self.allocations = Allocations(self)
        self.shadows = Shadows(self)
        self.tokens = Tokens(self)
        self.tenants = Tenants(self)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- requests -----------------------------------------------------------------------------

    def _get(self, path: str, model: type[M], **query: Any) -> M:
        """Read something.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        asked = {k: v for k, v in query.items() if v not in (None, (), [])}
        wire.encoded(asked)  # what no body could hold, no address can
        return model.model_validate_json(self._send("GET", path, params=asked).content)

    def _post(self, path: str, model: type[M], body: Any = None) -> M:
        """Change something once.

        Raises:
            ExchangeError: The service refuses it, or does not answer; or it is nothing to send.
        """
        headers = _JSON | {"Idempotency-Key": secrets.token_hex(16)}
        sent = wire.encoded({} if body is None else body)
        answer = self._send("POST", path, content=sent, headers=headers)
        return model.model_validate_json(answer.content)

    def _put(self, path: str, model: type[M], body: Any, version: int | None = None) -> M:
        """Create something, or change the version given."""
        headers = _JSON | ({} if version is None else {"If-Match": f'"{version}"'})
        answer = self._send("PUT", path, content=wire.encoded(body), headers=headers)
        return model.model_validate_json(answer.content)

    def _pages(self, path: str, model: type[M], most: int | None, **query: Any) -> Iterator[Any]:
        """All items of a list, page by page, up to ``most``."""
        cursor, left = None, most
        while left is None or left > 0:
            limit = 500 if left is None else min(left, 500)
            page: Any = self._get(path, model, limit=limit, cursor=cursor, **query)
            yield from page.items
            left = None if left is None else left - len(page.items)
            cursor = page.next_cursor
            if cursor is None:
                return

    def _send(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request, and again where no answer came."""
        for pause in self._pauses:
            try:
                answer = self._http.request(method, path, **options)
            except httpx2.HTTPError as error:
                if pause is None:
                    raise self._unreachable(error) from error
            else:
                busy = answer.status_code in (429, 503)
                if not busy or pause is None:
                    return checked(answer)
                pause = max(pause, seconds(answer.headers.get("retry-after")))
            time.sleep(pause)
        raise RuntimeError("the last try returns or raises")  # pragma: no cover

    def _unreachable(self, error: Exception) -> UnreachableError:
        return UnreachableError(
            f"does not answer: {str(error) or type(error).__name__}",
            where=self.url,
            allowed="the address of a service that runs",
            remedy="see that walras serve runs, and that the address is right",
        )

    # ---- people -------------------------------------------------------------------------------

    def login_link(self) -> str:
        """An address that signs a browser in to the pages with the token's rights, once.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        return self.url.rstrip("/") + self._post("/v1/logins", views.Login).path

    def status(self) -> views.Status:
        """What the service is doing: open tasks, agents, its database."""
        return self._get("/v1/status", views.Status)

    # ---- what an agent needs ------------------------------------------------------------------

    def register(self, agent: str, cluster: str, backend: str, fences: bool) -> tuple[int, float]:
        """Register an agent, or find it again.

        Args:
            agent: Its name.
            cluster: The cluster that it serves.
            backend: ``local``, ``slurm`` or ``kubernetes``.
            fences: Whether its runs end by themselves when their lease ends.

        Returns:
            Its newest incarnation, and seconds between syncs while slots are free.

        Raises:
            ExchangeError: The service refuses it, or does not answer.
        """
        body = {"uid": agent, "cluster": cluster, "backend": backend, "fences": fences}
        made = self._post("/v1/agents", views.Agent, body)
        return made.incarnation, made.sync_seconds

    def sync(self, agent: str, message: Sync) -> Answer:
        """Send an agent's message, once: the next one says more.

        Args:
            agent: Its name.
            message: What it says.

        Returns:
            What the service answers.

        Raises:
            StaleError: The service has a newer one.
            ExchangeError: The service refuses it, or does not answer.
        """
        path, body = f"/v1/agents/{part(agent)}/sync", wire.sync_to_json(message)
        try:
            answer = self._http.post(path, json=body, **self._waits)  # type: ignore[arg-type]
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        heard = wire.answer_from_json(checked(answer).json())
        if self._own:  # on a connection that is cut, a new message is of more use than to wait
            self._waits = {"timeout": min(self._patience, heard.lease_seconds / 4.0)}
        return heard

    # ---- the rest -----------------------------------------------------------------------------

    def health(self) -> views.Health:
        """Whether the service is ready.

        Returns:
            Its state, and what keeps it from being ready.

        Raises:
            ExchangeError: It is not ready, or does not answer.
        """
        return self._get("/readyz", views.Health)

    def job(self, number: int) -> views.Job:
        """Work in the background that was asked for.

        Args:
            number: Its number.

        Returns:
            Its state and result.

        Raises:
            ExchangeError: There is no such job, or the service does not answer.
        """
        return self._get(f"/v1/jobs/{number}", views.Job)

    def wait(self, job: views.Job, seconds: float) -> views.Job:
        """Wait for a job.

        Args:
            job: The job.
            seconds: How long to wait at most.

        Returns:
            The job when it has ended, or as it is then.

        Raises:
            ExchangeError: The service does not answer.
        """
        last = time.monotonic() + seconds
        while job.state in ("waiting", "running") and time.monotonic() < last:
            time.sleep(0.1)
            job = self.job(job.id)
        return job

    def audit(self, most: int | None = None) -> list[views.AuditEntry]:
        """Who did what, the oldest first.

        Args:
            most: How many entries; all of them for None.

        Returns:
            The entries.

        Raises:
            ExchangeError: The token does not allow it, or the service does not answer.
        """
        return list(self._pages("/v1/audit", views.AuditPage, most))

    def events(self, after: int | None = None) -> Iterator[dict[str, Any]]:
        """Events as they happen.

        Args:
            after: The last event that was seen; only new ones where it is not given.

        Returns:
            Each event with ``id``, ``kind``, ``at``, ``subject`` and ``data``.

        Raises:
            ExchangeError: The service ends, or does not answer.
        """
        query = {} if after is None else {"after": after}
        try:
            with self._http.stream("GET", "/v1/events", params=query, timeout=None) as answer:
                if answer.status_code != 200:
                    answer.read()
                    checked(answer)
                yield from events(answer.iter_lines())
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error


class _Part:
    """Routes of one kind of thing."""

    def __init__(self, client: Client) -> None:
        self._client = client


class Tasks(_Part):
    """Tasks; see :class:`Client`."""

    def submit(self, name: str, command: Sequence[str], **asked: Any) -> views.Submitted:
        """Add a task; when this returns, it is durable.

        Args:
            name: Its name; one a tenant.
            command: Program and arguments.
            asked: ``features``, ``slots``, ``priority``, ``deadline``, ``min_success``,
                ``max_attempts``, ``time_limit``, ``requires``, ``environment``, ``auditable``,
                ``tenant``.

        Raises:
            ConflictError: The name is taken.
            FieldError: A field cannot be used; its ``pointer`` says which.
        """
        body = {"name": name, "command": list(command), **asked}
        return self._client._post("/v1/tasks", views.Submitted, body)

    def submit_many(self, tasks: Sequence[Mapping[str, Any]]) -> list[views.Submitted]:
        """Add tasks, 500 a request; those of a request all or none."""
        made: list[views.Submitted] = []
        for k in range(0, len(tasks), _BATCH):
            body = {"tasks": [dict(task) for task in tasks[k : k + _BATCH]]}
            made += self._client._post("/v1/tasks:batch", views.SubmittedTasks, body).tasks
        return made

    def audits(self, most: int | None = 100) -> list[views.ResultAudit]:
        """Audits of results, the newest first; for operators."""
        return [*self._client._pages("/v1/audits", views.ResultAuditPage, most)]

    def list(self, most: int | None = 100, **which: Any) -> list[views.Task]:
        """Tasks, the newest first; ``state``, ``tenant``, ``name``, ``cluster``, ``round``."""
        return [*self._client._pages("/v1/tasks", views.TaskPage, most, **which)]

    def get(self, uid: str) -> views.TaskDetail:
        """A task with what it asks for and its placements."""
        return self._client._get(f"/v1/tasks/{part(uid)}", views.TaskDetail)

    def find(self, name_or_uid: str) -> str:
        """The uid of a task that is given by its uid or its name.

        Raises:
            ConflictError: Tasks of several tenants have the name.
        """
        if _UID.fullmatch(name_or_uid):
            return name_or_uid
        found = self.list(10, name=name_or_uid)
        if len(found) > 1:
            raise ConflictError(
                f"{len(found)} tenants have a task of this name",
                where=f"task {name_or_uid}",
                allowed=", ".join(f"{one.uid} of {one.tenant}" for one in found),
                remedy="give the uid of the one that you mean",
            )
        return found[0].uid if found else name_or_uid

    def why(self, uid: str) -> views.Why:
        """Why a task is where it is: every reason, with numbers."""
        return self._client._get(f"/v1/tasks/{part(uid)}/why", views.Why)

    def receipt(self, uid: str, attempt: int | None = None) -> views.Receipt:
        """Why an attempt is on its cluster."""
        return self._client._get(f"/v1/tasks/{part(uid)}/receipt", views.Receipt, attempt=attempt)

    def log(self, uid: str) -> views.TaskLog:
        """What happened to a task, and the end of what it printed."""
        return self._client._get(f"/v1/tasks/{part(uid)}/log", views.TaskLog)

    def cancel(self, uid: str) -> views.TaskState:
        """Cancel a task."""
        return self._client._post(f"/v1/tasks/{part(uid)}:cancel", views.TaskState)

    def reject(self, uid: str, reason: str) -> views.TaskState:
        """Say that the result of a task is wrong; the state of the result."""
        return self._client._post(
            f"/v1/tasks/{part(uid)}:reject", views.TaskState, {"reason": reason}
        )

    def release(self, uid: str) -> views.TaskState:
        """Say that the run of a held task is dead."""
        return self._client._post(f"/v1/tasks/{part(uid)}:release", views.TaskState)


class Clusters(_Part):
    """Clusters; see :class:`Client`."""

    def list(self, most: int | None = None) -> list[views.Cluster]:
        """Clusters with their free slots."""
        return [*self._client._pages("/v1/clusters", views.ClusterPage, most)]

    def get(self, uid: str) -> views.Cluster:
        """A cluster."""
        return self._client._get(f"/v1/clusters/{part(uid)}", views.Cluster)

    def providers(self) -> Sequence[views.Provider]:
        """Providers with their shares of confirmed work."""
        return self._client._get("/v1/providers", views.ProviderList).items

    def put(
        self, uid: str, slots: int, *, version: int | None = None, **offered: Any
    ) -> views.Cluster:
        """Create a cluster, or change the version given.

        Args:
            uid: Its name.
            slots: Tasks of one slot that run at once.
            version: The version to change; None to create it.
            offered: ``labels``, ``price``, ``provider``, ``trusted``.

        Raises:
            PreconditionError: It exists, or was changed since that version.
        """
        body = {"slots": slots, **offered}
        return self._client._put(f"/v1/clusters/{part(uid)}", views.Cluster, body, version)

    def drain(self, uid: str) -> views.Cluster:
        """Nothing new, and offers are withdrawn; runs go on."""
        return self._client._post(f"/v1/clusters/{part(uid)}:drain", views.Cluster)

    def cordon(self, uid: str) -> views.Cluster:
        """Nothing new."""
        return self._client._post(f"/v1/clusters/{part(uid)}:cordon", views.Cluster)

    def uncordon(self, uid: str) -> views.Cluster:
        """Take tasks again."""
        return self._client._post(f"/v1/clusters/{part(uid)}:uncordon", views.Cluster)


class Rounds(_Part):
    """Rounds; see :class:`Client`."""

    def list(self, most: int | None = 20) -> list[views.Round]:
        """Rounds, the newest first."""
        return [*self._client._pages("/v1/rounds", views.RoundPage, most)]

    def get(self, seq: int) -> views.RoundDetail:
        """A round and its first 500 placements."""
        return self._client._get(f"/v1/rounds/{seq}", views.RoundDetail, limit=500)

    def diff(self, seq: int, other: int) -> views.RoundDiff:
        """What differs between two rounds."""
        return self._client._get(f"/v1/rounds/{seq}/diff/{other}", views.RoundDiff)

    def run(self) -> views.Job:
        """Ask for a round now."""
        return self._client._post("/v1/rounds:run", views.Job)

    def whatif(self, **changes: Any) -> views.WhatIf:
        """Play a round and publish nothing: ``cordon``, ``drain``, ``slots`` and so on."""
        return self._client._post("/v1/rounds:whatif", views.WhatIf, changes)


class Predictors(_Part):
    """Predictors; see :class:`Client`."""

    def runs(self, cluster: str | None = None, most: int | None = 500) -> list[views.Run]:
        """Runs that have ended, predicted and measured, the newest first."""
        return [*self._client._pages("/v1/observations", views.RunPage, most, cluster=cluster)]

    def list(self, most: int | None = 20) -> list[views.Predictor]:
        """Predictors with their scores, the newest first."""
        return [*self._client._pages("/v1/predictors", views.PredictorPage, most)]

    def train(self) -> views.Job:
        """Ask for a training now."""
        return self._client._post("/v1/predictors:train", views.Job)

    def promote(self, version: int) -> views.PredictorState:
        """Use a predictor from now on."""
        body = {"version": version}
        return self._client._post("/v1/predictors:promote", views.PredictorState, body)

    def rollback(self) -> views.PredictorState:
        """Use the predictor of before again."""
        return self._client._post("/v1/predictors:rollback", views.PredictorState)

    def predict(self, features: Mapping[str, float], clusters: Sequence[str]) -> views.Predictions:
        """A task's times and chances on clusters; it changes nothing, so it carries no key."""
        body = {"features": dict(features), "clusters": list(clusters)}
        answer = self._client._send("POST", "/v1/predictors:predict", json=body)
        return views.Predictions.model_validate_json(answer.content)

    def add_observations(self, observations: Sequence[Mapping[str, Any]]) -> int:
        """Add runs from elsewhere to learn from; their number."""
        added = 0
        for k in range(0, len(observations), 5000):
            body = {"observations": [dict(one) for one in observations[k : k + 5000]]}
            added += self._client._post("/v1/observations:import", views.Imported, body).imported
        return added


class Tokens(_Part):
    """Tokens; see :class:`Client`."""

    def create(
        self,
        name: str,
        scopes: Sequence[str],
        *,
        tenant: str | None = None,
        seconds: float | None = None,
    ) -> views.NewToken:
        """Create a token; it is shown once."""
        body = {"name": name, "scopes": list(scopes), "tenant": tenant, "seconds": seconds}
        return self._client._post("/v1/tokens", views.NewToken, body)

    def list(self, most: int | None = None) -> list[views.Token]:
        """Tokens, without the tokens."""
        return [*self._client._pages("/v1/tokens", views.TokenPage, most)]

    def revoke(self, uid: str) -> views.TaskState:
        """Revoke a token: within a second it is refused."""
        return self._client._post(f"/v1/tokens/{part(uid)}:revoke", views.TaskState)


class Tenants(_Part):
    """Tenants; see :class:`Client`."""

    def list(self, most: int | None = None) -> list[views.Tenant]:
        """Tenants with the share they got and the share they are owed."""
        return [*self._client._pages("/v1/tenants", views.TenantPage, most)]

    def add(self, name: str, weight: float = 1.0, quota_slots: int | None = None) -> views.Tenant:
        """Add a tenant."""
        body = {"name": name, "weight": weight, "quota_slots": quota_slots}
        return self._client._post("/v1/tenants", views.Tenant, body)

    def change(self, name: str, weight: float, quota_slots: int | None) -> views.Tenant:
        """Change a tenant's weight and quota."""
        body = {"weight": weight, "quota_slots": quota_slots}
        return self._client._put(f"/v1/tenants/{part(name)}", views.Tenant, body)
