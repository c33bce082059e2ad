"""For programs that act as the command."""

from __future__ import annotations

import _socket
import array
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import gevent.socket
from gevent import monkey
from gevent.os import fork_gevent

from plimsoll.locust.environment import Environment
from plimsoll.users.events import Events

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from plimsoll.locust.script.script import LocustScript
    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.run.plan import RunPlan
    from plimsoll.users.user import User

COMMAND = """
import sys
from plimsoll.run.program import join
join(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
sys.argv[:4] = ["plimsoll"]
from plimsoll.cli import main
main()
"""
IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)
"""Signals to the whole group, which forks ignore: the command decides what follows from them."""
READ_BYTES = 65536


@dataclass(frozen=True, slots=True)
class ProcessRequest:
    """A process of the run that the command wants."""

    what: dict[str, Any]
    ended: int
    """The pipe for the exit code; it closes with the process."""
    output: int | None
    """Where it prints, if not where the program prints."""
    stream: int | None
    """The worker's end of the coordinator's stream."""


def main() -> NoReturn:
    """`plimsoll run` with the arguments in sys.argv; ends this process with its exit code.

    As in Locust, users and events are in this process, with the listeners, options and settings of the program. With
    several processes the main node is, and workers are forks. With a page each run is in forks.
    """
    for printed in (sys.stdout, sys.stderr):
        printed.flush()
    own, own_of_command = _socket.socketpair()
    asked, forks_of_command = _socket.socketpair()
    if fork_gevent() == 0:
        for each in (own, own_of_command, forks_of_command):
            each.close()
        _work(_until_asked(asked))
        sys.exit(0)
    asked.close()
    descriptors = own_of_command.fileno(), forks_of_command.fileno()
    file = str(getattr(sys.modules["__main__"], "__file__", None) or "")
    words = [*map(str, descriptors), file, "run", *sys.argv[1:]]
    process = subprocess.Popen([sys.executable, "-P", "-c", COMMAND, *words], pass_fds=descriptors)
    for each in (own_of_command, forks_of_command):
        each.close()
    code = _attend(process, own)
    sys.exit(code if code >= 0 else 128 - code)


def _attend(process: subprocess.Popen[bytes], own: _socket.socket) -> int:
    """Wait for the end of the command, and be a process of its run if it asks for that. Returns its exit code."""
    kept = _set_signals({signal.SIGINT: signal.SIG_IGN})
    kept |= {each: _handler(each) for each in IGNORED if each not in kept}
    try:
        with gevent.socket.socket(fileno=own.detach()) as asked:
            request = _receive(asked)
            if request is not None:
                asked.sendall(_reply(pid=os.getpid()))
                _work(request, is_own=True)
        return process.wait()
    finally:
        _set_signals(kept)


def _until_asked(asked: _socket.socket) -> ProcessRequest:
    """In a fork of the program: fork again for each request. Returns in these forks only."""
    kept = _set_signals(dict.fromkeys(IGNORED, signal.SIG_IGN))
    while (request := _receive(asked)) is not None:
        _reap()
        try:
            pid = fork_gevent()
        except OSError as error:
            asked.sendall(_reply(error=str(error)))
            continue
        if pid == 0:
            asked.close()
            _set_signals(kept)
            return request
        for each in (request.ended, request.output, request.stream):
            if each is not None:
                _close(each)
        asked.sendall(_reply(pid=pid))
    # Not sys.exit: the rest of the program is not this process's.
    os._exit(0)


def _work(request: ProcessRequest, *, is_own: bool = False) -> None:
    """Be the process that is asked for. Returns if it was a worker."""
    # Not at the top: most programs import `locust.main` for another name.
    from plimsoll.run.worker.main import main as serve

    with _printing_to(request.output, is_own=is_own):
        if "module" in request.what:
            _answer(request.what["module"], request.what["question"])
        if request.what["in_session"]:
            os.setsid()
        if request.what["folder"] is not None:
            os.chdir(request.what["folder"])
        worker = request.what["worker"]
        assert request.stream is not None
        serve(request.stream, worker["index"], _make_script, worker["files"], worker["kept"], is_program=is_own)
        os.write(request.ended, b"0")
    if is_own:
        _close(request.ended)


def _answer(module: str, question: str) -> NoReturn:
    found = import_module(module)
    found.respond(question)
    sys.stdout.flush()
    os._exit(0)


def _make_script(plan: RunPlan, *arguments: Any) -> LocustScript:
    from plimsoll.locust.script.script import LocustScript

    # The command line that user code sees is the program's.
    return LocustScript(replace(plan, command=tuple(sys.argv)), *arguments)


@contextmanager
def _printing_to(output: int | None, *, is_own: bool) -> Iterator[None]:
    """is_own: after the block this process prints where it printed before."""
    if output is None:
        yield
        return
    before = [os.dup(each) for each in (1, 2)]
    streams = (sys.stdout, sys.stderr)
    for each, stream in zip((1, 2), streams, strict=True):
        stream.flush()
        os.dup2(output, each)
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr] # a program may have replaced them
    _close(output)
    try:
        yield
    finally:
        for each, stream, kept in zip((1, 2), streams, before, strict=True):
            stream.flush()
            if is_own:
                os.dup2(kept, each)
            _close(kept)


def _close(descriptor: int) -> None:
    """Not gevent's, which may wait for its loop: the command waits for the end of a pipe, and forks run no loop."""
    monkey.get_original("os", "close")(descriptor)


def _receive(asked: Any) -> ProcessRequest | None:
    """The next request; None once the command has ended."""
    descriptors = array.array("i")
    data = b""
    while not data.endswith(b"\n"):
        try:
            more, extra, _, _ = asked.recvmsg(READ_BYTES, _socket.CMSG_LEN(3 * descriptors.itemsize))
        except OSError:
            more, extra = b"", []
        if not more:
            return None
        data += more
        for _, kind, sent in extra:
            if kind == _socket.SCM_RIGHTS:
                descriptors.frombytes(sent[: len(sent) - len(sent) % descriptors.itemsize])
    what = json.loads(data)
    for each in descriptors:
        # What user code starts must not look like the worker itself.
        os.set_inheritable(each, False)
    ended, *rest = descriptors
    output = rest.pop(0) if what["captured"] else None
    return ProcessRequest(what, ended, output, rest[0] if rest else None)


def _reply(**values: Any) -> bytes:
    return json.dumps(values).encode() + b"\n"


def _reap() -> None:
    """Take notice of forks that have ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _handler(number: int) -> Any:
    found = signal.getsignal(number)
    # None: one that Python has not installed.
    return signal.SIG_DFL if found is None else found


def _set_signals(handlers: dict[Any, Any]) -> dict[Any, Any]:
    """Returns the handlers that were there before."""
    before = {number: _handler(number) for number in handlers}
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return before


def create_environment(
    user_classes: list[type[User]],
    options: Namespace,
    events: Events | None = None,
    shape_class: LoadTestShape | None = None,
    locustfile: str | None = None,
    parsed_locustfiles: list[str] | None = None,
    **available: Any,
) -> Environment:
    """An Environment with the options returned by `get_parser().parse_args()`. available: see `Environment`."""
    return Environment(
        user_classes=user_classes,
        shape_class=shape_class,
        events=events or Events(),
        locustfile=locustfile,
        host=options.host,
        reset_stats=options.reset_stats,
        parsed_options=options,
        parsed_locustfiles=parsed_locustfiles,
        profile=options.profile,
        **available,
    )
