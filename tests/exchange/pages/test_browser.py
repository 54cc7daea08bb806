"""What a person does in a browser: Debian's Chromium, on a service with agents of this machine.

No page may ask another address, write an error into the console, or fail axe-core's checks.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.exchange.pages.world import World
from tests.exchange.runtime.test_allocating import TABLES

from walras.exchange import pages
from walras.exchange.pages.files import built
from walras.shadow import synthetic_log

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect

CHROMIUM = shutil.which("chromium")
AXE = Path(__file__).parents[3] / "build" / "pages" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = (
    "/rounds",
    "/tasks",
    "/clusters",
    "/predictors",
    "/allocate",
    "/network",
    "/shadow",
    "/status",
    "/reference",
    "/submit",
)

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
    pytest.mark.skipif(not built(), reason="the scripts are not built: ./dev pages"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service with two clusters, on which tasks have run."""
    with World(tmp_path_factory.mktemp("world")) as made:
        made.agent("east")
        made.agent("west")
        for k in range(6):
            command = ["sh", "-c", f"echo printed {k}"]
            made.client.tasks.submit(f"done-{k}", command, features={"layers": float(k % 3 + 1)})
        made.client.tasks.submit("never", ["true"], requires={"gpu": "h100"})
        _until_ended(made, 6)
        yield made


def _until_ended(world: World, count: int) -> None:
    end = time.monotonic() + 60.0
    while len(_succeeded(world)) < count:
        assert time.monotonic() < end, "the tasks do not end"
        time.sleep(0.3)


def _until_accounted(world: World) -> None:
    """Let a task run, and wait until its round is accounted for."""
    before = world.client.rounds.list(most=1)[0].seq
    world.client.tasks.submit("accounted", ["true"], features={"layers": 1.0})
    end = time.monotonic() + 60.0
    while not any(
        one.seq > before and (one.regret or {}).get("prediction")
        for one in world.client.rounds.list(most=100)
    ):
        assert time.monotonic() < end, "no round is accounted for"
        time.sleep(0.3)


def _succeeded(world: World) -> list[Any]:
    """All tasks that succeeded: imported runs are among them, and can be hundreds."""
    return world.client.tasks.list(None, state=["succeeded"])


def _placing(world: World) -> str:
    """The page of a round that placed tasks."""
    return next(f"/rounds/{one.seq}" for one in world.client.rounds.list(most=100) if one.makespan)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser."""
    with playwright.sync_playwright() as run:
        browser = run.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


class Watched:
    """A page whose errors and outside requests are noted, signed in."""

    def __init__(self, browser: Any, world: World, **options: Any) -> None:
        self.context = browser.new_context(base_url=world.url, **options)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self._asked(request.url, world.url))
        self.page.goto(world.link())

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _asked(self, url: str, own: str) -> None:
        if not url.startswith((own, "blob:")):
            self.faults.append(f"asks {url}")

    def close(self) -> None:
        """Close it; there was no fault."""
        self.context.close()
        assert self.faults == []


@pytest.fixture
def watched(chromium: Any, world: World) -> Iterator[Watched]:
    """A wide page."""
    made = Watched(chromium, world, viewport={"width": 1280, "height": 900})
    yield made
    made.close()


def test_a_text_that_a_spreadsheet_would_compute_stays_a_text(chromium: Any) -> None:
    tools = Path(pages.__file__).parent / "script" / "tools.js"
    page = chromium.new_page()
    made = page.evaluate(
        """async (code) => {
          const script = new Blob([code], {type: "text/javascript"});
          const {csv} = await import(URL.createObjectURL(script));
          const row = (name, value) => ({name, value});
          return csv([row('=A1,"x"', -1.5), row("-1+1", null), row("a=b", 2)]);
        }""",
        tools.read_text(),
    )
    page.close()
    assert made.split("\r\n") == ["name,value", '"\'=A1,""x""",-1.5', "'-1+1,", "a=b,2", ""]


def test_submit_watch_the_round_land_and_read_the_receipt(watched: Watched) -> None:
    page = watched.page
    expect(page).to_have_url(re.compile("/rounds$"))
    expect(page.locator("[data-live]")).to_have_text("live")
    before = int(page.locator("tbody tr td a").first.inner_text())
    page.goto("/submit")
    page.get_by_label("Name", exact=True).fill("by-hand")
    page.get_by_label("Command").fill("sh\n-c\nsleep 1; echo from the page")
    page.get_by_label("Features").fill("layers=2")
    page.get_by_role("button", name="Submit").click()
    expect(page).to_have_url(re.compile("/tasks/t-"))
    expect(page.locator("h1 .state")).to_have_text("succeeded", timeout=30_000)
    expect(page.locator("pre.log")).to_have_text("from the page\n")
    expect(page.get_by_text("Why this cluster:")).to_be_visible()
    expect(page.get_by_role("row", name="Runner-up")).to_be_visible()
    page.get_by_role("link", name="Rounds").click()
    after = int(page.locator("tbody tr td a").first.inner_text())
    assert after > before


def test_a_page_renews_itself_without_being_asked(watched: Watched, world: World) -> None:
    page = watched.page
    page.goto("/tasks?state=pending")
    expect(page.locator("[data-live]")).to_have_text("live")
    world.client.tasks.submit("appears", ["true"], requires={"gpu": "a100"})
    expect(page.get_by_role("link", name="appears")).to_be_visible(timeout=5_000)
    page.evaluate("() => { document.querySelector('input[name=name]').value = 'typing' }")
    world.client.tasks.submit("too", ["true"], requires={"gpu": "a100"})
    expect(page.get_by_role("link", name="too")).to_be_visible(timeout=5_000)
    assert page.locator("input[name=name]").input_value() == "typing", "what is typed stays"


def test_a_page_says_that_it_is_of_the_past_when_the_service_is_silent(watched: Watched) -> None:
    page, banner = watched.page, watched.page.locator("[data-stale]")
    page.route("**/changes", lambda route: route.abort())
    page.goto("/rounds")
    expect(banner).to_contain_text("The service has not answered since", timeout=10_000)
    expect(page.locator("[data-live]")).to_have_text("not live")
    assert page.locator("body.stale main").count() == 1
    page.unroute("**/changes")
    expect(banner).to_be_hidden(timeout=20_000)
    expect(page.locator("[data-live]")).to_have_text("live")
    assert page.locator("body.stale").count() == 0
    watched.faults = [fault for fault in watched.faults if "ERR_FAILED" not in fault]


def test_a_waiting_task_says_why_and_is_cancelled(watched: Watched, world: World) -> None:
    uid = world.client.tasks.submit("stuck", ["true"], requires={"gpu": "b200"}).uid
    page = watched.page
    page.goto(f"/tasks/{uid}")
    expect(page.locator(".blockers li")).to_contain_text(["label gpu=b200: 0 of 2"], timeout=10_000)
    expect(page.locator(".blockers li").first).to_be_visible(timeout=10_000)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("h1 .state")).to_have_text("cancelled")


def test_what_if_then_drain_then_back(watched: Watched) -> None:
    page = watched.page
    page.goto("/clusters/west")
    page.get_by_role("button", name="What if it were cordoned?").click()
    expect(page.get_by_role("heading", name="If west were cordoned now")).to_be_visible(
        timeout=20_000
    )
    answer = page.locator("[data-whatif-answer]")
    expect(answer).to_contain_text("2 of the 4 slots that are up would stay")
    page.get_by_role("button", name="What if it were drained?").click()
    expect(page.get_by_role("heading", name="If west were drained now")).to_be_visible(
        timeout=20_000
    )
    page.get_by_role("button", name="Drain", exact=True).click()
    page.get_by_role("button", name="No").click()
    expect(page.locator("h1 .state")).to_have_text("up")
    page.get_by_role("button", name="Drain", exact=True).click()
    page.get_by_role("button", name="Yes").click()
    expect(page.locator("h1 .state")).to_have_text("draining")
    expect(page.get_by_role("button", name="What if")).to_have_count(0)
    page.get_by_role("button", name="Uncordon").click()
    expect(page.locator("h1 .state")).to_have_text("up")


def test_charts_are_drawn_and_offer_their_data_an_image_and_python(
    watched: Watched, world: World, tmp_path: Path
) -> None:
    page = watched.page
    for path, kinds in (
        ("/rounds", ("rounds", "regret")),
        (_placing(world), ("gantt",)),
        ("/clusters/east", ("times", "reliability")),
    ):
        page.goto(path)
        for kind in kinds:
            chart = page.locator(f"#chart-{kind}")
            if kind == "regret":  # rounds are accounted for later
                expect(chart.locator(".canvas")).not_to_have_text("The chart appears here.")
                continue
            expect(chart.locator("canvas")).to_be_visible(timeout=10_000)
            with page.expect_download() as waits:
                chart.get_by_role("button", name="data as CSV").click()
            waits.value.save_as(tmp_path / "data.csv")
            head, *lines = (tmp_path / "data.csv").read_text().splitlines()
            assert "," in head
            assert lines
            with page.expect_download() as waits:
                chart.get_by_role("button", name="image").click()
            waits.value.save_as(tmp_path / "image.png")
            assert (tmp_path / "image.png").read_bytes().startswith(b"\x89PNG")
            chart.get_by_role("button", name="Python").click()
            expect(chart.locator("pre")).to_contain_text("import walras as wl")


def test_the_python_of_a_chart_draws_it(
    watched: Watched, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    Path("my.token").write_text((world.folder / "home" / "admin.token").read_text())
    page = watched.page
    _until_accounted(world)
    for path in ("/rounds", _placing(world), "/clusters/east"):
        page.goto(path)
        if path == "/rounds":
            expect(page.locator("#chart-regret canvas")).to_be_visible(timeout=10_000)
        for chart in page.locator("[data-chart]").all():
            chart.get_by_role("button", name="Python").click()
            code = chart.locator("pre").inner_text()
            exec(compile(code, path, "exec"), {})  # what a user would paste
            assert plt.gca().has_data()
            plt.close("all")


def test_a_network_is_started_cut_and_killed_and_its_audit_stays_at_zero(
    watched: Watched, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = watched.page
    page.goto("/network")
    page.get_by_label("Centres").fill("9")
    page.get_by_label("Graph").select_option("ring")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile("/network/n-"), timeout=20_000)
    uid = page.url.rpartition("/")[2]
    gauge = page.locator(".tile", has_text="|Σx − b|")
    page.get_by_label("Rounds a second").select_option("200")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("h1 .state")).to_have_text("running", timeout=20_000)
    expect(page.locator("#centre-7 .state")).to_have_text("running", timeout=20_000)
    page.locator("#via-0-1 button").press("Enter")
    expect(page.locator("#link-0-1 .state")).to_have_text("cut")
    expect(page.locator("#via-0-1 button")).to_be_focused()
    page.locator("#turn-2 button").click()
    expect(page.locator("#centre-2 .state")).to_have_text("settled", timeout=30_000)
    expect(page.get_by_text("The running centres are in 2 parts")).to_be_visible()
    expect(gauge).to_contain_text("0 quanta")
    expect(gauge).to_have_class(re.compile("good"))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .state")).to_have_text("paused")
    found = world.client.networks.get(uid)
    assert (found.audit.difference, found.audit.worst) == (0, 0)
    assert [one.state for one in found.links if one.ends == [0, 1]] == ["cut"]
    page.get_by_role("button", name="Mend the link").click()
    expect(page.locator("#link-0-1 .state")).to_have_text("up")
    _click_the_first_centre(page, found)
    expect(page.locator("#centre-0 .state")).to_have_text("stopped")
    kinds = ("netgraph", "netshares", "netaudit", "netbudget", "netbits", "netgap")
    _draws_what_its_python_draws(page, world, tmp_path, monkeypatch, kinds, 5)
    page.get_by_role("button", name="End").click()
    page.get_by_role("button", name="Yes").click()
    expect(page).to_have_url(re.compile("/network$"))
    assert world.client.networks.list() == []


def _click_the_first_centre(page: Any, found: Any) -> None:
    """Click where the picture has centre 0: places keep their proportions, in the middle."""
    box = page.locator("#chart-netgraph canvas").bounding_box()
    ends = [(min(v), max(v)) for v in zip(*((c.x, c.y) for c in found.centres), strict=True)]
    wide, high = (high - low for low, high in ends)
    scale = 0.8 * min(box["width"] / wide, box["height"] / high)
    at = [
        (place - (low + high) / 2) * scale
        for place, (low, high) in zip((found.centres[0].x, found.centres[0].y), ends, strict=True)
    ]
    page.locator("#chart-netgraph canvas").click(
        position={"x": box["width"] / 2 + at[0], "y": box["height"] / 2 + at[1]}
    )


def _draws_what_its_python_draws(
    page: Any,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kinds: tuple[str, ...],
    lines: int,
) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    monkeypatch.chdir(tmp_path)
    Path("my.token").write_text((world.folder / "home" / "admin.token").read_text())
    for kind in kinds:
        chart = page.locator(f"#chart-{kind}")
        expect(chart.locator("canvas")).to_be_visible(timeout=10_000)
        with page.expect_download() as waits:
            chart.get_by_role("button", name="data as CSV").click()
        waits.value.save_as(tmp_path / "data.csv")
        assert len((tmp_path / "data.csv").read_text().splitlines()) > lines
        chart.get_by_role("button", name="Python").click()
        exec(compile(chart.locator("pre").inner_text(), kind, "exec"), {})
        assert plt.gca().has_data()
        plt.close("all")


def test_a_log_is_sent_watched_and_its_report_drawn(
    watched: Watched, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = synthetic_log(days=10, seed=3)
    jobs.frame.to_csv(tmp_path / "jobs.csv", index=False)
    page = watched.page
    page.goto("/shadow")
    expect(page.get_by_text("walras shadow LOG --report shadow.html")).to_be_visible()
    page.get_by_label("Log", exact=True).set_input_files(tmp_path / "jobs.csv")
    page.get_by_label("Scheduler").select_option("csv")
    page.get_by_text("Slots, prices and fields").press("Enter")
    page.get_by_label("Slots, a line each").fill("cluster-a=6\ncluster-b=6\ncluster-c=6")
    page.get_by_role("button", name="Compare").press("Enter")
    expect(page).to_have_url(re.compile("/shadow/s-"))
    expect(page.get_by_role("progressbar")).to_be_visible()
    expect(page.locator("h1 .state")).to_have_text("done", timeout=60_000)
    uid = page.url.rpartition("/")[2]
    report = world.client.shadows.get(uid).report
    assert report is not None
    expect(page.get_by_text(report.sentences[2])).to_be_visible()
    kinds = ("shadowchange", "shadowdays", "shadowshares")
    _draws_what_its_python_draws(page, world, tmp_path, monkeypatch, kinds, 3)


def test_a_round_is_sent_watched_explained_and_drawn(
    watched: Watched, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = watched.page
    page.goto("/allocate")
    expect(page.get_by_text("walras solve cluster --throughput t.csv")).to_be_visible()
    form = page.locator("#send")
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
        form.locator(f"input[name={name}]").set_input_files(tmp_path / f"{name}.csv")
    form.get_by_role("button", name="Solve").press("Enter")
    expect(page).to_have_url(re.compile("/allocate/a-"))
    expect(page.locator("h1 .state")).to_have_text("done", timeout=60_000)
    expect(page.get_by_text("HiGHS' time over ours")).to_be_visible()
    page.get_by_role("link", name="Why speech").press("Enter")
    expect(page.locator("#why pre")).to_contain_text("speech gets 0.6559 of k80")
    _draws_what_its_python_draws(page, world, tmp_path, monkeypatch, ("closing", "prices"), 2)


@pytest.fixture(scope="module")
def network(world: World) -> Iterator[str]:
    """The page of a network that has run, with a cut and a kill."""
    uid = world.client.networks.start(centres=12).uid
    world.client.networks.step(uid, 60)
    world.client.networks.cut(uid, [world.client.networks.get(uid).links[0].ends])
    world.client.networks.kill(uid, 5)
    world.client.networks.step(uid, 10)
    yield f"/network/{uid}"
    world.client.networks.end(uid)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_page_passes_axe(chromium: Any, world: World, network: str, dark: bool) -> None:
    seen = Watched(chromium, world, color_scheme="dark" if dark else "light", bypass_csp=True)
    task = world.client.tasks.list(most=1)[0].uid
    for path in (
        *PAGES,
        "/rounds/1",
        "/rounds/1/diff/2",
        "/clusters/east",
        f"/tasks/{task}",
        network,
    ):
        seen.page.goto(path)
        seen.page.wait_for_timeout(400)
        seen.page.add_script_tag(path=str(AXE))
        found = seen.page.evaluate("() => axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], path
    seen.close()


def test_a_narrow_screen_needs_no_sideways_scrolling(
    chromium: Any, world: World, network: str
) -> None:
    seen = Watched(chromium, world, viewport={"width": 390, "height": 844})
    for path in (*PAGES, "/rounds/1", "/clusters/east", network):
        seen.page.goto(path)
        wide = seen.page.evaluate("() => document.documentElement.scrollWidth")
        assert wide <= 390, path
    seen.close()


def test_the_keyboard_is_enough(watched: Watched) -> None:
    page = watched.page
    page.goto("/tasks")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        focused = page.evaluate("() => document.activeElement.textContent.trim()")
        if focused.startswith("done-"):
            break
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/tasks/t-"))


def test_dark_mode_is_chosen_and_kept(watched: Watched) -> None:
    page = watched.page
    page.goto("/rounds")
    button = page.locator("[data-theme-button]")
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    button.click()
    button.click()
    expect(button).to_have_text("Theme: dark")
    dark = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.reload()
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == dark


def test_who_signs_out_has_to_sign_in_again(watched: Watched) -> None:
    page = watched.page
    page.get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/login$"))
    page.wait_for_timeout(700)  # a session is believed for half a second
    page.goto("/rounds")
    expect(page).to_have_url(re.compile("/login$"))


def test_a_predictor_is_trained_and_promoted_and_its_decision_map_drawn(
    watched: Watched, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, client = watched.page, world.client
    page.goto("/predictors")
    expect(page.get_by_text("No predictor yet")).to_be_visible()
    client.predictors.add_observations(
        [
            {
                "cluster": ("east", "west")[k % 2],
                "features": {"layers": float(k % 3 + 1)},
                "outcome": "failed" if k % 9 == 0 else "completed",
                "seconds": 0.5 * (k % 3 + 1) * (1.0 + 0.5 * (k % 2)) * (1.0 + 0.01 * (k % 7)),
                "at": 1.0e9 + k,
            }
            for k in range(120)
        ]
    )
    page.get_by_role("button", name="Train now").press("Enter")
    row = page.locator("#predictor-1")
    expect(row.locator(".state")).to_have_text("shadow", timeout=30_000)
    row.get_by_role("button", name="Promote").press("Enter")
    page.get_by_role("button", name="Yes").press("Enter")
    expect(row.locator(".state")).to_have_text("active", timeout=10_000)
    assert [one.state for one in client.predictors.list()] == ["active"]
    ended = len(_succeeded(world))
    for k in range(4):
        client.tasks.submit(f"mapped-{k}", ["sleep", "0.2"], features={"layers": float(k % 3 + 1)})
    _until_ended(world, ended + 4)
    page.reload()
    _draws_what_its_python_draws(page, world, tmp_path, monkeypatch, ("flips",), 1)
    page.goto(f"/clusters/{client.tasks.list(1)[0].cluster}")
    tile = page.locator(".tile", has_text="times in their 90 % interval")
    expect(tile).to_contain_text(re.compile(r"\d %\s+\d of [1-4] runs"))
