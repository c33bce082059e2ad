"""The runs of the corpus: what each of them is to be, as the words of `plimsoll run` and the files beside it.

`{url}`, `{http2}`, `{sockets}` and `{grpc}` stand for the servers, `{pid}` for their process, `{closed}` for a port at
which nobody listens.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True)
class Case:
    name: str
    arguments: str
    """As in a shell, without those that all runs have."""
    end: Literal["itself", "interrupted", "killed", "worker killed"] = "itself"
    """How it ends; what is sent is sent after two seconds."""


FAILURES = """
from plimsoll import {User}, task, constant

class Shopper({User}):
    wait_time = constant(0.02)
    network_timeout = 0.3
    connection_timeout = 0.3

    @task
    def all(self):
        self.client.get("/ok")
        self.client.get("/fail")
        self.client.get("/never", {timeout})
        self.client.get("/reset")
        self.client.get("http://127.0.0.1:{closed}/refused", name="/refused")
        with self.client.get("/ok", name="judged", catch_response=True) as response:
            response.failure("not what was wanted")
        with self.client.get("/fail", name="forgiven", catch_response=True) as response:
            response.success()
        self.client.post("/item", json={"a": 1})

    @task
    def broken(self):
        self.client.get("/ok")
        raise ValueError("a mistake in a task")
"""

PLAIN = """
from plimsoll import FastHttpUser, HttpUser, LoadTestShape, constant, events, task

class Reader(HttpUser):
    wait_time = constant(0.02)
    weight = 3

    @task(3)
    def read(self):
        self.client.get("/ok")

    @task
    def write(self):
        self.client.post("/item", json={"name": "x"}, name="write")

class Quick(FastHttpUser):
    wait_time = constant(0.02)

    @task
    def read(self):
        self.client.get("/ok?quick", name="/ok")
"""

FILES = {
    "failures.py": FAILURES.replace("{User}", "HttpUser").replace("{timeout}", "timeout=0.3"),
    "fast_failures.py": FAILURES.replace("{User}", "FastHttpUser").replace(", {timeout}", ""),
    "plain.py": PLAIN,
    "shape.py": PLAIN + '''
class Steps(LoadTestShape):
    def tick(self):
        seconds = self.get_run_time()
        return None if seconds > 3 else (2 + 2 * int(seconds), 10)
''',
    "many.py": '''
from plimsoll import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0)

    def on_start(self):
        self.number = 0

    @task
    def next(self):
        self.number += 1
        self.client.get("/ok", name=f"/section-{self.number % 15}/page-{self.number % 150:03}")
''',
    "hostile.py": '''
from plimsoll import HttpUser, constant, task

NAMES = ["=1+1", "<b>&amp;</b>", "a,b;\\"c\\"", "\\u65e5\\u672c \\u00e4", "two\\nlines",
         "| a | `b` |", "\\x1b[31mred", ""]

class Visitor(HttpUser):
    wait_time = constant(0.01)

    @task
    def all(self):
        for name in NAMES:
            with self.client.get("/ok", name=name, catch_response=True) as response:
                if "," in name or "<" in name:
                    response.failure(f"refused: {name}")
''',
    "idle.py": '''
from plimsoll import User, constant, task

class Idle(User):
    wait_time = constant(1)

    @task
    def nothing(self):
        pass
''',
    "python_streams.py": '''
from plimsoll import HttpUser, constant, task

class Talker(HttpUser):
    wait_time = constant(0.01)
    proto = "echo.proto"

    @task
    def events(self):
        with self.client.get("/events", stream=True, catch_response=True) as response:
            for _ in response.events():
                pass

    @task
    def chat(self):
        with self.client.post("/v1/chat/completions", json={}, stream=True, catch_response=True) as response:
            for _ in response.events("llm"):
                pass

    @task
    def socket(self):
        with self.client.websocket("ws://{sockets}/") as socket:
            socket.send("hello")
            socket.receive(timeout=1)
''',
    "shop.toml": '''
name = "Shop, morning rush"
target = "{url}"
headers = { Accept = "application/json" }
timeout = "2s"
max_users = 50
seed = 42
thresholds = ["p99 < 2s", "errors < 1%", "p95 of \\"create\\" < 1s"]

[feeder.texts]
columns = ["title", "description"]
rows = [["Buy milk", "Two litres"], ["Call mum", "Before eight"]]
order = "random"

[[request]]
name = "list"
get = "/ok?limit=10"
weight = 3
expect.status = 200

[[flow]]
name = "write and read"
weight = 1
think = "10ms..30ms"

[[flow.step]]
name = "create"
post = "/item"
json = { title = "${texts.title}", description = "${texts.description} ${uuid}" }
extract.item = { json = "/id" }
expect = { status = "2xx", max_time = "2s" }

[[flow.step]]
name = "read"
get = "/items/${item}"
expect.status = 200
expect.contains = "hello"

[[phase]]
rate = "10/s"
duration = "1s"
warmup = true

[[phase]]
name = "up"
ramp = "10/s..40/s"
duration = "2s"

[[phase]]
name = "rush"
rate = "40/s"
duration = "1s"
spacing = "poisson"
''',
    "checks.toml": '''
name = "checks that fail"
target = "{url}"
timeout = "200ms"

[[flow]]
[[flow.step]]
name = "status"
get = "/fail"
expect.status = 200
[[flow.step]]
name = "words"
get = "/ok"
expect.contains = "goodbye"
[[flow.step]]
name = "pointer"
post = "/item"
expect.json = { "/id" = 8 }
[[flow.step]]
name = "late"
get = "/slow"
[[flow.step]]
name = "missing"
get = "/item"
extract.token = { header = "X-Token" }
[[flow.step]]
name = "after"
get = "/items/${token}"

[[phase]]
users = 3
duration = "2s"
''',
    "calls.toml": '''
target = "grpc://{grpc}"
proto = "echo.proto"

[[flow]]
think = "10ms"
[[flow.step]]
grpc = "echo.v1.Echo/Say"
message = { text = "hello" }
[[flow.step]]
grpc = "echo.v1.Echo/Say"
name = "not found"
message = { text = "hello", code = 5 }
[[flow.step]]
grpc = "echo.v1.Echo/List"
message = { text = "hello", count = 4 }

[[phase]]
users = 2
duration = "2s"
''',
    "arrivals.txt": "\n".join(f"{number * number / 1000:.3f}" for number in range(50)) + "\n",
    "echo.proto": (TESTS / "echo.proto").read_text(),
    "target.py": Path(__file__).with_name("target.py").read_text(),
    "experiment.toml": '''
name = "wait"
question = "Is the service faster when it does not wait?"
repeats = 3
seed = 1
budget = "5m"
cool_down = "0s"

[scenario]
url = "/ok"
run_time = "1s"
warmup = "1s"

[levels]
users = [1, 3]

[compare]
metrics = ["p50", "p99", "throughput"]
primary = ["p50 of GET /ok"]
smallest = "10%"

[target]
url = "http://127.0.0.1:{port}"
start = ["{python}", "target.py", "{port}", "0.02"]

[[variant]]
name = "waiting"

[[variant]]
name = "direct"
changes = "no wait of 20 ms"
start = ["{python}", "target.py", "{port}"]
''',
}  # fmt: skip

CASES = (
    Case("url", "{url}/ok -u 4 -t 3s"),
    Case("url-again", "{url}/ok -u 4 -t 3s"),
    Case("url-post", "{url}/item -X POST --header 'X-A: b' -d '{\"a\": 1}' -u 2 -t 2s --processes 2"
         " --threshold 'p99 < 5s' --threshold 'errors < 1%'"),
    Case("plan", "shop.toml"),
    Case("plan-checks", "checks.toml"),
    Case("failures", "-f failures.py -H {url} -u 3 -r 3 -t 3s"),
    Case("fast-failures", "-f fast_failures.py -H {url} -u 3 -r 3 -t 3s"),
    Case("failures-times-of-successes", "-f failures.py -H {url} -u 2 -r 2 -t 2s --times-of successes"),
    Case("open-unanswered", "{url}/never --rate 20/s -t 2s -s 1s --threshold 'p99 < 3s' --threshold 'p50 < 500ms'"),
    Case("open-dropped", "{url}/slow --rate 30/s -t 3s --max-users 4 --on-saturation drop"),
    Case("open-waiting", "{url}/slow --rate 30/s -t 2s --max-users 4 -s 1s"),
    Case("open-poisson", "-f plain.py -H {url} --rate 40/s -t 2s --spacing poisson --seed 3 --warmup 1s"),
    Case("closed-unanswered", "{url}/never -u 3 -t 2s -s 0"),
    Case("shape", "-f shape.py -H {url}"),
    Case("stages", "{url}/ok --stages 1s:20/s,2s:40/s"),
    Case("steps", "{url}/ok --steps 1s:2,1s:4"),
    Case("staircase", "{url}/ok --staircase from=10/s,step=10/s,each=1s,count=3"),
    Case("spike", "{url}/ok --spike base=10/s,peak=60/s,at=1s,hold=1s -t 3s"),
    Case("sine", "{url}/ok --sine mean=30/s,amplitude=20/s,period=2s -t 2s"),
    Case("replay", "{url}/ok --replay arrivals.txt"),
    Case("python", "-f plain.py -H {url} -u 4 -r 4 -t 2s"),
    Case("worker-killed", "-f plain.py -H {url} -u 4 -r 4 -t 5s --processes 2", "worker killed"),
    Case("worker-replaced", "{url}/ok --rate 40/s -t 5s --processes 2 --on-worker-loss redistribute", "worker killed"),
    Case("http2", "http://{http2}/page --http2 -u 6 --users-per-connection 3 -t 2s"),
    Case("websocket", "ws://{sockets}/ --message hello -u 3 -t 2s"),
    Case("websocket-closed", "ws://{sockets}/busy --message hello -u 2 -t 2s"),
    Case("grpc", "grpc://{grpc}/echo.v1.Echo/Say --proto echo.proto -d '{\"text\": \"x\"}' -u 2 -t 2s"),
    Case("grpc-statuses", "calls.toml"),
    Case("events", "{url}/events --stream sse -u 3 -t 2s"),
    Case("chat", "{url}/v1/chat/completions --stream llm -d '{}' -u 3 -t 2s --slo first_token=5ms --slo time=1s"),
    Case("python-streams", "-f python_streams.py -H {url} -u 3 -r 3 -t 2s"),
    Case("server-timing", "{url}/timed -u 3 -t 2s"),
    Case("observed", "{url}/ok -u 2 -t 4s --observe service=pid:{pid} --traceparent"),
    Case("thresholds-broken", "{url}/fail -u 2 -t 3s --threshold 'errors < 1%' --threshold 'p99 of nowhere < 1s'"
         " --threshold 'rps > 100000 for 1s, else stop'"),
    Case("many-names", "-f many.py -H {url} -u 4 -r 4 -t 3s"),
    Case("too-many-names", "-f many.py -H {url} -u 2 -r 2 -t 2s --max-names 5"),
    Case("hostile-names", "-f hostile.py -H {url} -u 2 -r 2 -t 2s --name '<b>hostile</b>'"),
    Case("nothing", "-f idle.py -u 2 -r 2 -t 2s"),
    Case("refused", "http://127.0.0.1:{closed}/ -u 2 -t 2s"),
    Case("too-fast", "{url}/ok -u 4 -t 3s --max-rate 50/s"),
    Case("reset", "-f plain.py -H {url} -u 4 -r 2 -t 4s --reset-stats"),
    Case("interrupted", "-f plain.py -H {url} -u 2 -r 2 -t 30s", "interrupted"),
    Case("killed", "{url}/ok -u 2 -t 30s", "killed"),
)  # fmt: skip

NOT_SHOWN = Case(
    "thresholds-not-shown",
    "-f plain.py -H {url} -u 6 -r 6 -t 3s "
    + " ".join(f"--threshold 'p{rank} < {limit / 10}ms'" for rank in (50, 90, 99) for limit in (4, 6, 8, 10, 20, 40)),
)
"""One of these limits is within what the generator may have added, whatever the machine does."""

HISTORY = Case("nightly", "{url}/ok --rate 50/s -t 1s")
"""Repeated, with a tag: what `compare --baseline nightly@{last}` reads."""
HISTORY_RUNS = 7

SEARCH = "{url}/serial --slo 'p90 < 60ms' -t 1s --warmup 0s --cool-down 0s --from 20 --to 400 --width 40% --confirm 6"

IMPORTS = (
    "release-locust-2.47-stats.csv", "release-k6-2.2-points.csv", "release-k6-1.4-handle-summary.json",
    "release-vegeta-12.13.json", "release-wrk-4.1.txt", "release-wrk2-4.0.txt", "release-oha-1.15.json",
    "release-hey-0.1.4.txt", "release-ghz-0.93.json", "release-jmeter-5.6.jtl", "release-gatling-3.15.log",
    "hdrhistogram-log-3.hlog", "release-vllm-2026.json", "release-guidellm-0.8.json",
    "release-aiperf-0.13.json", "phout-3.log", "tables-in-text--markdown-or-csv-1.md",
)  # fmt: skip
"""Of fuzz/seeds/results."""
