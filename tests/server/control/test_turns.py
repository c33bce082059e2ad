from __future__ import annotations

import threading

from tests.server.page_server import in_thread, wait_until

from plimsoll.server.control.turns import PriorityLock


def test_the_first_waits_for_one_of_the_others_only():
    turns = PriorityLock()
    order: list[str] = []
    go = threading.Event()
    begun = threading.Event()

    def hold() -> None:
        with turns.other():
            begun.set()
            go.wait(60)
            order.append("holder")

    def other() -> None:
        with turns.other():
            order.append("other")

    def first() -> None:
        with turns.first():
            order.append("first")

    threads = [in_thread(hold)]
    begun.wait(60)
    threads += [in_thread(other) for _ in range(5)]
    threads.append(in_thread(first))
    wait_until(lambda: not turns._is_free.is_set())
    go.set()
    for each in threads:
        each.join(60)
    # One of the others may have been let through before the first wanted its turn.
    assert order[0] == "holder"
    assert order.index("first") <= 2
    assert len(order) == 7


def test_nobody_is_let_in_beside_another():
    turns = PriorityLock()
    inside = []
    most = []

    def work(enter) -> None:
        for _ in range(200):
            with enter():
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [in_thread(lambda: work(turns.other)) for _ in range(4)] + [in_thread(lambda: work(turns.first))]
    for each in threads:
        each.join(60)
    assert (max(most), len(most)) == (1, 1000)
