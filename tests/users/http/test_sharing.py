"""Connections that several users share."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from plimsoll.errors import LocustfileError
from plimsoll.users.http.sharing import share, users_per_connection
from plimsoll.users.user import http2_classes




class User:
    http2 = True
    users_per_connection = 2


class Other(User):
    pass


class Plain:
    users_per_connection = 2


class Session:
    """A thing that can be referred to weakly."""


class Engine:
    """Makes clients that are numbers."""

    def __init__(self) -> None:
        self.made = 0

    def client(self, source: str | None) -> Any:
        self.made += 1
        return self.made


class FakeHub:
    def __init__(self) -> None:
        self.engine = Engine()


def joined(hub: Any, cls: type = User) -> tuple[Session, Any]:
    session = Session()
    return session, share(session, hub, cls, 2, None)


def clients(*members: tuple[Session, Any]) -> list[int]:
    return [shared.client for _, shared in members]


def test_users_fill_a_connection_before_the_next_one() -> None:
    hub = FakeHub()
    members = [joined(hub) for _ in range(5)]
    assert clients(*members) == [1, 1, 2, 2, 3]


def test_a_place_that_becomes_free_is_taken() -> None:
    hub = FakeHub()
    members = [joined(hub) for _ in range(4)]
    del members[0]
    gc.collect()
    assert clients(joined(hub)) == [1]


def test_classes_and_hubs_have_connections_of_their_own() -> None:
    hub, other = FakeHub(), FakeHub()
    assert clients(joined(hub), joined(hub, Other), joined(other)) == [1, 2, 1]


def test_the_last_user_leaves_nothing_behind() -> None:
    hub = FakeHub()
    first = joined(hub)
    del first
    gc.collect()
    assert clients(joined(hub)) == [2]


def test_only_users_with_http2_share() -> None:
    assert [users_per_connection(each) for each in (User(), Plain(), None)] == [2, 1, 1]


def test_classes_with_http2_are_known_by_name() -> None:
    assert http2_classes([User, Plain, Other]) == {"User": 2, "Other": 2}


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "2", None])
def test_a_wrong_number_is_named(wrong: object) -> None:
    cls = type("Wrong", (), {"http2": True, "users_per_connection": wrong})
    with pytest.raises(LocustfileError, match=r"Wrong\.users_per_connection must be a number of at least 1"):
        http2_classes([cls])
