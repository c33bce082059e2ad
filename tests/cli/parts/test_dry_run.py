from __future__ import annotations

import json
import os
import pty
import socket
from typing import TYPE_CHECKING

import pytest
from tests.command import TIMEOUT_S, Command, CommandResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LOCUSTFILE = """
from locust import FastHttpUser, HttpUser, LoadTestShape, task

class Buyer(HttpUser):
    weight = 3
    host = "{url}"
    @task
    def a(self): self.client.get("/")

class Visitor(FastHttpUser):
    host = "{url}"
    @task
    def b(self): self.client.get("/")
"""
SHAPE = "class Waves(LoadTestShape):\n    def tick(self): return 1, 1\n"
PLAN = """
target = "{url}"
[[flow]]
name = "buy"
weight = 3
[[flow.step]]
get = "/items/${{uuid}}"
headers = {{ Authorization = "Bearer s3cret", Accept = "text/html" }}
[[flow.step]]
post = "/cart"
json = {{ id = 7 }}
[[flow]]
name = "look"
[[flow.step]]
get = "/"
"""


@pytest.fixture
def plimsoll(tmp_path: Path) -> Iterator[Command]:
    command = Command(tmp_path)
    yield command
    command.clean_up()


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A listener that can say whether anybody has connected."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener
        with pytest.raises(BlockingIOError):
            listener.accept()


def url_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_url_is_described_and_nobody_connects(plimsoll: Command, silent: socket.socket) -> None:
    url = url_of(silent)
    done = plimsoll(
        "run", f"{url}/a?x=${{uuid}}", "--rate", "20/s", "-t", "30s", "--body", "hello", "--header", "Cookie: s3cret",
        "--allow-hosts", "127.0.0.0/8", "--max-rate", "50", "--identify", "me@x.test", "--dry-run",
        "--out", f"influxdb=http://u:s3cret@{url.removeprefix('http://')},db=x", "--notify", f"{url}/s3cret",
    )  # fmt: skip
    assert done.code == 0, done
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    for expected in (
        f"Target {url} (127.0.0.1; not public)",
        "Load open model, 20/s",
        "for 30 s",
        "about 600 requests, at most 20/s",
        f"Requests POST {url}/a?x=${{uuid}}",
        "Cookie: ***",
        "body hello",
        f"Outputs influxdb (http://u:***@{url.removeprefix('http://')})",
        f"webhook ({url})",
        "Guard rails --allow-hosts 127.0.0.0/8",
        "--max-rate 50/s",
        "This run would begin.",
    ):
        assert expected in lines, done.out
    assert "Header X-Load-Test: plimsoll run=" in " ".join(done.out.split())
    assert "s3cret" not in done.out
    assert not plimsoll.store.exists()


def test_what_ends_a_run_earlier_is_said(plimsoll: Command, silent: socket.socket) -> None:
    plimsoll.write(PLAN.format(url=url_of(silent)) + "\n[stop]\nrequests = 1700\n", "shop.toml")
    done = plimsoll("run", "shop.toml", "--stages", "10s:100/s", "--dry-run")
    assert "for 10 s or until 1,700 requests have begun" in done.out, done
    done = plimsoll("run", url_of(silent), "-u", "2", "--iterations", "4", "--dry-run")
    assert "until 4 iterations have begun" in done.out, done


def test_a_wrong_output_is_refused(plimsoll: Command, silent: socket.socket) -> None:
    done = plimsoll("run", url_of(silent), "--dry-run", "--out", "influx=x")
    assert (done.code, done.out) == (2, "")
    assert "there is no such output; did you mean influxdb?" in done.err


def test_a_plan_is_described_with_its_flows_as_json(plimsoll: Command, silent: socket.socket) -> None:
    plimsoll.write(PLAN.format(url=url_of(silent)), "shop.toml")
    done = plimsoll("run", "shop.toml", "--stages", "10s:100/s", "--dry-run", "--summary", "-")
    assert done.code == 0, done
    found = json.loads(done.out)
    assert [(flow["name"], flow["share"]) for flow in found["flows"]] == [("buy", 0.75), ("look", 0.25)]
    assert [(step["method"], step["body"]) for step in found["flows"][0]["steps"]] == [
        ("GET", None),
        ("POST", 'json: {"id": 7}'),
    ]
    assert ["Authorization", "***"] in found["flows"][0]["steps"][0]["headers"]
    assert (found["arrivals"], found["requests"], found["peak_rate"]) == (500.0, 875, 175.0)
    assert (found["model"], found["seconds"], found["refused"]) == ("open", 10.0, None)
    assert found["targets"] == [
        {"url": url_of(silent), "proxy": None, "addresses": ["127.0.0.1"], "public": False, "error": None}
    ]


def test_steps_that_are_repeated_or_left_out_are_described(plimsoll: Command, silent: socket.socket) -> None:
    plan = """
target = "URL"
auth = { api_key = "s3cret", header = "X-Tenant" }
[[flow]]
[[flow.step]]
get = "/job"
extract.job = { json = "/state", default = "" }
repeat = { until = "${job} == done", at_most = 2000, pause = "1s" }
[[flow.step]]
get = "/result"
if = "${job} == done"
repeat = 3
headers = { X-Sum = "${hmac_sha256:s3cret:a}" }
"""
    plimsoll.write(plan.replace("URL", url_of(silent)), "plan.toml")
    done = plimsoll("run", "plan.toml", "--iterations", "1", "--dry-run")
    assert done.code == 0, done
    lines = [line.strip() for line in done.out.splitlines()]
    assert {"repeat until ${job} == done, at most 2,000 times", "if ${job} == done", "repeat 3 times"} <= set(lines)
    assert "X-Tenant: ***" in lines
    assert "X-Sum: ${hmac_sha256:***:a}" in lines
    assert "s3cret" not in done.out


def test_a_locustfile_is_described_with_its_classes(plimsoll: Command, silent: socket.socket) -> None:
    plimsoll.write(LOCUSTFILE.format(url=url_of(silent)))
    done = plimsoll("run", "-u", "8", "-t", "5s", "--dry-run", "--summary", "dry.json")
    assert done.code == 0, done
    assert "closed model, 8 users" in done.out
    assert "Buyer  weight 3, 75 %" in done.out
    found = json.loads((plimsoll.directory / "dry.json").read_text())
    assert [(each["name"], each["weight"], each["host"]) for each in found["classes"]] == [
        ("Buyer", 3.0, url_of(silent)),
        ("Visitor", 1.0, url_of(silent)),
    ]
    assert (found["users"], found["seconds"], found["requests"]) == (8, 5.0, None)
    only = plimsoll("run", "Visitor", "--dry-run", "--summary", "-")
    assert [each["name"] for each in json.loads(only.out)["classes"]] == ["Visitor"]


def test_a_shape_says_how_many_users_there_are(plimsoll: Command, silent: socket.socket) -> None:
    plimsoll.write(LOCUSTFILE.format(url=url_of(silent)) + SHAPE)
    done = plimsoll("run", "--dry-run")
    assert (done.code, "users as the LoadTestShape says" in done.out) == (0, True), done


@pytest.mark.parametrize("kind", ["URL", "class"])
def test_what_would_be_refused_is_described_too_and_the_exit_code_says_so(
    plimsoll: Command, silent: socket.socket, kind: str
) -> None:
    plimsoll.write(LOCUSTFILE.format(url=url_of(silent)))
    words = [url_of(silent)] if kind == "URL" else []
    done = plimsoll("run", *words, "-t", "1s", "--dry-run", "--allow-hosts", "*.example.com")
    assert done.code == 2, done
    assert done.out.endswith(
        "This run would be refused: not allowed: 127.0.0.1 is not in the allowed hosts; allow it with --allow-hosts\n"
    )


def test_a_target_that_cannot_be_resolved_is_said_to_be_one(plimsoll: Command) -> None:
    # A label of 64 characters is in no zone; resolvers refuse it without asking anyone.
    done = plimsoll("run", f"http://{'x' * 64}.invalid/", "-t", "1s", "--dry-run")
    assert (done.code, "cannot be resolved" in done.out) == (0, True), done


# The question


def answered(plimsoll: Command, answer: str, *arguments: str) -> tuple[CommandResult, str]:
    """A command in a terminal, where somebody types an answer: how it ended, and what the terminal showed."""
    ours, theirs = pty.openpty()
    process = plimsoll.start(*arguments, stdin=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, f"{answer}\n".encode())
    shown = b""
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        try:
            while data := terminal.read(4096):
                shown += data
        except OSError:  # nobody has the other end any more
            pass
    out, _ = process.communicate(timeout=TIMEOUT_S)
    return CommandResult(process.returncode, out or "", ""), shown.decode()


URL = "http://93.184.216.34/"
PUBLIC = (URL, "--source-address", "127.0.0.1", "-t", "1s", "--headless")
"""Nothing is sent there, whatever the answer is: no way leads from 127.0.0.1 to another machine."""
QUESTION = "This sends up to 101 users' load to 93.184.216.34, a public address. Go on? [y/N]: "
BEGUN = "All users spawned"


def test_much_load_on_a_public_address_is_asked_about(plimsoll: Command) -> None:
    words = ("run", *PUBLIC, "-u", "101")
    done, shown = answered(plimsoll, "n", *words)
    assert (done.code, QUESTION in shown, "plimsoll: nothing was begun" in shown) == (2, True, True), shown
    assert BEGUN not in shown
    done, shown = answered(plimsoll, "y", *words)
    assert (done.code, QUESTION in shown, BEGUN in shown) == (1, True, True), shown
    done, shown = answered(plimsoll, "n", *words, "--yes")
    assert (done.code, QUESTION in shown, BEGUN in shown) == (1, False, True), shown


def test_who_may_not_load_it_is_not_asked_whether_to_go_on(plimsoll: Command) -> None:
    done, shown = answered(plimsoll, "y", "run", *PUBLIC, "-u", "101", "--allow-hosts", "127.0.0.1")
    assert (done.code, "Go on?" in shown) == (2, False), shown
    assert "plimsoll: not allowed: 93.184.216.34 is not in the allowed hosts" in shown


def test_a_script_is_not_asked(plimsoll: Command) -> None:
    done = plimsoll.in_a_process("run", *PUBLIC, "-u", "101")
    assert (done.code, "Go on?" in done.err, BEGUN in done.err) == (1, False, True), done


def test_little_load_is_not_asked_about(plimsoll: Command) -> None:
    done, shown = answered(plimsoll, "n", "run", *PUBLIC, "-u", "100")
    assert (done.code, "Go on?" in shown, BEGUN in shown) == (1, False, True), shown


def test_a_search_asks_about_its_highest_load(plimsoll: Command) -> None:
    words = ("capacity", URL, "--source-address", "127.0.0.1", "--slo", "p99 < 1s", "--to", "2000")
    done, shown = answered(plimsoll, "n", *words)
    assert (done.code, "This sends up to 2,000 requests per second to 93.184.216.34" in shown) == (2, True), shown
    assert "nothing was begun" in shown


def test_an_experiment_asks_once(plimsoll: Command, tmp_path: Path) -> None:
    plimsoll.write(
        'name = "x"\nquestion = "?"\n[scenario]\nurl = "/"\nrun_time = "1s"\n'
        'arguments = ["--source-address", "127.0.0.1"]\n[levels]\nusers = [10, 200]\n'
        '[target]\nurl = "http://93.184.216.34"\nhealthy = { command = ["false"], within = "1s" }\n'
        '[[variant]]\nname = "a"\n',
        "experiment.toml",
    )
    done, shown = answered(plimsoll, "n", "experiment", ".")
    assert (done.code, shown.count("Go on?")) == (2, 1), shown
    assert "This sends up to 200 users' load to 93.184.216.34, a public address." in shown
