from __future__ import annotations

import socket

import pytest
from requests import exceptions as requests_errors

from plimsoll.locust.stats.remade import FiledError, remade
from plimsoll.users.exceptions import CatchResponseError


@pytest.mark.parametrize(
    "error",
    [
        CatchResponseError('line one\nline "two"'),
        requests_errors.HTTPError("404 Client Error: Not Found for url: /x"),
        ConnectionRefusedError(111, "Connection refused"),
        socket.gaierror(-2, "Name or service not known"),
        KeyError("key"),
        ValueError(),
        requests_errors.ReadTimeout(ValueError("inner", 3)),
    ],
)
def test_a_known_exception_is_the_same_again(error):
    made = remade(repr(error))
    assert (type(made), repr(made), str(made)) == (type(error), repr(error), str(error))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("OwnError('no')", "no"),
        ("OwnError('no', 3)", "('no', 3)"),
        ("OwnError()", "OwnError()"),
        ("LocustBadStatusCode(code=404)", "LocustBadStatusCode(code=404)"),
        ("<AioRpcError of RPC>", "<AioRpcError of RPC>"),
        ("IncompleteRead(9 bytes read)", "IncompleteRead(9 bytes read)"),
        ("UnicodeDecodeError('no')", "no"),
        ("ValueError( 'no')", "no"),
        ("OwnError('no', code=404)", "OwnError('no', code=404)"),
        ("print('no')", "no"),
        ("Own(open('/etc/passwd'), name)", "Own(open('/etc/passwd'), name)"),
        ("a.b('no')", "a.b('no')"),
        ("1 + 1", "1 + 1"),
        ("(" * 500, "(" * 500),
    ],
)
def test_any_other_prints_as_it_did_and_says_what_is_in_it(text, said):
    made = remade(text)
    assert isinstance(made, FiledError)
    assert (repr(made), str(made)) == (text, said)
