"""Workers on hosts that the system's `ssh` reaches: `--on ssh:hosts.txt`."""

from __future__ import annotations

import contextlib
import queue
import shlex
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import __version__
from plimsoll.distribution import NAME
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.run.placers.hosts import SSH, listed_hosts, read_hosts, with_hint
from plimsoll.run.placers.placer import MASTER_WAIT_S, Placement, Placer
from plimsoll.run.placers.printed import LONGEST_LINE, PrintedLines, plain_line
from plimsoll.run.transport.join_token import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.placers.hosts import Host
    from plimsoll.run.placers.placer import MasterAddress

START_TIMEOUT_S = 120.0
"""Seconds for a host to say that it starts its workers."""
KEEPALIVE = ("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4")
"""A link that is dead for a minute ends; a shorter break is none."""
LEAVE_TIMEOUT_S = 5.0
"""Seconds for workers to end by themselves once their master has ended."""
END_TIMEOUT_S = 20.0
"""The same once they are told to."""
MOST_STARTS = 5
"""Of the workers of one host in one run."""
FIRST_PAUSE_S = 2.0
"""Seconds before workers that have ended are started again; twice as long each time."""
SSH_FAILED = 255
"""The exit code of `ssh` itself; all others are those of what runs on the host."""
MOST_WAITING = 3
"""Hosts of which is said why their workers wait: as a rule all have the same reason."""
MARK = "plimsoll-workers="
"""Begins the line by which a host says how many workers it starts."""

# It is sent through the standard input, so that the token is in no list of processes. The braces have the shell read
# all of it before it begins: what comes later is for the loop, which ends the workers when it is told to. A link that
# breaks does not end them: they can reach their master again by themselves.
_SCRIPT = """\
{{
export {variable}={token}
found=$({python} -c 'from importlib.metadata import version; print(version("{distribution}"))' 2>/dev/null) || {{
    echo "{python} has no Plimsoll there: pip install '{distribution}=={version}', or python=PATH in the file of hosts"
    exit 3
}}
[ "$found" = "{version}" ] || {{
    echo "it has Plimsoll $found, this machine {version}: pip install '{distribution}=={version}' there"
    exit 3
}}
master={host}
[ "$master" ] || master=${{SSH_CONNECTION%% *}}
[ "$master" ] || {{ echo "it does not know the address of this machine: say --master-host"; exit 3; }}
workers={workers}
[ "$workers" ] || workers=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
echo "{mark}$workers"
exec 3<&0
{python} -m plimsoll run -f - --worker --master-host "$master" --master-port {port} --processes "$workers" \\
    --master-max-wait {wait} 3<&- < /dev/null 2>&1 &
pid=$!
while read -r word <&3; do [ "$word" = end ] && kill "$pid"; done &
wait "$pid"
code=$?
kill $! 2>/dev/null
exit "$code"
}}
"""


class _Session:
    """One `ssh` to a host, with all workers of that host."""

    def __init__(self, host: Host, master: MasterAddress) -> None:
        """Raises PlimsollError."""
        self.host = host
        self.workers: int | None = None
        """How many it starts, once it has said so."""
        self.has_said = threading.Event()
        """It has said how many, or has ended."""
        self.has_ended = threading.Event()
        self.printed = PrintedLines(host.name)
        """By its workers."""
        self._refusal = ""
        """What came last instead of how many it starts."""
        try:
            # In a session of its own: Ctrl-C at the terminal is the command's, which ends the workers in order.
            self._process = subprocess.Popen(
                [*SSH, *KEEPALIVE, host.name, "sh -s"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except FileNotFoundError:
            raise PlimsollError("there is no program ssh on this machine") from None
        threading.Thread(target=self._read, daemon=True).start()
        self._write(_script(host, master))

    @property
    def how(self) -> str:
        """Why it has ended."""
        code = self._process.returncode
        why = with_hint(self.printed.last or self._refusal or f"exit status {code}", self.host.name)
        if self.workers is None:
            return f"{self.host.name}: {why}"
        if code == SSH_FAILED or code < 0:
            return f"{self.host.name}: ssh has ended ({why}); its workers go on as long as they reach this machine"
        return f"{self.host.name}: its workers have ended with exit code {code} ({why})"

    def tell_end(self) -> None:
        """The workers are to end at once."""
        self._write("end\n")

    def kill(self) -> None:
        """End `ssh` itself."""
        self._process.kill()
        self._process.wait()

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()

    def _read(self) -> None:
        """A thread of its own."""
        assert self._process.stdout is not None
        while data := self._process.stdout.readline(LONGEST_LINE):
            line = plain_line(data)
            if self.workers is not None:
                self.printed.add(line)
            elif line.startswith(MARK) and (count := line.removeprefix(MARK)).isdecimal():
                self.workers = int(count[:6])
                self.has_said.set()
            elif line.strip():
                self._refusal = line
        self._process.wait()
        self.has_ended.set()
        self.has_said.set()


class SshPlacer(Placer):
    """hosts: each has workers of its own, one for each core or as many as its line says."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = list(hosts)
        self._sessions: list[_Session] = []
        self._master: MasterAddress | None = None
        self._count = 0
        self._starts: dict[str, int] = {}
        """By host: how often its workers were started again."""
        self._due: queue.SimpleQueue[tuple[float, Host]] = queue.SimpleQueue()
        """Hosts whose workers are started again, and when."""

    @classmethod
    def of(cls, where: str) -> SshPlacer:
        """where: the name of a file of hosts, or hosts with commas between. Raises UsageError."""
        if not where:
            raise UsageError("name a file of hosts, or hosts: ssh:hosts.txt, ssh:ann@10.0.0.2,ann@10.0.0.3")
        return cls(read_hosts(where) if Path(where).is_file() else listed_hosts(where))

    def start(self, master: MasterAddress) -> int:
        self._master = master
        self._sessions = [_Session(host, master) for host in self._hosts]
        end = time.monotonic() + START_TIMEOUT_S
        for session in self._sessions:
            session.has_said.wait(max(0.0, end - time.monotonic()))
        failed = [
            session.how if session.has_ended.is_set() else f"{session.host.name}: no answer in {START_TIMEOUT_S:g} s"
            for session in self._sessions
            if session.workers is None
        ]
        if failed:
            raise PlimsollError("; ".join(failed))
        self._count = sum(session.workers or 0 for session in self._sessions)
        return self._count

    def look(self) -> Placement:
        news, failures = [], []
        for session in self._sessions:
            news += session.printed.take()
        if self._master is None:
            return Placement(tuple(news))
        for session in [each for each in self._sessions if each.has_ended.is_set()]:
            self._sessions.remove(session)
            news += session.printed.take()
            failures.append(session.how)
            self._plan_start(session.host)
        news += self._start_due()
        reasons = [(session.host.name, session.printed.waiting) for session in self._sessions]
        waiting = [f"{name}: {why}" for name, why in reasons if why]
        return Placement(tuple(news), "; ".join(waiting[:MOST_WAITING]), "; ".join(failures))

    def close(self) -> None:
        end = time.monotonic() + LEAVE_TIMEOUT_S
        for session in self._sessions:
            session.has_ended.wait(max(0.0, end - time.monotonic()))
        left = [session for session in self._sessions if not session.has_ended.is_set()]
        for session in left:
            session.tell_end()
        end = time.monotonic() + END_TIMEOUT_S
        for session in left:
            session.has_ended.wait(max(0.0, end - time.monotonic()))
        lost = [session for session in left if not session.has_ended.is_set()]
        for session in lost:
            session.kill()
        self._master = None
        if lost:
            names = ", ".join(session.host.name for session in lost)
            raise PlimsollError(
                f"{names}: no answer; workers that still run there end by themselves {MASTER_WAIT_S} s after they "
                "notice that the master has ended"
            )

    def _plan_start(self, host: Host) -> None:
        count = self._starts.get(host.name, 0)
        if count < MOST_STARTS:
            self._starts[host.name] = count + 1
            self._due.put((time.monotonic() + FIRST_PAUSE_S * 2**count, host))

    def _start_due(self) -> list[str]:
        """Start workers again whose time has come; lines about them. They take the places of lost ones."""
        news = []
        for _ in range(self._due.qsize()):
            due, host = self._due.get()
            if self._master is None or time.monotonic() < due:
                self._due.put((due, host))
            elif self._master.joined() < self._count:
                self._sessions.append(_Session(host, self._master))
                news.append(f"{host.name}: its workers are started again")
        return news


def _script(host: Host, master: MasterAddress) -> str:
    return _SCRIPT.format(
        variable=VARIABLE,
        token=shlex.quote(master.token),
        python=shlex.quote(host.python),
        distribution=NAME,
        version=__version__,
        host=shlex.quote(master.host or ""),
        workers=host.cpus or "",
        mark=MARK,
        port=master.port,
        wait=MASTER_WAIT_S,
    )
