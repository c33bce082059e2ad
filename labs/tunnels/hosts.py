"""Simulated hosts with limits, as far as this system allows: a network behind a link, a share of a core, a limit of
memory.

A host's network is a namespace of its first process, so it ends with that process.
"""

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

GROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 50_000
"""Period of the CPU quota in µs. The kernel rejects a quota below 1,000 µs."""
BURST = "64kb"
QUEUE = "50ms"
"""Maximum wait in the queue of the link. Packets that wait longer are dropped."""
INNER = "outside"
HOST = """
set -e
ip link add "$1" type veth peer name "$2" netns "$3"
ip link set lo up
ip address add "$4" dev "$1"
ip link set "$1" up
tc qdisc add dev "$1" root tbf rate "$5mbit" burst "$6" latency "$7"
shift 7
exec "$@"
"""


class Link(NamedTuple):
    """A link to another host."""

    name: str
    """Name of our end."""
    megabits: int
    ours: str
    """Our address on the link."""
    theirs: str

    def command(self, *words: str) -> list[str]:
        """A command that runs on the other host, after it has created the link."""
        values = [INNER, self.name, str(os.getpid()), f"{self.theirs}/24", str(self.megabits), BURST, QUEUE]
        return ["unshare", "--net", "sh", "-c", HOST, "host", *values, *words]

    def set_up(self) -> bool:
        """Configures our end. Returns False until the other end has created the link."""
        if not Path("/sys/class/net", self.name).exists():
            return False
        _ip("address", "add", f"{self.ours}/24", "dev", self.name)
        _ip("link", "set", self.name, "up")
        limit = ["root", "tbf", "rate", f"{self.megabits}mbit", "burst", BURST, "latency", QUEUE]
        subprocess.run(["tc", "qdisc", "add", "dev", self.name, *limit], check=True)
        return True


def link(megabits: int) -> Link | None:
    """Returns None without permission to create one."""
    number = os.getpid()
    subnet = f"10.{77 + number // 250 % 100}.{number % 250}"
    made = Link(f"plim{number}", megabits, f"{subnet}.1", f"{subnet}.2")
    # Another name: a network is removed only some time after its last process has ended.
    trial = made._replace(name=f"plim{number}t").command("true")
    is_possible = os.geteuid() == 0 and subprocess.run(trial, capture_output=True, check=False).returncode == 0
    return made if is_possible else None


@contextlib.contextmanager
def core_share(percent: int) -> Iterator[list[Path]]:
    """Files to write a pid to, to limit the process to a share of a core; empty without permission."""
    name = f"plimsoll-{os.getpid()}"
    quota = PERIOD_US * percent // 100
    made = (GROUPS / "cpu" if (GROUPS / "cpu").is_dir() else GROUPS) / name
    try:
        made.mkdir()
        if made.parent == GROUPS:
            (made / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        else:
            (made / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (made / "cpu.cfs_quota_us").write_text(str(quota))
    except OSError:
        with contextlib.suppress(OSError):
            made.rmdir()
        yield []
        return
    try:
        yield [made / "cgroup.procs"]
    finally:
        with contextlib.suppress(OSError):
            made.rmdir()


def limited(command: Sequence[str], groups: Sequence[Path], megabytes: int | None) -> list[str]:
    """The command with these groups' limits, a memory limit, and the maximum number of open files."""
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    script = [f"echo $$ > {each}" for each in groups]
    script.append(f"ulimit -n {files if files > 0 else 1_000_000}")
    script += [f"ulimit -v {megabytes * 1024}"] if megabytes else []
    return ["sh", "-c", f'{"; ".join(script)}; exec "$@"', "host", *command]


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)
