from __future__ import annotations

import json

import pytest

from plimsoll._engine import Origin
from plimsoll.errors import UsageError
from plimsoll.load.guard_rails import (
    NO_RAILS,
    Cap,
    GuardRails,
    HostPatterns,
    check_contact,
    header_value,
    split_hosts,
)

FILE = "/etc/plimsoll/limits.toml"
OURS = GuardRails((HostPatterns(("*.example.com",)),), Cap(500.0), None, Cap(60.0))
THEIRS = GuardRails((HostPatterns(("10.0.0.0/8",), FILE),), Cap(100.0, FILE), Cap(50.0, FILE), Cap(600.0, FILE), FILE)


def test_of_two_caps_the_stricter_one_counts_whoever_comes_first() -> None:
    for joined in (OURS.joined(THEIRS), THEIRS.joined(OURS)):
        assert (joined.max_rate, joined.max_users, joined.max_run_time) == (
            Cap(100.0, FILE),
            Cap(50.0, FILE),
            Cap(60.0),
        )
        assert joined.identify_file == FILE
        assert set(joined.hosts) == {*OURS.hosts, *THEIRS.hosts}


def test_what_holds_already_is_not_added_again() -> None:
    assert OURS.joined(THEIRS).joined(THEIRS) == OURS.joined(THEIRS)
    assert NO_RAILS.joined(NO_RAILS) == NO_RAILS


def test_those_of_the_options_can_be_told_from_those_of_a_file() -> None:
    assert OURS.joined(THEIRS).of_options == GuardRails(OURS.hosts, None, None, Cap(60.0))
    assert THEIRS.of_options == NO_RAILS


def test_they_survive_a_message_that_knows_lists_only() -> None:
    for rails in (NO_RAILS, OURS, THEIRS, OURS.joined(THEIRS)):
        assert GuardRails.from_dict(json.loads(json.dumps(rails.to_dict()))) == rails


def test_each_is_said_as_it_was_given() -> None:
    assert OURS.joined(THEIRS).lines() == [
        "--allow-hosts *.example.com",
        f"allow_hosts = 10.0.0.0/8 ({FILE})",
        f"max_rate = 100/s ({FILE})",
        f"max_users = 50 ({FILE})",
        "--max-run-time 1m",
        f"require_identify ({FILE})",
    ]
    assert NO_RAILS.lines() == []


def test_a_host_must_be_on_the_list_of_both() -> None:
    allowed = OURS.joined(THEIRS).allowed_hosts()
    assert allowed is not None
    refusal = allowed.refusal(Origin("http://10.0.0.1", verify=False))
    assert refusal == "not allowed: 10.0.0.1 is not in the allowed hosts; allow it with --allow-hosts"
    allowed = THEIRS.allowed_hosts()
    assert allowed is not None
    assert allowed.refusal(Origin("http://10.0.0.1", verify=False)) is None
    refusal = allowed.refusal(Origin("http://192.0.2.1", verify=False))
    assert refusal == f"not allowed: 192.0.2.1 is not in allow_hosts of {FILE}"
    assert NO_RAILS.allowed_hosts() is None


def test_what_is_over_a_cap_is_refused_with_where_the_cap_is_said() -> None:
    rails = OURS.joined(THEIRS)
    with pytest.raises(UsageError, match=r"^so many: more than max_users = 50 \(/etc/plimsoll/limits.toml\)$"):
        rails.check_users(51, "so many")
    with pytest.raises(UsageError, match="that: more than max_rate = 100/s"):
        rails.check_rate(100.1, "that")
    with pytest.raises(UsageError, match="a run of 1m100ms: more than --max-run-time 1m"):
        rails.check_run_time(60.1)
    rails.check_users(50, "")
    rails.check_rate(100.0, "")
    rails.check_run_time(60.0)
    NO_RAILS.check_users(10**9, "")


def test_hosts_are_separated_by_commas_or_given_again() -> None:
    assert split_hosts(["a.example, 10.0.0.0/8", "::1"]) == ("a.example", "10.0.0.0/8", "::1")
    assert split_hosts([]) == ()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a.example,", '--allow-hosts "": this is no host'),
        ("*", "this would allow every host"),
        ("http://a.example", "this is a URL; write the host alone"),
        ("10.0.0.1/8", "write 10.0.0.0/8"),
    ],
)
def test_what_is_no_host_is_refused(value: str, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        split_hosts([value])
    assert reason in str(error.value)


def test_the_header_says_which_run_it_is_and_whom_to_ask() -> None:
    assert header_value("ops@example.com", "20261123-1645-g11w") == (
        "plimsoll run=20261123-1645-g11w contact=ops@example.com"
    )
    assert header_value("x", None) == "plimsoll contact=x"
    assert check_contact(" ops@example.com ") == "ops@example.com"
    for text in ("", " ", "a\r\nX: y", "ä"):
        with pytest.raises(UsageError, match="--identify"):
            check_contact(text)
