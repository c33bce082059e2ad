"""`plimsoll run --master` and `plimsoll run --worker`: Locust's words for a run on several machines."""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.loop import stop_signals
from plimsoll.run.machine import usable_cpus
from plimsoll.run.options import locustfiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

    from plimsoll.run.transport.joining import JoiningWorker
    from plimsoll.run.transport.master import Master

FROM_MASTER = "-"
"""The locustfile that the master has."""

logger = logging.getLogger("plimsoll.run")


@contextmanager
def master_of(given: Mapping[str, Any]) -> Iterator[Master | None]:
    """Within the block workers can join, if that was asked for; they end with it. Raises UsageError."""
    if not given["master"]:
        yield None
        return
    # Only here: few runs need it.
    from plimsoll.run.transport.master import Master

    master = Master(given["master_bind_host"], given["master_bind_port"], given["join_token"] or "", _say)
    try:
        yield master
    finally:
        master.close()


def await_workers(master: Master, given: Mapping[str, Any]) -> None:
    """Raises PlimsollError when fewer than expected have joined in time, or a signal ends the wait."""
    count = given["expect_workers"]
    try:
        with _interrupted_by_signals():
            _say(f"waiting for {count} worker{'s' * (count > 1)}")
            master.wait_for(count, given["expect_workers_max_wait"])
    except KeyboardInterrupt:
        raise PlimsollError("stopped before it had begun") from None


def join_master(given: Mapping[str, Any]) -> int:
    """Send load until the master has ended; the exit code. Raises PlimsollError."""
    from plimsoll.run.transport.joining import JoiningWorker

    if given["master"]:
        raise UsageError("--master and --worker do not go together: they are two processes")
    count = usable_cpus() if given["processes"] == -1 else given["processes"]
    files, token = _files(given["locustfile"]), given["join_token"] or ""
    workers = [JoiningWorker(given["master_host"], given["master_port"], token, files, _say) for _ in range(count)]
    errors: list[PlimsollError] = []
    threads = [threading.Thread(target=_run, args=(each, errors), daemon=True) for each in workers]
    try:
        with _interrupted_by_signals():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    except KeyboardInterrupt:
        _say("this worker ends")
    finally:
        for each in workers:
            each.close()
    if errors:
        raise errors[0]
    return 0


def _run(worker: JoiningWorker, errors: list[PlimsollError]) -> None:
    try:
        worker.run()
    except PlimsollError as error:
        errors.append(error)


@contextmanager
def _interrupted_by_signals() -> Iterator[None]:
    """Within the block each of them raises KeyboardInterrupt: SIGTERM would else not end the first process of a
    container."""
    before = {each: signal.signal(each, _interrupt) for each in stop_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _files(named: str | None) -> tuple[str, ...] | None:
    """The locustfiles of this machine; None: they come from the master. Raises LocustfileError."""
    if named == FROM_MASTER or (named is None and not Path(locustfiles.DEFAULT).exists()):
        return None
    return tuple(map(str, locustfiles.find(named or locustfiles.DEFAULT)))


def _say(line: str) -> None:
    """In the log while a run writes one, else to the terminal."""
    if logger.handlers:
        logger.info("%s", line)
    else:
        click.echo(line, err=True)
