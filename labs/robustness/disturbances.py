"""The disturbances of a run: one function each, and the guarantees that remain."""

import resource
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import psutil

from .promise import LEASE_S, REPORT_S, Promise
from .system_calls import RULES

if TYPE_CHECKING:
    from .scene import Scene


@dataclass(frozen=True)
class Disturbance:
    name: str
    act: Callable[["Scene", Random], None]
    """Applies the disturbance."""
    promise: Promise = field(default_factory=Promise)
    system_calls: str | None = None
    """The rules for system calls that must be set when the processes start."""
    any_protocol: bool = True
    """Every target can do its part."""
    load: Mapping[str, Any] = field(default_factory=dict)
    """What a trial with it is like, by fields of `Trial`."""


def nothing(scene: "Scene", chance: Random) -> None:
    pass


def kill_worker(scene: "Scene", chance: Random) -> None:
    scene.signal(chance.choice(scene.workers()), signal.SIGKILL)


def stop_worker(scene: "Scene", chance: Random) -> None:
    worker = chance.choice(scene.workers())
    scene.signal(worker, signal.SIGSTOP)
    time.sleep(chance.uniform(0.5, 2.5))
    scene.signal(worker, signal.SIGCONT)


def kill_main_node(scene: "Scene", chance: Random) -> None:
    """Of a locustfile with several workers; its place is behind theirs."""
    index = str(scene.trial.processes)
    nodes = [each for each in scene.workers() if psutil.Process(each).cmdline()[-1] == index]
    scene.signal(nodes[0], signal.SIGKILL)


def stop_only_worker(scene: "Scene", chance: Random) -> None:
    """For most of the run."""
    (worker,) = scene.workers()
    scene.signal(worker, signal.SIGSTOP)
    time.sleep(chance.uniform(3.2, 3.8))
    scene.signal(worker, signal.SIGCONT)


def kill_coordinator(scene: "Scene", chance: Random) -> None:
    scene.signal(scene.coordinator, signal.SIGKILL)


def stop_coordinator(shortest: float, longest: float, scene: "Scene", chance: Random) -> None:
    scene.signal(scene.coordinator, signal.SIGSTOP)
    time.sleep(chance.uniform(shortest, longest))
    scene.signal(scene.coordinator, signal.SIGCONT)


def ask_to_end(number: int, times: int, scene: "Scene", chance: Random) -> None:
    for _ in range(times):
        scene.signal(scene.coordinator, number)
        time.sleep(0.1)


def stop_target(scene: "Scene", chance: Random) -> None:
    scene.signal(scene.target.pid, signal.SIGSTOP)
    time.sleep(chance.uniform(0.2, 1.5))
    scene.signal(scene.target.pid, signal.SIGCONT)


def accept_nothing(scene: "Scene", chance: Random) -> None:
    scene.target.stall_accepting(chance.uniform(0.2, 1.0))


def delete_store(scene: "Scene", chance: Random) -> None:
    scene.store.unlink(missing_ok=True)


def overwrite_store(scene: "Scene", chance: Random) -> None:
    with scene.store.open("r+b") as file:
        file.write(bytes(scene.store.stat().st_size))


def fill_disk(scene: "Scene", chance: Random) -> None:
    """Limits the size of the coordinator's files to their current size plus a little."""
    log = scene.store.with_name(f"{scene.store.name}-wal")
    largest = max(path.stat().st_size if path.exists() else 0 for path in (scene.store, log))
    full = max(largest, 96 * 1024) + chance.randint(0, 64 * 1024)
    resource.prlimit(scene.coordinator, resource.RLIMIT_FSIZE, (full, full))


def no_more_files(scene: "Scene", chance: Random) -> None:
    """No process of the run can open a file or a connection."""
    for process in (scene.coordinator, *scene.workers()):
        _, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (scene.files_of(process), hard))
    time.sleep(chance.uniform(0.3, 1.5))
    for process in (scene.coordinator, *scene.workers()):
        _, hard = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (hard, hard))


def stop_reading(scene: "Scene", chance: Random) -> None:
    scene.output.pause()


def close_output(scene: "Scene", chance: Random) -> None:
    scene.output.close()


def fail_calls(scene: "Scene", chance: Random) -> None:
    """For a while, or to the end of the run."""
    scene.switch.turn(on=True)
    if chance.random() < 0.5:
        time.sleep(chance.uniform(0.3, 2.0))
        scene.switch.turn(on=False)


COORDINATOR_GONE = Promise("moment", LEASE_S, loses=(REPORT_S, 60.0), has_report=False, exit_codes=frozenset({-9}))
WORKER_LOST = Promise(loses=(REPORT_S, 0.5), exit_codes=frozenset({2, 3}))
"""2 if it was the main node, which exists only for locustfiles: the run needs it."""
COORDINATOR_STOPPED = Promise("moment", LEASE_S, exit_codes=frozenset({1, 3}))
"""1 if the load ended before the lease did."""
MAIN_NODE_LOST = Promise("moment", loses=(REPORT_S, 0.5), exit_codes=frozenset({2}), is_invalid=True)
STOOD_STILL = Promise(exit_codes=frozenset({3}), is_invalid=True)
ENDED = Promise("moment", exit_codes=frozenset({1, 3}))
CUT_OFF = Promise("moment", exit_codes=frozenset({1, 3, 130, 143}))
STORE_LOST = Promise(exit_codes=frozenset({2}), has_store=False)
STORE_PARTLY_LOST = Promise(exit_codes=frozenset({1, 2, 3}))
MAY_BE_INVALID = Promise(exit_codes=frozenset({1, 3}))

_ONE_WORKER = {"is_open": False, "processes": 1, "users": 20, "seconds": 6.0, "moment": 0.2}
_ALL = (
    Disturbance("nothing", nothing, MAY_BE_INVALID),
    Disturbance("worker killed", kill_worker, WORKER_LOST),
    Disturbance("worker stopped", stop_worker, MAY_BE_INVALID),
    Disturbance("main node killed", kill_main_node, MAIN_NODE_LOST, load={"is_native": False, "processes": 2}),
    Disturbance("only worker stopped", stop_only_worker, STOOD_STILL, load=_ONE_WORKER),
    Disturbance("coordinator killed", kill_coordinator, COORDINATOR_GONE),
    Disturbance("coordinator stopped briefly", partial(stop_coordinator, 0.3, 2.0), MAY_BE_INVALID),
    Disturbance("coordinator stopped", partial(stop_coordinator, 4.5, 6.0), COORDINATOR_STOPPED),
    Disturbance("Ctrl-C", partial(ask_to_end, signal.SIGINT, 1), ENDED),
    Disturbance("Ctrl-C twice", partial(ask_to_end, signal.SIGINT, 2), CUT_OFF),
    Disturbance("SIGTERM", partial(ask_to_end, signal.SIGTERM, 1), ENDED),
    Disturbance("target stopped", stop_target, MAY_BE_INVALID),
    Disturbance("no connection accepted", accept_nothing, MAY_BE_INVALID, any_protocol=False),
    Disturbance("store deleted", delete_store, STORE_LOST),
    # SQLite may repair the file from its log.
    Disturbance("store overwritten", overwrite_store, replace(STORE_LOST, exit_codes=frozenset({1, 2, 3}))),
    Disturbance("disk full", fill_disk, STORE_PARTLY_LOST),
    Disturbance("no more files", no_more_files, Promise(may_fail_unsent=True, exit_codes=frozenset({1, 2, 3}))),
    Disturbance("output not read", stop_reading, MAY_BE_INVALID),
    Disturbance("output closed", close_output, MAY_BE_INVALID),
    *(
        Disturbance(name, fail_calls, Promise(may_fail_unsent=True, exit_codes=frozenset({1, 2, 3})), name)
        for name in RULES
    ),
)
DISTURBANCES = {each.name: each for each in _ALL}
