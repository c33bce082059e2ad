"""Locustfiles that add routes to Locust's page."""

from __future__ import annotations

import re
import urllib.request
from typing import TYPE_CHECKING

from tests.command import wait_until
from tests.run.page_session import PageSession

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

ROUTES = """
from locust import HttpUser, events, task

class Visitor(HttpUser):
    @task
    def index(self):
        self.client.get("/index")

@events.init.add_listener
def on_init(environment, web_ui, **_):
    if environment.web_ui:
        @web_ui.app.route("/added")
        def added():
            return f"{environment.runner.user_count} users"
    else:
        print("no page", flush=True)
"""


def test_routes_of_a_locustfile_are_served_and_the_log_says_where(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(ROUTES)
    page = PageSession(plimsoll, "-H", target.url, "--autostart")
    try:
        page.until_users(1)
        wait_until(lambda: "own routes are at" in page.err)
        address = re.findall(r"own routes are at (http://127.0.0.1:\d+)", page.err)[0]
        with urllib.request.urlopen(f"{address}/added") as answer:
            assert answer.read() == b"1 users"
        assert page.interrupt() == 0
    finally:
        page.close()


def test_without_our_page_there_is_none_to_add_to(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(ROUTES)
    done = plimsoll("run", "--headless", "-H", target.url, "-t", "1s")
    assert (done.code, done.out.splitlines()[0]) == (0, "no page")
