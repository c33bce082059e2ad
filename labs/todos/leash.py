"""Run a program that cannot outlive us: `python leash.py [--grace SECONDS] [--remove FOLDER] -- PROGRAM ARGUMENT…`

Our caller holds the other end of our standard input. When that closes, by its `close()` or because the caller died in
whatever way, the program is asked to end (SIGINT: PostgreSQL's fast shutdown, Ctrl-C to others), killed if it has not
within the grace, and the folder is removed. A pipe does this on every Unix and also when the caller was killed with
SIGKILL, which neither `atexit` nor a signal handler can.
"""

import argparse
import os
import pwd
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

POLL_SECONDS = 0.1
AUTOGROUP = Path("/proc/self/autogroup")
"""Where Linux shares processors between sessions first, and between the processes of each then: how nice ours is."""


class Leashed:
    """A program on a leash, from the caller's side: it ends when `stop` is called, or when this process does."""

    def __init__(
        self,
        program: list[str],
        *,
        user: str | None = None,
        cwd: Path | None = None,
        remove: Path | None = None,
        grace: float = 10.0,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        """Start it. user: run as that user (needs root). remove: a folder to delete after it. grace: seconds from
        SIGINT to SIGKILL. The rest as in subprocess.Popen."""
        options = ["--grace", str(grace)]
        options += ["--user", user] if user else []
        options += ["--remove", str(remove)] if remove else []
        self.process = subprocess.Popen(
            [sys.executable, "-I", __file__, *options, "--", *program],
            stdin=subprocess.PIPE, stdout=stdout, stderr=stderr, env=env, cwd=cwd,
            start_new_session=True,  # the terminal's Ctrl-C is for the caller, who then decides
        )  # fmt: skip

    @property
    def returncode(self) -> int | None:
        """The program's exit status; None while it runs."""
        return self.process.poll()

    def stop(self) -> None:
        """End the program and wait until it, and its folder, are gone. Calling it again does nothing."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(prog="leash.py", description=__doc__)
    parser.add_argument("--grace", type=float, default=10.0, help="seconds from SIGINT to SIGKILL (default 10)")
    parser.add_argument("--remove", type=Path, help="a folder to remove once the program has ended")
    parser.add_argument("--user", help="run the program as this user (needs root)")
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    stay_nice()
    try:
        return run(arguments.program, arguments.user, arguments.grace)
    finally:
        if arguments.remove:
            shutil.rmtree(arguments.remove, ignore_errors=True)


def stay_nice() -> None:
    """Let the niceness that we inherited count against other sessions, too: a new one, as ours is, starts at 0."""
    with suppress(OSError):  # another Unix, or a Linux without these groups: there, niceness counts by itself
        AUTOGROUP.write_text(str(os.nice(0)))


def run(program: list[str], user: str | None, grace: float) -> int:
    """Run the program until it ends or our standard input closes; its exit status."""
    group = pwd.getpwnam(user).pw_gid if user else None
    child = subprocess.Popen(
        program, stdin=subprocess.DEVNULL, user=user, group=group, extra_groups=[] if user else None
    )
    try:
        while child.poll() is None:
            readable, _, _ = select.select([sys.stdin], [], [], POLL_SECONDS)
            if readable and not os.read(sys.stdin.fileno(), 1):
                break
    finally:
        end(child, grace)
    return child.returncode


def end(child: subprocess.Popen[bytes], grace: float) -> None:
    """Interrupt the child, kill it after the grace, and reap it. A child that has ended is left as it is."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(grace)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


if __name__ == "__main__":
    sys.exit(main())
