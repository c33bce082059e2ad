"""The page of a program: what POST /swarm makes of user classes, shape, options and mistakes."""

import sys

import gevent
from locust import LoadTestShape, User, constant, events, task
from locust.argument_parser import parse_options
from locust.env import Environment
from parity import note

import requests  # isort: skip - after locust, whose import patches ssl


class One(User):
    wait_time = constant(60)
    weight = 3

    @task
    def rest(self):
        pass


class Two(One):
    weight = 1


class Steady(LoadTestShape):
    def tick(self):
        return 2, 10


@events.init_command_line_parser.add_listener
def add_options(parser):
    parser.add_argument("--text", default="x")
    parser.add_argument("--number", type=int, default=3)
    parser.add_argument("--many", nargs="*", default=["a"])
    parser.add_argument("--flag", action="store_true")


OPTIONS = ("text", "number", "many", "flag", "user_classes", "num_users", "spawn_rate", "run_time", "host", "profile")
classes, shapes = {"One": One, "Two": Two}, {"Steady": Steady()}


def make(**settings):
    environment = Environment(
        user_classes=[One, Two],
        parsed_options=parse_options([]),
        available_user_classes=classes,
        available_shape_classes=shapes,
        available_user_tasks={name: each.tasks for name, each in classes.items()},
    )
    runner = environment.create_local_runner()
    page = environment.create_web_ui("127.0.0.1", 0, None, False, None, None, None, False, **settings)
    gevent.sleep(0.2)
    return environment, runner, page, f"http://127.0.0.1:{page.server.server_port}"


def post(what, path="/swarm", **form):
    answer = requests.post(url + path, data=form)
    gevent.sleep(0.4)
    note(what, [answer.status_code, answer.json()])
    note(f"{what}: users", [runner.state, runner.user_count, sorted(runner.user_classes_count.items())])
    note(f"{what}: classes", [sorted(environment.user_classes_by_name), type(environment.shape_class).__name__])
    note(f"{what}: options", [getattr(environment.parsed_options, name) for name in OPTIONS])


load = {"user_count": 2, "spawn_rate": 10}
own = {"text": "y", "number": "5", "many": "b,c", "flag": "true", "host": "http://<x>", "profile": "p"}
sys.argv[1:] = []

environment, runner, page, url = make(userclass_picker_is_active=True)
post("picked", **load, **own, user_classes="Two", run_time="20s")
post("edited", user_count=3, spawn_rate=10)
post("stopped", "/stop")
post("again", **load)
post("stopped again", "/stop")
post("shape", **load, shape_class="Steady", user_classes=["One", "Two"], many=["q", "r"], flag="false", host="")
post("shape stopped", "/stop")
post("no number", user_count="x", spawn_rate=10)
post("bad time", **load, run_time="soon")
note("routes", [requests.get(url + path).status_code for path in ("/tasks", "/stats/requests_full_history/csv", "/no")])
note("ratio", requests.get(url + "/tasks").json())
settings = {"user_class_name": "One", "weight": 7}
note("user", [requests.post(url + "/user", json=settings).status_code, One.weight])
page.stop()
runner.quit()

environment, runner, page, url = make()
post("not asked", **load, **own, user_classes="Two", shape_class="Steady")
post("not asked, stopped", "/stop")
note("page", [page.tls_cert, page.tls_key, page.userclass_picker_is_active, type(page.stats_csv_writer).__name__])
page.update_template_args()
names = ("percentiles_to_chart", "percentiles_to_statistics", "stats_history_enabled", "hide_common_options", "users")
note("template", [page.template_args[name] for name in names])
page.stop()
runner.quit()

environment = Environment(user_classes=[One])
page = environment.create_web_ui("127.0.0.1", 0)
gevent.sleep(0.2)
answer = requests.post(f"http://127.0.0.1:{page.server.server_port}/swarm", data=load)
note("no runner", answer.json())
page.stop()

# option: script
