"""JupyterHub: access tokens of a user, with an XSRF cookie that requests repeat in a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.run.joined import free_port
from tests.scenarios.application import NODE_MODULES, PYTHON, Application, Server

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

PROXY = NODE_MODULES / ".bin" / "configurable-http-proxy"
SETTINGS = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.command = ["{proxy}"]
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{password}"
c.Authenticator.allowed_users = {{"ann"}}
c.JupyterHub.spawner_class = "simple"
"""
PASSWORD = "tr0ub4dor-and-3-longer"


def prepare(folder: Path, port: int) -> Server:
    text = SETTINGS.format(port=port, hub=free_port(), api=free_port(), proxy=PROXY, password=PASSWORD)
    (folder / "settings.py").write_text(text)
    return Server((str(PYTHON / "python"), "-m", "jupyterhub", "--config", "settings.py"), folder)


def visit(page: Page, url: str, number: int) -> None:
    page.goto(f"{url}/hub/login?next=%2Fhub%2Ftoken")
    page.fill("#username_input", "ann")
    page.fill("#password_input", PASSWORD)
    page.click("#login_submit")
    page.wait_for_url("**/hub/token")
    page.fill("#token-note", f"for script {number}")
    page.click("[type=submit]")
    page.wait_for_selector("#token-result")
    page.reload()
    page.click(f"tr:has-text('for script {number}') .revoke-token-btn")
    page.wait_for_selector(f"tr:has-text('for script {number}')", state="detached")
    page.click("#logout")
    page.wait_for_url("**/hub/login**")


APPLICATION = Application(
    name="JupyterHub", shows="an XSRF cookie that a header and a form repeat", needs=(PYTHON / "jupyterhub", PROXY),
    prepare=prepare, visit=visit, from_replies=("xsrf", "token", "token_id"), from_person=("note",), ready="/hub/login",
)  # fmt: skip
