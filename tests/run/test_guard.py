"""What a run must keep to, from the options and the limits file to the sockets."""

from __future__ import annotations

import json
import socket
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load import limits_file
from plimsoll.load.guard_rails import Cap, GuardRails, HostPatterns
from plimsoll.load.spec import Load, Phase, ShapeSpec
from plimsoll.run.guard import Place, check_caps, guarded, public_load, requests_each
from plimsoll.run.plan import RunPlan
from plimsoll.run.planned import Outputs, PlannedRun

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.command import Command, CountingTarget

PUBLIC = "http://93.184.216.34"
"""Nothing is ever sent there."""


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "limits.toml"
    monkeypatch.setattr(limits_file, "LIMITS_FILE", path)
    return path


class _Redirecting(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str | None]]

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("X-Load-Test")))
        is_redirect = self.path == "/redirect"
        self.send_response(302 if is_redirect else 200)
        if is_redirect:
            self.send_header("Location", f"http://127.0.0.2:{self.server.server_address[1]}/behind")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def redirecting() -> Iterator[tuple[int, list[tuple[str, str | None]]]]:
    """A server on all of 127.0.0.0/8: its port, and the path and X-Load-Test of each request."""
    seen: list[tuple[str, str | None]] = []
    server = ThreadingHTTPServer(("0.0.0.0", 0), type("Handler", (_Redirecting,), {"seen": seen}))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port, seen
    server.shutdown()
    thread.join()
    server.server_close()


def arrivals(rate: float, seconds: float | None = 10.0) -> Load:
    return Load("open", (Phase("p", ShapeSpec.of("constant", level=rate, seconds=seconds), 0.0, seconds),))


def scenario(*flows: tuple[int, float], **also: object) -> dict[str, object]:
    """flows: steps and weight of each."""
    return {
        "targets": [{"url": "http://127.0.0.1:9"}],
        "flows": [{"steps": [{}] * n, "weight": w} for n, w in flows],
        **also,
    }


# Before a run


@pytest.mark.parametrize(
    ("plan", "rails", "complaint"),
    [
        (RunPlan(users=51), GuardRails(max_users=Cap(50.0)), "--users 51: more than --max-users 50"),
        (RunPlan(run_time=61.0), GuardRails(max_run_time=Cap(60.0)), "a run of 1m1s: more than --max-run-time 1m"),
        (RunPlan(load=arrivals(101.0)), GuardRails(max_rate=Cap(100.0)), "a load of 101/s: more than --max-rate 100/s"),
        (
            RunPlan(load=arrivals(40.0), scenario=scenario((3, 1.0))),
            GuardRails(max_rate=Cap(100.0)),
            "a load of 40/s with 3 requests each: more than --max-rate 100/s",
        ),
        (RunPlan(load=arrivals(1.0)), GuardRails(max_users=Cap(50.0)), "--max-users 10000: more than"),
    ],
)  # fmt: skip
def test_what_is_known_to_be_too_much_is_refused_before_the_run(
    plan: RunPlan, rails: GuardRails, complaint: str
) -> None:
    with pytest.raises(UsageError) as error:
        check_caps(replace(plan, rails=rails))
    assert str(error.value).startswith(complaint)


def test_a_load_at_its_caps_may_begin() -> None:
    rails = GuardRails(max_rate=Cap(100.0), max_users=Cap(50.0), max_run_time=Cap(60.0))
    check_caps(RunPlan(users=50, run_time=60.0, rails=rails))
    check_caps(RunPlan(load=replace(arrivals(100.0, 60.0), max_users=50), rails=rails))
    check_caps(RunPlan(rails=rails))


def test_requests_of_an_iteration_are_those_of_its_flows_by_weight() -> None:
    assert requests_each(scenario((1, 3.0), (5, 1.0))) == 2.0
    assert requests_each(scenario((1, 3.0), (5, 1.0), choice="in_turn")) == 3.0
    once: dict[str, object] = {}
    steps = [once, {"repeat": {"most": 5, "until": "${a}"}}, {"repeat": {"most": 2, "from": 0}}]
    assert requests_each({"flows": [{"name": "f", "steps": steps}]}) == 2 * (1 + 5 + 1)


def test_every_run_gets_the_limits_of_this_machine(limits: Path) -> None:
    limits.write_text("max_users = 5\n")
    with pytest.raises(UsageError, match=f"--users 6: more than max_users = 5 .{limits}."):
        guarded(RunPlan(users=6), 0.0)
    assert guarded(RunPlan(users=5), 0.0).rails.max_users == Cap(5.0, str(limits))


def test_a_plan_for_another_process_takes_the_limits_along(limits: Path, tmp_path: Path) -> None:
    limits.write_text('allow_hosts = ["127.0.0.1"]\n')
    plan = guarded(RunPlan(host="http://127.0.0.1:9"), 0.0)
    PlannedRun(plan, Outputs()).write(tmp_path / "run.json")
    assert PlannedRun.take(tmp_path / "run.json").plan == plan


def test_a_run_says_who_it_is_where_the_limits_file_requires_it(limits: Path) -> None:
    limits.write_text("require_identify = true\n")
    with pytest.raises(UsageError, match=f"{limits} requires that requests say who sends them: --identify"):
        guarded(RunPlan(), 0.0)
    assert guarded(RunPlan(identify="me"), 0.0).header


def test_an_identified_run_knows_its_id_beforehand() -> None:
    plan = guarded(RunPlan(identify="me"), 1_795_176_000.0)
    assert (plan.run_id or "").startswith("20261120-1200-")
    assert plan.header == f"plimsoll run={plan.run_id} contact=me"
    assert guarded(RunPlan(), 0.0).run_id is None


# The options


@pytest.mark.parametrize("source", ["option", "variable", "file"])
def test_a_target_that_is_not_allowed_is_refused_before_the_run(
    plimsoll: Command, target: CountingTarget, source: str
) -> None:
    options = ["--allow-hosts", "*.example.com"] if source == "option" else []
    if source == "variable":
        plimsoll.environment["PLIMSOLL_ALLOW_HOSTS"] = "*.example.com,10.0.0.0/8"
    if source == "file":
        plimsoll.write("allow-hosts = *.example.com\n", "locust.conf")
    done = plimsoll("run", target.url, "-t", "1s", "--headless", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "plimsoll: not allowed: 127.0.0.1 is not in the allowed hosts; allow it with --allow-hosts"
    )
    place = {"option": "\n", "variable": "the variable PLIMSOLL_ALLOW_HOSTS\n", "file": "locust.conf, line 1\n"}[source]
    assert done.err.endswith(place)
    assert target.total == 0
    assert not plimsoll.store.exists()


def test_a_host_of_a_user_class_is_refused_before_the_run_too(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        f"from locust import HttpUser, task\nclass A(HttpUser):\n    host = '{target.url}'\n"
        "    @task\n    def a(self): self.client.get('/')\n"
    )
    done = plimsoll("run", "-t", "1s", "--headless", "--allow-hosts", "10.0.0.0/8")
    assert done.code == 2
    assert "plimsoll: not allowed: 127.0.0.1 is not in the allowed hosts" in done.err
    assert target.total == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--allow-hosts", "*"], '--allow-hosts "*": this would allow every host'),
        (["--max-rate", "0"], "--max-rate: is zero"),
        (["--max-rate", "fast"], '--max-rate: "fast" is not understood'),
        (["--max-run-time", "0"], "--max-run-time must be longer than 0"),
        (["--max-run-time", "1s"], "a run of 2s: more than --max-run-time 1s"),
        (["--rate", "200/s", "--max-rate", "100"], "a load of 200/s: more than --max-rate 100/s"),
        (["--identify", "ä"], "--identify 'ä': a contact in plain ASCII is needed"),
    ],
)
def test_what_is_wrong_with_an_option_is_said_in_a_line(
    plimsoll: Command, target: CountingTarget, options: list[str], complaint: str
) -> None:
    done = plimsoll("run", target.url, "-t", "2s", "--headless", *options)
    assert done.code == 2
    assert complaint in done.err
    assert done.err.count("\n") == 1
    assert target.total == 0


def test_no_option_loosens_the_limits_file(plimsoll: Command, target: CountingTarget, limits: Path) -> None:
    limits.write_text('allow_hosts = ["*.example.com"]\nmax_users = 5\n')
    plimsoll.environment["PLIMSOLL_ALLOW_HOSTS"] = "127.0.0.1"
    done = plimsoll("run", target.url, "-t", "1s", "--headless", "--allow-hosts", "127.0.0.0/8")
    assert (done.code, done.err) == (2, f"plimsoll: not allowed: 127.0.0.1 is not in allow_hosts of {limits}\n")
    limits.write_text("max_users = 5\nmax_rate = 10\n")
    done = plimsoll("run", target.url, "-u", "6", "-t", "1s", "--headless")
    assert (done.code, done.err) == (2, f"plimsoll: --users 6: more than max_users = 5 ({limits})\n")
    done = plimsoll("run", target.url, "--rate", "20", "-t", "1s", "--headless", "--max-rate", "100")
    assert (done.code, done.err) == (2, f"plimsoll: a load of 20/s: more than max_rate = 10/s ({limits})\n")
    assert target.total == 0


def test_a_mistake_in_the_limits_file_stops_every_run(plimsoll: Command, target: CountingTarget, limits: Path) -> None:
    limits.write_text("max_user = 5\n")
    done = plimsoll("run", target.url, "-t", "1s", "--headless")
    assert done.code == 2
    assert f"plimsoll: {limits}:1: max_user: is not a known field; did you mean max_users?" in done.err
    assert target.total == 0


def test_a_locustfile_cannot_ask_for_more_users_than_the_limits_file_allows(
    plimsoll: Command, target: CountingTarget, limits: Path
) -> None:
    limits.write_text("max_users = 3\n")
    plimsoll.write(
        "from locust import HttpUser, events, task\nclass A(HttpUser):\n    @task\n"
        "    def a(self): self.client.get('/')\n"
        "@events.init.add_listener\ndef more(environment, **_): environment.parsed_options.num_users = 50\n"
    )
    done = plimsoll("run", "-H", target.url, "-t", "1s", "--headless")
    assert done.code == 2
    assert f"plimsoll: --users 50: more than max_users = 3 ({limits})" in done.err
    assert target.total == 0


def test_a_shape_cannot_ask_for_more_either(plimsoll: Command, target: CountingTarget, limits: Path) -> None:
    limits.write_text("max_users = 3\n")
    plimsoll.write(
        "from locust import HttpUser, LoadTestShape, constant, task\n"
        "class A(HttpUser):\n    wait_time = constant(0.1)\n"
        "    @task\n    def a(self): self.client.get('/')\n"
        "class S(LoadTestShape):\n    def tick(self): return (2, 10) if self.get_run_time() < 1 else (4, 10)\n"
    )
    done = plimsoll("run", "-H", target.url, "--headless")
    assert done.code == 2
    assert f"plimsoll: start(): 4 users: more than max_users = 3 ({limits})" in done.err


# While it goes on


@pytest.mark.parametrize("kind", ["HttpUser", "FastHttpUser"])
def test_redirects_and_absolute_urls_to_other_hosts_are_failures_that_count(
    plimsoll: Command, redirecting: tuple[int, list[tuple[str, str | None]]], kind: str
) -> None:
    port, seen = redirecting
    plimsoll.write(
        f"from locust import {kind}, constant, task\nclass A({kind}):\n    wait_time = constant(0.05)\n"
        "    @task\n    def one(self):\n"
        "        self.client.get('/redirect', name='redirect')\n"
        f"        self.client.get('http://127.0.0.3:{port}/absolute', name='absolute')\n"
        "        self.client.get('/fine', name='fine')\n"
    )
    done = plimsoll(
        "run", "-H", f"http://127.0.0.1:{port}", "-t", "2s", "--headless",
        "--allow-hosts", "127.0.0.1", "--identify", "me@x.test",
    )  # fmt: skip
    assert done.code == 1, done
    failures = {(each["name"], each["outcome"]): each["message"] for each in plimsoll.stored()["failures"]}
    said = "ConnectionError('not allowed: {} is not in the allowed hosts; allow it with --allow-hosts')"
    assert failures == {
        ("redirect", "connect"): said.format("127.0.0.2"),
        ("absolute", "connect"): said.format("127.0.0.3"),
    }
    assert {path for path, _ in seen} == {"/redirect", "/fine"}
    run = plimsoll.stored()["run"]["id"]
    assert {header for _, header in seen} == {f"plimsoll run={run} contact=me@x.test"}


def test_a_plan_with_a_further_host_is_refused(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(
        f'target = "{target.url}"\n[[request]]\nget = "/"\n[[request]]\nget = "http://127.0.0.9:1/x"\n', "p.toml"
    )
    done = plimsoll("run", "p.toml", "-t", "1s", "--headless", "--allow-hosts", "127.0.0.1")
    assert (done.code, target.total) == (2, 0)
    assert "not allowed: 127.0.0.9 is not in" in done.err


def test_requests_of_a_plan_say_who_sends_them(
    plimsoll: Command, redirecting: tuple[int, list[tuple[str, str | None]]]
) -> None:
    port, seen = redirecting
    plimsoll.write(f'target = "http://127.0.0.1:{port}"\n[[request]]\nget = "/a"\n', "p.toml")
    done = plimsoll("run", "p.toml", "--rate", "20/s", "-t", "1s", "--headless", "--identify", "team ${x}")
    assert done.code == 0, done
    run = plimsoll.stored()["run"]["id"]
    assert {header for _, header in seen} == {f"plimsoll run={run} contact=team ${{x}}"}


def test_the_locustfile_has_its_own_header_of_that_name(
    plimsoll: Command, redirecting: tuple[int, list[tuple[str, str | None]]]
) -> None:
    port, seen = redirecting
    plimsoll.write(
        "from locust import HttpUser, constant, task\nclass A(HttpUser):\n    wait_time = constant(0.1)\n"
        "    def on_start(self): self.client.headers['x-load-test'] = 'mine'\n"
        "    @task\n    def a(self): self.client.get('/')\n"
    )
    plimsoll("run", "-H", f"http://127.0.0.1:{port}", "-t", "1s", "--headless", "--identify", "me")
    assert {header for _, header in seen} == {"mine"}


# Public addresses


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("::ffff:93.184.216.34", True), ("127.0.0.1", False),
        ("10.1.2.3", False), ("::1", False), ("fd00::1", False), ("::ffff:10.0.0.1", False), ("fe80::1%eth0", False),
        ("100.64.0.1", False),
    ],
)  # fmt: skip
def test_an_address_is_public_if_the_internet_leads_there(address: str, is_public: bool) -> None:
    assert Place.is_public([address]) is is_public


def test_much_load_on_a_public_address_is_worth_a_question() -> None:
    question = "This sends up to 101 users' load to 93.184.216.34, a public address. Go on?"
    assert public_load([RunPlan(users=101, host=PUBLIC)]) == question
    assert public_load([RunPlan(users=5)], [Place(PUBLIC)]) is None
    assert public_load([RunPlan(users=101)], [Place(PUBLIC)]) == question
    assert public_load([RunPlan(users=100, host=PUBLIC)]) is None
    assert public_load([RunPlan(users=500, host="http://10.0.0.1")]) is None
    assert public_load([RunPlan(load=arrivals(1000.0), host=PUBLIC)]) is None
    assert public_load([RunPlan(load=arrivals(1001.0), host=PUBLIC)]) == (
        "This sends up to 1,001 requests per second to 93.184.216.34, a public address. Go on?"
    )


def test_of_several_runs_the_largest_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    plans = [RunPlan(users=users, host="http://api.example.com") for users in (200, 500, 300)]
    assert public_load(plans) == (
        "This sends up to 500 users' load to api.example.com (93.184.216.34), a public address. Go on?"
    )


def test_rails_are_kept_with_the_run(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll("run", target.url, "--rate", "10/s", "-t", "1s", "--headless", "--allow-hosts", "127.0.0.1,::1")
    rails = GuardRails.from_dict(json.loads(json.dumps(plimsoll.stored()["run"]["manifest"]["plan"]["rails"])))
    assert rails == GuardRails((HostPatterns(("127.0.0.1", "::1")),))
