from __future__ import annotations

import socket

import pytest

from plimsoll.server.security.hosts import is_loopback, is_of_this_machine


@pytest.mark.parametrize(
    ("host", "is_ours"),
    [("", True), ("localhost", True), ("::1", True), ("127.9.9.9", True), ("0.0.0.0", False), ("example.org", False)],
)
def test_loopback_is_what_only_this_machine_reaches(host, is_ours):
    assert is_loopback(host) is is_ours


def test_the_name_that_was_given_is_one_of_ours():
    assert is_of_this_machine("loadgen.example", "LoadGen.example")
    assert not is_of_this_machine("other.example", "loadgen.example")


def test_names_that_the_machine_calls_itself_are_ours():
    assert is_of_this_machine(socket.gethostname(), "127.0.0.1")
    assert is_of_this_machine(socket.getfqdn().upper(), "127.0.0.1")
    assert is_of_this_machine("10.1.2.3", "127.0.0.1"), "an address is nobody's name"
