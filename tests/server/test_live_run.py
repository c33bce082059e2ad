"""A real run, told of by its coordinator, as a page sees it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.command import CountingTarget
from tests.server.page_server import FakeControl, in_thread, serve_page

from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.assessment import assess
from plimsoll.run.coordinator.coordinator import Coordinator
from plimsoll.run.plan import RunPlan
from plimsoll.server.live.live import Live
from plimsoll.stats.table import Times, rows_of, total_of

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path

    from plimsoll.run.coordinator.progress import Progress

LOCUSTFILE = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task(3)
    def index(self):
        self.client.get("/index")

    @task
    def fail(self):
        self.client.get("/fail")
"""


@pytest.fixture
def target():
    server = CountingTarget()
    yield server
    server.close()


class Counts:
    """Requests by second and name."""

    def __init__(self) -> None:
        self._counts: list[tuple[int, str, int]] = []

    def start(self, started: float, stamp: str) -> None: ...

    def second(self, progress: Progress) -> None:
        self._counts += [(each.second, each.name, each.count) for each in progress.batch.intervals]

    def reset_at(self, second: int) -> None: ...

    def of_others(self, seconds: Container[int]) -> Counter[str]:
        """By name, in all seconds but these."""
        found: Counter[str] = Counter()
        for second, name, count in self._counts:
            if second not in seconds:
                found[name] += count
        return found


def test_the_page_shows_what_the_target_was_asked_for(tmp_path: Path, target):
    path = tmp_path / "locustfile.py"
    path.write_text(LOCUSTFILE)
    plan = RunPlan(
        locustfiles=(str(path),),
        host=target.url,
        users=4,
        spawn_rate=100.0,
        run_time=3.0,
        processes=2,
        stop_timeout=10.0,
    )
    live, moments = Live(), []
    with serve_page(live, FakeControl()) as page, page.stream() as stream:
        moments.append(stream.moment())

        def watch() -> None:
            while (moments[-1]["test"] or {}).get("status") != "finished":
                moments.append(stream.moment())

        watching = in_thread(watch)
        live.preparing(plan, "locustfile.py", 1)
        counts = Counts()
        coordinator = Coordinator(plan)
        coordinator.observe(live, counts)
        result = coordinator.run()
        live.over(result.status, result.view, assess(result.view, Manifest(), RunFacts(), "finished"), 1, "")
        watching.join(60)
        last = moments[-1]
        assert last["total"]["requests"] == target.total
        assert {row["name"]: row["requests"] for row in last["rows"]} == target.counts
        total = Times.of(total_of(result.view).response_ms)
        assert (last["total"]["p99"], last["total"]["max"]) == (total.percentiles["99"], total.max)
        medians = {row.name: Times.of(row.response_ms).percentiles["50"] for row in rows_of(result.view)}
        assert {row["name"]: row["p50"] for row in last["rows"]} == medians
        assert [each["sequence"] for each in moments] == [*range(len(moments))]
        statuses = [each["test"]["status"] for each in moments[1:]]
        assert statuses[0] == "preparing"
        assert {"running", "finished"} <= set(statuses)
        assert max(each["test"]["users"] for each in moments[1:]) == 4
        charts = {each["name"]: each["spec"]["datasets"] for each in page.json("api/live/charts")["charts"]}
        drawn = {row["second"]: row["value"] for row in charts["live-rate"]["points"] if row["of"] == "requests"}
        assert result.view.length is not None
        assert [*drawn] == [*range(int(result.view.length))], "whole seconds, each once"
        of_a_part = counts.of_others(drawn)
        assert sum(drawn.values()) + of_a_part.total() == target.total
        of_one = page.json("api/live/charts", params={"endpoint": '["GET", "/fail"]'})["charts"]
        points = next(each for each in of_one if each["name"] == "live-rate")["spec"]["datasets"]["points"]
        shown = sum(row["value"] for row in points if row["of"] == "requests")
        assert shown + of_a_part["/fail"] == target.counts["/fail"]
        assert page.json("stats/requests")["stats"][-1]["num_requests"] == target.total
        assert page.json("api/live/failures")["failures"][0]["count"] == target.counts["/fail"]
        assert {each["tone"] for each in last["headline"].values()} <= {"good", "warning", "bad", "unknown"}
        assert last["headline"]["target"]["tone"] == "bad", "a quarter of the requests failed"
