"""Runs that are started, watched, changed and stopped at the page."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.command import wait_until
from tests.run.page_session import SHOP_LOCUSTFILE, stored_runs

from plimsoll.record.cells import CellKey
from plimsoll.stats.reading import RunReading
from plimsoll.stats.trial import trial_of
from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command, CountingTarget
    from tests.run.page_session import PageSession


def test_nothing_is_sent_before_somebody_starts_a_run_and_another_may_follow(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    page = start_page("-H", target.url, "-u", "2", "-r", "2", "-s", "5")
    assert (page.test, target.total) == ({}, 0)
    assert "Start the run there. --autostart starts it at once" in page.err
    request = page.form["request"]
    filled = (request["users"], request["spawn_rate"], request["host"], request["stop_timeout"])
    assert filled == (2, 2.0, target.url, "5s")
    page.do("start", request)
    page.until_users(2)
    assert page.refused("start", request) == (409, "a run is in progress; stop it first", "")
    page.do("stop")
    assert page.until_over()["status"] == "stopped"
    page.do("start", page.request(users=3, spawn_rate=9, classes=["Editor"], run_time="1s", name="second"))
    last = page.until_over(2)
    assert (last["status"], last["exit_code"], last["name"]) == ("finished", 0, "second")
    assert page.form["request"]["users"] == 3, "the form is filled with the last run"
    assert page.interrupt() == 0
    first, second = stored_runs(plimsoll)
    assert [each["run"]["status"] for each in (first, second)] == ["stopped", "finished"]
    assert {each["name"] for each in second["endpoints"]} == {"/edit"}
    done = [each["total"]["completed"] + each["total"]["unanswered"] for each in (first, second)]
    assert sum(done) == target.total


def test_users_come_and_go_while_a_run_goes_on(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    page = start_page("-H", target.url, "--autostart", "-u", "2", "-r", "50", "-s", "5")
    page.until_users(2)
    page.do("change", {"users": 5, "spawn_rate": 50})
    assert page.until_users(5)["wanted"] == 5
    page.do("change", {"users": 6, "classes": ["Editor"]})
    page.until_users(6)
    page.do("change", {"users": 1})
    page.until_users(1)
    assert page.refused("change", {"rate": "5/s"})[0] == 409
    assert page.refused("change", {"users": -1})[::2] == (400, "users")
    assert page.refused("change", {"spawn_rate": 0})[::2] == (400, "spawn_rate")
    assert page.refused("change", {"classes": ["Nobody"]})[::2] == (400, "classes")
    page.do("stop")
    page.until_over()
    assert page.refused("change", {"users": 5}) == (409, "no run is in progress", "")
    page.interrupt()
    (run,) = stored_runs(plimsoll)
    assert max(run["generator"]["users_by_second"].values()) == 6
    notes = [note.partition(": ")[2] for note in run["run"]["notes"]]
    assert notes == [
        "5 users, 50 per second coming or going",
        "6 users, 50 per second coming or going, new ones of Editor",
        "1 user, 50 per second coming or going",
    ]


@pytest.mark.parametrize("who", ["native", "python"])
def test_the_rate_changes_while_a_run_goes_on(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget, who: str
) -> None:
    what = (f"{target.url}/a",) if who == "native" else ("-H", target.url, "--autostart")
    page = start_page(*what, "--rate", "10/s", "--autoquit", "-1")
    page.until(lambda test: test["elapsed"] >= 1)
    page.do("change", {"rate": "200/s"})
    changed = page.test["elapsed"]
    page.until(lambda test: test["elapsed"] >= changed + 2.1)
    assert page.refused("change", {"users": 5})[0] == 409
    assert page.refused("change", {"rate": "fast"})[::2] == (400, "rate")
    page.do("stop")
    page.until_over()
    page.interrupt()
    (run,) = stored_runs(plimsoll)
    offered = run["generator"]["offered_by_second"]
    seconds = [offered[str(each)] for each in range(len(offered))]
    assert seconds[0] == pytest.approx(10, abs=1)
    assert 200 in [round(each, -1) for each in seconds], "at the new rate, once it holds for a second"
    assert max(seconds) <= 201, "the old arrivals do not come as well"
    assert "200/s" in run["run"]["notes"][0]
    ((second, what),) = run["run"]["facts"]["edits"]
    assert "200/s" in what
    with Store.open(str(plimsoll.store)) as store:
        kept = store.run("last")
        assert trial_of(kept, RunReading(kept), CellKey("a")).edits == ((second, what),)


def test_a_reset_leaves_out_what_was_measured_before(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    text = f"""{SHOP_LOCUSTFILE}
    @task(3)
    def fail(self):
        self.client.get("/fail")

    @task
    def oops(self):
        raise RuntimeError("oops")

@events.reset_stats.add_listener
def on_reset(**_):
    print("the numbers were reset", flush=True)
"""
    page = start_page(
        "-H", target.url, "--autostart", "-u", "4", "-r", "50", "--threshold", "requests < 2500", text=text
    )
    page.until(lambda test: test["status"] == "running" and test["elapsed"] > 1)
    page.do("reset")
    second = int(page.until(lambda test: test["warmup"] > 0)["warmup"])
    page.until(lambda test: test["elapsed"] > second + 1)
    page.do("stop")
    page.until_over()
    live = page.get("/api/live/failures")["failures"]
    rows = page.get("/stats/requests")["stats"]
    code = page.interrupt()
    assert code == 1, page.err
    assert "the numbers were reset" in page.out
    (run,) = stored_runs(plimsoll)
    total = run["total"]
    with Store.open(str(plimsoll.store)) as store:
        kept = store.run("last")
        everything = sum(each.count for each in kept.intervals())
        after = [each for each in kept.intervals() if each.second >= second]
    assert run["warmup_s"] == second
    assert total["completed"] + total["unanswered"] == sum(each.count for each in after) < everything
    failed = sum(each.count for each in after if each.outcome == "http")
    assert total["failures"] == failed > 0
    assert [each["count"] for each in run["failures"]] == [failed] == [each["count"] for each in live]
    assert next(each["num_requests"] for each in rows if each["name"] == "Aggregated") == total["requests"]
    assert sum(each["count"] for each in run["exceptions"]) > 0
    (threshold,) = run["thresholds"]
    assert threshold["value"] == total["requests"]
    assert f"reset by hand: the first {second} s are left out" in plimsoll("show").out


def test_a_reset_comes_to_every_process_of_a_run(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    text = f"""{SHOP_LOCUSTFILE}
@events.reset_stats.add_listener
def on_reset(**_):
    print("reset", flush=True)

@events.init.add_listener
def on_init(environment, runner, **_):
    runner.register_message("nothing", lambda **_: None)
"""
    page = start_page("-H", target.url, "--autostart", "--processes", "2", "-u", "2", "-r", "9", text=text)
    page.until_users(2)
    page.do("reset")
    wait_until(lambda: "reset" in page.out)
    page.do("stop")
    page.until_over()
    page.interrupt()
    assert page.out.count("reset\n") == 1, "as with Locust, the event is the main node's"


def test_what_is_wrong_with_a_wish_is_told_of_its_field(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    text = f"""{SHOP_LOCUSTFILE}
@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--where", choices=["here", "there"], default="here")
    parser.add_argument("--who", is_required=True, default="")
"""
    page = start_page("-H", target.url, text=text)
    fields = {
        "users": {"users": 0},
        "spawn_rate": {"spawn_rate": 0},
        "run_time": {"run_time": "soon"},
        "rate": {"model": "open"},
        "shape_text": {"shape": "steps"},
        "classes": {"classes": ["Nobody"]},
        "thresholds": {"thresholds": ["p99 <"]},
        "arguments.count": {"arguments": {"count": "many"}},
        "arguments.where": {"arguments": {"where": "elsewhere"}},
        "arguments.who": {},
        "arguments.nothing": {"arguments": {"nothing": "1"}},
    }
    for field, changes in fields.items():
        request = page.request(**changes)
        if field != "arguments.who":
            request["arguments"] = {
                "who": "ann",
                **request["arguments"],
                **({} if "arguments" in changes else {"who": "ann"}),
            }
        status, message, found = page.refused("start", request)
        assert (status, found) == (400, field), message
        assert "--" not in message
    assert (page.test, target.total) == ({}, 0)
    assert page.interrupt() == 0


def test_options_of_the_locustfile_are_asked_for_and_secrets_are_not_shown(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    text = f"""{SHOP_LOCUSTFILE}
@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--where", choices=["here", "there"], default="here", help="A place.")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--tones", nargs="+", is_multiple=True, default=["low"])
    parser.add_argument("--api-key", is_secret=True, default="the-default-key")
    parser.add_argument("--inner", include_in_web_ui=False, default="x")

@events.test_start.add_listener
def on_start(environment, **_):
    options = environment.parsed_options
    print(options.where, options.fast, options.tones, options.api_key, options.inner, flush=True)
"""
    page = start_page("-H", target.url, "--where", "there", "--inner", "y", "--api-key", "the-given-key", text=text)
    form = page.form
    shown = {each["name"]: (each["kind"], each["value"]) for each in form["arguments"]}
    assert shown == {
        "where": ("select", "there"),
        "fast": ("checkbox", False),
        "tones": ("multiple", ["low"]),
        "api_key": ("secret", ""),
    }
    page.do("start", page.request(run_time="1s"))
    page.until_over()
    values = {"where": "here", "fast": True, "tones": ["high", "shrill"], "api_key": "the-typed-key"}
    page.do("start", page.request(run_time="1s", arguments=values))
    page.until_over(2)
    assert "api_key" not in page.form["request"]["arguments"]
    assert page.interrupt() == 0
    assert page.out.splitlines()[0] == "there False ['low'] the-given-key y"
    assert "here True ['high', 'shrill'] the-typed-key y" in page.out
    assert b"-key" not in plimsoll.store.read_bytes().replace(b"--api-key", b"")
    command = stored_runs(plimsoll)[1]["run"]["manifest"]["command"]
    assert "--where=here" in command
    assert "--headless" in command, "it says how to do the same again"


def test_a_shape_of_the_locustfile_says_the_load_and_cannot_be_changed(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    text = f"""{SHOP_LOCUSTFILE}
from locust import LoadTestShape

class Stages(LoadTestShape):
    def tick(self):
        return 3, 100

class Waves(LoadTestShape):
    def tick(self):
        return 2, 100
"""
    page = start_page("-H", target.url, text=text)
    assert (page.form["has_shape"], page.form["shape_classes"]) == (True, ["Stages", "Waves"])
    page.do("start", page.request())
    page.until_users(3)
    assert page.refused("change", {"users": 5})[0] == 409
    page.do("stop")
    page.until_over()
    page.do("start", page.request(shape_class="Waves"))
    page.until_users(2)
    page.do("stop")
    page.until_over(2)
    page.interrupt()


def test_a_locustfile_that_is_broken_can_be_mended(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    page = start_page("-H", target.url, text="import nothing_of_this_name\n")
    assert "locustfile.py:1: ModuleNotFoundError" in page.form["error"]
    status, message, _ = page.refused("start", page.request())
    assert status == 400
    assert "ModuleNotFoundError" in message
    plimsoll.write(SHOP_LOCUSTFILE)
    assert page.form["error"] == ""
    page.do("start", page.request(run_time="1s", host=target.url))
    assert page.until_over()["status"] == "finished"
    assert page.interrupt() == 0


def test_a_run_that_cannot_begin_is_told_at_the_page_and_another_may(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    # What a listener chooses is not known before.
    page = start_page(text=SHOP_LOCUSTFILE + "\n@events.init.add_listener\ndef init(**_): pass\n")
    page.do("start", page.request())
    failed = page.until_over()
    assert (failed["status"], "no host: give one" in failed["message"]) == ("failed", True)
    assert "plimsoll: no host: give one" in page.err
    page.do("start", page.request(host=target.url, run_time="1s"))
    assert page.until_over(2)["status"] == "finished"
    assert page.interrupt() == 0


def test_a_form_without_a_host_starts_nothing(start_page: Callable[..., PageSession], target: CountingTarget) -> None:
    page = start_page()
    missing = "a host is needed, as http://127.0.0.1:8000: class Editor has none"
    assert page.refused("start", page.request()) == (400, missing, "host")
    wrong = "host 'localhost' must begin with http:// or https://"
    assert page.refused("start", page.request(host="localhost")) == (400, wrong, "host")
    assert page.get("/api/state")["test"] is None
    page.do("start", page.request(host=target.url, run_time="1s"))
    assert page.until_over()["status"] == "finished"
    assert page.interrupt() == 0


def test_two_pages_at_once_have_their_own_runs(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    one, other = start_page("-H", target.url), start_page("-H", target.url)
    assert one.url != other.url
    one.do("start", one.request(run_time="1s", name="one"))
    other.do("start", other.request(run_time="1s", name="other"))
    assert (one.until_over()["name"], other.until_over()["name"]) == ("one", "other")
    assert (one.interrupt(), other.interrupt()) == (0, 0)
    runs = stored_runs(plimsoll)
    assert sum(each["total"]["completed"] + each["total"]["unanswered"] for each in runs) == target.total


def test_the_share_of_each_task_is_told(start_page: Callable[..., PageSession], target: CountingTarget) -> None:
    page = start_page("-H", target.url)
    visitor = next(each for each in page.get("/api/live/tasks")["tasks"] if each["name"] == "Visitor")
    assert (visitor["ratio"], [each["name"] for each in visitor["tasks"]]) == (0.75, ["index"])
    page.interrupt()


def test_attributes_of_user_classes_are_those_that_somebody_has_chosen(
    start_page: Callable[..., PageSession], plimsoll: Command, target: CountingTarget
) -> None:
    page = start_page("--config-users", '{"user_class_name": "Visitor", "weight": 9}')
    assert page.ask("/user", {"user_class_name": "Nobody", "weight": 1})[0] == 400
    assert page.ask("/user", {"user_class_name": "Visitor", "weight": "x"})[0] == 400
    assert page.ask("/user", {"user_class_name": "Visitor", "fixed_count": 2}) == (201, {})
    assert page.ask("/user", {"user_class_name": "Visitor", "host": "http://me:hunter2@127.0.0.1:1"})[0] == 201
    assert page.ask("/user", {"user_class_name": "Editor", "host": f"{target.url}/editors"})[0] == 201
    request = page.request(users=5, spawn_rate=100.0)
    assert request["class_settings"]["Visitor"] == {"fixed_count": 2, "host": "http://me:***@127.0.0.1:1"}
    request["class_settings"]["Visitor"]["host"] = target.url
    page.do("start", request)
    refused = page.ask("/user", {"user_class_name": "Visitor", "weight": 1})
    assert (refused[0], "in progress" in refused[1]["error"]) == (409, True)
    ratios = {each["name"]: each["ratio"] for each in page.get("/api/live/tasks")["tasks"]}
    assert ratios == {"Visitor": 0.4, "Editor": 0.6}
    wait_until(lambda: len(target.counts) == 2)
    page.do("stop")
    page.until_over()
    assert page.interrupt() == 0
    assert set(target.counts) == {"/index", "/editors/edit"}
    (run,) = stored_runs(plimsoll)
    assert run["run"]["manifest"]["command"].count("user_class_name") == 3
    assert "hunter2" not in str(run)


def test_a_run_without_a_page_imports_no_server_and_no_numpy(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(SHOP_LOCUSTFILE)
    look = """
import atexit, sys
from plimsoll.cli import main

@atexit.register
def print_imported():
    without = {"starlette", "uvicorn", "plimsoll.server", "plimsoll.server.control.session"}
    without |= {"numpy", "plimsoll.stats.findings"}
    print("imported:", sorted(without & sys.modules.keys()))

main()
"""
    command = [sys.executable, "-c", look, "run", "--headless", "-H", target.url, "-t", "1s"]
    done = subprocess.run(
        command, cwd=plimsoll.directory, env=plimsoll.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "imported: []" in done.stdout
    assert "the page:" not in done.stderr


def test_the_log_of_workers_is_seen_at_the_page(start_page: Callable[..., PageSession], target: CountingTarget) -> None:
    text = f"""{SHOP_LOCUSTFILE}
import logging

@events.test_start.add_listener
def on_start(**_):
    logging.getLogger("shop").warning("open for business")
"""
    page = start_page("-H", target.url, "--autostart", "-t", "1s", text=text)
    page.until_over()
    lines = {(each["level"], each["text"]) for each in page.get("/api/live/log")["log"]}
    assert ("WARNING", "shop: open for business") in lines
    assert any(text.startswith("plimsoll.run: Ramping to 1 users") for _, text in lines)
    page.interrupt()
