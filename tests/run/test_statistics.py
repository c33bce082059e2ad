"""`environment.stats` of a locustfile in real processes: what the store has as well, and in time to act on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
import locust.stats
from locust import HttpUser, constant, events, task
from locust.runners import WorkerRunner

locust.stats.PERCENTILES_TO_REPORT = [0.5, 0.9]

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task(3)
    def index(self):
        self.client.get("/index")

    @task
    def fail(self):
        self.client.get("/fail")

@events.quitting.add_listener
def judge(environment, **_):
    total, errors = environment.stats.total, environment.runner.errors
    if not isinstance(environment.runner, WorkerRunner):
        failed = sum(error.occurrences for error in errors.values())
        largest = total.get_response_time_percentile(1.0)
        print("seen", total.num_requests, total.num_failures, failed, largest, flush=True)
        if total.fail_ratio > 0.05:
            environment.process_exit_code = 5
"""


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_locustfile_sees_what_is_kept_and_decides_by_it(
    plimsoll: Command, target: CountingTarget, processes: str
) -> None:
    plimsoll.write(LOCUSTFILE)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "-t", "1", "-s", "10", "--processes", processes,
        "--csv", "out", "--store", str(plimsoll.store),
    )  # fmt: skip
    assert done.code == 5, done
    (line,) = (line for line in (done.out + done.err).splitlines() if line.startswith("seen "))
    requests, failures, failed, largest = line.split()[1:]
    total = plimsoll.stored()["total"]
    assert (int(requests), int(failures)) == (total["requests"], total["failures"])
    assert (int(requests), int(failures)) == (target.total, target.counts["/fail"])
    assert int(failed) == int(failures) > 0
    assert float(largest) == pytest.approx(total["response_ms"]["max"])
    header = (plimsoll.directory / "out_stats.csv").read_text().splitlines()[0]
    assert header.endswith("Failures/s,50%,90%")


def test_a_locustfile_can_end_the_test_by_what_it_has_counted(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        "from locust import HttpUser, constant, events, task\n"
        "class Visitor(HttpUser):\n"
        "    wait_time = constant(0.01)\n"
        "    @task\n"
        "    def index(self):\n"
        "        self.client.get('/index')\n"
        "@events.init.add_listener\n"
        "def init(environment, **_):\n"
        "    def enough(**_):\n"
        "        if environment.stats.total.num_requests >= 20:\n"
        "            environment.runner.quit()\n"
        "    environment.events.request.add_listener(enough)\n"
    )
    done = plimsoll("run", "--headless", "-H", target.url, "-u", "1", "-t", "1m", "--store", str(plimsoll.store))
    assert done.code == 0, done
    assert 20 <= target.total < 100
