"""Do two workers send twice what one sends? On two cores, which they share with their target.

    python -m benches.scaling [--pairs N] [--seconds S]

The target is `sink`, which costs as little as one can. It runs on the cores of the workers, so two of them cannot send
twice the requests: what it takes, they do not have. The fair figure is therefore the number of requests for each CPU
second of the workers, of two against one. The ratio of the rates comes with the CPU of the target, which explains it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

import psutil

from .cost import check_count
from .errors import BenchError
from .process import Measured
from .subjects import FOLDER, Load, kept, plimsoll_run
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
    """Requests for each CPU second of the workers: of two, as a multiple of one's."""
    rates: float
    """Requests per second: the same."""

    @classmethod
    def of(cls, pairs: list[tuple[Window, Window]]) -> "Scaling":
        return cls(
            efficiency=median(two.per_cpu_second / one.per_cpu_second for one, two in pairs),
            rates=median(two.rate / one.rate for one, two in pairs),
        )


class Sink:
    """The target, and what it says of itself."""

    def __init__(self, process: "subprocess.Popen[str]", port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self._process = psutil.Process(process.pid)
        self._connection = HTTPConnection("127.0.0.1", port, timeout=30)

    def count(self) -> int:
        """Requests that it has answered."""
        self._connection.request("GET", "/count")
        return int(self._connection.getresponse().read())

    def cpu_seconds(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)

    def close(self) -> None:
        self._connection.close()


@contextmanager
def running_sink() -> Iterator[Sink]:
    """Raises BenchError if it is not built."""
    if not SINK.exists():
        raise BenchError(f"{SINK} is missing: cargo build --release -p plimsoll-engine --example sink")
    with subprocess.Popen([str(SINK)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        sink = Sink(process, int(process.stdout.readline().rpartition(":")[2]))
        yield sink
        sink.close()
        process.communicate("\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.scaling", description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5, help="of runs with one worker and with two (default 5)")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each window (default 4)")
    given = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        sys.exit("benches: two workers need two cores, and this machine has one")
    os.sched_setaffinity(0, {0, 1})
    try:
        with running_sink() as sink:
            pairs = [(measure(sink, 1, given.seconds), measure(sink, 2, given.seconds)) for _ in range(given.pairs)]
    except BenchError as error:
        sys.exit(f"benches: {error}")
    print(render(pairs))
    return 0 if Scaling.of(pairs).efficiency >= BAR else 1


def measure(sink: Sink, workers: int, seconds: float) -> Window:
    """Raises BenchError for a run that fails, or whose count is not the target's."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        users = USERS * workers
        load = Load(sink.url, "/", users, round(SETTLE_SECONDS + seconds + MARGIN_SECONDS), Path(folder))
        before = sink.count()
        count = ("-u", str(users), "-r", str(users), "--processes", str(workers))
        command = plimsoll_run(load, load.url + load.path, *count)
        with Measured(command, load.environment, cpus={0, 1}) as generator:
            while sink.count() - before < users:
                generator.tree()  # raises if it has ended
                time.sleep(0.05)
            time.sleep(SETTLE_SECONDS)
            window = _weigh(sink, generator, seconds)
            generator.finish()
        check_count("plimsoll", kept(load), sink.count() - before, users)
        return window


def _weigh(sink: Sink, generator: Measured, seconds: float) -> Window:
    all_before, workers_before = generator.cpu_seconds()
    target, requests, clock = sink.cpu_seconds(), sink.count(), time.monotonic()
    time.sleep(seconds)
    all_after, workers_after = generator.cpu_seconds()
    elapsed = time.monotonic() - clock
    workers = workers_after - workers_before
    return Window(
        rate=(sink.count() - requests) / elapsed,
        workers=workers / elapsed,
        coordinator=(all_after - all_before - workers) / elapsed,
        target=(sink.cpu_seconds() - target) / elapsed,
    )


def render(pairs: list[tuple[Window, Window]]) -> str:
    head = ("workers", "requests/s", "requests per CPU s of the workers", "CPUs: workers", "coordinator", "target")
    rows = [
        (
            str(workers),
            *(f"{median(getattr(each, figure) for each in of):,.0f}" for figure in ("rate", "per_cpu_second")),
            *(f"{median(getattr(each, part) for each in of):.2f}" for part in ("workers", "coordinator", "target")),
        )
        for workers, of in enumerate(zip(*pairs, strict=True), 1)
    ]
    found = Scaling.of(pairs)
    verdict = "holds" if found.efficiency >= BAR else "misses"
    return (
        f"{table(head, rows)}\n\ntwo workers against one, medians of {len(pairs)} pairs: "
        f"{found.efficiency:.2f} × the requests per CPU second of the workers (bar {BAR}: {verdict}), "
        f"{found.rates:.2f} × the requests per second, with the target on the same cores"
    )


if __name__ == "__main__":
    sys.exit(main())
