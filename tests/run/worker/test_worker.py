"""A Worker without any transport, as another host of it would use it. In a process of its own: it changes what the
standard library's blocking functions do, and listens to the global events."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import CountingTarget

HOST = """
from plimsoll.locust import install
install()
import gevent, json, sys
from collections import defaultdict
from plimsoll._engine import exchange_columns, now
from plimsoll.locust.script.making import make_script
from plimsoll.run.plan import RunPlan
from plimsoll.run.worker.worker import Worker

reports = defaultdict(list)
def tell(report): reports[type(report).__name__].append(report)

snapshots, quits = reports["EncodedSnapshot"], reports["Quit"]
worker = Worker(0, tell, make_script)
plan = RunPlan.from_dict({**RunPlan().to_dict(), **json.loads(sys.argv[1])})
"""

REPORT = """
decoded = [each.decode(0.0) for each in snapshots]
print(json.dumps({
    "ready": ready.to_list(), "ending": ending.to_list(), "quits": len(quits),
    "sequence": [each.sequence for each in decoded],
    "counts": [{i.second: i.count for i in each.intervals if i.outcome == "success"} for each in decoded],
    "unanswered": sum(i.count for each in decoded for i in each.intervals if i.outcome == "unanswered"),
    "health": [[h.second, h.users, h.cpu] for each in decoded for h in each.health],
    "exceptions": [[e.message, e.count] for each in decoded for e in each.exceptions],
    "begins": [each.to_list() for each in reports["Begin"]], "kinds": [each.kind for each in reports["News"]],
    "completes": len(reports["Complete"]), "failures": [str(each) for each in reports["PlimsollError"]],
    "rows": sum(exchange_columns(each.rows, 0)[0] for each in reports["Exchanges"]),
    "offered": sum(h.offered for each in decoded for h in each.health),
}))
"""

LOCUSTFILE = """
from locust import HttpUser, constant, events, task

class Visitor(HttpUser):
    wait_time = constant(0.01)
    weight = 3

    @task
    def index(self):
        self.client.get("/index")
"""


def _host(steps: str, tmp_path: Path, text: str, **plan: Any) -> dict[str, Any]:
    locustfile = tmp_path / "locustfile.py"
    locustfile.write_text(text)
    plan["locustfiles"] = [str(locustfile)]
    done = subprocess.run(
        [sys.executable, "-c", HOST + steps + REPORT, json.dumps(plan)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


STEPS = """
worker.prepare(plan, 1)
worker.init()
ready = worker.open(plan)
epoch = now()
worker.start(epoch)
worker.adjust({"Visitor": 3}, 3)
gevent.sleep(2.3)
ending = worker.drain()
"""
SHORT_STEPS = STEPS.replace("2.3", "0.5")


def test_each_second_is_handed_over_once_it_is_over(tmp_path: Path, target: CountingTarget) -> None:
    report = _host(STEPS, tmp_path, LOCUSTFILE, host=target.url, stop_timeout=10.0)
    assert report["ready"][0] == [["Visitor", 3.0, 0, None]]
    assert report["sequence"] == list(range(len(report["sequence"])))
    assert sum(sum(each.values()) for each in report["counts"]) == target.total > 0
    seconds = [second for second, _, _ in report["health"]]
    assert seconds == sorted(seconds)
    assert set(seconds) >= {0, 1, 2}
    assert [users for second, users, _ in report["health"] if second in (0, 1) and users] == [3, 3]
    assert all(0 <= cpu < 4 for _, _, cpu in report["health"])
    assert report["ending"][1:] == [None, False, 1]


def test_what_was_before_the_start_is_forgotten(tmp_path: Path, target: CountingTarget) -> None:
    text = LOCUSTFILE + (
        "\n@events.test_start.add_listener\ndef before(environment, **_):\n"
        "    events.request.fire(request_type='X', name='before', response_time=1, response_length=0, exception=None,"
        " context={}, response=None, start_time=0, url='')\n"
    )
    report = _host(SHORT_STEPS, tmp_path, text, host=target.url, stop_timeout=10.0)
    assert sum(sum(each.values()) for each in report["counts"]) == target.total


def test_what_test_stop_takes_and_requests_is_not_the_users_time(tmp_path: Path, target: CountingTarget) -> None:
    text = LOCUSTFILE + (
        "\nimport time\n@events.test_stop.add_listener\ndef after(environment, **_):\n"
        "    events.request.fire(request_type='X', name='after', response_time=1, response_length=0, exception=None,"
        " context={}, response=None, start_time=0, url='')\n    time.sleep(3)\n"
    )
    report = _host(STEPS, tmp_path, text, host=target.url, stop_timeout=10.0)
    assert sum(sum(each.values()) for each in report["counts"]) == target.total + 1
    assert max(second for second, users, _ in report["health"] if users) <= 3
    assert len(report["sequence"]) >= 5, "it goes on telling that it is alive"


def test_exceptions_of_users_are_told(tmp_path: Path, target: CountingTarget) -> None:
    text = LOCUSTFILE.replace('self.client.get("/index")', 'raise ValueError("boom")')
    report = _host(SHORT_STEPS, tmp_path, text, host=target.url)
    assert {message for message, _ in report["exceptions"]} == {"boom"}
    assert sum(count for _, count in report["exceptions"]) > 3


def test_the_users_code_may_ask_for_the_end(tmp_path: Path, target: CountingTarget) -> None:
    text = LOCUSTFILE.replace('self.client.get("/index")', "self.environment.runner.quit()")
    assert _host(SHORT_STEPS, tmp_path, text, host=target.url)["quits"] > 0


def test_a_worker_that_never_got_ready_ends_all_the_same(tmp_path: Path) -> None:
    steps = """
from plimsoll.errors import LocustfileError
from plimsoll.run.transport.messages import Ready
try:
    worker.prepare(plan, 1)
except LocustfileError:
    ready = Ready([], False)
worker.stop()
ending = worker.drain()
"""
    assert _host(steps, tmp_path, "1 / 0\n")["sequence"] == []


def test_native_users_finish_or_are_counted_as_cancelled(tmp_path: Path, target: CountingTarget) -> None:
    steps = SHORT_STEPS.replace("Visitor", "NativeUser")
    native = "plan = replace(plan, locustfiles=(), scenario=url_scenario(plan.host))\n"
    steps = "from dataclasses import replace\nfrom plimsoll.load.url import url_scenario\n" + native + steps
    report = _host(steps, tmp_path, "", host=f"{target.url}/slow")
    assert report["unanswered"] == 3
    assert sum(sum(each.values()) for each in report["counts"]) + 3 == target.total
    before = target.total
    report = _host(steps, tmp_path, "", host=f"{target.url}/slow", stop_timeout=10.0)
    assert report["unanswered"] == 0
    assert sum(sum(each.values()) for each in report["counts"]) + before == target.total


def test_users_that_are_ordered_ahead_begin_at_second_0(tmp_path: Path, target: CountingTarget) -> None:
    steps = """
worker.prepare(plan, 1)
worker.init()
ready = worker.open(plan)
epoch = now() + 300_000_000
worker.start(epoch)
worker.adjust({"Visitor": 2})
assert now() >= epoch
gevent.sleep(0.2)
ending = worker.drain()
(started,) = reports["Started"]
assert started.stamp >= epoch
"""
    report = _host(steps, tmp_path, LOCUSTFILE, host=target.url)
    assert sum(count for each in report["counts"] for count in each.values()) + report["unanswered"] == target.total > 0
    assert all(second == "0" for each in report["counts"] for second in each)


@pytest.mark.parametrize(("run_time", "end", "is_over"), [(0.2, "None", False), (60.0, "epoch + 200_000_000", True)])
def test_the_load_ends_when_the_coordinator_says_and_not_when_the_plan_does(
    tmp_path: Path, target: CountingTarget, run_time: float, end: str, is_over: bool
) -> None:
    steps = STEPS.replace("worker.start(epoch)", f"worker.start(epoch, 0, {end})").replace(
        "ending = ", "users = sum(worker._script.counts().values())\nreports['Users'].append(users)\nending = "
    )
    steps += f"assert (reports['Users'] == [0]) is {is_over}, reports['Users']\n"
    _host(steps, tmp_path, LOCUSTFILE, host=target.url, run_time=run_time, stop_timeout=10.0)
