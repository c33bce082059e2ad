"""`plimsoll run --master` and `--worker`: a run whose workers join by themselves, in Locust's words. And `--attach`."""

from __future__ import annotations

import logging
import threading
import time
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run import interrupts
from plimsoll.run.limits import usable_cpus
from plimsoll.run.options import locustfiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from plimsoll.run.options.command import RunWords
    from plimsoll.run.transport.joining import JoiningWorker
    from plimsoll.run.transport.kept import KeptSeconds
    from plimsoll.run.transport.master import JoinedMachine, Master
    from plimsoll.store import StoredRun

FROM_MASTER = "-"
"""The locustfile that the master has."""
ATTACH_TIMEOUT_S = 60
"""Seconds for the workers of a run to come. They try once a second, so all that are left come at once."""
SETTLE_S = 5
"""Seconds in which workers of the run are preferred to new ones."""

logger = logging.getLogger("plimsoll.run")


@contextmanager
def master_of(given: Mapping[str, Any]) -> Iterator[Master | None]:
    """Within the block workers can join, if that was asked for; they end with it. Raises UsageError."""
    if not given["master"]:
        yield None
        return
    # Only here: few runs need it.
    from plimsoll.run.transport import join_token
    from plimsoll.run.transport.master import Master

    host, is_insecure = given["master_bind_host"], given["insecure_join"]
    known = join_token.given_token(given["join_token"], insecure=is_insecure)
    token, is_new = join_token.master_token(host, known, insecure=is_insecure)
    if is_new and given["attach"]:
        raise UsageError("--attach needs the token that the lost command said: set PLIMSOLL_JOIN_TOKEN to it")
    master = Master(host, given["master_bind_port"], token, say, given["expect_workers"])
    # To the terminal alone: a log may be passed on.
    if not given["on"]:
        own = known is None
        line = join_token.invitation(host, master.port, token if is_new else "", insecure=is_insecure, own=own)
        click.echo(line, err=True)
    try:
        yield master
    finally:
        master.close()


def placed_workers(words: RunWords, master: Master | None) -> AbstractContextManager[None]:
    """Within the block the workers of --on are there; without it nothing happens. Raises PlimsollError."""
    if words.given["on"] is None or master is None:
        return nullcontext()
    from plimsoll.run.placers.request import PlacedWorkers

    return PlacedWorkers.of(words).started(master, say)


def await_workers(master: Master, given: Mapping[str, Any]) -> None:
    """Raises PlimsollError when fewer than expected have joined in time, or a signal ends the wait."""
    count = given["expect_workers"]
    with _waiting(f"for {_workers(count)}", "stopped before it had begun"):
        master.wait_for(count, given["expect_workers_max_wait"])


def join_master(words: RunWords) -> int:
    """Send load until the master has ended; the exit code. Raises PlimsollError."""
    given = words.given
    from plimsoll.run.transport.join_token import given_token, worker_token
    from plimsoll.run.transport.joining import JoiningWorker

    if given["master"]:
        raise UsageError("--master and --worker do not go together: they are two processes")
    count = usable_cpus() if given["processes"] == -1 else given["processes"]
    files, host, is_insecure = _files(given["locustfile"]), given["master_host"], given["insecure_join"]
    check = partial(_refuse_unknown, words.arguments)
    if files is not None:
        check(files)
    elif unknown := [word for word in words.arguments if word.startswith("-")]:
        # A misspelt one of ours may be the reason why there is no master at the place where one is looked for.
        say(f"{unknown[0].partition('=')[0]} must be an option of the master's locustfile")
    known = given_token(given["join_token"], insecure=is_insecure)
    token = worker_token(host, known, insecure=is_insecure)
    if is_insecure:
        say(f"without a token (--insecure-join), any program that answers at {host} can run programs on this machine")
    workers = [JoiningWorker(host, given["master_port"], token, files, say, check) for _ in range(count)]
    errors: list[PlimsollError] = []
    threads = [
        threading.Thread(target=_run, args=(each, given["master_max_wait"], errors), daemon=True) for each in workers
    ]
    try:
        with interrupts.ending():
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    except KeyboardInterrupt:
        say("this worker ends")
        # Whoever starts workers must not take one that was stopped for one whose master has ended.
        return interrupts.exit_code()
    finally:
        for each in workers:
            each.close()
    if errors:
        raise errors[0]
    return 0


def attach(words: RunWords) -> int:
    """Continue the run; the exit code. Raises PlimsollError."""
    from plimsoll.run.coordinator.recovery.resumption import (
        Resumption,
        check_resumable,
        kept_thresholds,
        resumed_plan,
    )
    from plimsoll.run.perform import perform
    from plimsoll.run.planning import RunInput, make_outputs
    from plimsoll.store import Store
    from plimsoll.store.checks import damage_named

    given = words.given
    if words.arguments:
        raise UsageError(f"--attach has the load of the run itself; leave out {words.arguments[0]}")
    with Store.open(given["store"], create=False) as store, ExitStack() as stack:
        with damage_named(store.name, "continue the run"):
            run = store.run(given["attach"])
            check_resumable(run)
        given = {**given, **_place_of_lost(words, run.id), "master": True}
        master = stack.enter_context(master_of(given))
        assert master is not None
        resumption = None
        try:
            joined = _machines(master, run, given)
            kept = next(machine.kept for machine in joined if machine.kept is not None)
            with damage_named(store.name, "continue the run"):
                plan = resumed_plan(run, kept, log_exchanges=given["log_exchanges"] is not None)
            thresholds = tuple(dict.fromkeys((*kept_thresholds(run), *given["thresholds"])))
            outputs = make_outputs({**given, "thresholds": thresholds}, plan, RunInput(), words.secret)
            resumption = Resumption(run, joined)
            return perform(plan, outputs, master=master, resumption=resumption, joined=joined)
        except PlimsollError:
            if resumption is None or not resumption.goes_on:
                # Another command may still continue the run: a mistake in this one must not cost it.
                master.leave()
            raise


def _run(worker: JoiningWorker, timeout: float, errors: list[PlimsollError]) -> None:
    try:
        worker.run(timeout)
    except PlimsollError as error:
        errors.append(error)


@contextmanager
def _waiting(what: str, stopped: str) -> Iterator[None]:
    """A signal within the block raises PlimsollError. stopped: what that says."""
    try:
        with interrupts.ending():
            # Who reads this may send a signal at once, so not before these are handled.
            say(f"waiting {what}")
            yield
    except KeyboardInterrupt:
        raise PlimsollError(stopped) from None


def _workers(count: int) -> str:
    return f"{count} worker{'s' * (count > 1)}"


def _refuse_unknown(arguments: Sequence[str], files: tuple[str, ...]) -> None:
    """Raises UnknownOptionError for an option that the locustfile has not, either."""
    from plimsoll.locust.script.form import refuse_unknown_options
    from plimsoll.run.plan import RunPlan

    refuse_unknown_options(RunPlan(locustfiles=files, arguments=tuple(arguments)))


def _files(named: str | None) -> tuple[str, ...] | None:
    """The locustfiles of this machine; None: they come from the master. Raises LocustfileError."""
    if named == FROM_MASTER or (named is None and not Path(locustfiles.DEFAULT).exists()):
        return None
    return tuple(map(str, locustfiles.find(named or locustfiles.DEFAULT)))


def say(line: str) -> None:
    """In the log while a run writes one, else to the terminal."""
    if logger.handlers:
        logger.info("%s", line)
    else:
        click.echo(line, err=True)


def _place_of_lost(words: RunWords, run: str) -> dict[str, Any]:
    """Options by which another master takes the place of the one that the run had, as far as nobody says others."""
    from plimsoll.run.transport.lost_master import known_key

    if (key := known_key(run)) is None:
        return {}
    known = {"master_bind_host": key.host, "master_bind_port": key.port}
    known |= {"join_token": key.token} if key.token else {"insecure_join": True}
    return {name: value for name, value in known.items() if name in words.defaults}


def _machines(master: Master, run: StoredRun, given: Mapping[str, Any]) -> list[JoinedMachine]:
    """One for each worker of the run, by its index. Raises PlimsollError if they do not come."""
    count, timeout = run.manifest.processes or 0, given["expect_workers_max_wait"] or ATTACH_TIMEOUT_S
    start = time.monotonic()
    with _waiting(
        f"for the {_workers(count)} of run {run.id}, for {timeout} s", "stopped before the run was continued"
    ):
        while True:
            ready, waited = master.ready, time.monotonic() - start
            # Of several that had the same place, one after the other, the last.
            ready.sort(key=lambda each: each.kept.last if each.kept is not None else -1)
            theirs = {index: each for each in ready if (index := _place(each.kept, run)) in range(count)}
            if len(theirs) == count or (theirs and len(ready) >= count and waited > SETTLE_S):
                break
            if waited > timeout:
                raise UsageError(_missing(len(theirs), len(ready), count, run))
            time.sleep(0.1)
    others = iter([each for each in ready if each not in theirs.values()])
    return [theirs.get(index) or next(others) for index in range(count)]


def _place(kept: KeptSeconds | None, run: StoredRun) -> int | None:
    """Which worker of the run it was."""
    return kept.worker if kept is not None and kept.run == run.id else None


def _missing(theirs: int, ready: int, count: int, run: StoredRun) -> str:
    if not theirs:
        return (
            f"no worker of run {run.id} has come: they wait for five minutes, for a master at the address of the old "
            "one (--master-bind-host, --master-bind-port); start the run again"
        )
    return f"{ready} of {count} workers have come; start another one for each that is lost: plimsoll run -f - --worker"
