"""`plimsoll demo`."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import store_option
from plimsoll.errors import UsageError
from plimsoll.load.durations import parse_length
from plimsoll.run import interrupts
from plimsoll.say.durations import duration_text

if TYPE_CHECKING:
    from collections.abc import Iterator

LOCUSTFILE = Path(__file__).parents[1] / "demo" / "shop.py"
USERS = 20
RUN_TIME = "15s"
NOT_ERRORS = (0, 1, 3)
"""Exit codes of a run that took place. Some of its requests fail, on purpose."""


@click.command(
    epilog="""\b
Examples:
  plimsoll demo                     load the demo's shop for 15 s
  plimsoll demo -t 1m
  plimsoll demo --serve             only the shop, at http://127.0.0.1:8000, until Ctrl-C
  plimsoll demo --serve -t 10m      the same for ten minutes

The shop runs on this machine and has three faults: one endpoint is slow, one fails now and then, and one list grows.
The run is kept like any other one."""
)
@click.option("-t", "--run-time", help="How long the load lasts, by default 15s. With --serve, how long the shop does.")
@click.option("--serve", is_flag=True, help="Serve the shop only, for runs of your own.")
@click.option("--port", type=click.IntRange(0, 65535), help="The shop's port. With --serve 8000, else any free one.")
@store_option
def demo(run_time: str | None, serve: bool, port: int | None, store: str | None) -> None:
    """Load a small shop with three faults, and see what a run says of them."""
    seconds = None if run_time is None else parse_length(run_time)
    if port is None:
        port = 8000 if serve else 0
    # From now on, so that a signal which comes as soon as the shop is named is not lost.
    with interrupts.awaited() if serve else nullcontext() as signalled, _shop(port) as url:
        if signalled is not None:
            until = "until Ctrl-C" if seconds is None else f"for {duration_text(seconds)}"
            click.echo(f"The shop serves {url} {until}. Load it from another terminal:")
            click.echo(f"  {shlex.join(['plimsoll', *_arguments(url, RUN_TIME, store)])}")
            signalled.wait(seconds)
            return
        command = _arguments(url, run_time or RUN_TIME, store)
        click.echo(f"$ {shlex.join(['plimsoll', *command])}")
        code = run_command([sys.executable, "-m", "plimsoll", *command])
    if code not in NOT_ERRORS:
        sys.exit(code)


def _arguments(url: str, run_time: str, store: str | None) -> list[str]:
    arguments = ["run", "-f", str(LOCUSTFILE), "-H", url, "-u", str(USERS), "-r", str(USERS), "-t", run_time]
    return [*arguments, "--headless", *(["--store", store] if store else [])]


@contextmanager
def _shop(port: int) -> Iterator[str]:
    """Its URL. It ends with the block, and with this process. Raises UsageError."""
    command = [sys.executable, "-P", "-m", "plimsoll.demo.service", str(port)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, process_group=0
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        if not url:
            raise UsageError(f"the shop cannot listen at port {port}: give another one with --port")
        try:
            yield url
        finally:
            process.stdin.close()


def run_command(command: list[str]) -> int:
    """The exit code of `plimsoll run …`. Ctrl-C ends the run, which still reports."""
    # In a group of its own: a run takes a second Ctrl-C for "at once", so each one reaches it through this process.
    with subprocess.Popen(command, process_group=0) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
