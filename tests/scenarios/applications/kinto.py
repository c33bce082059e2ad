"""Kinto: records of a collection, with basic authorization, and revisions that `If-Match` repeats."""

from __future__ import annotations

import base64
import json
import urllib.request
from typing import TYPE_CHECKING

from tests.scenarios.application import PYTHON, Application, Server

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from playwright.sync_api import Page

PASSWORD = "tr0ub4dor-and-3"
SETTINGS = """[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = {port}
[app:main]
use = egg:kinto
kinto.includes = kinto.plugins.admin kinto.plugins.accounts
kinto.storage_backend = kinto.core.storage.memory
kinto.cache_backend = kinto.core.cache.memory
kinto.permission_backend = kinto.core.permission.memory
kinto.userid_hmac_secret = 0123456789abcdef
kinto.account_create_principals = system.Everyone
kinto.bucket_create_principals = system.Everyone
multiauth.policies = account
multiauth.policy.account.use = kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy
"""
SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}


def prepare(folder: Path, port: int) -> Server:
    (folder / "kinto.ini").write_text(SETTINGS.format(port=port))
    return Server((str(PYTHON / "kinto"), "start", "--ini", "kinto.ini"), folder)


def visit(page: Page, url: str, number: int) -> None:
    if number == 1:
        _put(f"{url}/v1/accounts/ann", {"password": PASSWORD}, {})
        authorization = {"Authorization": f"Basic {base64.b64encode(f'ann:{PASSWORD}'.encode()).decode()}"}
        _put(f"{url}/v1/buckets/shop", {}, authorization)
        _put(f"{url}/v1/buckets/shop/collections/notes", {"schema": SCHEMA, "displayFields": ["title"]}, authorization)
    page.goto(f"{url}/v1/admin/")
    page.click("text=Kinto Account Auth")
    page.fill("#root_credentials_username", "ann")
    page.fill("#root_credentials_password", PASSWORD)
    page.click("[type=submit]")
    page.click("a:has-text('notes')")
    page.click("a:has-text('Create record') >> nth=0")
    page.fill("#root_title", f"Buy milk {number}")
    page.click("form [type=submit]")
    page.click(f"tr:has-text('Buy milk {number}') [title='Edit record']")
    page.wait_for_selector("#root_title:not([value=''])")
    page.fill("#root_title", f"Buy tea {number}")
    page.click("form [type=submit]")
    page.on("dialog", lambda dialog: dialog.accept())
    page.click(f"tr:has-text('Buy tea {number}') [title='Delete record']")
    page.wait_for_selector(f"tr:has-text('Buy tea {number}')", state="detached")


def _put(url: str, data: Mapping[str, object], headers: Mapping[str, str]) -> None:
    body = json.dumps({"data": data}).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers}, method="PUT")
    with urllib.request.urlopen(request) as reply:
        assert reply.status < 300


APPLICATION = Application(
    name="Kinto", shows="revisions that If-Match repeats", needs=(PYTHON / "kinto",), prepare=prepare, visit=visit,
    from_replies=("record_id", "etag", "last_modified", "etag_2"), from_person=("title", "title_2"), ready="/v1/",
)  # fmt: skip
