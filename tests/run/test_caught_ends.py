"""Tasks that catch the end of their user: the load ends nevertheless, and what was sent is counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOCUSTFILE = """
from locust import BASE, constant, task

class Stubborn(BASE):
    wait_time = constant(0.01)

    @task
    def read(self):
        TASK

    def on_stop(self):
        self.client.get("/bye")
"""
BARE = """
        try:
            self.client.get("/slow")
        except:
            pass
"""
RAISES = """
        try:
            self.client.get("/slow")
        except BaseException:
            raise ValueError("something else")
"""
ENDLESS = """
        while True:
            try:
                self.client.get("/slow")
            except:
                pass
"""


@pytest.mark.parametrize("users", [("-u", "4"), ("--rate", "10/s")], ids=["closed", "open"])
@pytest.mark.parametrize("base", ["HttpUser", "FastHttpUser"])
@pytest.mark.parametrize("task", [BARE, RAISES], ids=["bare", "raises"])
def test_a_user_who_catches_its_end_leaves_after_its_task(
    plimsoll: Command, target: CountingTarget, task: str, base: str, users: tuple[str, ...]
) -> None:
    plimsoll.write(LOCUSTFILE.replace("TASK", task).replace("BASE", base))
    done = plimsoll("run", "-H", target.url, *users, "-t", "1s", "--headless", "--summary", "run.json")
    assert done.code in (0, 1, 3) and "left behind" not in done.err, done
    document = json.loads((plimsoll.directory / "run.json").read_text())
    counts = {each["name"]: each["completed"] + each["unanswered"] for each in document["endpoints"]}
    assert counts == dict(target.counts), done
    assert target.counts["/bye"] >= 1, "on_stop is called as ever"


@pytest.mark.parametrize("users", [("-u", "4"), ("--rate", "10/s")], ids=["closed", "open"])
def test_a_task_without_an_end_sends_nothing_more(
    plimsoll: Command, target: CountingTarget, users: tuple[str, ...]
) -> None:
    plimsoll.write(LOCUSTFILE.replace("TASK", ENDLESS).replace("BASE", "HttpUser"))
    done = plimsoll("run", "-H", target.url, *users, "-t", "1s", "--headless", "--summary", "run.json")
    assert "tasks go on after the end of their users" in done.err, done
    document = json.loads((plimsoll.directory / "run.json").read_text())
    total = document["total"]
    behind = sum(target.counts.values()) - total["completed"] - total["unanswered"]
    # The last request of each user.
    assert 0 < behind <= (4 if users[0] == "-u" else 20), done


CLEANS_UP = """
        try:
            self.client.get("/never")
        finally:
            self.client.get("/late")
"""


def test_a_task_may_clean_up_for_as_long_as_it_takes(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(LOCUSTFILE.replace("TASK", CLEANS_UP).replace("BASE", "HttpUser"))
    done = plimsoll("run", "-H", target.url, "-u", "4", "-r", "100", "-t", "1s", "--headless", "--summary", "run.json")
    assert done.code in (0, 3) and "left behind" not in done.err, done
    document = json.loads((plimsoll.directory / "run.json").read_text())
    counts = {each["name"]: each["completed"] for each in document["endpoints"] if each["completed"]}
    assert counts == {"/late": 4, "/bye": 4} and document["total"]["unanswered"] == 4, done
    assert dict(target.counts) == {"/never": 4, **counts}
