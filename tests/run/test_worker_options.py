"""Options of `plimsoll run --worker` that neither Plimsoll nor the locustfile has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.run.joined import start_master, start_worker

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
from locust import FastHttpUser, constant, events, task

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--tenant", default="none")

class Visitor(FastHttpUser):
    wait_time = constant(0.1)
    @task
    def index(self):
        self.client.get("/")
"""


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--nonsense", "plimsoll: no such option '--nonsense'. ("),
        ("--mastr-host=x", "plimsoll: no such option '--mastr-host'. Did you mean '--master-host'?"),
    ],
)
def test_with_a_locustfile_of_its_own_an_unknown_option_is_refused_at_once(
    option: str, said: str, plimsoll: Command, port: int
) -> None:
    plimsoll.write(LOCUSTFILE)
    done = plimsoll.end(start_worker(plimsoll, port, option, file="locustfile.py"))
    assert done.code == 2, done.err
    assert done.err.startswith(said)


def test_with_the_masters_locustfile_it_is_refused_once_that_has_come(
    plimsoll: Command, target: CountingTarget, port: int
) -> None:
    plimsoll.write(LOCUSTFILE)
    master = start_master(plimsoll, port, "-f", "locustfile.py", "-H", target.url, "-t", "1s")
    worker = plimsoll.end(start_worker(plimsoll, port, "--tenannt", "acme"))
    assert worker.code == 2, worker.err
    assert "--tenannt must be an option of the master's locustfile" in worker.err
    assert "plimsoll: no such option '--tenannt'" in worker.err
    assert plimsoll.end(master).code == 2
    assert target.total == 0


@pytest.mark.parametrize("file", ["-", "locustfile.py"])
def test_an_option_of_the_locustfile_is_known(file: str, plimsoll: Command, target: CountingTarget, port: int) -> None:
    plimsoll.write(LOCUSTFILE)
    worker = start_worker(plimsoll, port, "--tenant", "acme", file=file)
    done = plimsoll.end(start_master(plimsoll, port, "-f", "locustfile.py", "-H", target.url, "-t", "1s"))
    assert plimsoll.end(worker).code == 0
    assert (done.code in (0, 3), target.total > 0) == (True, True), done.err
