"""A server with a flow for each kind of value that clients take from replies. It refuses every wrong one with 403.

Each flow is a visit: what a client sends, with the values that it has just received.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import http.client
import json
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from tests.sources.recording_target import Answer, Received

FORM, JSON = "application/x-www-form-urlencoded", "application/json"
ENCODINGS = ("html", "url", "json", "base64", "jwt", "upper", "nested")
KEY = secrets.token_bytes(16)


def signed(text: str) -> str:
    """Base64 with +, / and =, which a form has to encode."""
    return base64.b64encode(b"\xfb\xff" + hmac.digest(KEY, text.encode(), "sha256")).decode()


@dataclass
class Session:
    """What the server has given to one client, by the name of the value."""

    given: dict[str, str] = field(default_factory=dict)

    def new(self, name: str, value: str | None = None) -> str:
        self.given[name] = value or secrets.token_urlsafe(15)
        return self.given[name]


class RefusingServer:
    """The rules of the server: a method for each first part of a path."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}

    def __call__(self, request: Received) -> Answer:
        sid = request.cookies.get("sid", "")
        headers: tuple[tuple[str, str], ...] = ()
        if sid not in self._sessions:
            sid = secrets.token_hex(16)
            self._sessions[sid] = Session()
            headers = (("Set-Cookie", f"sid={sid}; Path=/"),)
        _, flow, *rest = request.route.split("/")
        try:
            answer: Answer = getattr(self, flow)(request, self._sessions[sid], "/".join(rest))
        except (KeyError, ValueError, AssertionError):
            answer = Answer(403, f"{request.method} {request.path} has a wrong value")
        return Answer(answer.status, answer.body, (*answer.headers, *headers))

    def prefix(self, request: Received, session: Session, _: str) -> Answer:
        if request.method == "POST":
            return Answer(200, {"auth": {"token": session.new("token")}, "type": "JWT"})
        assert request.headers["authorization"] == f"Bearer {session.given['token']}"
        assert request.headers["x-auth"] == f'JWT token="{session.given["token"]}"'
        return Answer(200, {"name": "ann"})

    def graphql(self, request: Received, session: Session, _: str) -> Answer:
        sent = json.loads(request.body)
        if "mutation" in sent["query"]:
            number = base64.b64encode(f"Note:{secrets.randbelow(10**9)}".encode()).decode()
            return Answer(200, {"data": {"addNote": {"note": {"id": session.new("note", number)}}}})
        assert sent["variables"]["id"] == session.given["note"]
        return Answer(200, {"data": {"note": {"text": "milk"}}})

    def aspx(self, request: Received, session: Session, _: str) -> Answer:
        if request.method == "POST":
            assert request.form["__VIEWSTATE"] == session.given["state"]
            assert request.form["__EVENTVALIDATION"] == session.given["events"]
        state, events = (session.new(name, signed(secrets.token_hex(4))) for name in ("state", "events"))
        fields = f'name="__VIEWSTATE" id="__VIEWSTATE" value="{state}" /><input type="hidden" '
        fields += f'name="__EVENTVALIDATION" id="__EVENTVALIDATION" value="{events}" />'
        return Answer(200, f'<form method="post"><input type="hidden" {fields}</form>')

    def rails(self, request: Received, session: Session, _: str) -> Answer:
        if request.method == "POST":
            sent = request.headers.get("x-csrf-token") or request.form["authenticity_token"]
            assert sent == session.given["meta" if "x-csrf-token" in request.headers else "form"]
            return Answer(200, {"saved": True})
        meta, own = (session.new(name, signed(secrets.token_hex(4))) for name in ("meta", "form"))
        page = f'<meta name="csrf-param" content="authenticity_token" /><meta name="csrf-token" content="{meta}" />'
        return Answer(200, f'{page}<form><input type="hidden" name="authenticity_token" value="{own}" /></form>')

    def django(self, request: Received, session: Session, _: str) -> Answer:
        if request.method == "POST":
            if "x-csrftoken" in request.headers:
                assert request.headers["x-csrftoken"] == session.given["cookie"]
            else:
                assert request.form["csrfmiddlewaretoken"] == session.given["form"]
            assert request.cookies["csrftoken"] == session.given["cookie"]
            return Answer(200, {"saved": True})
        cookie = ("Set-Cookie", f"csrftoken={session.new('cookie')}; Path=/")
        field_text = f'<input type="hidden" name="csrfmiddlewaretoken" value="{session.new("form")}">'
        return Answer(200, f"<form>{field_text}</form>", (cookie,))

    def oauth(self, request: Received, session: Session, rest: str) -> Answer:
        if rest == "authorize":
            session.new("challenge", request.query["code_challenge"])
            code, state = session.new("code"), session.new("state", request.query["state"])
            return Answer(302, "", (("Location", f"/oauth/callback?code={code}&state={state}"),))
        if rest == "callback":
            assert (request.query["code"], request.query["state"]) == (session.given["code"], session.given["state"])
            return Answer(200, "<title>Welcome</title>")
        if rest == "token":
            assert request.form["code"] == session.given.pop("code")
            assert challenge_of(request.form["code_verifier"]) == session.given["challenge"]
            return Answer(200, {"access_token": session.new("access"), "token_type": "Bearer"})
        assert request.headers["authorization"] == f"Bearer {session.given['access']}"
        return Answer(200, {"name": "ann"})

    def saml(self, request: Received, session: Session, rest: str) -> Answer:
        if rest == "start":
            asked = {
                "SAMLRequest": session.new("request", signed(secrets.token_hex(4))),
                "RelayState": session.new("relay"),
            }
            return Answer(302, "", (("Location", f"/saml/idp?{urlencode(asked)}"),))
        if rest == "idp":
            assert request.query["SAMLRequest"] == session.given["request"]
            assert request.query["RelayState"] == session.given["relay"]
            response = session.new("response", signed(secrets.token_hex(4)))
            fields = {"SAMLResponse": response, "RelayState": session.given["relay"]}
            inputs = "".join(f'<input type="hidden" name="{name}" value="{value}"/>' for name, value in fields.items())
            return Answer(200, f'<form method="post" action="/saml/acs">{inputs}</form>')
        assert request.form["SAMLResponse"] == session.given.pop("response")
        assert request.form["RelayState"] == session.given["relay"]
        return Answer(302, "", (("Location", "/saml/start"),))

    def etag(self, request: Received, session: Session, _: str) -> Answer:
        if request.method != "GET":
            assert request.headers["if-match"] == session.given["etag"]
        tag = session.new("etag", f'W/"{secrets.token_hex(5)}"')
        return Answer(200, {"text": "milk"}, (("ETag", tag),))

    def bucket(self, request: Received, session: Session, rest: str) -> Answer:
        if rest == "sign":
            key = f"{secrets.token_hex(6)}/photo 1.jpg"
            query = {"X-Amz-Date": "20261130T120000Z", "X-Amz-Signature": hashlib.sha256(key.encode()).hexdigest()}
            url = f"http://{request.headers['host']}/bucket/{quote(key)}?{urlencode(query)}"
            return Answer(200, {"upload": {"url": url, "key": key}})
        assert request.query["X-Amz-Signature"] == hashlib.sha256(unquote(rest).encode()).hexdigest()
        session.new("photo", unquote(rest))
        return Answer(200, "", (("ETag", '"1"'),))

    def pages(self, request: Received, session: Session, rest: str) -> Answer:
        if "after" in request.query:
            assert request.query["after"] == session.given["cursor"]
        cursor = session.new("cursor", signed(secrets.token_hex(4)))
        if rest == "link":
            return Answer(200, "[]", (("Link", f'</pages/link?after={quote(cursor, safe="")}>; rel="next"'),))
        return Answer(200, {"items": [1, 2], "page": {"next": cursor}})

    def encoded(self, request: Received, session: Session, rest: str) -> Answer:
        if rest:
            assert request.headers["x-value"] == session.given[rest]
            return Answer(200, {"ok": True})
        value = {name: session.new(name, signed(secrets.token_hex(4))) for name in ENCODINGS}
        entities = value["html"].replace("+", "&#x2B;").replace("=", "&#61;")
        escapes = value["json"].replace("/", r"\u002F").replace("=", r"\u003d")
        plain = base64.b64encode(value["base64"].encode()).decode()
        claims = base64.urlsafe_b64encode(json.dumps({"sub": value["jwt"]}).encode()).decode().rstrip("=")
        session.given["upper"] = value["upper"].upper()
        page = f'''<input name="entities" value="{entities}"><p data-plain="{plain}" id="p"></p><script>
            escapes = "{escapes}"; token = "eyJhbGciOiJub25lIn0.{claims}.x"; lower = "{value["upper"].lower()}";
            nested = {json.dumps(json.dumps({"id": value["nested"]}))}</script>'''
        return Answer(200, page, (("Set-Cookie", f"XSRF-TOKEN={quote(value['url'], safe='')}; Path=/"),))


def challenge_of(verifier: str) -> str:
    """As PKCE makes it with S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


@dataclass
class Visitor:
    """A client that keeps cookies and records what it sends. It sends nothing that it was not given."""

    url: str
    entries: list[dict[str, Any]] = field(default_factory=list)
    _cookies: dict[str, str] = field(default_factory=dict)

    def send(self, method: str, path: str, body: str = "", **headers: str) -> Reply:
        """One request. headers: their names with _ in place of -."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc)
        try:
            connection.request(method, path, body or None, sent)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        assert response.status < 400, text
        got = [{"name": name, "value": value} for name, value in response.getheaders()]
        for line in response.headers.get_all("Set-Cookie", ()):
            name, _, value = line.partition(";")[0].partition("=")
            self._cookies[name] = value
        posted = {"postData": {"mimeType": sent.get("Content-Type", ""), "text": body}} if body else {}
        number = len(self.entries)
        self.entries.append({
            "startedDateTime": f"2026-11-29T12:{number // 60:02}:{number % 60:02}Z", "time": 900,
            "request": {
                "method": method, "url": self.url + path, **posted,
                "headers": [{"name": name, "value": value} for name, value in sent.items()],
            },
            "response": {
                "status": response.status, "headers": got,
                "content": {"text": text, "mimeType": response.headers.get_content_type()},
            },
        })  # fmt: skip
        return Reply(text, response.headers)

    def form(self, path: str, **fields: str) -> Reply:
        return self.send("POST", path, urlencode(fields), Content_Type=FORM)

    @property
    def har(self) -> str:
        return json.dumps({"log": {"version": "1.2", "entries": self.entries}})


@dataclass(frozen=True)
class Reply:
    """What a visitor looks at."""

    text: str
    headers: Mapping[str, str]

    @property
    def document(self) -> Any:
        return json.loads(self.text)

    def value_of(self, name: str) -> str:
        """Of a hidden field or an element `meta`, as a browser reads it."""
        match = re.search(rf'name="{name}"[^>]*?(?:value|content)="([^"]*)"', self.text)
        assert match
        return html.unescape(match[1])


def prefix(visitor: Visitor) -> None:
    token = visitor.send("POST", "/prefix", "{}", Content_Type=JSON).document["auth"]["token"]
    visitor.send("GET", "/prefix", Authorization=f"Bearer {token}", X_Auth=f'JWT token="{token}"')


def graphql(visitor: Visitor) -> None:
    made = visitor.send("POST", "/graphql", json.dumps({"query": "mutation { addNote }"}), Content_Type=JSON)
    asked = {"query": "query Note", "variables": {"id": made.document["data"]["addNote"]["note"]["id"]}}
    visitor.send("POST", "/graphql", json.dumps(asked), Content_Type=JSON)


def aspx(visitor: Visitor) -> None:
    page = visitor.send("GET", "/aspx")
    for _ in range(2):
        names = ("__VIEWSTATE", "__EVENTVALIDATION")
        page = visitor.form("/aspx", **{name: page.value_of(name) for name in names})


def rails(visitor: Visitor) -> None:
    page = visitor.send("GET", "/rails")
    visitor.form("/rails", authenticity_token=page.value_of("authenticity_token"))
    visitor.send("POST", "/rails", "{}", Content_Type=JSON, X_CSRF_Token=page.value_of("csrf-token"))


def django(visitor: Visitor) -> None:
    page = visitor.send("GET", "/django")
    visitor.form("/django", csrfmiddlewaretoken=page.value_of("csrfmiddlewaretoken"))
    cookie = re.search(r"csrftoken=([^;]+)", page.headers["Set-Cookie"])
    assert cookie
    visitor.send("POST", "/django", "{}", Content_Type=JSON, X_CSRFToken=cookie[1])


def oauth(visitor: Visitor) -> None:
    verifier, state = secrets.token_urlsafe(32), secrets.token_hex(8)
    sent = visitor.send("GET", f"/oauth/authorize?code_challenge={challenge_of(verifier)}&state={state}")
    code = re.search(r"code=([^&]+)", sent.headers["Location"])
    assert code
    visitor.send("GET", sent.headers["Location"])
    grant = visitor.form("/oauth/token", code=code[1], code_verifier=verifier)
    visitor.send("GET", "/oauth/me", Authorization=f"Bearer {grant.document['access_token']}")


def saml(visitor: Visitor) -> None:
    page = visitor.send("GET", visitor.send("GET", "/saml/start").headers["Location"])
    visitor.form("/saml/acs", **{name: page.value_of(name) for name in ("SAMLResponse", "RelayState")})


def etag(visitor: Visitor) -> None:
    tag = visitor.send("GET", "/etag/1").headers["ETag"]
    tag = visitor.send("PUT", "/etag/1", "{}", Content_Type=JSON, If_Match=tag).headers["ETag"]
    visitor.send("DELETE", "/etag/1", If_Match=tag)


def bucket(visitor: Visitor) -> None:
    url = visitor.send("POST", "/bucket/sign", "{}", Content_Type=JSON).document["upload"]["url"]
    visitor.send("PUT", url.removeprefix(visitor.url), "picture", Content_Type="image/jpeg")


def pages(visitor: Visitor) -> None:
    cursor = visitor.send("GET", "/pages/json").document["page"]["next"]
    visitor.send("GET", f"/pages/json?after={quote(cursor, safe='')}")
    link = re.search(r"<([^>]+)>", visitor.send("GET", "/pages/link").headers["Link"])
    assert link
    visitor.send("GET", link[1])


def encoded(visitor: Visitor) -> None:
    page = visitor.send("GET", "/encoded")
    text = page.text

    def between(begin: str, end: str = '"') -> str:
        return text.partition(begin)[2].partition(end)[0]

    claims, escapes = between('token = "').split(".")[1], between('escapes = "')
    values = {
        "html": html.unescape(between('name="entities" value="')),
        "url": unquote(page.headers["Set-Cookie"].partition("XSRF-TOKEN=")[2].partition(";")[0]),
        "json": json.loads(f'"{escapes}"'),
        "base64": base64.b64decode(between('data-plain="')).decode(),
        "jwt": json.loads(base64.urlsafe_b64decode(claims + "==="))["sub"],
        "upper": between('lower = "').upper(),
        "nested": json.loads(json.loads(between("nested = ", "</script>")))["id"],
    }
    for name, value in values.items():
        visitor.send("GET", f"/encoded/{name}", X_Value=value)


FLOWS: tuple[Callable[[Visitor], None], ...] = (
    prefix, graphql, aspx, rails, django, oauth, saml, etag, bucket, pages, encoded,
)  # fmt: skip
