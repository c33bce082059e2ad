"""The cost of observing the target's side: `python -m benches.observe [--seconds 30]`

Ten processes, one PostgreSQL and an endpoint of 2,000 samples, sampled once a second as in a run. Prints the CPU of
each kind as a share of a core (the limit is 1 % in total), and the time to parse 2,000 samples, compared with the
parser of prometheus_client. The exit status is 1 if the limit is exceeded.
"""

import argparse
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

from labs.todos.postgres import running_postgres
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from plimsoll.observe.exposition import samples
from plimsoll.observe.kinds import opened
from plimsoll.observe.sampler import Probe, Sampler

from .table import table

PROCESSES = 10
SAMPLES = 2_000
MOST = 0.01
"""Share of a core, for all of them."""
PARSES = 50


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.observe", description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each kind (default 30)")
    seconds = parser.parse_args().seconds
    page = _metrics()
    with ExitStack() as stack:
        processes = stack.enter_context(_processes())
        database = stack.enter_context(running_postgres())
        port = stack.enter_context(_served(page))
        kinds = {
            f"{PROCESSES} processes": [f"pid:{processes}/children"],
            "one PostgreSQL": [f"postgresql://{database.primary}"],
            f"{SAMPLES} samples": [f"http://127.0.0.1:{port}/metrics"],
        }
        shares = {name: _share(texts, seconds) for name, texts in kinds.items()}
        total = _share([text for texts in kinds.values() for text in texts], seconds)
    rows = [(name, f"{share:.2%}") for name, share in {**shares, "all together": total}.items()]
    print(table(("what is observed, once a second", "of a core"), rows))
    ours = _milliseconds(lambda: sum(1 for _ in samples(page)))
    theirs = _milliseconds(lambda: list(text_string_to_metric_families(page)))
    print(f"\n{SAMPLES} samples are parsed in {ours:.1f} ms; by prometheus_client in {theirs:.1f} ms")
    print(f"{'holds' if total <= MOST else 'misses'}: {total:.2%} of a core, at most {MOST:.0%}")
    return 0 if total <= MOST else 1


def _share(texts: Sequence[str], seconds: float) -> float:
    """CPU per second of this thread, which samples."""
    probes = [each for each in map(opened, texts) if isinstance(each, Probe)]
    sampler = Sampler(probes)
    sampler.sample()  # connects
    began, cpu = time.monotonic(), time.thread_time()
    while time.monotonic() < began + seconds:
        time.sleep(sampler.wait())
        sampler.sample()
    share = (time.thread_time() - cpu) / (time.monotonic() - began)
    sampler.close()
    return share


def _metrics() -> str:
    registry = CollectorRegistry()
    gauge = Gauge("bench_value", "One of many", ["endpoint", "code"], registry=registry)
    for number in range(SAMPLES):
        gauge.labels(f"/path/{number // 4}", str(number % 4)).set(number * 1.5)
    return generate_latest(registry).decode()


@contextmanager
def _processes() -> Iterator[int]:
    """Yields the pid of their parent."""
    script = (
        "import subprocess, sys; p = [subprocess.Popen(['sleep', '600']) for _ in range(int(sys.argv[1]))]; "
        "sys.stdin.read(); [each.kill() for each in p]"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(PROCESSES)], stdin=subprocess.PIPE) as parent:
        time.sleep(1.0)  # all have started
        yield parent.pid


@contextmanager
def _served(page: str) -> Iterator[int]:
    """Serves at that port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _milliseconds(do: Callable[[], object]) -> float:
    began = time.thread_time()
    for _ in range(PARSES):
        do()
    return (time.thread_time() - began) / PARSES * 1e3


if __name__ == "__main__":
    sys.exit(main())
