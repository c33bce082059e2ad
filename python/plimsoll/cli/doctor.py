"""`plimsoll doctor`: what of this machine limits or falsifies a load test. Each check judges one fact."""

from __future__ import annotations

import math
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import psutil

from plimsoll.cli.parts.common import MachineCheck, json_option
from plimsoll.report.text import dumps
from plimsoll.run.machine import machine, memory_left
from plimsoll.say.numbers import size

if TYPE_CHECKING:
    from collections.abc import Sequence

# A file per connection and a connection per user; the rest is for the interpreter, the store, the workers.
_OPEN_FILES = 16_384
_SPARE_FILES = 100
_PORTS = 28_000  # what Linux starts with
_TIME_WAIT_S = 60
_BACKLOG = 1_024
_MEMORY = 1 << 30

# Reading these takes microseconds and a system call; every exchange reads the clock several times.
_SLOW_CLOCKS = frozenset({"acpi_pm", "hpet", "jiffies", "pit", "refined-jiffies", "xen"})

UNKNOWN = "not known on this system"


@click.command(
    epilog="""\b
Examples:
  plimsoll doctor
  plimsoll doctor --measure                        and what a worker of this machine can send: some seconds
  plimsoll doctor --on ssh:hosts.txt               what each machine can send on which workers are started
  plimsoll doctor --json | jq '.checks[] | select(.verdict == "warn")'

The exit code is 1 when there is a warning."""
)
@click.option(
    "--on", metavar="WHERE",
    help="Measure what workers elsewhere can send: ssh:hosts.txt, ray:HOST:PORT,nodes=8, as plimsoll run --on has it.",
)  # fmt: skip
@click.option(
    "--measure", is_flag=True,
    help="Measure also what a worker of this machine can send, and keep it: a run that asks for more says so.",
)  # fmt: skip
@json_option
@click.pass_context
def doctor(ctx: click.Context, on: str | None, measure: bool, as_json: bool) -> None:
    """Check whether this machine is fit to generate load, and say what to change."""
    # The imports are here because they bring along all that runs need.
    if on is not None:
        from plimsoll.cli.parts.doctor_workers import placed_checks

        checks = placed_checks(on)
    else:
        checks = all_checks()
        if measure:
            from plimsoll.cli.parts.measured import capacity_checks

            checks += capacity_checks()
    click.echo(dumps(_document(checks), indent=2) if as_json else _text(checks))
    ctx.exit(0 if all(check.ok for check in checks) else 1)


def _verdict(check: MachineCheck) -> str:
    return "ok" if check.ok else "warn"


def _text(checks: Sequence[MachineCheck]) -> str:
    name = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{_verdict(check):<4}  {check.name:<{name}}  {check.value}")
        if check.advice:
            lines.append(f"{'':<4}  {'':<{name}}  → {check.advice}")
    return "\n".join(lines)


def _document(checks: Sequence[MachineCheck]) -> dict[str, Any]:
    rows = [
        {"name": check.name, "value": check.value, "verdict": _verdict(check), "advice": check.advice}
        for check in checks
    ]
    return {"schema": "plimsoll.doctor", "version": 1, "checks": rows}


def all_checks() -> list[MachineCheck]:
    """Every check, of this machine as it is now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    found = machine()
    return [
        open_files(soft, hard),
        ports(_read("/proc/sys/net/ipv4/ip_local_port_range")),
        time_wait(_read("/proc/sys/net/ipv4/tcp_tw_reuse")),
        backlog(found.somaxconn),
        clock(_read("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        cpus(found.cpus or 1, found.cpu_quota),
        governor(found.governor),
        stamps(_kernel_stamps()),
        memory(psutil.virtual_memory().available, found.memory_limit, memory_left()),
    ]


def open_files(soft: int, hard: int) -> MachineCheck:
    if hard == resource.RLIM_INFINITY:
        return MachineCheck("open files", f"soft {soft}, hard unlimited")
    users = max(hard - _SPARE_FILES, 0)
    advice = f"ulimit -Hn 65536, LimitNOFILE= of the service, or /etc/security/limits.conf: {hard} allow {users} users"
    value = f"soft {soft}, hard {hard}: about {users} users per worker"
    return MachineCheck("open files", value, "" if hard >= _OPEN_FILES else advice)


def ports(span: str | None) -> MachineCheck:
    """span: first and last ephemeral port."""
    if span is None:
        return MachineCheck("ephemeral ports", UNKNOWN)
    low, high = (int(each) for each in span.split())
    count = high - low + 1
    advice = 'sysctl -w net.ipv4.ip_local_port_range="10240 65535"'
    value = f"{low}–{high}: {count} connections to one address"
    return MachineCheck("ephemeral ports", value, "" if count >= _PORTS else advice)


def time_wait(reuse: str | None) -> MachineCheck:
    """reuse: 0 never, 1 always, 2 on loopback."""
    names = {"0": "never", "1": "always", "2": "on loopback only"}
    value = UNKNOWN if reuse is None else f"{reuse}: ports in TIME_WAIT are reused {names.get(reuse, 'in other ways')}"
    advice = (
        f"sysctl -w net.ipv4.tcp_tw_reuse=1: else each new connection costs a port for {_TIME_WAIT_S} s"
        if reuse == "0"
        else ""
    )
    return MachineCheck("tcp_tw_reuse", value, advice)


def backlog(somaxconn: int | None) -> MachineCheck:
    """Matters to a target on this machine, when many users connect at once."""
    advice = f"sysctl -w net.core.somaxconn=4096: a target here refuses more than {somaxconn} waiting connections"
    if somaxconn is None:
        return MachineCheck("somaxconn", UNKNOWN)
    return MachineCheck("somaxconn", str(somaxconn), advice if somaxconn < _BACKLOG else "")


def clock(source: str | None) -> MachineCheck:
    advice = f"{source} is slow to read; tsc (or the hypervisor's clock) is not: see available_clocksource, or the BIOS"
    return MachineCheck("clock source", source or UNKNOWN, advice if source in _SLOW_CLOCKS else "")


def cpus(count: float, quota: float | None = None) -> MachineCheck:
    """quota: of the control group, in cores."""
    usable = min(count, quota or math.inf)
    advice = "with a target on the same core, each disturbs the other's times: give the generator one of its own"
    value = f"{usable:g} usable: as many workers (--processes -1)"
    if quota is None or quota >= count:
        return MachineCheck("CPUs", value, advice if usable < 2 else "")
    # The time of a quota is spent by as many threads at once as there are CPUs; the rest of a period all of them wait.
    value = f"{usable:g} usable of {count:g}: the control group (container) has a quota"
    waits = "a worker that has used its share waits up to 0.1 s for the next; raise the CPU limit, or --processes 1"
    return MachineCheck("CPUs", value, waits if usable < 2 else "")


def governor(name: str | None) -> MachineCheck:
    value = "none: the host sets the speed" if name is None else name
    advice = f"cpupower frequency-set -g performance: with {name} the speed follows the load"
    return MachineCheck("CPU governor", value, "" if name in (None, "performance") else advice)


def stamps(kernel: bool) -> MachineCheck:
    value = "by the kernel" if kernel else "by this program"
    refused = "SO_TIMESTAMPING is refused here" if sys.platform == "linux" else "only Linux has stamps of the kernel"
    advice = f"{refused}: response times include the time that a busy generator takes to read"
    return MachineCheck("arrival stamps", value, "" if kernel else advice)


def memory(available: int, limit: int | None = None, left: int | None = None) -> MachineCheck:
    """limit, left: bytes of the control group, and what is left of them."""
    advice = "a Python user takes 16 KiB and more, a worker about 60 MiB: free some, or use fewer users"
    value, usable = f"{size(available)} available", available
    if limit is not None and left is not None and left < available:
        value, usable = f"{size(left)} left of {size(limit)}, the limit of the control group (container)", left
    return MachineCheck("memory", value, "" if usable >= _MEMORY else advice)


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text().strip() or None
    except OSError:
        return None


def _kernel_stamps() -> bool:
    from plimsoll._engine import Engine

    return Engine().kernel_stamps
