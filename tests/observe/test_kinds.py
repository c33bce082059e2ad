from __future__ import annotations

import os
import socket

import pytest

from plimsoll.errors import UsageError
from plimsoll.observe.kinds import KINDS, opened
from plimsoll.observe.processes import Processes
from plimsoll.observe.prometheus import RangeQuery
from plimsoll.observe.scrape import Scrape


@pytest.mark.parametrize(
    ("text", "kind", "source"),
    [
        ("pid:1234", Processes, "pid 1234"),
        ("web=pid:1234/children", Processes, "web"),
        ("name:nginx", Processes, "nginx"),
        ("http://127.0.0.1:9100/metrics#http_*,up", Scrape, "127.0.0.1:9100"),
        ("app=https://me:secret@example.com/metrics", Scrape, "app"),
        ("http://me:secret@example.com/metrics?a=b", Scrape, "example.com"),
        ("prometheus+http://127.0.0.1:9090/path#rate(x_total[1m])", RangeQuery, "127.0.0.1:9090"),
    ],
)
def test_a_text_says_what_is_observed_and_how_it_is_called(text, kind, source) -> None:
    found = opened(text)
    assert type(found) is kind
    assert found.source == source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nginx", "not known; there are pid:1234, name:nginx"),
        ("", "not known"),
        ("pid:x", "a pid is a number: pid:1234"),
        ("pid:1/parents", "a pid is a number"),
        ("name:", "say which one: name:NAME"),
        ("http://", "a URL has a host"),
        ("http://host:99999999/", "not a URL"),
        ("prometheus+http://127.0.0.1:9090", "say which query, after #"),
        ("otlp:high", "say at which port"),
        ("otlp:70000", "say at which port"),
        ("db=mysql://me:s3cret@127.0.0.1/x", "not known"),
    ],
)
def test_one_that_cannot_be_right_is_refused_with_what_there_is(text, said) -> None:
    with pytest.raises(UsageError) as caught:
        opened(text)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--observe ")
    assert "s3cret" not in str(caught.value)


def test_a_port_that_is_taken_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen at 127.0.0.1:{port}: Address already in use"):
            opened(f"otlp:{port}")


def test_its_own_process_can_be_observed() -> None:
    probe = opened(f"pid:{os.getpid()}")
    assert isinstance(probe, Processes)
    assert probe.read(0.0)["rss"] > 1e6


def test_examples_are_told_by_their_beginnings() -> None:
    for kind in KINDS:
        assert next(each for each in KINDS if kind.example.startswith(each.begins)) is kind
