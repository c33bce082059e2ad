"""The web page of a program: what it answers to whom, and what it does."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import gevent
import pytest
from flask import Blueprint, request

from plimsoll.errors import UsageError
from plimsoll.locust.api import Environment, LoadTestShape
from plimsoll.locust.web import ui as web
from plimsoll.users.tasks import task
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT_S = 30


class Shopper(User):
    wait_time = constant(1000)
    host = "http://shop"

    @task
    def browse(self) -> None:
        pass


class Clerk(Shopper):
    pass


@pytest.fixture
def environment() -> Iterator[Environment]:
    environment = Environment(user_classes=[Shopper], locustfile="shop.py")
    environment.create_local_runner()
    with gevent.Timeout(TIMEOUT_S):
        yield environment
        environment.runner.quit()


@pytest.fixture
def page(environment: Environment) -> web.WebUI:
    """Without a server: its application is asked directly."""
    return environment.create_web_ui(delayed_start=True)


def until(condition: Any) -> None:
    while not condition():
        gevent.sleep(0.001)


def report(environment: Environment, count: int, name: str = "/", exception: Any = None) -> None:
    for _ in range(count):
        environment.events.request.fire(
            request_type="GET",
            name=name,
            response_time=4.0,
            response_length=7,
            exception=exception,
            response=None,
            context={},
        )


def test_it_is_the_environments_and_served_on_the_port_asked_for(environment):
    page = environment.create_web_ui("127.0.0.1", 0)
    assert environment.web_ui is page
    until(lambda: page.server is not None and page.server.started)
    connection = http.client.HTTPConnection("127.0.0.1", page.server.server_port, timeout=TIMEOUT_S)
    ask = lambda: (connection.request("GET", "/"), connection.getresponse().read())[1]  # noqa: E731
    assert b"ready, 0 users" in gevent.get_hub().threadpool.apply(ask)
    connection.close()
    page.stop()
    page.greenlet.join()
    assert not page.server.started


@pytest.mark.parametrize(("given", "address"), [("", "127.0.0.1"), ("127.0.0.2", "127.0.0.2")])
def test_only_this_machine_is_served_unless_an_address_is_given(environment, given, address):
    page = environment.create_web_ui(given, 0)
    until(lambda: page.server is not None and page.server.started)
    assert page.server.server_host == address
    page.stop()


def test_a_port_that_is_taken_is_logged_and_costs_no_more(environment, caplog):
    first = environment.create_web_ui("127.0.0.1", 0)
    until(lambda: first.server is not None and first.server.started)
    second = environment.create_web_ui("127.0.0.1", first.server.server_port)
    second.greenlet.join()
    gevent.sleep(0)
    assert "Address already in use" in caplog.text
    second.stop()
    first.stop()


def test_nothing_is_served_before_the_start_asked_for(environment):
    page = environment.create_web_ui("127.0.0.1", 0, delayed_start=True)
    assert (page.greenlet, page.server) == (None, None)
    page.start()
    until(lambda: page.server is not None and page.server.started)
    page.stop()


def test_the_numbers(page, environment):
    report(environment, 3)
    report(environment, 1, exception=ValueError("bad"))
    body = page.app.test_client().get("/stats/requests").json
    row, total = body["stats"]
    assert (row["method"], row["name"], row["num_requests"], row["num_failures"]) == ("GET", "/", 4, 1)
    assert (total["name"], total["num_requests"], total["avg_response_time"]) == ("Aggregated", 4, 4.0)
    assert (body["fail_ratio"], body["state"], body["user_count"]) == (0.25, "ready", 0)
    (error,) = body["errors"]
    assert (error["occurrences"], error["name"]) == (1, "/")
    assert set(body["current_response_time_percentiles"]) == {
        "response_time_percentile_0.5",
        "response_time_percentile_0.95",
    }
    assert body["total_rps"] == total["total_rps"]


def test_no_answer_has_more_than_500_endpoints(page, environment):
    for number in range(600):
        report(environment, 1, name=f"/{number:04}")
    rows = page.app.test_client().get("/stats/requests").json["stats"]
    assert (len(rows), rows[-1]["num_requests"]) == (501, 600)


@pytest.mark.parametrize(("seconds", "second_answer"), [(1000.0, 1), (0.0, 2)])
def test_the_numbers_are_kept_for_a_while(environment, monkeypatch, seconds, second_answer):
    monkeypatch.setattr(web, "DEFAULT_CACHE_TIME", seconds)
    client = environment.create_web_ui(delayed_start=True).app.test_client()
    for number in (1, second_answer):
        report(environment, 1)
        assert client.get("/stats/requests").json["stats"][-1]["num_requests"] == number


@pytest.mark.parametrize(
    ("path", "first_line", "name"),
    [
        ("/stats/requests/csv", "Type,Name,Request Count,Failure Count,", "_shop.py_requests.csv"),
        ("/stats/failures/csv", "Method,Name,Error,Occurrences,", "_shop.py_failures.csv"),
        ("/exceptions/csv", "Count,Message,Traceback,Nodes", "_shop.py_exceptions.csv"),
    ],
)
def test_files(page, path, first_line, name):
    answer = page.app.test_client().get(path)
    assert answer.status_code == 200
    assert answer.text.startswith(first_line)
    assert answer.content_type.startswith("text/csv")
    assert answer.headers["Content-Disposition"].endswith(name)


def test_exceptions(page, environment):
    environment.runner.log_exception("local", "bad token", "  File …")
    body = page.app.test_client().get("/exceptions").json
    assert body == {"exceptions": [{"count": 1, "msg": "bad token", "traceback": "  File …", "nodes": "local"}]}


def test_the_page_has_numbers_state_and_forms(page, environment):
    report(environment, 2, name="/<b>")
    text = page.app.test_client().get("/").text
    assert "<td>/&lt;b&gt;</td>" in text
    assert "ready, 0 users" in text
    for action in ("swarm", "stop", "stats/reset"):
        assert f'action="{action}"' in text
    assert "<form" not in page.app.test_client().get("/stats/report").text


def test_a_test_is_started_changed_and_stopped(page, environment):
    client, runner = page.app.test_client(), environment.runner
    answer = client.post("/swarm", data={"user_count": "2", "spawn_rate": "100", "host": "http://other"})
    assert answer.json == {"success": True, "message": "Swarming started", "host": "http://other"}
    until(lambda: runner.state == "running")
    assert (runner.user_count, Shopper.host) == (2, "http://other")
    client.post("/swarm", data={"user_count": "1", "spawn_rate": "100"})
    until(lambda: runner.state == "running")
    assert runner.user_count == 1
    assert client.post("/stop").json == {"success": True, "message": "Test stopped"}
    assert (runner.state, runner.user_count) == ("stopped", 0)


def test_a_test_ends_after_its_run_time(page, environment, monkeypatch):
    ends = []
    monkeypatch.setattr(gevent, "spawn_later", lambda *arguments: ends.append(arguments) or gevent.Greenlet())
    answer = page.app.test_client().post("/swarm", data={"user_count": "1", "spawn_rate": "1", "run_time": "1m30s"})
    assert answer.json["run_time"] == 90
    assert ends == [(90, environment.runner.stop)]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"user_count": "x", "spawn_rate": "1"}, "Invalid user_count value: 'x' (must be an integer)"),
        ({"user_count": "1", "spawn_rate": "fast"}, "Invalid spawn_rate value: 'fast' (must be a number)"),
        ({"spawn_rate": "1"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
        ({"user_count": "1", "spawn_rate": "0"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
        ({"user_count": "1", "spawn_rate": "inf"}, "Missing or invalid user_count or spawn_rate from /swarm request"),
        ({"user_count": "1", "spawn_rate": "1", "run_time": "soon"}, "Valid run_time formats are : 20, 20s"),
    ],
)
def test_a_form_that_makes_no_sense_starts_nothing(page, environment, form, message):
    answer = page.app.test_client().post("/swarm", data=form).json
    assert answer["success"] is False
    assert answer["message"].startswith(message)
    gevent.sleep(0)
    assert environment.runner.state == "ready"


def test_options_of_the_form_keep_their_type(environment):
    environment.parsed_options = options = Namespace(
        num_users=1, spawn_rate=1.0, run_time=None, host=None, depth=3, fast=False, ids=[1], names=["a"], token=None
    )
    form = {"user_count": "0", "spawn_rate": "2", "depth": "5", "fast": "true", "ids": "4,5", "names": ["b", "c"]}
    page = environment.create_web_ui(delayed_start=True)
    page.app.test_client().post(
        "/swarm", data={**form, "token": "t", "unknown": "x", "host": "http://h", "run_time": "2s"}
    )
    assert vars(options) == {
        "num_users": 0, "spawn_rate": 2.0, "run_time": 2, "host": "http://h", "depth": 5, "fast": True, "ids": [4, 5],
        "names": ["b", "c"], "token": "t",
    }  # fmt: skip


def test_classes_may_be_picked_where_that_was_asked_for(environment):
    environment.available_user_classes = {"Shopper": Shopper, "Clerk": Clerk}
    client = environment.create_web_ui(delayed_start=True, userclass_picker_is_active=True).app.test_client()
    form = {"user_count": "0", "spawn_rate": "1"}
    assert client.post("/swarm", data={**form, "user_classes": ["Clerk"]}).json["success"]
    assert environment.user_classes == [Clerk]
    assert client.post("/swarm", data=form).json["success"]
    assert environment.user_classes == [Shopper, Clerk]
    answer = client.post("/swarm", data={**form, "user_classes": ["Clark"]}).json
    assert (answer["success"], answer["message"]) == (False, "no such class: Clark")


def test_a_shape_says_how_many_users_there_are(environment):
    class Stairs(LoadTestShape):
        def tick(self) -> Any:
            return 1, 100

    environment.shape_class = Stairs()
    environment.shape_class.runner = environment.runner
    answer = environment.create_web_ui(delayed_start=True).app.test_client().post("/swarm").json
    assert answer["message"] == "Swarming started using shape class 'Stairs'"
    until(lambda: environment.runner.user_count == 1)


def test_numbers_are_reset(page, environment):
    counts = []
    environment.events.reset_stats.add_listener(lambda **_: counts.append(environment.stats.total.num_requests))
    report(environment, 3)
    environment.runner.log_exception("local", "bad", "trace")
    assert page.app.test_client().post("/stats/reset").text == "ok"
    assert counts == [3]
    assert (environment.stats.total.num_requests, environment.runner.exceptions) == (0, {})


@pytest.mark.parametrize("path", ["/swarm", "/stop", "/stats/reset"])
def test_what_does_something_is_never_a_link(page, path):
    assert page.app.test_client().get(path).status_code == 405


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8089", None, 200),
        ("127.0.0.1:8089", "http://127.0.0.1:8089", 200),
        ("[::1]:8089", "http://[::1]:8089", 200),
        ("10.1.2.3", "https://10.1.2.3", 200),
        ("127.0.0.1:8089", "http://evil.example", 403),
        ("127.0.0.1:8089", "http://127.0.0.1:3000", 403),
        ("127.0.0.1:8089", "null", 403),
        ("127.0.0.1:8089", "http://[", 403),
        ("evil.example:8089", "http://evil.example:8089", 403),
    ],
)
def test_a_page_of_another_site_starts_and_stops_nothing(page, host, origin, status):
    headers = {"Host": host, **({"Origin": origin} if origin else {})}
    client = page.app.test_client()
    assert client.post("/stats/reset", headers=headers).status_code == status
    read = 403 if "evil" in host else 200
    assert client.get("/stats/requests", headers=headers).status_code == read


def test_the_address_given_may_be_a_name(environment):
    client = environment.create_web_ui("load.test", delayed_start=True).app.test_client()
    assert client.get("/", headers={"Host": "load.test:8089"}).status_code == 200


def test_a_program_adds_routes_and_changes_answers(page, environment):
    extension = Blueprint("extension", __name__)

    @extension.route("/price")
    @page.auth_required_if_enabled
    def price() -> str:
        return "42"

    @page.app.after_request
    def extend(response: Any) -> Any:
        if response.is_json:
            response.set_data(json.dumps({**response.json, "extended": True}))
        return response

    page.app.register_blueprint(extension)
    client = page.app.test_client()
    assert client.get("/price").text == "42"
    for _ in range(2):
        assert client.get("/stats/requests").json["extended"] is True


def test_a_route_gets_no_body_that_is_larger_than_the_program_allows(page):
    page.app.add_url_rule("/size", "size", lambda: str(len(request.get_data())), methods=["POST"])
    client = page.app.test_client()
    assert page.app.config["MAX_CONTENT_LENGTH"] == web.LARGEST_BODY == 64 << 20
    page.app.config["MAX_CONTENT_LENGTH"] = 3
    assert client.post("/size", data=b"abc").text == "3"
    assert client.post("/size", data=b"abcd").status_code == 413


def test_every_path_may_have_a_prefix(environment):
    client = environment.create_web_ui(delayed_start=True, web_base_path="/load").app.test_client()
    assert client.get("/load/stats/requests").status_code == 200
    assert client.get("/stats/requests").status_code == 404


def test_template_arguments_follow_the_test_and_keep_the_programs_own(page, environment):
    page.template_args["extended_tabs"] = [1]
    environment.host = "http://new"
    page.update_template_args()
    assert page.template_args["extended_tabs"] == [1]
    assert (page.template_args["host"], page.template_args["state"]) == ("http://new", "ready")


def test_without_a_runner_there_is_nothing_to_show():
    environment = Environment(user_classes=[Shopper])
    answer = environment.create_web_ui(delayed_start=True).app.test_client().get("/")
    assert (answer.status_code, answer.text) == (
        500,
        "the Environment has no runner; make one with create_local_runner()\n",
    )


def test_a_login_that_there_is_not_is_refused(environment):
    with pytest.raises(UsageError, match="there is no web_login"):
        environment.create_web_ui(web_login=True)
    assert environment.web_ui is None


def test_flask_is_needed_only_for_a_page():
    code = (
        "import sys; sys.modules['flask'] = None\n"
        "from plimsoll.locust.environment import Environment; from plimsoll.locust.web import ui as web\n"
        "from plimsoll.errors import UsageError\n"
        "environment = Environment(); environment.create_local_runner()\n"
        "try: environment.create_web_ui()\n"
        "except UsageError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "create_web_ui needs Flask: pip install 'plimsoll-lab[locust]'\n", done.stderr


def test_an_error_of_a_view_is_its_answer_and_later_requests_go_on(page):
    client = page.app.test_client()
    page.app.add_url_rule("/broken", "broken", lambda: 1 / 0)
    assert client.post("/user", json={"user_class_name": "Nobody"}).status_code == 500
    assert client.get("/broken").status_code == 500
    assert client.post("/swarm", data={"user_count": "x"}).json["success"] is False


def test_errors_of_the_application_have_a_logger_of_their_own(page):
    # Flask gives that logger a handler that writes to the server's log, which is the logger of the page.
    assert page.app.logger is not web.logger


def test_the_classes_of_a_running_test_stay_unless_the_form_picks_others(environment):
    environment.available_user_classes = {"Shopper": Shopper, "Clerk": Clerk}
    client = environment.create_web_ui(delayed_start=True, userclass_picker_is_active=True).app.test_client()
    load = {"user_count": "1", "spawn_rate": "1000"}
    assert client.post("/swarm", data={**load, "user_classes": "Clerk"}).json["user_classes"] == ["Clerk"]
    until(lambda: environment.runner.state == "running")
    assert client.post("/swarm", data={**load, "user_count": "2"}).json["user_classes"] == ["Clerk"]
    environment.runner.stop()
    assert client.post("/swarm", data=load).json["user_classes"] == ["Clerk", "Shopper"]


def test_a_form_with_a_mistake_changes_nothing(environment):
    environment.parsed_options = Namespace(number=3, num_users=1)
    client = environment.create_web_ui(delayed_start=True).app.test_client()
    form = {"user_count": "5", "spawn_rate": "1", "host": "http://other", "number": "five"}
    assert client.post("/swarm", data=form).json["success"] is False
    assert (environment.host, vars(environment.parsed_options)) == (None, {"number": 3, "num_users": 1})


def test_the_page_gives_task_ratios_and_takes_settings_of_classes(environment, monkeypatch):
    monkeypatch.setattr(Shopper, "weight", 1)
    client = environment.create_web_ui(delayed_start=True).app.test_client()
    assert client.get("/tasks").json["total"]["Shopper"]["tasks"].keys() == {"browse"}
    assert client.post("/user", json={"user_class_name": "Shopper", "weight": 4}).status_code == 201
    assert Shopper.weight == 4
    assert client.get("/stats/requests_full_history/csv").status_code == 404
