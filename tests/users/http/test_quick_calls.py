"""Arguments, heads and endpoints of common calls: what the engine keeps of a call changes nothing for later ones."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from tests.users.http.test_quick import JSON, compare, outcome
from tests.users.recording_server import answer

from plimsoll.users.http.session import HttpSession

if TYPE_CHECKING:
    from tests.users.conftest import SessionBench
    from tests.users.recording_server import RecordingServer

WRONG: dict[str, tuple[Any, str]] = {
    "no URL": (lambda session: session.get(), "get() missing 1 required positional argument: 'url'"),
    "no URL but data": (lambda session: session.put(data=b""), "put() missing 1 required positional argument: 'url'"),
    "two of one": (lambda session: session.get("/a", "/b"), "get() takes 1 positional arguments but 2 were given"),
    "three of two": (
        lambda session: session.patch("/a", b"", {}),
        "patch() takes from 1 to 2 positional arguments but 3 were given",
    ),
    "four of three": (
        lambda session: session.post("/a", b"", {}, "n"),
        "post() takes from 1 to 3 positional arguments but 4 were given",
    ),
    "the URL twice": (
        lambda session: session.delete("/a", url="/b"),
        "delete() got multiple values for argument 'url'",
    ),
    "the data twice": (
        lambda session: session.post("/a", b"x", data=b"y"),
        "post() got multiple values for argument 'data'",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments_raise_the_errors_of_functions(
    case: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    call, message = WRONG[case]
    for _ in range(2):
        with pytest.raises(TypeError) as caught:
            call(session)
        assert str(caught.value) == f"HttpSession.{message}"
    assert (target.got, session_bench.counts) == ([], {})
    with pytest.raises(TypeError, match="doesn't apply to a 'int' object"):
        HttpSession.get(1, "/a")  # type: ignore[call-overload]


def test_arguments_may_have_names_that_a_script_makes(session_bench: SessionBench, target: RecordingServer) -> None:
    made = {"".join(letters): value for letters, value in [("url", "/x"), ("name", "n"), ("json", [1])]}
    compare(session_bench, target, lambda session: session.post(**made))
    assert [(each.target, each.body) for each in target.got[2:]] == [("/x", b"[1]")] * 2
    assert session_bench.counts["POST", "n", "success"] == 2


@pytest.mark.parametrize("verb", ["get", "post", "put", "patch", "delete"])
def test_verbs_show_their_arguments(verb: str) -> None:
    positional = {"post": "data=None, json=None, ", "put": "data=None, ", "patch": "data=None, "}.get(verb, "")
    assert str(inspect.signature(getattr(HttpSession, verb))) == f"(self, /, url, {positional}**kwargs)"


VALUES_OF_HEADERS: list[dict[str, Any]] = [
    {"Authorization": "Bearer 1", "Accept": "text/html", "X-Id": "1"},
    {"Authorization": "Bearer 22", "Accept": "", "X-Id": "22\t2"},
    {"Authorization": b"bytes", "Accept": "*/*", "X-Id": "3"},
    {"Authorization": "ä", "Accept": "日", "X-Id": "4"},
    {"Authorization": None, "Accept": None, "X-Id": None},
    {"Authorization": "a\r\nb", "Accept": "x", "X-Id": "5"},
    {"Authorization": "x", "Accept": "x", "X-Id": 6},
    {"Authorization": "Bearer 7", "Accept": "text/html", "X-Id": "7"},
]


def assert_same(sessions: Any, bench: SessionBench, target: RecordingServer, method: str, **arguments: Any) -> None:
    quick, full = (
        outcome(each, bench, target, lambda session: getattr(session, method)("/x", **arguments)) for each in sessions
    )
    assert quick == full


@pytest.mark.parametrize("method", ["get", "post", "delete"])
@pytest.mark.parametrize("body", [{}, {"json": JSON}, {"data": b"bytes"}], ids=str)
def test_values_of_headers_are_the_same_as_without_the_shortcut_in_call_after_call(
    body: dict[str, Any], method: str, session_bench: SessionBench, target: RecordingServer
) -> None:
    quick, full = (session_bench.http(f"http://127.0.0.1:{target.port}") for _ in range(2))
    for session in (quick, full):
        session.get("/first")
    full._is_special = True
    for headers in VALUES_OF_HEADERS:
        # The second has other objects as names, and the third other names.
        others = {"".join(list(name)): value for name, value in headers.items()}
        for each in (headers, others, {name.lower(): value for name, value in headers.items()}):
            assert_same((quick, full), session_bench, target, method, headers=each, **body)
    # The lines of a session decide too.
    for session in (quick, full):
        session.headers["X-Id"] = "session"
    for headers in VALUES_OF_HEADERS[:2]:
        assert_same((quick, full), session_bench, target, method, headers=headers, **body)


def test_names_of_headers_that_a_script_makes_up_are_all_sent(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    for number in range(50):
        session.post("/x", json=number, headers={f"X-{number}": str(number)})
        session.post("/x", json=number, headers={"X-0": f"again {number}"})
    sent = [[value for name, value in each.headers if name.startswith("X-")] for each in target.got]
    assert sent == [value for number in range(50) for value in ([str(number)], [f"again {number}"])]


def test_each_of_many_names_counts_its_own_calls(session_bench: SessionBench, target: RecordingServer) -> None:
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    names = [f"name {number}" for number in range(300)]
    for turn in range(3):
        for number, name in enumerate(names):
            # The same object, and one that is freed after the call: another may get its address.
            session.get("/x", name=name if turn else f"name {number}")
            session.delete(f"/{number % 7}")
    counts = session_bench.counts
    assert [counts["GET", name, "success"] for name in names] == [3] * 300
    assert sum(counts["DELETE", f"/{number}", "success"] for number in range(7)) == 900
    assert len(counts) == 307


def test_names_over_the_limit_of_the_recorder_count_as_others(
    session_bench: SessionBench, target: RecordingServer
) -> None:
    session_bench.recorder.limit_names(2)
    session = session_bench.http(f"http://127.0.0.1:{target.port}")
    names = ["a", "b", "c", "d"]
    for name in names * 3:
        session.get("/x", name=name)
    assert session_bench.counts == {
        ("GET", "a", "success"): 3,
        ("GET", "b", "success"): 3,
        ("", "(others)", "success"): 6,
    }


def test_each_of_many_users_gets_its_own_reply(session_bench: SessionBench, target: RecordingServer) -> None:
    """So many that the engine fetches ahead what they need."""
    users = range(450)
    target.answers |= {f"/{user}": answer(200, str(user).encode()) for user in users}

    def act(user: int) -> list[str]:
        session = session_bench.http(target.url)
        return [session.get(f"/{user}").text for _ in range(3)]

    greenlets = [gevent.spawn(act, user) for user in users]
    gevent.joinall(greenlets, timeout=60, raise_error=True)
    assert [each.value for each in greenlets] == [[str(user)] * 3 for user in users]
