from __future__ import annotations

import gevent.event
import gevent.socket

from plimsoll.run.transport.frames import pack
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
