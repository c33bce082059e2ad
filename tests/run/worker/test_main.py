from __future__ import annotations

import logging

import gevent.event
import gevent.socket

from plimsoll.run.transport.frames import Frames, pack
from plimsoll.run.transport.messages import Exchanges, Quit
from plimsoll.run.worker import main
from plimsoll.run.worker.main import WorkerServer

TIMEOUT_S = 60.0


def test_the_lease_is_renewed_when_an_order_arrives_not_when_it_is_carried_out(monkeypatch):
    """Nothing is carried out here: with thousands of busy users that takes its turn behind all of them."""
    ours, theirs = gevent.socket.socketpair()
    with ours, theirs:
        server = WorkerServer(theirs, 0, lambda *_: None)
        renewed = gevent.event.Event()
        monkeypatch.setattr(server._worker, "renew", renewed.set)
        ours.sendall(pack("renew"))
        assert renewed.wait(TIMEOUT_S)
        assert server._incoming.qsize() == 1
        ours.close()
        while server._incoming.qsize() < 2:
            gevent.sleep(0.01)


def test_rows_of_exchanges_that_the_coordinator_does_not_take_do_not_fill_the_memory(monkeypatch, caplog):
    rows = bytes(1 << 20)
    monkeypatch.setattr(main, "MAX_UNSENT_BYTES", 10 * len(rows))
    ours, theirs = gevent.socket.socketpair()
    with ours, theirs:
        server = WorkerServer(theirs, 0, lambda *_: None)
        with caplog.at_level(logging.ERROR):
            for epoch in range(20):
                server._tell(Exchanges(epoch, [], rows))
        server._tell(Quit())
        frames, seen = Frames(), []
        while not seen or seen[-1][0] != "quit":
            seen += frames.feed(ours.recv(1 << 20))
        assert [arguments[0] for _, arguments in seen[:-1]] == list(range(9)), "the first, and news goes on"
        assert [record.getMessage() for record in caplog.records] == [
            "the file of exchanges is not complete: the coordinator takes the rows too slowly"
        ]
        # Once they are taken, further ones are sent.
        server._tell(Exchanges(99, [], rows))
        seen.clear()
        while not seen:
            seen += frames.feed(ours.recv(1 << 20))
        assert seen[0][1][0] == 99
        ours.close()
