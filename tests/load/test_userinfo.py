"""A password in a URL is shown nowhere, whatever else is wrong with the URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.load import origins, url
from plimsoll.load.mistakes import shown
from plimsoll.plain_text import without_userinfo

PASSWORD = "S3cr3tPw"
MISTAKES = {
    "no mistake": "{scheme}://ann:{password}@host/x",
    "a blank": "{scheme}://ann:{password} x@host/x",
    "a blank before": "{scheme}://ann:x {password}@host/x",
    "an unknown scheme": "{scheme}x://ann:{password}@host/x",
    "a bad port": "{scheme}://ann:{password}@host:port/x",
    "no scheme": "ann:{password}@host/x",
    "one slash": "{scheme}:/ann:{password}@host/x",
    "no slashes": "{scheme}:ann:{password}@host/x",
    "a template": "{scheme}://ann:{password}@${{host}}/x",
    "no host": "{scheme}://ann:{password}@",
    "an at sign": "{scheme}://ann:{password}@{password}@host/x",
    "a token": "{scheme}://{password}@host/x",
}
READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "split_url": ("http", origins.split_url),
    "split_target": ("http", origins.split_target),
    "split_socket_url": ("ws", origins.split_socket_url),
    "split_grpc_url": ("grpc", origins.split_grpc_url),
    "url_scenario": ("https", url.url_scenario),
    "socket_scenario": ("wss", lambda text: url.socket_scenario(text, message="x")),
    "grpc_scenario": ("grpcs", url.grpc_scenario),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_reads_a_url_does_not_repeat_its_password(reader: str, mistake: str) -> None:
    scheme, read = READERS[reader]
    with pytest.raises(UsageError) as caught:
        read(MISTAKES[mistake].format(scheme=scheme, password=PASSWORD))
    assert PASSWORD not in str(caught.value)
    assert "host" in str(caught.value) or mistake == "no host"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_value_is_shown_without_it_and_a_message_masked_twice_is_the_same(mistake: str) -> None:
    text = MISTAKES[mistake].format(scheme="http", password=PASSWORD)
    assert PASSWORD not in shown(text)
    assert PASSWORD not in (once := without_userinfo(f"cannot use '{text}' here"))
    assert without_userinfo(once) == once


@pytest.mark.parametrize(
    "text",
    ["write to ann@example.org", '"ann@example.org"', '"10:30 @host"', "http://127.0.0.1:8000/@x:y", "git@host:x.git"],
)
def test_other_texts_with_an_at_sign_stay(text: str) -> None:
    assert without_userinfo(text) in (text, text.replace("30 ", "*** "), '"10:***@host"')
