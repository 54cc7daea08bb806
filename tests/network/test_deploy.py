"""Real processes: the simulator's states, kills survived, and one clear error for each mistake."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.network.drivers.small import RING, problem, quadratic

import walras as wl
from walras.errors import DataError, EngineError, InputError
from walras.network._deploy import Deployment, DeployProgress, _audit, deploy
from walras.network._replay import Replay, replay
from walras.network.drivers.consistency import in_flight
from walras.network.drivers.launch import Child, Host
from walras.network.drivers.lock import Lock, claim
from walras.network.drivers.manifest import Manifest
from walras.network.drivers.plan import Plan
from walras.network.drivers.trace import Trace, path_of
from walras.network.drivers.virtual import VirtualNetwork
from walras.network.graph.network import Network
from walras.network.links.faults import Faults
from walras.network.methods.surplus import Surplus
from walras.network.problem.cpu_costs import QuadraticCPU
from walras.network.problem.losses import LeastSquares
from walras.network.problem.network_problem import Problem
from walras.network.problem.quanta import AuditError
from walras.network.problem.shards import split
from walras.network.protocol.settings import Settings
from walras.progress import Progress
from walras.status import Status

STEPS = 150
PROCESS = "walras.network.drivers.process"


def _simulated(
    centres: int, network: Network, steps: int, *, trains: bool
) -> list[tuple[int, str]]:
    settings = Settings.of_diameter(network.diameter, steps=steps)
    plan = Plan(problem(centres, trains=trains), network, settings)
    world = VirtualNetwork(plan, Faults(), 0)
    for _ in range(steps + 20):
        world.round()
    return [(int(n.ledger.held[0]), n.local.model.tobytes().hex()) for n in world.nodes]


class Killer:
    """Watches a deployment, and kills some of its processes once all have ticked so often."""

    def __init__(self, centres: Sequence[int], after: int) -> None:
        self._centres, self._after, self.killed = centres, after, False

    def __call__(self, step: Progress) -> bool:
        assert isinstance(step, DeployProgress)
        members = step.members
        if not self.killed and min(m.state.get("ticks", 0) for m in members) > self._after:
            self.killed = True
            for k in self._centres:
                child = members[k].child
                assert isinstance(child, Child)
                os.kill(child.pid, signal.SIGKILL)
        return False


def test_processes_in_rounds_do_what_the_simulator_does(tmp_path: Path) -> None:
    """Bit for bit; their traces replay to the same states; a resumed run goes on from there."""
    found = deploy(problem(trains=True), RING, steps=STEPS, folder=tmp_path, time_limit=60)
    assert found.models is not None
    real = [
        (int(h), np.array(m).tobytes().hex()) for h, m in zip(found.held, found.models, strict=True)
    ]
    assert real == _simulated(5, RING, STEPS, trains=True)
    assert found.audit == 0
    assert found.alive.all()
    assert not found.enforced.any()
    assert replay(tmp_path).same == (True,) * 5
    resumed = deploy(
        problem(trains=True), RING, steps=STEPS, folder=tmp_path, resume=True, time_limit=60
    )
    assert resumed.audit == 0
    assert 0.0 <= resumed.cost_gap < found.cost_gap
    again = replay(tmp_path)
    assert again.same == (True,) * 5
    assert not again.books.difference.any()
    assert "advice" in (tmp_path / "centre-000.log").read_text()
    _check_saved_deployment(replace(found, failures={3: "lost"}), tmp_path / "deployment.npz")
    _check_saved_replay(again, tmp_path / "replay.npz")


def _check_saved_deployment(found: Deployment, path: Path) -> None:
    found.save(path)
    read = wl.load(path)
    assert isinstance(read, Deployment)
    assert (repr(read), str(read)) == (repr(found), str(found))
    assert read.frame().equals(found.frame())
    assert read.share_frame().equals(found.share_frame())
    assert (read.audit, read.gap, read.bound) == (found.audit, found.gap, found.bound)
    assert (read.folder, read.failures) == (found.folder, found.failures)
    assert (read.digests, read.refused) == (found.digests, found.refused)
    assert read.models is not None
    np.testing.assert_array_equal(read.models, found.models)


def _check_saved_replay(found: Replay, path: Path) -> None:
    found.save(path)
    read = wl.load(path)
    assert isinstance(read, Replay)
    assert repr(read) == repr(found)
    assert read.frame().equals(found.frame())
    assert [node.digest for node in read.nodes] == [node.digest for node in found.nodes]
    np.testing.assert_array_equal(read.books.held, found.books.held)
    assert (read.same, read.audits, read.status) == (found.same, found.audits, found.status)


class Stopper:
    """Stops a process for a while, as a loaded host may."""

    def __init__(self, centre: int, seconds: float) -> None:
        self._centre, self._seconds, self._since = centre, seconds, -1.0
        self.over = False

    def __call__(self, step: Progress) -> bool:
        assert isinstance(step, DeployProgress)
        members, seconds = step.members, step.elapsed
        child = members[self._centre].child
        assert isinstance(child, Child)
        if self._since < 0.0 and min(m.state.get("ticks", 0) for m in members) > 20:
            self._since = seconds
            os.kill(child.pid, signal.SIGSTOP)
        elif not self.over and 0.0 <= self._since < seconds - self._seconds:
            self.over = True
            os.kill(child.pid, signal.SIGCONT)
        return False


def test_a_slow_process_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands still for four times the patience: the states are still the simulator's."""
    monkeypatch.setattr("walras.network._deploy._PATIENCE", 0.5)
    watch, steps = Stopper(2, 2.0), 10 * STEPS  # a quick host is done with few at the first look
    found = deploy(problem(), RING, steps=steps, folder=tmp_path, time_limit=60, on_progress=watch)
    assert watch.over
    assert found.held.tolist() == [held for held, _ in _simulated(5, RING, steps, trains=False)]
    assert found.audit == 0


def test_a_killed_process_is_survived(tmp_path: Path) -> None:
    watch = Killer((2,), after=60)
    found = deploy(problem(), RING, steps=700, folder=tmp_path, time_limit=60, on_progress=watch)
    assert watch.killed
    assert found.alive.tolist() == [True, True, False, True, True]
    assert found.audit == 0
    assert found.cost_gap < 1e-6
    assert found.status is Status.FEASIBLE
    assert replay(tmp_path).same == (True, True, None, True, True)
    frame, shares = found.frame(), found.share_frame()
    assert frame["step"].iloc[-1] == 700
    assert frame["alive"].iloc[[0, -1]].tolist() == [5, 4]
    assert frame["cost_gap"].iloc[-1] == pytest.approx(found.cost_gap, abs=1e-12)
    last = shares[shares["step"] == 700]["share"]
    np.testing.assert_allclose(last, found.shares, rtol=1e-6)
    log = (tmp_path / "centre-000.log").read_text()
    for words in ("lease opened", "centre 2 declared dead", "settled centre 2", "stopped, holding"):
        assert words in log
    assert "connection to centre 2 lost" in (tmp_path / "centre-001.log").read_text()


def test_a_killed_process_that_is_restarted_goes_on_in_the_same_life(tmp_path: Path) -> None:
    watch = Killer((1, 2), after=40)
    found = deploy(
        problem(),
        RING,
        steps=200,
        pace="clock",
        period=10,
        folder=tmp_path,
        restart=True,
        time_limit=60,
        on_progress=watch,
    )
    assert watch.killed
    assert found.alive.all()
    assert not found.epochs.any()
    assert found.audit == 0
    assert replay(tmp_path).same == (True,) * 5


@pytest.mark.long
@pytest.mark.timeout(1200)  # twice twenty processes, and a replay: minutes on a busy host
def test_twenty_processes_two_of_them_killed(tmp_path: Path) -> None:
    """First undisturbed, equal to the simulator; then with two killed by signal 9."""
    network = Network.erdos_renyi(20, 0.3, seed=0)
    found = deploy(problem(20), network, steps=300, folder=tmp_path / "calm", time_limit=300)
    expected = [held for held, _ in _simulated(20, network, 300, trains=False)]
    assert found.held.tolist() == expected
    assert found.audit == 0
    watch = Killer((3, 7), after=120)
    folder = tmp_path / "killed"
    found = deploy(
        problem(20), network, steps=900, folder=folder, time_limit=500, on_progress=watch
    )
    assert watch.killed
    assert found.alive.sum() == 18
    assert found.audit == 0
    assert found.cost_gap < 1e-4
    again = replay(folder)
    assert [k for k, same in enumerate(again.same) if same is None] == [3, 7]
    assert False not in again.same


def test_a_port_in_use_is_one_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        hosts = [Host(port=port if k == 3 else 0) for k in range(5)]
        with pytest.raises(InputError) as error:
            deploy(problem(), RING, steps=5, folder=tmp_path, hosts=hosts)
    assert "centre 3" in str(error.value)
    assert f":{port}" in str(error.value)
    assert "is in use" in str(error.value)


def test_folders_and_lengths_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no deployment"):
        deploy(problem(), RING, steps=5, folder=tmp_path, resume=True)
    (tmp_path / "deployment.json").write_text("{}")
    with pytest.raises(InputError, match="holds a deployment"):
        deploy(problem(), RING, steps=5, folder=tmp_path)
    with pytest.raises(InputError, match="hosts"):
        deploy(problem(), RING, steps=5, folder=tmp_path / "new", hosts=[Host()])
    with pytest.raises(DataError, match="cannot be read"):
        replay(tmp_path / "none")


def _settings(**changes: Any) -> Settings:
    return replace(Settings.of_diameter(RING.diameter, steps=20), **changes)


def _stated(*, cpu: Any = None, budget: float = 0.0, high: float = 6.0, **loss: Any) -> Problem:
    """The small problem with something else in it."""
    usual = problem()
    return Problem(cpu or quadratic(5), budget or usual.budget, (0.0, high), **loss)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a deployment of twenty steps."""
    folder = tmp_path_factory.mktemp("ended") / "run"
    deploy(problem(), RING, steps=20, folder=folder, time_limit=60)
    return folder


@pytest.fixture
def folder(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended, tmp_path / "run"))


def test_a_folder_and_its_files_are_their_owners_alone(ended: Path) -> None:
    assert ended.stat().st_mode & 0o777 == 0o700
    assert {path.name for path in ended.iterdir() if path.stat().st_mode & 0o077} == set()
    shared = (ended / "deployment.json").read_text()
    for k, center in enumerate(cost.center for cost in quadratic(5)):
        assert str(center) not in shared
        for j in range(5):
            own = (ended / f"centre-{j:03d}.config.json").read_text()
            assert (str(center) in own) == (j == k)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"problem": problem(4), "network": Network.ring(4)}, "cpu: is 4 centres"),
        ({"problem": _stated(cpu=[QuadraticCPU(2.0, 1.0 + k) for k in range(5)])}, r"cpu\[0\]"),
        ({"problem": _stated(high=5.0)}, r"boxes\[0\]"),
        ({"problem": _stated(budget=15.0)}, "budget"),
        ({"problem": problem(trains=True)}, r"loss and shards\[0\]"),
        ({"network": Network.erdos_renyi(5, 0.9, seed=1)}, "network"),
        ({"method": Surplus(share_step=0.01)}, "method"),
        ({"pace": "clock"}, "pace"),
        ({"settings": _settings(lease=99)}, "settings"),
        ({"start": [1, 2, 3, 4, 5]}, "start"),
    ],
)
def test_another_problem_is_not_resumed(changes: dict[str, Any], where: str, folder: Path) -> None:
    stated = {"problem": problem(), "network": RING, "settings": _settings(), **changes}
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InputError, match=where):
        deploy(stated.pop("problem"), stated.pop("network"), folder=folder, resume=True, **stated)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("cut", [5, 80])
def test_a_torn_trace_is_resumed_and_replayed_again_and_again(folder: Path, cut: int) -> None:
    path = path_of(folder, 0, 0)
    for _ in range(2):
        os.truncate(path, path.stat().st_size - cut)
        found = deploy(problem(), RING, steps=20, folder=folder, resume=True, time_limit=60)
        assert found.audit == 0
        assert replay(folder).same == (True,) * 5


def test_a_trace_of_an_older_moment_is_refused(folder: Path) -> None:
    """As a snapshot that was restored, or a disk that forgot when the power went."""
    path = path_of(folder, 0, 0)
    os.truncate(path, path.stat().st_size // 10)
    with pytest.raises(DataError, match="trace of centre 0: ends before"):
        deploy(problem(), RING, steps=20, folder=folder, resume=True, time_limit=60)


@pytest.mark.parametrize("name", ["deployment.json", "centre-002.config.json", "final.json"])
@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", "null", "3", '{"format": 2}', '{"deployment": "x"}'],
)
def test_damaged_files_are_one_error(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(DataError, match=name):
        replay(folder)
    if name == "deployment.json":
        with pytest.raises(DataError, match=name):
            deploy(problem(), RING, steps=20, folder=folder, resume=True, time_limit=60)


def test_any_part_of_a_manifest_that_is_cut_is_one_error(folder: Path) -> None:
    path = folder / "deployment.json"
    whole = json.loads(path.read_text())
    for key in whole:
        others: tuple[Any, ...] = (None, 3, [], {}, "x", whole["network_config"])
        for value in others:
            path.write_text(json.dumps({**whole, key: value}))
            if value == whole[key] or (key, value) == ("deployment", "x"):
                continue
            with pytest.raises(DataError):
                replay(folder)


def test_a_folder_is_resumed_once_at_a_time(folder: Path) -> None:
    with (
        closing(Lock(folder / "deployment.lock")),
        pytest.raises(InputError, match="is in use by another process"),
    ):
        deploy(problem(), RING, steps=20, folder=folder, resume=True)
    assert deploy(problem(), RING, steps=5, folder=folder, resume=True, time_limit=60).alive.all()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names for a claim")
def test_a_copied_folder_is_not_resumed_while_the_other_runs(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "copy"))
    name = Manifest.read(folder).deployment
    with closing(claim(name, folder)), pytest.raises(InputError, match="runs in another folder"):
        deploy(problem(), RING, steps=20, folder=copy, resume=True)


class Forgetter:
    """Kills a process, and cuts its trace before it is started again."""

    def __init__(self, folder: Path, cut: int) -> None:
        self._path, self._cut, self.done = path_of(folder, 1, 0), cut, False

    def __call__(self, step: Progress) -> bool:
        assert isinstance(step, DeployProgress)
        members = step.members
        child = members[1].child
        if not self.done and min(m.state.get("ticks", 0) for m in members) > 40:
            self.done = True
            assert isinstance(child, Child)
            os.kill(child.pid, signal.SIGKILL)
            while not child.ended():
                time.sleep(0.01)
            os.truncate(self._path, self._path.stat().st_size - self._cut)
        return False


def test_a_centre_that_comes_back_with_less_than_it_said_is_left_out(tmp_path: Path) -> None:
    """Its neighbours know better; the others settle its estate and go on."""
    watch = Forgetter(tmp_path, 5000)
    found = deploy(
        problem(), RING, steps=600, folder=tmp_path, restart=True, time_limit=60, on_progress=watch
    )
    assert watch.done
    assert found.alive.tolist() == [True, False, True, True, True]
    assert "ends before" in found.failures[1]
    assert found.audit == 0


def test_a_full_disk_ends_a_centre_and_no_other(tmp_path: Path) -> None:
    """A limit of the file's size stands for the disk; what is left is resumed."""
    # No bytecode and no kernels are kept meanwhile: they would be cut, too.
    limited = "import os, resource, sys; sys.dont_write_bytecode = True\n"
    limited += f"os.environ['NUMBA_CACHE_DIR'] = {str(tmp_path / 'kernels')!r}\n"
    limited += "resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))\n"
    run = "from walras.network.drivers.process import main; sys.exit(main())"
    small = Host(command=(sys.executable, "-c", limited + run))
    hosts = [small if k == 3 else Host() for k in range(5)]
    found = deploy(problem(), RING, steps=600, folder=tmp_path, hosts=hosts, time_limit=60)
    assert found.alive.tolist() == [True, True, True, False, True]
    assert "File too large" in found.failures[3]
    assert found.audit == 0
    assert "ended early" in (tmp_path / "centre-003.log").read_text()
    path = path_of(tmp_path, 3, 0)
    assert list(Trace.open(path).records())[-1][1] == path.stat().st_size <= 30000
    again = deploy(problem(), RING, steps=200, folder=tmp_path, resume=True, time_limit=60)
    assert again.alive.all()
    assert again.audit == 0


def test_an_excess_in_the_result_is_an_error(tmp_path: Path) -> None:
    """A lack on one link does not hide an excess elsewhere."""
    total = problem().quanta.total
    links = [
        [{"to": [1, 0], "open": True, "sent": 0, "credited": 0}],
        [{"to": [0, 0], "open": True, "sent": 5, "credited": 9}],
    ]
    known = {
        k: {"epoch": 0, "ended": [0, 0], "held": held, "links": links[k]}
        for k, held in enumerate((total, 4))
    }
    flights = list(in_flight(known, [0, 1]))
    assert sum(flights) == -4
    with pytest.raises(AuditError, match="9 quanta are held and in flight over the budget, -9"):
        _audit(problem(), known, [0, 1], flights, tmp_path)


def test_a_command_that_never_reads_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("walras.network._deploy._START_SECONDS", 1.0)
    monkeypatch.setattr("walras.network.drivers.launch._ENDING", 0.1)
    x = np.zeros((50_000, 2))
    shards = split(x, x @ [1.0, -2.0], 5, seed=1)
    large = _stated(loss=LeastSquares(0.01), shards=shards)
    with pytest.raises(EngineError, match="did not start"):
        deploy(large, RING, steps=5, folder=tmp_path, hosts=[Host(command=("sleep", "60"))] * 5)
