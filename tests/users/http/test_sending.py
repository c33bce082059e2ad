"""A greenlet that waits for a reply: when it was due, and what happens if it is not let wait to the end."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

import gevent
import pytest
import requests
from gevent.pool import Pool
from tests.users.pacing import begin_arrival, end_wait, has_yielded, pacing_of
from tests.users.recording_server import RecordingServer, answer

from plimsoll._engine import Engine, now
from plimsoll.locust.fasthttp.session import FastHttpSession
from plimsoll.users.exceptions import StopUser
from plimsoll.users.http.sending import weakly
from plimsoll.users.http.session import HttpSession
from plimsoll.users.hub import Hub, current
from plimsoll.users.state import Pacer

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.users.conftest import SessionBench


class Someone(Pacer):
    """As much of a user as a session knows of."""

    environment = None

    def context(self) -> dict[str, Any]:
        return {}


def _until_the_target_has(target: RecordingServer, count: int) -> None:
    with gevent.Timeout(30):
        while len(target.got) < count:
            gevent.sleep(0.001)


SILENT = {"/silent": b""}


@pytest.mark.parametrize("reason", [gevent.GreenletExit, StopUser])
@pytest.mark.parametrize("kind", ["http", "fast"])
def test_a_greenlet_that_is_killed_cancels_its_exchange(
    reason: type[BaseException], kind: str, session_bench: SessionBench
) -> None:
    with RecordingServer(SILENT) as target:
        session = getattr(session_bench, kind)(target.url)
        waiting = gevent.spawn(session.get, "/silent")
        _until_the_target_has(target, 1)
        assert current().engine.in_flight == 1
        waiting.kill(reason)
        assert current().engine.in_flight == 0
        # The connection is gone with the exchange, the session is not.
        assert session.get("/next").ok
        assert [got.connection for got in target.got] == [1, 2]
    assert session_bench.counts == {("GET", "/silent", "unanswered"): 1, ("GET", "/next", "success"): 1}
    assert not session_bench.failures


def test_a_timeout_of_the_users_own_code_cancels_too(session_bench: SessionBench) -> None:
    with RecordingServer(SILENT) as target:
        session = session_bench.http(target.url)
        with pytest.raises(gevent.Timeout), gevent.Timeout(0.05):
            session.get("/silent", name="n")
    assert session_bench.counts == {("GET", "n", "unanswered"): 1}
    (waited,) = session_bench.recorded
    assert 50_000_000 <= waited.response_min == waited.response_max


def test_greenlets_of_one_user_may_send_at_the_same_time(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(target.url)
    target.answers["/x"] = lambda got: answer(200, got.target.encode())
    pool = Pool(5)
    paths = [f"/x?{n}" for n in range(50)]
    assert [response.text for response in pool.imap(lambda path: session.get(path, name="/x"), paths)] == paths
    assert session_bench.counts == {("GET", "/x", "success"): 50}
    assert len({got.connection for got in target.got}) <= 5


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_what_the_wake_up_was_late_is_owed_by_the_first_exchange_after_a_wait(
    kind: str, session_bench: SessionBench
) -> None:
    late = 5_000_000_000
    user = Someone()
    with RecordingServer() as target:
        session = getattr(session_bench, kind)(target.url, user)
        session.get("/x")
        end_wait(user, now() - late, late)
        before = now()
        first = session.get("/x")
        assert pacing_of(user)[:2] == (0, 0)
        second = session.get("/x")
    assert before - late <= first.reply.due <= first.reply.sent - late
    assert first.reply.lag >= late
    assert second.reply.due >= first.reply.read


@pytest.mark.parametrize("kind", ["http", "fast"])
def test_the_first_exchange_of_an_arrival_is_due_exactly_when_it_was(kind: str, session_bench: SessionBench) -> None:
    due = now() - 1_000_000_000
    user = Someone()
    with RecordingServer() as target:
        session = getattr(session_bench, kind)(target.url, user)
        begin_arrival(user, due)
        first = session.get("/x")
        assert pacing_of(user)[:2] == (0, 0)
        second = session.get("/x")
    assert first.reply.due == due
    assert second.reply.due >= first.reply.read


def test_what_the_users_code_does_between_wake_up_and_request_is_its_own_time(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    user = Someone()
    end_wait(user, now() - 7_000_000_000)
    assert session_bench.http(target.url, user).get("/x").reply.lag < 7_000_000_000


def test_a_user_knows_that_others_could_run(session_bench: SessionBench, target: RecordingServer) -> None:
    user = Someone()
    session_bench.http(target.url, user).get("/x")
    assert has_yielded(user)


def test_the_hub_is_that_of_the_users_environment(session_bench: SessionBench, target: RecordingServer) -> None:
    class Environment:
        hub = Hub(Engine())

    user = Someone()
    user.environment = Environment
    Environment.hub.start()
    session = session_bench.http(target.url, user)
    session.get("/x")
    assert Environment.hub.engine.connections == 1
    session.close()
    assert Environment.hub.engine.connections == 0
    Environment.hub.stop()


def test_a_session_goes_without_the_help_of_the_garbage_collector(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    gc.disable()
    try:
        session = session_bench.http(target.url)
        session.headers["X"] = "1"
        session.cookies.set("a", "1")
        with session.get("/x", catch_response=True) as response:
            response.success()
        gone = weakref.ref(session)
        del session, response
        assert gone() is None
    finally:
        gc.enable()


def test_weakly_calls_for_as_long_as_there_is_somebody() -> None:
    class Counter:
        count = 0

        def add(self) -> None:
            self.count += 1

    counter = Counter()
    call = weakly(counter.add)
    call()
    assert counter.count == 1
    del counter
    call()


def _as_partial(session: Any) -> None:
    session.request = partial(session.request, headers={"X": "mine"})


def _as_method(session: Any) -> None:
    base = type(session)

    def request(self: Any, method: str, url: str, **kwargs: Any) -> Any:
        return base.request(self, method, url, headers={"X": "mine"}, **kwargs)

    session.__class__ = type("Mine", (base,), {"request": request})


@pytest.mark.parametrize("kind", ["http", "fast"])
@pytest.mark.parametrize("replace", [_as_partial, _as_method])
def test_a_request_method_of_ones_own_is_what_get_calls(
    kind: str, replace: Callable[[Any], None], session_bench: SessionBench, target: RecordingServer
) -> None:
    session = getattr(session_bench, kind)(target.url)
    session.get("/x")
    replace(session)
    for _ in range(2):
        session.get("/x")
    assert [got.header("X") for got in target.got] == [None, "mine", "mine"]


@pytest.mark.parametrize("step", ["prepare_request", "merge_environment_settings", "send"])
@pytest.mark.parametrize("on_the_class", [True, False])
def test_steps_of_requests_that_are_replaced_are_gone_through(
    step: str, on_the_class: bool, session_bench: SessionBench, target: RecordingServer
) -> None:
    calls = []

    def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
        calls.append(step)
        return getattr(HttpSession, step)(self, *args, **kwargs)

    session = session_bench.http(target.url)
    if on_the_class:
        session.__class__ = type("Mine", (HttpSession,), {step: replaced})
    else:
        setattr(session, step, partial(replaced, session))
    session.get("/x")
    session.post("/x", json={})
    assert calls == [step, step]
    assert session_bench.counts == {("GET", "/x", "success"): 1, ("POST", "/x", "success"): 1}


class Signed(HttpSession):
    """A session that signs each request in the method that Locust's session has for it."""

    def _send_request_safe_mode(self, method: str, url: str, **kwargs: Any) -> Any:
        kwargs["headers"] = {**(kwargs.get("headers") or {}), "X-Signature": url}
        return super()._send_request_safe_mode(method, url, **kwargs)


class SignedFast(FastHttpSession):
    """The same of the fast client."""

    def _send_request_safe_mode(self, method: str, url: str, **kwargs: Any) -> Any:
        kwargs["headers"] = {**(kwargs.get("headers") or {}), "X-Signature": url}
        return super()._send_request_safe_mode(method, url, **kwargs)


@pytest.mark.parametrize(("kind", "signed"), [("http", Signed), ("fast", SignedFast)])
def test_a_replaced_way_of_sending_is_gone_through(
    kind: str, signed: type[Any], session_bench: SessionBench, target: RecordingServer
) -> None:
    session = getattr(session_bench, kind)(target.url)
    session.__class__ = signed
    session.get("/x", headers={"A": "1"})
    session.post("/x", json={"a": 1}, name="named")
    session.get("/x", allow_redirects=False)
    with session.get("/x", catch_response=True) as response:
        response.failure("not good")
    assert [got.header("x-signature") for got in target.got] == [f"{target.url}/x"] * 4
    assert [got.header("a") for got in target.got] == ["1", None, None, None]
    assert target.got[1].body.replace(b" ", b"") == b'{"a":1}'
    assert session_bench.counts == {
        ("GET", "/x", "success"): 2, ("POST", "named", "success"): 1, ("GET", "/x", "assertion"): 1,
    }  # fmt: skip


def test_a_replaced_way_of_sending_that_sends_twice_is_one_exchange_of_two_hops(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    class Twice(HttpSession):
        def _send_request_safe_mode(self, method: str, url: str, **kwargs: Any) -> Any:
            super()._send_request_safe_mode(method, f"{url}/login", **kwargs)
            return super()._send_request_safe_mode(method, url, **kwargs)

    session = session_bench.http(target.url)
    session.__class__ = Twice
    session.get("/x", name="x")
    assert [got.target for got in target.got] == ["/x/login", "/x"]
    assert [(each.count, each.hops) for each in session_bench.recorded] == [(1, 1)]


def test_a_replaced_way_of_sending_may_have_a_response_of_its_own(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    class Elsewhere(HttpSession):
        def _send_request_safe_mode(self, method: str, url: str, **kwargs: Any) -> Any:
            return requests.request(method, url, **kwargs)

    session = session_bench.http(target.url)
    session.__class__ = Elsewhere
    assert session.get("/x").status_code == 200
    assert session_bench.counts == {("GET", "/x", "success"): 1}


def test_a_failed_connection_is_a_response_of_the_replaced_way_of_sending(session_bench: SessionBench) -> None:
    session = session_bench.http("http://127.0.0.1:1")  # nothing listens there
    session.__class__ = Signed
    assert session.get("/x").status_code == 0
    assert session_bench.counts == {("GET", "/x", "connect"): 1}


@pytest.mark.parametrize(
    "step", ["_build_url", "get_adapter", "rebuild_auth", "rebuild_method", "resolve_redirects", "get_redirect_target"]
)
def test_further_methods_that_are_replaced_are_gone_through(step: str, session_bench: SessionBench) -> None:
    calls = []

    def replaced(self: Any, *args: Any) -> Any:
        calls.append(step)
        return getattr(HttpSession, step)(self, *args)

    def replaced_with_names(self: Any, *args: Any, stream: Any = False, **kwargs: Any) -> Any:
        assert "chain" not in kwargs
        return replaced(self, *args)

    own = replaced_with_names if step == "resolve_redirects" else replaced
    with RecordingServer({"/redirect": answer(302, b"", (("Location", "/x"),)), "/x": answer(200)}) as target:
        session = session_bench.http(target.url)
        session.__class__ = type("Mine", (HttpSession,), {step: own})
        assert session.get("/redirect").status_code == 200
        assert session.post("/redirect", data="x").status_code == 200
    assert len(calls) >= 2
    assert sum(each.count + each.hops for each in session_bench.recorded) == len(target.got) == 4
