"""Uses an installed Plimsoll like a new user: a run, its page, its report, an experiment. Needs nothing else.

PYTHON smoke.py            in an empty folder; exits with 1 at the first error
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLIMSOLL = str(Path(sys.executable).with_name("plimsoll"))
LOCUSTFILE = """\
from locust import HttpUser, constant, task


class Reader(HttpUser):
    wait_time = constant(0.05)

    @task
    def read(self):
        self.client.get("/item")
"""
EXPERIMENT = """\
name = "smoke"
repeats = 2
[scenario]
locustfile = "locustfile.py"
run_time = "1s"
[levels]
users = [2]
[target]
url = "{url}"
[[variant]]
name = "a"
[[variant]]
name = "b"
"""


class Target(BaseHTTPRequestHandler):
    """Counts its responses."""

    protocol_version = "HTTP/1.1"
    answered = 0
    lock = threading.Lock()

    def do_GET(self) -> None:
        with Target.lock:
            Target.answered += self.path == "/item"
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Target)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    Path("locustfile.py").write_text(LOCUSTFILE)
    Path("experiment.toml").write_text(EXPERIMENT.replace("{url}", url))
    a_run(url)
    a_report()
    the_page()
    plimsoll("experiment", "experiment.toml", "--yes")
    check("smoke" in plimsoll("report", "smoke"), "the report names the experiment")
    check(Target.answered > 0, "the target was asked")


def a_run(url: str) -> None:
    plimsoll(
        "run", "-f", "locustfile.py", "--headless", "-H", url, "-u", "3", "-r", "3", "-t", "2s", "-s", "10s",
        "--html", "run.html",
    )  # fmt: skip
    run = json.loads(plimsoll("export", "last", "--format", "run.json", "-o", "-"))
    check(run["total"]["requests"] == Target.answered, f"{run['total']['requests']} requests of {Target.answered}")
    check(Path("run.html").stat().st_size > 500_000, "a report has its page inside")


def a_report() -> None:
    check("| /item " in plimsoll("report", "last", "--format", "md"), "the report has a row for each endpoint")


def the_page() -> None:
    serve = subprocess.Popen([PLIMSOLL, "serve", "-P", "0"], stderr=subprocess.PIPE, text=True)
    try:
        assert serve.stderr is not None
        found = next(match for line in serve.stderr if (match := re.search(r"http://\S+", line)))
        with urllib.request.urlopen(found[0], timeout=10) as answer:
            page = answer.read().decode()
        script = re.search(r'src="([^"]+\.js)"', page)
        check(script is not None, "the page has its script")
        assert script is not None
        with urllib.request.urlopen(found[0].rstrip("/") + "/" + script[1].removeprefix("./"), timeout=10) as answer:
            check(answer.status == 200, "the script is there")
    finally:
        serve.terminate()
        serve.wait(10)


def plimsoll(*words: str) -> str:
    done = subprocess.run([PLIMSOLL, *words], capture_output=True, text=True, timeout=120)
    check(done.returncode == 0, f"plimsoll {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def check(holds: bool, what: str) -> None:
    if not holds:
        sys.exit(f"smoke: {what}")


if __name__ == "__main__":
    main()
