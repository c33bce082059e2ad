"""The live page as its tests use it: a locustfile with a bit of everything, and what they click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

LOCUSTFILE = """
from locust import HttpUser, constant, events, tag, task

@events.init_command_line_parser.add_listener
def options(parser):
    parser.add_argument("--colour", choices=["red", "green"], default="green", help="what to ask for")
    parser.add_argument("--password", is_secret=True, default="hidden-in-the-file")

class Shopper(HttpUser):
    wait_time = constant(0.05)

    @task(3)
    def look(self):
        self.client.get("/look", name=f"/look {self.environment.parsed_options.colour}")

    @tag("money")
    @task
    def buy(self):
        self.client.get("/fail/buy")

class Auditor(HttpUser):
    wait_time = constant(0.05)

    @task
    def audit(self):
        self.client.get("/audit")
        if self.environment.parsed_options.colour == "red":
            raise ValueError("seeing red")
"""


def field(page: Page, name: str) -> Locator:
    return page.get_by_role("textbox", name=name, exact=True)


def state(page: Page) -> Locator:
    return page.locator(".state")


def start(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).click()
    expect(state(page)).to_have_text("Running")


def stop(page: Page) -> None:
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(state(page)).to_have_text("Stopped")


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=re.compile(f"^{name}")).click()
