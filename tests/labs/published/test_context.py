from __future__ import annotations

import pytest
from labs.published.context import heading, mentions, strip_mentions


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("No. of clients = 48", 48), ("Peak concurrent: 50", 50), ("Response in percentile (10 VUS, 180 seconds)", 10),
        ("## 1,000 users", 1000), ("20 connections", 20), ("Concurrency: 8", 8), ("**Virtual users: 3**", 3),
        ("we had 48 users in mind", None), ("Users/second: 5", None), ("max users: 5 to 6 users = 7", None),
    ],
)  # fmt: skip
def test_users(text, users):
    assert mentions(text).users == users


@pytest.mark.parametrize(
    ("text", "rates"),
    [
        ("req/s = 9.4", (9.4,)), ("req/s = 9.6 --> 18min = 8.9", (9.6, 8.9)), ("req/s = 8.7 27min = 8.6", (8.7, 8.6)),
        ("req/s = 31.5 31.6", (31.5, 31.6)), ("req/s = 40.218.6", ()), ("at 900 req/s it broke", ()), ("RPS: 7", (7,)),
    ],
)  # fmt: skip
def test_rates(text, rates):
    assert mentions(text).rates == rates


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("(10 VUS, 180 seconds)", 180), ("Duration: 5m", 300), ("run time = 1.5 h", 5400),
        ("performance on two minute load spikes", 120), ("on twenty minutes constant pressure runs", 1200),
        ("after 5 minutes the test broke", None), ("a 2 minute test, a 3 minute test", None), ("for 5 seconds", None),
    ],
)  # fmt: skip
def test_durations(text, seconds):
    assert mentions(text).seconds == seconds


def test_other_mentions():
    assert mentions("Users/second: 5").spawn_rate == 5
    assert mentions("spawn rate = 2.5").spawn_rate == 2.5
    assert mentions("target rate: 300/s").offered == 300
    assert mentions("No. of clients =").unclear == "no number follows"
    assert not mentions("nothing of this")


def test_a_header_may_begin_with_the_level():
    lead, title = strip_mentions("No. of clients = 162 req/s = 31 Methods")
    assert (lead, title) == ("No. of clients = 162 req/s = 31", "Methods")
    assert strip_mentions("Name") == ("", "Name")
    assert strip_mentions("705 Methods") == ("", "705 Methods")


def test_headings():
    lines = [
        "# Of Markdown #",
        "",
        "Load spike",
        "",
        "A sentence.",
        "",
        "users = 5",
        "",
        "too many words for a heading",
    ]
    assert [heading(lines, index) for index in range(len(lines) - 1)] == [
        "Of Markdown", None, "Load spike", None, None, None, None, None,
    ]  # fmt: skip
    assert heading(["too many words to be a heading"], 0) is None
