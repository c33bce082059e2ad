"""A target whose requests need a token, and the service that gives tokens: oauthlib behind a server of HTTP."""

from __future__ import annotations

import json
import threading
from base64 import b64decode
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote_plus

from oauthlib.oauth2 import LegacyApplicationServer, RequestValidator, Server

CLIENT, SECRET = "shop", "s3cr:et %+é"
"""Both need their encoding."""
PASSWORDS = {"ann": "pass-ann", "bob": "pass+bob"}


class Tokens(RequestValidator):
    """What the service knows. A token is good for so many requests, in place of a time: a test has no pace."""

    def __init__(self, uses: int) -> None:
        self.uses = uses
        self.issued: list[dict[str, Any]] = []
        self.left: dict[str, int] = {}
        self.refresh: dict[str, str] = {}
        self.grants: Counter[str] = Counter()

    def client_authentication_required(self, request: Any, *arguments: Any, **more: Any) -> bool:
        return True

    def authenticate_client(self, request: Any, *arguments: Any, **more: Any) -> bool:
        scheme, _, value = request.headers.get("Authorization", "").partition(" ")
        given = (request.client_id, request.client_secret)
        if scheme == "Basic":
            given = tuple(unquote_plus(part) for part in b64decode(value).decode().split(":", 1))
        request.client = type("Client", (), {"client_id": CLIENT})()
        return given == (CLIENT, SECRET)

    def validate_grant_type(self, client_id: str, grant_type: str, *arguments: Any, **more: Any) -> bool:
        return True

    def get_default_scopes(self, client_id: str, request: Any, *arguments: Any, **more: Any) -> list[str]:
        return []

    def validate_scopes(self, client_id: str, scopes: list[str], *arguments: Any, **more: Any) -> bool:
        return set(scopes) <= {"read", "write"}

    def validate_user(self, username: str, password: str, client: Any, request: Any, *_: Any, **more: Any) -> bool:
        request.user = username
        return PASSWORDS.get(username) == password

    def validate_refresh_token(self, token: str, client: Any, request: Any, *_: Any, **more: Any) -> bool:
        request.user = self.refresh.get(token)
        return request.user is not None

    def get_original_scopes(self, token: str, request: Any, *arguments: Any, **more: Any) -> list[str]:
        return []

    def rotate_refresh_token(self, request: Any) -> bool:
        return True

    def save_bearer_token(self, token: dict[str, Any], request: Any, *arguments: Any, **more: Any) -> None:
        self.grants[request.grant_type] += 1
        self.issued.append(token)
        self.left[token["access_token"]] = self.uses
        if "refresh_token" in token:
            self.refresh.pop(request.refresh_token, None)
            self.refresh[token["refresh_token"]] = request.user

    def validate_bearer_token(self, token: str, scopes: list[str], request: Any) -> bool:
        self.left[token] = self.left.get(token, 0) - 1
        return self.left[token] >= 0


class AuthServer:
    """Tokens at /token, metadata at /realm/.well-known/openid-configuration, and everything else with a token."""

    def __init__(self, uses: int = 1_000_000, lifetime: int = 3600) -> None:
        self.tokens = Tokens(uses)
        self.counts: Counter[int] = Counter()
        """Requests besides those for tokens, by status."""
        self._lock = threading.Lock()
        # A number 0 would be its default.
        generated = Server(self.tokens, token_expires_in=lambda _: lifetime)
        password = LegacyApplicationServer(self.tokens, token_expires_in=lambda _: lifetime)
        auth = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                with auth._lock:
                    service = password if "grant_type=password" in body else generated
                    _, text, status = service.create_token_response(self.path, "POST", body, dict(self.headers))
                self._answer(status, text)

            def do_GET(self) -> None:
                if self.path == "/realm/.well-known/openid-configuration":
                    known = {"issuer": f"{auth.url}/realm", "token_endpoint": f"{auth.url}/token"}
                    return self._answer(200, json.dumps(known))
                with auth._lock:
                    valid, _ = generated.verify_request(self.path, "GET", None, dict(self.headers), [])
                    status = 200 if valid else 401
                    auth.counts[status] += 1
                return self._answer(status, "{}")

            def _answer(self, status: int, text: str) -> None:
                # One write: two would wait for each other's acknowledgement.
                head = f"HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
                self.wfile.write((head + text).encode())

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
