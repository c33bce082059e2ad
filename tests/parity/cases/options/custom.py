"""Custom arguments of every kind, their environment variables, and where their values are."""

from locust import User, events, task
from parity import note


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--text", type=str, env_var="PARITY_TEXT", default="default", help="a text")
    parser.add_argument("--number", type=int, default=3, include_in_web_ui=False)
    parser.add_argument("--flag", action="store_true", default=False)
    parser.add_argument("--secret", is_secret=True, default="s3cret")
    parser.add_argument("--choice", choices=["a", "b"], default="a")
    parser.add_argument("--many", nargs="*", default=[])
    parser.add_argument("--multiple", choices=["x", "y", "z"], default=["x"], nargs="*", is_multiple=True)
    parser.add_argument("--under_score", default="u")
    group = parser.add_argument_group("a group")
    group.add_argument("-x", "--short", default="short")


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    for name in ("text", "number", "flag", "secret", "choice", "many", "multiple", "under_score", "short"):
        note(name, getattr(options, name))
    note("usual", [options.host is not None, options.num_users, options.headless, options.run_time, options.tags])


class Reading(User):
    @task
    def read(self):
        note("in a task", self.environment.parsed_options.text)
        self.environment.runner.quit()


# env: PARITY_TEXT=env
# run none:
# run all: --text t --number 5 --flag --secret p --choice b --many 1 2 --multiple y z --under_score v -x s
# run equals: --text=a=b --number=-1
# run wrong: --choice c
# run number: --number five
