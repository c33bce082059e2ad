"""oidc-provider: a login with an authorization code and PKCE by oidc-client-ts, and a refresh of its tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.scenarios.application import NODE_MODULES, Application, Server

if TYPE_CHECKING:
    from playwright.sync_api import Page

SERVER = Path(__file__).parents[1] / "files" / "oidc.mjs"


def prepare(folder: Path, port: int) -> Server:
    return Server(("node", str(SERVER), str(port), str(NODE_MODULES)), folder)


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/shop")
    page.click("#login")
    page.fill("[name=login]", "ann")
    page.fill("[name=password]", "tr0ub4dor&3")
    page.click("[type=submit]")
    page.click("[type=submit]:has-text('Continue')")
    page.wait_for_selector("#who:has-text('ann')")


APPLICATION = Application(
    name="oidc-provider", shows="an authorization code with PKCE, a refresh token",
    needs=(NODE_MODULES / "oidc-provider", NODE_MODULES / "oidc-client-ts"), prepare=prepare, visit=visit,
    from_replies=("interaction", "interaction_2", "code", "access_token", "refresh_token", "access_token_2"),
    from_person=("state", "code_challenge", "code_verifier"), ready="/shop",
)  # fmt: skip
