from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.outputs.receiver import receiving

from plimsoll.store import Store

URL = "http://127.0.0.1:9/"


class Fine(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        broken = self.path == "/broken"
        self.send_response(500 if broken else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Fine)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([URL], "missing option '--slo'"),
        (["--slo", "p99 < 50ms"], "capacity of what? Give a URL, a plan, or -f locustfile.py"),
        ([URL, "--slo", "p99 < 50"], "`p99` is compared with a time with its unit"),
        ([URL, "--slo", "p99 < 50ms over 10s"], "an objective is about a whole run"),
        ([URL, "--slo", "p99 < 50ms", "-u", "5"], "-u: the search says how much load there is"),
        ([URL, "--slo", "p99 < 50ms", "--from", "9", "--to", "5"], "--to 5 is below --from 9"),
        ([URL, "--slo", "p99 < 50ms", "--from", "0"], "--from: a load is above 0"),
        ([URL, "--slo", "p99 < 50ms", "--width", "5"], "--width 5: a share between 0% and 100%"),
        ([URL, "--slo", "p99 < 50ms", "--resume", "--fresh"], "--fresh contradicts --resume"),
        ([URL, "--slo", "p99 < 50ms", "--resume"], "there is no search capacity-127.0.0.1:9 to go on with"),
        ([URL, "--slo", "p99 < 50ms", "--time", "0s"], "must be longer than 0"),
        ([URL, "--slo", "p99 < 50ms", "--picture", "a.gif"], "its name ends in .svg or .png"),
        ([URL, "--slo", "p99 < 50ms", "--json", "no/where.json"], "there is no folder"),
        (["nothing.toml", "--slo", "p99 < 50ms", "--time", "1s"], "nothing.toml"),
    ],
)
def test_what_cannot_be_searched_is_told_in_a_line(plimsoll, arguments, message):
    result = plimsoll("capacity", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output


def quick(url):
    return [url, "--from", "20", "--time", "1s", "--warmup", "0s", "--cool-down", "0s"]


def test_an_objective_that_nothing_breaks(plimsoll, url, tmp_path):
    """20 and 40 arrivals per second of a target that answers at once; a minute would be missed by no machine."""
    result = plimsoll(
        "capacity", *quick(url), "--to", "40", "--slo", "p99 < 60s, errors < 1%", "--json", "c.json", "--md", "c.md",
        "--picture", "c.svg", "--name", "todos",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "This service carries at least 40 requests/s with p99 < 60s, errors < 1%, in runs of 1 s" in result.output
    document = json.loads((tmp_path / "c.json").read_text())
    assert (document["schema"], document["low"], document["high"]) == ("plimsoll.capacity", 40, None)
    assert [each["load"] for each in document["runs"]] == [20, 40]
    with Store.open() as store:
        stored = {run.id: (run.experiment, run.manifest.name) for run in store.runs()}
    variant = url.removeprefix("http://")
    assert stored == {
        document["runs"][0]["run"]: ("todos", f"todos: {variant}, 20/s, repeat 1"),
        document["runs"][1]["run"]: ("todos", f"todos: {variant}, 40/s, repeat 1"),
    }
    assert "This service carries at least 40 requests/s" in (tmp_path / "c.md").read_text()
    assert (tmp_path / "c.svg").read_text().startswith("<svg")
    again = plimsoll("report", "todos", "--format", "json")
    assert json.loads(again.stdout)["runs"] == document["runs"]
    assert "todos" in plimsoll("runs", "--experiments").output


def test_strict_wants_figures_that_are_clean(plimsoll, url, monkeypatch):
    monkeypatch.setattr("plimsoll.stats.thresholds.slo.is_clean", lambda value, share: False)
    words = ["capacity", *quick(url), "--to", "20", "--slo", "p99 < 60s"]
    assert plimsoll(*words).exit_code == 0
    assert plimsoll(*words, "--strict").exit_code == 3


def test_an_objective_that_is_never_met(plimsoll, url):
    with receiving() as receiver:
        result = plimsoll(
            "capacity", *quick(f"{url}/broken"), "--slo", "errors < 1%", "--users", "--from", "2", "--notify",
            f"{receiver.url}/whisper",
        )  # fmt: skip
    assert result.exit_code == 1, result.output
    ((_, _, message),) = receiver.requests
    sent = json.loads(message)
    assert (sent["verdict"], sent["exit_code"]) == ("failed", 1)
    assert sent["answer"][0].startswith("This service does not meet errors < 1% even at 1 user")
    assert "whisper" not in result.output
    assert "This service does not meet errors < 1% even at 1 user, the lowest load that was tried." in result.output


def test_a_search_goes_on_after_ctrl_c(plimsoll, url, tmp_path):
    words = ["capacity", *quick(url), "--to", "40", "--slo", "p99 < 60s", "--name", "todos"]
    command = [sys.executable, "-m", "plimsoll", *words]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as search:
        assert search.stderr is not None
        assert any(line.endswith("met\n") for line in search.stderr)
        search.send_signal(signal.SIGINT)
        said = search.stderr.read()
    assert search.returncode == 130, said
    assert "--resume goes on" in said
    assert plimsoll(*words).exit_code == 2
    result = plimsoll(*words, "--resume", "--json", "c.json")
    assert result.exit_code == 0, result.output
    assert "search todos goes on after" in result.output
    document = json.loads((tmp_path / "c.json").read_text())
    assert ([each["load"] for each in document["runs"]], document["finished"]) == ([20, 40], True)
