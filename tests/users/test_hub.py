"""The engine's replies reach the greenlets that wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gevent
from greenlet import getcurrent

from plimsoll._engine import Engine, Headers, Origin
from plimsoll.users.hub import Hub, current

if TYPE_CHECKING:
    from tests.users.recording_server import RecordingServer

    from plimsoll._engine import Reply


def _get(hub: Hub, url: str) -> int:
    client = hub.engine.client()
    client.send(getcurrent(), Origin(url), "GET", "/", Headers([]))
    return hub.wait().status


def test_a_reply_wakes_the_greenlet_that_sent(target: RecordingServer) -> None:
    hub = Hub(Engine())
    hub.start()
    waiting = [gevent.spawn(_get, hub, target.url) for _ in range(20)]
    gevent.joinall(waiting, timeout=30, raise_error=True)
    assert [each.value for each in waiting] == [200] * 20
    hub.stop()


class Gatherer:
    """No greenlet, but like one for the engine."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    def switch(self, reply: Reply) -> None:
        self.replies.append(reply)


class OwnSwitch(gevent.Greenlet):
    """Counts how often it is resumed."""

    resumed = 0

    def switch(self, *args: Any) -> Any:
        self.resumed += 1
        return super().switch(*args)


def test_greenlets_and_others_get_their_replies_by_their_own_switch(target: RecordingServer) -> None:
    hub, gatherer = Hub(Engine()), Gatherer()
    client = hub.engine.client()
    greenlets = [kind(_get, hub, target.url) for _ in range(5) for kind in (gevent.Greenlet, OwnSwitch)]
    for greenlet in greenlets:
        greenlet.start()
        client.send(gatherer, Origin(target.url), "GET", "/", Headers([]))
    hub.start()
    gevent.joinall(greenlets, timeout=30, raise_error=True)
    while len(gatherer.replies) < 10:
        gevent.sleep(0.01)
    assert [each.value for each in greenlets] == [200] * 10
    assert [each.resumed > 0 for each in greenlets if isinstance(each, OwnSwitch)] == [True] * 5
    assert [reply.status for reply in gatherer.replies] == [200] * 10
    hub.stop()


def test_others_run_while_one_waits(target: RecordingServer) -> None:
    hub = Hub(Engine())
    hub.start()
    other = gevent.spawn(int)
    _get(hub, target.url)
    assert other.dead
    hub.stop()


def test_a_hub_that_is_stopped_delivers_nothing_until_it_is_started_again(target: RecordingServer) -> None:
    hub = Hub(Engine())
    waiting = gevent.spawn(_get, hub, target.url)
    gevent.sleep(0.05)
    assert not waiting.dead
    hub.start()
    assert waiting.get(timeout=30) == 200
    hub.stop()


def test_there_is_one_hub_for_those_without_an_environment() -> None:
    assert current() is current()
