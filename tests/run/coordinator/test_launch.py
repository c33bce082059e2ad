"""The order in which the processes of a run get ready, and what becomes of the plan meanwhile."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from plimsoll.record.facts import RunFacts
from plimsoll.run.coordinator.launch import Launch
from plimsoll.run.coordinator.peers import ConnectedWorkers, MessageRouter
from plimsoll.run.plan import RunPlan
from plimsoll.run.transport.bundle import Bundle
from plimsoll.run.transport.messages import Prepared, Ready
from plimsoll.run.transport.orders import Init, Open, Order, Prepare


class Process:
    """Notes the orders that it is given."""

    def __init__(self, index: int, log: list[tuple[Any, ...]]) -> None:
        self.index = index
        self._log = log

    def order(self, order: Order) -> None:
        # The plan, which comes first, is another one in each test.
        self._log.append((self.index, type(order), *order.to_list()[1:]))


class Processes:
    """As much of `MessageRouter` as a launch needs."""

    def __init__(self, workers: list[Process], main: Process | None) -> None:
        self.main = main
        self.workers = ConnectedWorkers(workers)  # type: ignore[arg-type]
        self.order_workers = partial(MessageRouter.order_workers, self)
        self.processes = [*([main] if main else []), *workers]


def ready(**values: Any) -> Ready:
    return Ready(**{"classes": [], "kernel_stamps": True, **values})


@pytest.fixture
def log() -> list[tuple[Any, ...]]:
    return []


def launch_of(count: int, log: list[tuple[Any, ...]], *, main: bool) -> tuple[Launch, list[Any]]:
    workers = [Process(index, log) for index in range(count)]
    nodes = Processes(workers, Process(count, log) if main else None)
    launch = Launch(RunPlan(processes=count), nodes)  # type: ignore[arg-type]
    launch.begin()
    return launch, nodes.processes


def test_a_single_worker_is_prepared_then_opened_with_what_its_locustfile_wants(log: list[tuple[Any, ...]]) -> None:
    launch, (worker,) = launch_of(1, log, main=False)
    assert log == [(0, Prepare, 1, Bundle().to_list(), {}), (0, Init)]
    launch.on_prepared(worker, Prepared({"users": 7}), goes_on=True)
    assert launch.plan.users == 7
    assert log[2:] == [(0, Open, None)]
    assert launch.on_ready(worker, ready(shaped=True, thresholds=["p99 < 1s"], kernel_stamps=False), goes_on=True)
    assert (launch.shaped, launch.thresholds, launch.stamp) == (True, ["p99 < 1s"], "user")


@pytest.mark.parametrize(("shaped", "seconds"), [(False, 5.0), (True, None)])
def test_only_the_main_node_knows_of_a_shape_and_its_load_has_no_end_that_is_known(
    log: list[tuple[Any, ...]], shaped: bool, seconds: float | None
) -> None:
    launch, (main, *workers) = launch_of(2, log, main=True)
    for process in (main, *workers):
        launch.on_prepared(process, Prepared({"run_time": 5.0} if process is main else {}), goes_on=True)
    launch.on_ready(main, ready(shaped=shaped), goes_on=True)
    for worker in workers:
        launch.on_ready(worker, ready(), goes_on=True)
    assert (launch.plan.run_time, launch.shaped, launch.seconds) == (5.0, shaped, seconds)


def test_the_main_node_goes_first_and_shares_what_it_has(log: list[tuple[Any, ...]]) -> None:
    launch, (main, one, two) = launch_of(2, log, main=True)
    assert log == [
        (2, Prepare, 2, Bundle().to_list(), {}),
        (0, Prepare, 2, Bundle().to_list(), {}),
        (1, Prepare, 2, Bundle().to_list(), {}),
        (2, Init),
    ]
    del log[:]
    for process in (main, one, two):
        launch.on_prepared(process, Prepared(), goes_on=True)
    assert log == [(0, Init), (1, Init), (2, Open, None)]
    del log[:]
    assert not launch.on_ready(main, ready(shared=b"x"), goes_on=True)
    assert log == [(0, Open, b"x"), (1, Open, b"x")]
    assert not launch.on_ready(one, ready(), goes_on=True)
    assert launch.on_ready(two, ready(), goes_on=True)


def test_nothing_follows_once_the_run_is_to_end(log: list[tuple[Any, ...]]) -> None:
    launch, (worker,) = launch_of(1, log, main=False)
    launch.on_prepared(worker, Prepared({"users": 7}), goes_on=False)
    assert (launch.plan.users, log[2:]) == (1, [])
    assert not launch.on_ready(worker, ready(), goes_on=False)


def test_the_worker_that_missed_second_0_by_most_says_how_a_run_began(log: list[tuple[Any, ...]]) -> None:
    launch, (first, second) = launch_of(2, log, main=False)
    assert launch.with_start(RunFacts()) == RunFacts()
    launch.on_started(first, 2_000_000)
    launch.on_started(second, -3_500_000)
    assert launch.with_start(RunFacts()).start_error_ms == 3.5
