"""Vendure: facets of a shop by GraphQL, with a bearer token that a header of a reply has."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.scenarios.application import NODE_MODULES, Application, Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERVER = Path(__file__).parents[1] / "files" / "vendure.cjs"


def prepare(folder: Path, port: int) -> Server:
    return Server(("node", str(SERVER), str(port), str(NODE_MODULES)), folder)


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/admin/login")
    page.fill("#login_username", "ann")
    page.fill("#login_password", "tr0ub4dor-and-3")
    page.click("[type=submit]")
    page.click("vdr-main-nav a:has-text('Facets')")
    page.click("a:has-text('Create new facet')")
    page.fill("#name", f"Colour {number}")
    page.click("button:has-text('Create'):enabled")
    page.wait_for_url(re.compile(r"/facets/\d+$"))
    page.fill("#name", f"Colours {number}")
    page.click("button:has-text('Update'):enabled")
    page.wait_for_selector("button:has-text('Update'):disabled")
    page.click("vdr-main-nav a:has-text('Facets')")
    page.click(f"tr:has-text('Colours {number}') input[type=checkbox]", force=True)
    page.click("vdr-bulk-action-menu button >> nth=0")
    page.click("button:has-text('Delete')")
    page.click("button.danger:has-text('Delete')")
    page.wait_for_selector(f"tr:has-text('Colours {number}')", state="detached")


APPLICATION = Application(
    name="Vendure", shows="GraphQL with a bearer token", needs=(NODE_MODULES / "@vendure",), prepare=prepare,
    visit=visit, from_replies=("vendure_auth_token", "vendure_auth_token_2", "create_facet_id"),
    from_person=("code", "name", "name_2"), ready="/admin-api?query=%7B__typename%7D",
)  # fmt: skip
