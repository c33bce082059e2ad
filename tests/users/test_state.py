"""What a user keeps: the state that each request uses, and no dict of its own."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import pytest
from tests.users.pacing import due_of, has_yielded, pacing_of, state_of
from tests.users.recording_server import RecordingServer
from tests.users.user_helpers import run_to_end

from plimsoll.locust.api import Environment
from plimsoll.locust.fasthttp.user import FastHttpUser
from plimsoll.users.exceptions import StopUser
from plimsoll.users.state import ReplyWaits
from plimsoll.users.tasks import task
from plimsoll.users.user import HttpUser, User

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench


def test_a_user_whose_class_has_its_own_init_has_the_state() -> None:
    class Own(User):
        def __init__(self, environment: Environment) -> None:
            self.environment = environment

    user = Own(Environment())
    assert (pacing_of(user), has_yielded(user), state_of(user)) == ((0, 0, 0), False, None)


def test_a_class_of_users_may_have_other_bases() -> None:
    class Named:
        def __init__(self) -> None:
            self.name = "Ada"

    class Both(Named, User):
        def __init__(self, environment: Environment) -> None:
            User.__init__(self, environment)
            Named.__init__(self)

    user = Both(Environment())
    assert (user.name, due_of(user)) == ("Ada", 0)


@pytest.mark.parametrize("kind", [HttpUser, FastHttpUser])
def test_neither_the_start_nor_the_first_request_gives_a_user_or_its_session_another_attribute(
    kind: type[HttpUser | FastHttpUser],
) -> None:
    class Browser(kind):  # type: ignore[misc, valid-type]
        @task
        def browse(self) -> None:
            self.client.get("/")
            raise StopUser

    with RecordingServer() as target:
        Browser.host = target.url
        fresh, used = Browser(Environment()), run_to_end(Browser)
        assert len(target.got) == 1
    # CPython adds no name to the table of a class of which some thirty objects exist.
    assert set(vars(used)) - {"_is_leaving"} == set(vars(fresh))
    assert set(vars(used.client)) == set(vars(fresh.client))


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_the_settings_of_a_session_take_no_dict(kind: str, session_bench: SessionBench) -> None:
    session = getattr(session_bench, kind)("http://example.org")
    session.base_url = session.base_url
    # An object without a dict refers to the values of its attributes themselves. From CPython 3.13 on, an object has a
    # dict if its class has fields in C, or slots.
    dicts = [each for each in gc.get_referents(session) if isinstance(each, dict)]
    assert len(dicts) <= (sys.version_info >= (3, 13))


def test_waits_for_replies_add_up_once_and_only_within_the_time_that_is_asked_for() -> None:
    waits = ReplyWaits(until=10)
    waits.begin(20)
    waits.begin(25)
    waits.end(30)
    waits.end(40)
    waits.begin(60)
    assert waits.within(0, 70) == 10 + 20 + 10
    assert waits.within(5, 30) == 5 + 10
    waits.end(80)
    assert waits.within(65, 100) == 15
    assert ReplyWaits().within(0, 100) == 0
