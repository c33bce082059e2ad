"""FastHttpUser: what it makes of its class attributes."""

from __future__ import annotations

import pytest

from plimsoll.locust.api import Environment, FastHttpUser
from plimsoll.locust.fasthttp.session import FastHttpSession
from plimsoll.users.exceptions import StopTest


def test_the_client_has_the_host():
    class Shopper(FastHttpUser):
        host = "http://127.0.0.1:1"

    client = Shopper(Environment()).client
    assert isinstance(client, FastHttpSession)
    assert client.base_url == "http://127.0.0.1:1"


def test_it_needs_a_host():
    class Shopper(FastHttpUser):
        pass

    with pytest.raises(StopTest, match="You must specify the base host"):
        Shopper(Environment())
