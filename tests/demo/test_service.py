"""The shop of the demo: each of its faults is there."""

from __future__ import annotations

import json
import threading
import time
from http.client import HTTPConnection

import pytest

from plimsoll.demo import service


@pytest.fixture
def shop():
    """A connection to a new shop."""
    with service.serve(0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = HTTPConnection("127.0.0.1", server.server_address[1])
        yield connection
        connection.close()
        server.shutdown()


def ask(shop: HTTPConnection, method: str, path: str, body: bytes = b"{}") -> tuple[int, dict[str, object]]:
    shop.request(method, path, body if method == "POST" else None)
    reply = shop.getresponse()
    return reply.status, json.loads(reply.read())


def test_a_search_is_slow(shop):
    began = time.monotonic()
    assert ask(shop, "GET", "/search?q=teapot") == (200, {"found": ["teapot"]})
    assert time.monotonic() - began >= service.SEARCH_S


def test_the_list_of_reviews_grows_by_what_is_written(shop):
    assert ask(shop, "GET", "/reviews") == (200, {"reviews": []})
    assert [ask(shop, "POST", "/reviews")[0] for _ in range(3)] == [201] * 3
    assert ask(shop, "GET", "/reviews") == (200, {"reviews": [service.REVIEW] * 3})


def test_one_checkout_of_twenty_fails(shop):
    statuses = [ask(shop, "POST", "/checkout")[0] for _ in range(2 * service.FAILS)]
    assert statuses == [*[201] * 19, 500] * 2


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_is_not_there_is_404(shop, method):
    assert ask(shop, method, "/carts") == (404, {"error": "there is no /carts"})


def test_a_body_has_a_limit(shop):
    shop.putrequest("POST", "/reviews")
    shop.putheader("Content-Length", str(service.LONGEST_BODY + 1))
    shop.endheaders()
    assert shop.getresponse().status == 400
