"""A shop that refuses wrong values: a hidden token, a code in a redirect, a session, a token from JSON, ids of orders.

`python -m tests.sources.shop` records two visits with Chromium into tests/sources/files.
"""

from __future__ import annotations

import base64
import json
import secrets
import sys
from itertools import count
from pathlib import Path
from typing import Any

from tests.sources.recording_target import Answer, Received, Target, target

FILES = Path(__file__).parent / "files"
RECORDED_HOST = "127.0.0.1:8000"
"""What the recordings have in place of the shop's host."""
PASSWORD = "tr0ub4dor&3"

LOGIN = """<!doctype html><html><head><title>Log in</title><link rel="stylesheet" href="/app.css"></head><body>
<form method="post" action="/login"><input type="hidden" name="csrf_token" value="{csrf}">
<input name="user"><input name="password" type="password"><button>Go</button></form>
<img src="{other}/pixel.gif"></body></html>"""
HOME = """<!doctype html><html><head><title>Your orders</title><meta name="api-token" content="{api}"></head><body>
<button id="order">Order</button><p id="said"></p><script src="/app.js"></script></body></html>"""
SCRIPT = """document.getElementById('order').onclick = async () => {
  const key = document.querySelector('meta[name="api-token"]').content;
  const grant = await (await fetch('/api/token', {method: 'POST', headers: {'X-Api-Token': key}})).json();
  const headers = {'Authorization': 'Bearer ' + grant.access.token, 'Content-Type': 'application/json'};
  const order = {item: 'milk', amount: 2, request: crypto.randomUUID(), nonce: grant.access.nonce};
  const made = await (await fetch('/api/orders', {method: 'POST', headers, body: JSON.stringify(order)})).json();
  const read = await (await fetch('/api/orders/' + made.id + '?from=list', {headers})).json();
  document.getElementById('said').textContent = read.item;
};"""


class Shop:
    """The rules of the shop."""

    def __init__(self) -> None:
        self.other = ""
        """The URL of another host on its pages."""
        self.refused: list[str] = []
        """Why it refused requests."""
        self._sessions: dict[str, dict[str, Any]] = {}
        self._tokens: dict[str, str] = {}
        self._orders: dict[str, dict[str, Any]] = {}
        self._used: set[str] = set()
        self._numbers = count(secrets.randbelow(9000) + 1000)

    def __call__(self, request: Received) -> Answer:
        session = self._sessions.get(request.cookies.get("sid", ""))
        match request.method, request.route:
            case "GET", "/login":
                sid, csrf = secrets.token_hex(16), base64.b64encode(b"\xfb\xff" + secrets.token_bytes(20)).decode()
                self._sessions[sid] = {"csrf": csrf}
                cookie = ("Set-Cookie", f"sid={sid}; Path=/; HttpOnly")
                return Answer(200, LOGIN.format(csrf=csrf, other=self.other), (cookie,))
            case "POST", "/login":
                return self._login(request, session)
            case "GET", "/callback" if session and "code" in session:
                return self._callback(request, session)
            case "GET", "/home" if session and session.get("user"):
                session["api"] = secrets.token_urlsafe(18)
                return Answer(200, HOME.format(api=session["api"]))
            case "GET", "/app.css":
                return Answer(200, "p { color: red }", (("Content-Type", "text/css"),))
            case "GET", "/app.js":
                return Answer(200, SCRIPT, (("Content-Type", "text/javascript"),))
            case _, route if route.startswith("/api/") and session and session.get("user"):
                return self._api(request, session)
        return self._refuse(f"{request.method} {request.route} without a session", 401)

    def _login(self, request: Received, session: dict[str, Any] | None) -> Answer:
        if session is None or request.form.get("csrf_token") != session["csrf"]:
            return self._refuse("a wrong csrf_token", 403)
        if request.form.get("password") != PASSWORD:
            return self._refuse("a wrong password", 401)
        session["code"] = secrets.token_urlsafe(12)
        session["name"] = request.form["user"]
        return Answer(302, "", (("Location", f"/callback?code={session['code']}&state=x"),))

    def _callback(self, request: Received, session: dict[str, Any]) -> Answer:
        if request.query.get("code") != session["code"]:
            return self._refuse("a wrong code", 403)
        session["user"] = session["name"]
        return Answer(303, "", (("Location", "/home"),))

    def _api(self, request: Received, session: dict[str, Any]) -> Answer:
        if request.route == "/api/token":
            if request.headers.get("x-api-token") != session.get("api"):
                return self._refuse("a wrong X-Api-Token", 403)
            token, nonce = f"{secrets.token_urlsafe(24)}.{secrets.token_hex(4)}", secrets.token_hex(6)
            self._tokens[token] = nonce
            return Answer(200, {"access": {"token": token, "nonce": nonce}, "expires_in": 60})
        nonce = self._tokens.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if nonce is None:
            return self._refuse("a wrong bearer token", 401)
        if request.method == "POST":
            order = json.loads(request.body)
            if order["nonce"] != nonce or order["request"] in self._used:
                return self._refuse("a wrong nonce, or a request id that was used before", 409)
            self._used.add(order["request"])
            number = str(next(self._numbers))
            self._orders[number] = {"id": int(number), "item": order["item"], "note": None}
            return Answer(201, self._orders[number])
        found = self._orders.get(request.route.rpartition("/")[2])
        return Answer(200, found) if found else self._refuse("no such order", 404)

    def _refuse(self, why: str, status: int) -> Answer:
        self.refused.append(why)
        return Answer(status, {"error": why})


def record(service: Target, other: Target, path: Path) -> None:
    """One visit, with Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        context = browser.new_context(record_har_path=path, record_har_content="embed")
        page = context.new_page()
        page.goto(f"{service.url}/login")
        page.fill("input[name=user]", "ann")
        page.wait_for_timeout(700)  # a person who types
        page.fill("input[name=password]", PASSWORD)
        page.click("button")
        page.click("#order")
        page.wait_for_selector("#said:has-text('milk')")
        context.close()
        browser.close()


def main() -> None:
    shop = Shop()
    with target(shop) as service, target() as other:
        shop.other = other.url.replace("127.0.0.1", "localhost")
        for number in (1, 2):
            path = FILES / f"shop-{number}.har"
            record(service, other, path)
            text = path.read_text().replace(service.url.removeprefix("http://"), RECORDED_HOST)
            log = json.loads(text.replace(shop.other.removeprefix("http://"), "localhost:9000"))
            for entry in log["log"]["entries"]:
                for name in (
                    "timings",
                    "_securityDetails",
                    "_serverPort",
                    "serverIPAddress",
                    "_frameref",
                    "_monotonicTime",
                ):
                    entry.pop(name, None)
            path.write_text(json.dumps(log, indent=1) + "\n")
    sys.stdout.write("\n".join(shop.refused))


if __name__ == "__main__":
    main()
