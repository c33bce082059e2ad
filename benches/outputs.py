"""The cost of outputs: `python -m benches.outputs [--seconds 60] [--endpoints 100]`

Seconds of a run with these endpoints go to one output after the other, as the coordinator hands them over, and over
loopback to a server in a process of its own. Prints the CPU of each output per second of the run, as a share of a core
(the limit is 2 %). The exit status is 1 if an output exceeds it.
"""

from __future__ import annotations

import argparse
import random
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll._engine import Histogram
from plimsoll.outputs.exposition import shown
from plimsoll.outputs.protobuf_exposition import PROTOBUF
from plimsoll.record import Health, Interval
from plimsoll.record.manifest import Manifest
from plimsoll.run.coordinator import output_feed, output_thread
from plimsoll.run.coordinator.output_feed import OutputFeed
from plimsoll.run.coordinator.progress import Batch, Progress
from plimsoll.stats.view import RunView

from .table import table

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 0.02
"""Share of a core, for each output."""
REQUESTS = 100
"""Of an endpoint per second."""
SCRAPED_S = 5
"""Seconds from one scrape to the next."""
OUTPUTS = {
    "jsonl, into a file": "jsonl={folder}/run.jsonl",
    "jsonl, over HTTP": "jsonl={url}/",
    "prometheus, scraped every 5 s": "prometheus",
    "prometheus, native histograms scraped every 5 s": "prometheus,histograms=native",
    "prometheus, remote write every 5 s": "prometheus={url}/write",
    "prometheus, remote write 2.0 every 5 s": "prometheus={url}/write,version=2",
    "prometheus, native histograms every 5 s": "prometheus={url}/write,histograms=native",
    "otlp, every 5 s": "otlp={url}",
    "influxdb, over HTTP": "influxdb={url},db=load",
    "statsd, over UDP": "statsd=127.0.0.1:{port}",
}
SCRAPES = {
    "prometheus": "",
    "prometheus,histograms=native": f"{PROTOBUF};proto=io.prometheus.client.MetricFamily;encoding=delimited",
}
"""What a server that scrapes an output accepts."""
_RECEIVER = """
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.send_header("X-Prometheus-Remote-Write-Samples-Written", "1000000")
        self.end_headers()
    def log_message(self, *_):
        pass
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benches.outputs", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="of a run, at most 100 (default 60)")
    parser.add_argument("--endpoints", type=int, default=100, help="of the run (default 100)")
    arguments = parser.parse_args()
    # All seconds come at once here, so their end takes longer than that of a run.
    output_feed.FLUSH_S = output_thread.FLUSH_S = 120.0
    batches = [_batch(second, arguments.endpoints) for second in range(min(100, arguments.seconds))]
    shares: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, _receiver() as url, _datagrams() as port:
        without = _cpu_s(batches, ())
        for name, text in OUTPUTS.items():
            used = _cpu_s(batches, (text.format(folder=folder, url=url, port=port),))
            shares[name] = max(0.0, used - without) / len(batches)
    rows = [(name, f"{share:.2%}") for name, share in shares.items()]
    print(table((f"{arguments.endpoints} endpoints, once a second", "of a core"), rows))
    largest = max(shares.values())
    print(f"{'holds' if largest <= MOST else 'misses'}: {largest:.2%} of a core, at most {MOST:.0%}")
    return 0 if largest <= MOST else 1


def _cpu_s(batches: list[Batch], texts: tuple[str, ...]) -> float:
    """CPU seconds of this process: what a coordinator does for its view of the run, and for these outputs."""
    view = RunView()
    feed = OutputFeed(texts, Manifest, lambda: "bench", lambda _: (), has_page=True, is_strict=False)
    began = time.process_time()
    feed.start(time.time(), "kernel")
    for second, batch in enumerate(batches):
        view.add(batch.intervals, batch.health)
        feed.second(
            Progress(
                batch, view, 0.0, second + 1.0, second + 1.0, None, users=50, wanted=50, workers=1, state="running"
            )
        )
        if texts and texts[0] in SCRAPES and second % SCRAPED_S == 0:
            shown(SCRAPES[texts[0]])
    lost = feed.finish()
    used = time.process_time() - began
    assert not lost, lost
    feed.close()
    return used


def _batch(second: int, endpoints: int) -> Batch:
    chance = random.Random(second)
    intervals = [_interval(chance, second, f"/endpoint/{number}") for number in range(endpoints)]
    lag = Histogram()
    for _ in range(REQUESTS):
        lag.record(chance.randrange(1, 200))
    return Batch(intervals, [Health(worker=0, second=second, users=50, lag=lag, delay=lag)])


def _interval(chance: random.Random, second: int, name: str) -> Interval:
    times = [round(chance.lognormvariate(3.0, 0.6) * 1000) for _ in range(REQUESTS)]
    histogram = Histogram()
    for micros in times:
        histogram.record(micros)
    return Interval(
        second, "GET", name, "success", count=REQUESTS, bytes_in=50_000, bytes_body=40_000,
        response_sum=sum(times) * 1000, response_min=min(times) * 1000, response_max=max(times) * 1000,
        service_sum=sum(times) * 1000, response=histogram, service=histogram,
    )  # fmt: skip


@contextmanager
def _receiver() -> Iterator[str]:
    with subprocess.Popen([sys.executable, "-c", _RECEIVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@contextmanager
def _datagrams() -> Iterator[int]:
    """A port at which datagrams are dropped by the kernel, as nobody reads them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        yield receiver.getsockname()[1]


if __name__ == "__main__":
    sys.exit(main())
