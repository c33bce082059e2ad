from __future__ import annotations

import gevent

from plimsoll.run.worker.lease import CHECK_NS, END_MARGIN_NS, LEASE_NS, LoadLease


class Watched:
    """A lease on a clock that the test moves, and what it did."""

    def __init__(self, end: int | None = None) -> None:
        self.at = 1_000
        self.did: list[str] = []
        self.lease = LoadLease(lambda: self.did.append("time up"), lambda: self.did.append("expired"), lambda: self.at)
        self.lease.start(end)
        self.lease.stop()

    def checks(self, count: int, step: int = CHECK_NS) -> bool:
        """Whether the load goes on after so many checks."""
        for _ in range(count):
            self.at += step
            if not self.lease.check():
                return False
        return True


def test_load_without_orders_ends_after_the_lease() -> None:
    watched = Watched()
    assert watched.checks(LEASE_NS // CHECK_NS - 1)
    assert watched.did == []
    assert not watched.checks(1)
    assert watched.did == ["expired"]


def test_each_order_gives_another_lease() -> None:
    watched = Watched()
    for _ in range(5):
        assert watched.checks(LEASE_NS // CHECK_NS - 1)
        watched.lease.renew()
    assert watched.did == []


def test_time_in_which_the_worker_itself_stood_still_does_not_count() -> None:
    watched = Watched()
    assert watched.checks(1, step=60 * LEASE_NS), "orders that came in this time are yet to be read"
    watched.lease.renew()
    assert watched.checks(LEASE_NS // CHECK_NS - 1)


def test_load_ends_soon_after_its_time_is_up_though_orders_come() -> None:
    end = 1_000 + 20 * LEASE_NS
    watched = Watched(end)
    while watched.at + CHECK_NS < end + END_MARGIN_NS:
        watched.lease.renew()
        assert watched.checks(1)
    watched.lease.renew()
    assert not watched.checks(1)
    assert watched.did == ["time up"]
    assert watched.at <= end + END_MARGIN_NS + CHECK_NS


def test_the_checks_run_by_themselves_until_the_lease_is_stopped() -> None:
    did: list[str] = []
    at = iter(range(0, 100 * LEASE_NS, LEASE_NS))
    lease = LoadLease(lambda: did.append("time up"), lambda: did.append("expired"), lambda: next(at))
    lease.start(None)
    with gevent.Timeout(20):
        while not did:
            gevent.sleep(0.01)
    assert did == ["expired"]
    lease.stop()
