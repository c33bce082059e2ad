"""Runs whose requests have tokens, against a service of oauthlib: from the plan to the report."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from tests.grpc_server import PROTO, GrpcServer
from tests.run.auth_server import CLIENT, PASSWORDS, SECRET, AuthServer
from tests.socket_server import EchoServer

from plimsoll.redact import MASK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.command import Command, CountingTarget
    from websockets.http11 import Request, Response
    from websockets.sync.server import ServerConnection

KEYS = f'client_id = "{CLIENT}", client_secret = "{SECRET}"'
LOGIN = 'username = "${account.name}", password = "${account.password}"'
ROWS = ", ".join(f'{{ name = "{name}", password = "{password}" }}' for name, password in PASSWORDS.items())


@contextmanager
def serving(uses: int = 1_000_000, lifetime: int = 3600) -> Iterator[AuthServer]:
    # oauthlib refuses http:// otherwise.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
        server = AuthServer(uses, lifetime)
        try:
            yield server
        finally:
            server.close()


def plan(url: str, oauth2: str, load: str = "users = 3", iterations: int = 30) -> str:
    return (
        f'target = "{url}"\nauth.oauth2 = {{ {oauth2} }}\n[feeder.account]\nrows = [{ROWS}]\nshare = "all"\n'
        f'[stop]\niterations = {iterations}\n[[phase]]\n{load}\n[[request]]\nget = "/items"\n'
    )


def run(plimsoll: Command, text: str, *options: str, code: int = 0) -> dict[str, Any]:
    plimsoll.write(text, "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless", "--summary", "-", *options)
    assert done.code == code, done
    document: dict[str, Any] = json.loads(done.out)
    return document


def rows(document: dict[str, Any]) -> dict[str, int]:
    return {f"{row['method']} {row['name']}": row["requests"] for row in document["endpoints"]}


@pytest.mark.parametrize("way", ["header", "body"])
def test_all_users_share_a_token_that_is_in_a_row_of_its_own(plimsoll: Command, way: str) -> None:
    oauth2 = f'token_url = "/token", {KEYS}, scope = "read write", client_authentication = "{way}"'
    with serving() as server:
        document = run(plimsoll, plan(server.url, oauth2))
    assert rows(document) == {"GET /items": 30, f"auth token {server.url}/token": 1}
    assert (document["total"]["requests"], document["total"]["failures"]) == (30, 0)
    assert (server.counts, server.tokens.grants) == ({200: 30}, {"client_credentials": 1})


def test_the_url_of_the_service_is_asked_of_the_issuer(plimsoll: Command) -> None:
    with serving() as server:
        document = run(plimsoll, plan(server.url, f'issuer = "{server.url}/realm", {KEYS}'))
    assert rows(document) == {"GET /items": 30, f"auth token {server.url}/token": 1}


def test_each_account_has_a_token_which_is_refreshed_when_it_expires(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", grant = "password", {KEYS}, {LOGIN}'
    with serving(lifetime=0) as server:
        document = run(plimsoll, plan(server.url, oauth2, "users = 1", 12))
    assert rows(document) == {"GET /items": 12, f"auth token {server.url}/token": 12}
    assert server.tokens.grants == {"password": 2, "refresh_token": 10}
    assert server.counts == {200: 12}


def test_a_token_that_the_target_refuses_is_replaced(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", {KEYS}'
    with serving(uses=10) as server:
        document = run(plimsoll, plan(server.url, oauth2, "users = 1"), code=1)
    (request,) = (row for row in document["endpoints"] if row["method"] == "GET")
    outcomes = {name: outcome["count"] for name, outcome in request["outcomes"].items()}
    assert outcomes == {"success": server.counts[200], "http": server.counts[401]}
    assert rows(document)[f"auth token {server.url}/token"] == len(server.tokens.issued)
    assert server.counts[200] == 10 * len(server.tokens.issued) >= 20


def test_in_the_open_model_every_arrival_is_sent(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", {KEYS}'
    with serving() as server:
        document = run(plimsoll, plan(server.url, oauth2, 'rate = "40/s"\nduration = "1s"', 40))
    assert rows(document) == {"GET /items": 40, f"auth token {server.url}/token": 1}
    assert server.counts == {200: 40}


def test_a_service_that_refuses_the_client_is_the_failure_of_the_steps(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", client_id = "{CLIENT}", client_secret = "wrong"'
    with serving() as server:
        document = run(plimsoll, plan(server.url, oauth2, "users = 2", 2), code=1)
    said = {row["method"]: row["message"] for row in document["failures"]}
    assert said["GET"] == f"cannot be sent: {server.url}/token gives no token: status 401, invalid_client"
    assert said["auth token"] == "status 401, invalid_client"
    assert document["total"]["failures"] == 2
    assert not server.counts


def test_a_websocket_is_opened_with_a_token(plimsoll: Command) -> None:
    def checked(connection: ServerConnection, request: Request) -> Response | None:
        sent.append(request.headers.get("Authorization", ""))
        return None

    sent: list[str] = []
    flow = '[[flow]]\n[[flow.step]]\nconnect = "/chat"\n[[flow.step]]\nsend = "x"\n[[flow.step]]\nreceive = "reply"\n'
    with serving() as server:
        echo = EchoServer(process_request=checked)
        oauth2 = f'token_url = "{server.url}/token", {KEYS}'
        text = f'target = "http://{echo.place}"\nauth.oauth2 = {{ {oauth2} }}\n{flow}[stop]\niterations = 10\n'
        document = run(plimsoll, f"{text}[[phase]]\nusers = 2\n")
        echo.close()
    assert sent == [f"Bearer {server.tokens.issued[0]['access_token']}"] * 2
    assert rows(document)["WS receive /chat"] == 10 and len(server.tokens.issued) == 1


class OneToken(grpc.ServerInterceptor):
    """Does not know the sender of a call with the first token that it has seen."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def intercept_service(self, continuation: Any, details: Any) -> Any:
        self.seen.append(dict(details.invocation_metadata).get("authorization", ""))
        if self.seen[-1] != self.seen[0]:
            return continuation(details)

        def refuse(_: Any, context: grpc.ServicerContext) -> None:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "expired")

        return grpc.unary_unary_rpc_method_handler(refuse)


def test_a_call_that_does_not_know_its_sender_has_another_token_next_time(plimsoll: Command) -> None:
    tokens = OneToken()
    with serving() as server:
        echo = GrpcServer(interceptors=[tokens])
        text = f'target = "grpc://{echo.place}"\nauth.oauth2 = {{ token_url = "{server.url}/token", {KEYS} }}\n'
        text += f'proto = "{PROTO}"\n[[request]]\ngrpc = "echo.v1.Echo/Say"\nmessage = {{ text = "a" }}\n'
        document = run(plimsoll, f"{text}[stop]\niterations = 5\n[[phase]]\nusers = 1\n", code=1)
        echo.close()
    issued = [f"Bearer {token['access_token']}" for token in server.tokens.issued]
    assert tokens.seen == [issued[0], *[issued[1]] * 4]
    assert document["total"]["failures"] == 1


def test_each_worker_has_a_token(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", {KEYS}'
    with serving() as server:
        document = run(plimsoll, plan(server.url, oauth2, "users = 4"), "--processes", "2")
    assert rows(document) == {"GET /items": 30, f"auth token {server.url}/token": 2}
    assert len(server.tokens.issued) == 2


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/index", "the reply is not JSON; or write token_url"),
        ("/fail", "status 500; or write token_url"),
    ],
)
def test_an_issuer_that_does_not_answer_ends_the_run_before_it_begins(
    plimsoll: Command, target: CountingTarget, path: str, why: str
) -> None:
    plimsoll.write(plan(target.url, f'issuer = "{target.url}{path}/", {KEYS}'), "plan.toml")
    done = plimsoll("run", "plan.toml", "--headless")
    assert (done.code, done.err.strip()) == (
        2,
        f"plimsoll: cannot ask {target.url}{path}/.well-known/openid-configuration for the token service: {why}",
    )


def test_no_secret_and_no_token_is_kept_or_shown(plimsoll: Command) -> None:
    oauth2 = f'token_url = "/token", grant = "password", {KEYS}, {LOGIN}'
    with serving() as server:
        plimsoll.write(plan(server.url, oauth2), "plan.toml")
        shown = plimsoll("run", "plan.toml", "--dry-run")
        done = plimsoll("run", "plan.toml", "--headless", "--html", "r.html", "--summary", "s.json")
    assert (shown.code, done.code) == (0, 0), done
    assert f"tokens of {server.url}/token" in shown.out
    secrets = [SECRET, "s3cr%3Aet", *PASSWORDS.values(), "pass%2Bbob"]
    secrets += [token["access_token"] for token in server.tokens.issued]
    folder = plimsoll.store.parent
    texts = [path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "plan.toml"]
    texts += [each.encode() for each in (shown.out, shown.err, done.out, done.err)]
    assert [secret for secret in secrets if any(secret.encode() in text for text in texts)] == []
    kept = plimsoll.stored()["run"]["manifest"]["plan"]["scenario"]["auths"][0]["oauth2"]
    assert (kept["name"], kept["body"]) == (f"{server.url}/token", MASK)
