"""How long after Enter is the first request of a run? `python -m benches.startup [--rounds 10]`

Starts each command in turns, against a socket of this process, and notes when the first request arrives there and how
much CPU the processes of the command have taken by then. Prints the median and the range of both. The exit status is 1
if a median exceeds its limit; the limits are for a quiet machine.
"""

import argparse
import os
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import BenchError
from .process import Measured
from .subjects import PLIMSOLL
from .table import table

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
MOST_SECONDS = 30.0
LOCUSTFILE = Path(__file__).with_name("locustfiles") / "trivial.py"


@dataclass(frozen=True)
class Command:
    """What somebody types, for a URL."""

    name: str
    words: tuple[str, ...]
    limit: float
    """Seconds to the first request."""

    def line(self, url: str, store: str) -> list[str]:
        return [str(PLIMSOLL), "run", *(word.replace("URL", url) for word in self.words), "--store", store]


COMMANDS = (
    Command("URL, with its page", ("URL", "-u", "1", "-t", "20s"), 0.5),
    Command("URL, --headless", ("URL", "-u", "1", "-t", "20s", "--headless"), 0.5),
    Command(
        "locustfile, --headless",
        ("-f", str(LOCUSTFILE), "TrivialHttp", "-H", "URL", "-u", "1", "-t", "20s", "--headless"),
        0.8,
    ),
)


@dataclass(frozen=True)
class Start:
    """One start of a command."""

    seconds: float
    """From its beginning to the first byte of its first request."""
    cpu: float
    """Seconds of CPU of all its processes by then."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.startup", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10, help="how often each command is started; 10 by default")
    rounds = parser.parse_args().rounds
    starts: dict[Command, list[Start]] = {command: [] for command in COMMANDS}
    for _ in range(rounds):
        for command, measured in starts.items():
            measured.append(start(command))
    print(table(("command", "first request after", "CPU by then", "limit"), [row(*item) for item in starts.items()]))
    slow = [command.name for command, measured in starts.items() if is_slow(command, measured)]
    print(f"misses: {', '.join(slow)}" if slow else "holds")
    return 1 if slow else 0


def start(command: Command) -> Start:
    """Start it once, and end it after its first request. Raises BenchError if there is none."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder,
    ):
        listener.settimeout(MOST_SECONDS)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        line = command.line(url, str(Path(folder) / "plimsoll.db"))
        began = time.perf_counter()
        with Measured(line, {"BENCH_PATH": "/"}, os.sched_getaffinity(0)) as process:
            try:
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(MOST_SECONDS)
                    connection.recv(65536)
                    seconds = time.perf_counter() - began
                    cpu = sum(sum(part.cpu_times()[:2]) for part in process.tree())
                    connection.sendall(ANSWER)
            except TimeoutError as error:
                raise BenchError(f"no request within {MOST_SECONDS:.0f} s:\n{process.output()}") from error
    return Start(seconds, cpu)


def row(command: Command, starts: Sequence[Start]) -> tuple[str, str, str, str]:
    seconds, cpu = zip(*((measured.seconds, measured.cpu) for measured in starts), strict=True)
    return command.name, _middle(seconds), _middle(cpu), f"{command.limit:.1f} s"


def is_slow(command: Command, starts: Sequence[Start]) -> bool:
    return statistics.median(measured.seconds for measured in starts) > command.limit


def _middle(figures: Sequence[float]) -> str:
    return f"{statistics.median(figures):.2f} s ({min(figures):.2f}–{max(figures):.2f})"


if __name__ == "__main__":
    sys.exit(main())
