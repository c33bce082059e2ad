"""Do two workers on two cores send twice what one sends on one? Each shares its core with a part of the target.

    python -m benches.scaling [--pairs N] [--seconds S]

The target is `sink`, which costs as little as one can, but still two thirds of what a worker costs. So each core has a
worker and a sink, with one worker as with two: then two workers on two cores can send twice what one sends on one. All
are pinned. The kernel spreads the connections over the sinks, so half of them go to the other core, and that alone
makes a request dearer. wrk shows how much: one process of it and two, which share nothing, are measured in turn with
the workers.

Other programs on the machine make the ratio of the rates wrong, and hardly that of the requests for each CPU second:
the workers' is compared with the bar.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import psutil

from .cost import check_count
from .errors import BenchError
from .process import Measured
from .subjects import FOLDER, Load, Wrk, kept, plimsoll_run
from .table import table

SINK = FOLDER.parent / "target" / "release" / "examples" / "sink"
USERS = 50
"""Of each worker."""
SETTLE_SECONDS = 1.0
MARGIN_SECONDS = 2
BAR = 0.95


@dataclass(frozen=True)
class Window:
    """Some seconds of a run at full speed; all but the rate in CPU seconds per second."""

    rate: float
    """Requests per second, as the target counts them."""
    workers: float
    coordinator: float
    target: float

    @property
    def per_cpu_second(self) -> float:
        """Requests for each CPU second of the workers."""
        return self.rate / self.workers


@dataclass(frozen=True)
class Scaling:
    """Two workers against one, from runs in turn: the medians of the pairs."""

    efficiency: float
    """Requests for each CPU second: of two, as a multiple of one's."""
    rates: float
    """Requests per second: the same."""

    @classmethod
    def of(cls, pairs: list[tuple[Window, Window]]) -> "Scaling":
        return cls(
            efficiency=median(two.per_cpu_second / one.per_cpu_second for one, two in pairs),
            rates=median(two.rate / one.rate for one, two in pairs),
        )


class Sinks:
    """The target: one process on each of the first cores, all at one port."""

    def __init__(self, processes: list["subprocess.Popen[str]"], port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._processes = processes

    def count(self) -> int:
        """Requests that they have answered."""
        return sum(map(_asked, self._processes))

    def cpu_seconds(self) -> float:
        times = [psutil.Process(each.pid).cpu_times() for each in self._processes]
        return sum(each.user + each.system for each in times)


def _asked(process: "subprocess.Popen[str]") -> int:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())


@contextmanager
def running_sinks(cores: int) -> Iterator[Sinks]:
    """Raises BenchError if they are not built."""
    if not SINK.exists():
        raise BenchError(f"{SINK} is missing: cargo build --release -p plimsoll-engine --example sink")
    with ExitStack() as stack:
        processes, port = [], 0
        for core in range(cores):
            process = subprocess.Popen([str(SINK), str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.callback(process.communicate)  # the end of its input is its end
            psutil.Process(process.pid).cpu_affinity([core])
            assert process.stdout is not None
            port = int(process.stdout.readline().rpartition(":")[2])
            processes.append(process)
        yield Sinks(processes, port)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.scaling", description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5, help="of runs with one worker and with two (default 5)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each window (default 4)")
    given = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        sys.exit("benches: two workers need two cores, and this machine has one")
    os.sched_setaffinity(0, {0, 1})
    try:
        rounds = [
            [measured(count, given.seconds) for measured in (measure, measure_wrk) for count in (1, 2)]
            for _ in range(given.pairs)
        ]
    except BenchError as error:
        sys.exit(f"benches: {error}")
    ours, wrks = [(one, two) for one, two, _, _ in rounds], [(one, two) for _, _, one, two in rounds]
    print(render(ours, wrks))
    return 0 if Scaling.of(ours).efficiency >= BAR else 1


def measure(workers: int, seconds: float) -> Window:
    """Raises BenchError for a run that fails, or whose count is not the target's."""
    with running_sinks(workers) as sinks, tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        users = USERS * workers
        load = Load(sinks.url, "/", users, round(SETTLE_SECONDS + seconds + MARGIN_SECONDS), Path(folder))
        count = ("-u", str(users), "-r", str(users), "--processes", str(workers))
        command = plimsoll_run(load, load.url + load.path, *count)
        with Measured(command, load.environment, cpus={0, 1}) as generator:
            while sinks.count() < users:
                generator.tree()  # raises if it has ended
                time.sleep(0.05)
            for core, worker in enumerate(generator.tree()[1 : workers + 1]):
                worker.cpu_affinity([core])
            time.sleep(SETTLE_SECONDS)
            window = _weigh(sinks, generator, seconds)
            generator.finish()
        check_count("plimsoll", kept(load), sinks.count(), users)
        return window


def measure_wrk(processes: int, seconds: float) -> Window:
    """The same with wrk, a process for each core. Raises BenchError."""
    with running_sinks(processes) as sinks, ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        load = Load(sinks.url, "/", USERS, round(2 * SETTLE_SECONDS + seconds + MARGIN_SECONDS), Path(folder))
        all_of_them = [stack.enter_context(Measured(Wrk().command(load), {}, cpus={core})) for core in range(processes)]
        time.sleep(2 * SETTLE_SECONDS)

        def cpu_seconds() -> float:
            return sum(each.cpu_seconds()[0] for each in all_of_them)

        before, target, requests, clock = cpu_seconds(), sinks.cpu_seconds(), sinks.count(), time.monotonic()
        time.sleep(seconds)
        used, elapsed = cpu_seconds() - before, time.monotonic() - clock
        return Window(
            rate=(sinks.count() - requests) / elapsed,
            workers=used / elapsed,
            coordinator=0.0,
            target=(sinks.cpu_seconds() - target) / elapsed,
        )


def _weigh(sinks: Sinks, generator: Measured, seconds: float) -> Window:
    all_before, workers_before = generator.cpu_seconds()
    target, requests, clock = sinks.cpu_seconds(), sinks.count(), time.monotonic()
    time.sleep(seconds)
    all_after, workers_after = generator.cpu_seconds()
    elapsed = time.monotonic() - clock
    workers = workers_after - workers_before
    return Window(
        rate=(sinks.count() - requests) / elapsed,
        workers=workers / elapsed,
        coordinator=(all_after - all_before - workers) / elapsed,
        target=(sinks.cpu_seconds() - target) / elapsed,
    )


def render(ours: list[tuple[Window, Window]], wrks: list[tuple[Window, Window]]) -> str:
    head = ("generator", "processes", "requests/s", "requests per CPU s", "CPUs: generator", "coordinator", "target")
    rows = [
        (
            name,
            str(count),
            *(f"{median(getattr(each, figure) for each in of):,.0f}" for figure in ("rate", "per_cpu_second")),
            *(f"{median(getattr(each, part) for each in of):.2f}" for part in ("workers", "coordinator", "target")),
        )
        for name, pairs in (("plimsoll", ours), ("wrk", wrks))
        for count, of in enumerate(zip(*pairs, strict=True), 1)
    ]
    found, wrk = Scaling.of(ours), Scaling.of(wrks)
    verdict = "holds" if found.efficiency >= BAR else "misses"
    return (
        f"{table(head, rows)}\n\ntwo workers against one, medians of {len(ours)} pairs: {found.efficiency:.2f} × the "
        f"requests per CPU second (bar {BAR}: {verdict}), {found.rates:.2f} × the requests per second, other programs "
        f"included\ntwo wrk against one, which share nothing: {wrk.efficiency:.2f} × and {wrk.rates:.2f} ×"
    )


if __name__ == "__main__":
    sys.exit(main())
