"""The process that is Ray's driver for the workers of one run. `plimsoll.run.placers.ray` has what it reads and writes.

Each machine has an actor, which runs one command, `plimsoll run --worker`, and passes on what that prints. Neither this
process nor the actors import gevent, which must not share one with Ray. Figures of the run do not go through Ray.

If the command is lost, the workers look for their master for a while (`MASTER_WAIT_S`), and go on if another one has
its address by then. This process ends with them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray
from ray.util import get_node_ip_address
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from plimsoll import __version__
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.placers.placer import REFUSED, worker_words
from plimsoll.run.placers.printed import LONGEST_LINE, PrintedLines, plain_line
from plimsoll.run.placers.ray import AUTO, MARK, RayOptions
from plimsoll.run.transport.join_token import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

REACH_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 15.0
"""Seconds after which a server that takes connections is none of Ray's; Ray itself waits for more than a minute."""
RETRY_S, LONGEST_RETRY_S = 2.0, 60.0
"""Seconds from the loss of an actor to the next one in its place: each time twice as many, until one lives longer."""
POLL_S = 0.2
USUAL_START_S = 10.0
"""Seconds that an actor may take to start."""
LEAVE_TIMEOUT_S = 5.0
"""Seconds for workers to end by themselves once their master has ended, and again once they are told to."""


class WorkerCommand:
    """The actor of one machine."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def about(self) -> dict[str, str]:
        """What has to be the same on all machines, and the name of this one."""
        return {"host": platform.node(), "Plimsoll": __version__, "Ray": ray.__version__}

    def run(self, words: list[str], token: str) -> Iterator[str | int]:
        """Run `plimsoll` with these words. Lines that it prints, and its exit code as the last."""
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", "-m", "plimsoll.run.parent", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, VARIABLE: token}, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        while data := process.stdout.readline(LONGEST_LINE):
            yield plain_line(data)
        yield process.wait()

    def end(self) -> None:
        """End it as Ctrl-C would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)


@dataclass(slots=True)
class Part:
    """A bundle of the placement group: a machine with an actor, or the wait for one."""

    number: int
    actor: Any = None
    host: str = ""
    """"": no machine is there yet."""
    printed: PrintedLines | None = None


class Driver:
    """request: the fields of `RayOptions`, and host, port and token of the master."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._options = RayOptions(*(request[name] for name in ("address", "nodes", "workers")))
        self._host, self._port, self._token = request["host"], request["port"], request["token"]
        self._parts = [Part(number) for number in range(self._options.nodes)]
        self._group: Any = None
        self._is_over = threading.Event()
        """Nothing is started any more."""
        self._has_answered = False
        """A machine could run an actor."""
        self._threads: list[threading.Thread] = []
        self._waiting = ""

    def start(self) -> None:
        """Connect, and ask for the machines. Raises UsageError, RayError."""
        connect(self._options.address)
        own_address: Any = get_node_ip_address
        self._host = self._host or own_address()
        cores = self._options.workers
        self._group = placement_group([{"CPU": cores}] * self._options.nodes, strategy="STRICT_SPREAD")
        say(started=True)
        self._threads = [threading.Thread(target=self._keep, args=(part,), daemon=True) for part in self._parts]
        self._threads.append(threading.Thread(target=self._say_waiting, daemon=True))
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """The master has ended: so do the workers."""
        self._is_over.set()
        self._join(LEAVE_TIMEOUT_S)
        for part in self._parts:
            if part.actor is not None:
                with contextlib.suppress(ray.exceptions.RayError):
                    part.actor.end.options(concurrency_group="control").remote()
        self._join(LEAVE_TIMEOUT_S)
        self._clear_up()

    def outlive(self) -> None:
        """The command is lost: the workers go on as long as they have a master, or look for one."""
        self._is_over.set()
        self._join(None)
        self._clear_up()

    def _join(self, seconds: float | None) -> None:
        end = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _clear_up(self) -> None:
        for part in self._parts:
            if part.actor is not None:
                with contextlib.suppress(Exception):
                    ray.kill(part.actor)
        if self._group is not None:
            remove_placement_group(self._group)
        ray.shutdown()

    def _keep(self, part: Part) -> None:
        """Have workers in this part of the placement group, which Ray moves to another machine if one is lost."""
        losses = 0
        while not self._is_over.is_set():
            begin = time.monotonic()
            try:
                code = self._run(part)
            except ray.exceptions.RayError as error:
                if not self._has_answered:
                    say(failure=_refused(error))
                    return
                where = part.host or "a machine"
                say(news=f"{where} is lost ({type(error).__name__}); Ray looks for another one")
            except PlimsollError as error:
                say(failure=str(error))
                return
            else:
                if code == 0 or self._is_over.is_set():
                    return
                how = f"{part.host}: its workers have ended with exit code {code}{_why(part)}"
                if code == REFUSED:
                    say(failure=how)
                    return
                say(news=how)
            finally:
                # One that is only out of reach holds the cores of the next one.
                with contextlib.suppress(Exception):
                    ray.kill(part.actor)
                part.actor, part.host = None, ""
            losses = 0 if time.monotonic() - begin > LONGEST_RETRY_S else losses + 1
            self._is_over.wait(min(RETRY_S * 2 ** (losses - 1), LONGEST_RETRY_S))

    def _run(self, part: Part) -> int:
        """The exit code of the workers; 0 if nothing is started any more. Raises RayError, UsageError."""
        threads: dict[str, Any] = {"concurrency_groups": {"control": 1}}
        remote: Any = ray.remote(**threads)(WorkerCommand)
        place = PlacementGroupSchedulingStrategy(self._group, placement_group_bundle_index=part.number)
        part.actor = remote.options(num_cpus=self._options.workers, scheduling_strategy=place).remote()
        about = part.actor.about.remote()
        while not ray.wait([about], timeout=POLL_S)[0]:  # until Ray has a machine
            if self._is_over.is_set():
                return 0
        versions = ray.get(about)
        self._has_answered = True
        for name, ours in (("Plimsoll", __version__), ("Ray", ray.__version__)):
            if versions[name] != ours:
                raise UsageError(
                    f"{versions['host']} has {name} {versions[name]}, this machine {ours}: install the same"
                )
        part.host = versions["host"]
        part.printed = PrintedLines(part.host)
        words = worker_words(self._host, self._port, self._options.workers)
        for item in part.actor.run.options(num_returns="streaming").remote(words, self._token):
            if isinstance(what := ray.get(item), int):
                return what
            part.printed.add(what)
            for line in part.printed.take():
                say(news=line)
        return 0

    def _say_waiting(self) -> None:
        """Why workers are not there yet, whenever that changes."""
        begin = time.monotonic()
        while not self._is_over.wait(1.0):
            is_late = time.monotonic() - begin > USUAL_START_S
            waiting = self._missing_machines(is_late) or "; ".join(
                f"{part.host}: {part.printed.waiting}" for part in self._parts if part.printed and part.printed.waiting
            )
            if waiting != self._waiting:
                self._waiting = waiting
                say(waiting=waiting)

    def _missing_machines(self, is_late: bool) -> str:
        """is_late: Ray takes longer than it needs to start an actor on a machine that is free."""
        wanted, cores = self._options.nodes, self._options.workers
        if not (missing := sum(not part.host for part in self._parts)):
            return ""
        nodes_of: Any = ray.nodes
        alive = [node for node in nodes_of() if node["Alive"]]
        fit = [node for node in alive if node["Resources"].get("CPU", 0) >= cores]
        cpus = f"{cores} CPU{'s' * (cores != 1)}"
        if len(fit) >= wanted:
            words = f"{missing} of {wanted} machines wait for {cpus} that nothing else on the cluster uses"
            return words if is_late else ""
        return (
            f"the cluster has {len(alive)} node{'s' * (len(alive) != 1)}, {len(fit)} of them with {cpus} or more for "
            f"Ray, and {wanted} are asked for; they may still come"
        )


def _refused(error: Exception) -> str:
    why = str(error).strip().splitlines()[-1].rstrip(".")
    return (
        f"the workers cannot be started on the cluster: {why}. Its nodes must have the token of this machine "
        "(RAY_AUTH_MODE=token); for a cluster without tokens set RAY_AUTH_MODE=disabled here"
    )


def _why(part: Part) -> str:
    return f" ({part.printed.last})" if part.printed is not None and part.printed.last else ""


_saying = threading.Lock()


def say(**event: Any) -> None:
    """To the command, which may be lost."""
    with _saying, contextlib.suppress(OSError):
        sys.stdout.write(f"{MARK}{json.dumps(event)}\n")
        sys.stdout.flush()


def connect(address: str) -> None:
    """Become a driver of the cluster. Raises UsageError."""
    named = os.environ.get("RAY_ADDRESS", AUTO) if address == AUTO else address
    host, _, port = named.rpartition(":")
    timer = threading.Timer(CONNECT_TIMEOUT_S, _give_up, [named])
    try:
        if named != AUTO:
            socket.create_connection((host.strip("[]"), int(port)), REACH_TIMEOUT_S).close()
        timer.start()
        ray.init(address=named, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, ValueError) as error:
        where = "on this machine" if named == AUTO else f"at {named}"
        raise UsageError(f"there is no Ray cluster {where}: {str(error).splitlines()[0]}") from error
    except Exception as error:
        why = str(error).strip().splitlines()[0]
        raise UsageError(
            f"this machine cannot join the Ray cluster at {named}; is it one of its nodes (ray start "
            f"--address={named} --num-cpus=0)? {why}"
        ) from error
    finally:
        timer.cancel()


def _give_up(address: str) -> None:
    say(failure=f"what takes connections at {address} is no Ray cluster, or wants another token (RAY_AUTH_TOKEN_PATH)")
    os._exit(1)


def main() -> None:
    """The process of a driver."""
    driver = Driver(json.loads(sys.stdin.readline()))
    try:
        driver.start()
    except PlimsollError as error:
        say(failure=str(error))
        return
    except ray.exceptions.RayError as error:
        say(failure=_refused(error))
        return
    if sys.stdin.readline() == "end\n":
        driver.finish()
    else:
        driver.outlive()
