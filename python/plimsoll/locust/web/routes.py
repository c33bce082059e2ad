"""The responses and actions of the web page of a program; `plimsoll.locust.web.ui` serves it.

Paths, forms and responses are those that programs written for Locust request.
"""

from __future__ import annotations

import json
import logging
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gevent

from plimsoll.errors import UsageError
from plimsoll.locust.html import get_html_report
from plimsoll.locust.runners import STATE_RUNNING
from plimsoll.locust.util import format_safe_timestamp
from plimsoll.locust.web.form import DEFAULT_SHAPE, last, load_of, number_of, run_time_of
from plimsoll.report.render.csv_writer import CsvWriter
from plimsoll.users import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.locust.environment import Environment
    from plimsoll.locust.runners import Runner
    from plimsoll.locust.shape import LoadTestShape
    from plimsoll.locust.web.form import Fields
    from plimsoll.users.user import User

    View = Callable[[], Any]

logger = logging.getLogger("locust.web")

OF_THE_LOAD = {"num_users", "spawn_rate", "run_time", "host", "profile"}
"""Options with another name in forms, or that the Environment has as well."""
MOST_ROWS = 500
"""Endpoints, or failures, in one response."""

FORMS = """
<form method="post" action="swarm"><input name="user_count" type="number" min="0" value="1"> users, started at
<input name="spawn_rate" type="number" min="0" step="any" value="1"> per second <button>Start, or change</button></form>
<form method="post" action="stop"><button>Stop</button></form>
<form method="post" action="stats/reset"><button>Reset the numbers</button></form>
"""


class WebRoutes:
    """The views of one page. picking: a form may choose the user classes. csv_writer: a StatsCSV."""

    def __init__(self, environment: Environment, picking: bool, csv_writer: Any) -> None:
        self._environment = environment
        self._picking = picking
        self._csv_writer = csv_writer
        self._end: gevent.Greenlet[..., Any] | None = None
        """Stops the test at the end of its run time."""

    @property
    def runner(self) -> Runner:
        """The runner of the environment. Raises UsageError without one."""
        if self._environment.runner is None:
            raise UsageError("the Environment has no runner; make one with create_local_runner()")
        return self._environment.runner

    def answers(self) -> dict[str, View]:
        """Views without side effects, by path."""
        return {
            "/": self._page,
            "/stats/report": lambda: get_html_report(self._environment, False),
            "/stats/requests/csv": lambda: self._csv("requests"),
            "/stats/requests_full_history/csv": self._full_history,
            "/stats/failures/csv": lambda: self._csv("failures"),
            "/exceptions": self._exceptions,
            "/exceptions/csv": lambda: self._csv("exceptions"),
            "/tasks": self._tasks,
            "/logs": lambda: {"master": log.get_logs(), "workers": self._environment.worker_logs},
            "/worker-count": lambda: {"worker_count": 0},
        }

    def actions(self) -> dict[str, View]:
        """Views with side effects, by path."""
        return {"/swarm": self._swarm, "/stop": self._stop, "/stats/reset": self._reset, "/user": self._user}

    def statistics(self) -> dict[str, Any]:
        """The current numbers, in ms, bytes and seconds."""
        from plimsoll.locust import stats

        runner = self.runner
        total = runner.stats.total
        aggregated = total.to_dict()
        rows = islice(stats.sort_stats(runner.stats.entries), MOST_ROWS)
        again = ("current_rps", "current_fail_per_sec", "total_rps", "total_fail_per_sec")
        return {
            "stats": [*(entry.to_dict() for entry in rows), aggregated],
            "errors": [error.serialize() for error in islice(runner.errors.values(), MOST_ROWS)],
            **{name: aggregated[name] for name in again},
            "fail_ratio": total.fail_ratio,
            "current_response_time_percentiles": {
                f"response_time_percentile_{each}": total.get_current_response_time_percentile(each)
                for each in stats.PERCENTILES_TO_CHART
            },
            "state": runner.state,
            "user_count": runner.user_count,
        }

    def _page(self) -> str:
        state = f"<p>{self.runner.state}, {self.runner.user_count} users</p>{FORMS}"
        return get_html_report(self._environment, False).replace("</h1>", f"</h1>\n{state}", 1)

    def _csv(self, what: str) -> tuple[str, dict[str, str]]:
        environment = self._environment
        text = StringIO()
        getattr(self._csv_writer, f"{what}_csv")(CsvWriter(text))
        name = f"Locust_{format_safe_timestamp(environment.stats.start_time)}_{environment.locustfile}_{what}.csv"
        return text.getvalue(), {"Content-Type": "text/csv", "Content-Disposition": f"attachment;filename={name}"}

    def _exceptions(self) -> dict[str, Any]:
        rows = self.runner.exceptions.values()
        return {"exceptions": [{**row, "nodes": ", ".join(sorted(row["nodes"]))} for row in rows]}

    def _swarm(self) -> dict[str, Any]:
        from flask import request

        environment, runner = self._environment, self._environment.runner
        try:
            if runner is None:
                raise UsageError("No runner")
            users, rate, run_time = self._take_form(dict(request.form.lists()), runner)
        except (ValueError, UsageError) as error:
            logger.error("%s", error)
            return {"success": False, "message": str(error), "host": environment.host}
        self._forget_end()
        if environment.shape_class is not None:
            runner.start_shape()
            name = type(environment.shape_class).__name__
            return {
                "success": True,
                "message": f"Swarming started using shape class '{name}'",
                "host": environment.host,
            }
        runner.start(users, rate)
        answer: dict[str, Any] = {"success": True, "message": "Swarming started", "host": environment.host}
        if run_time:
            self._end = gevent.spawn_later(run_time, runner.stop)
            answer["run_time"] = run_time
        if self._picking:
            answer["user_classes"] = sorted(environment.user_classes_by_name)
        return answer

    def _take_form(self, fields: Fields, runner: Runner) -> tuple[int, float, float]:
        """(users, spawn rate, run time in seconds or 0); sets the other values of the form.

        Raises UsageError, or ValueError for an option.
        """
        environment, run_time = self._environment, run_time_of(fields)
        classes, shape = self._picked(fields, runner) if self._picking else (None, environment.shape_class)
        given = {
            "num_users": number_of(fields, "user_count", int),
            "spawn_rate": number_of(fields, "spawn_rate", float),
        }
        # A shape sets both itself.
        users, rate = load_of(fields) if shape is None else (0, 0.0)
        options = {} if environment.parsed_options is None else vars(environment.parsed_options)
        wanted = {
            name: _like(options[name], list(fields[name])) for name in fields.keys() & options.keys() - OF_THE_LOAD
        }
        wanted |= {name: value for name, value in given.items() if value is not None}
        # From here on the form is valid, and all of it takes effect.
        if classes is not None:
            environment.user_classes, environment.shape_class = classes, shape
        if shape is not None:
            shape.runner = runner
        if "host" in fields:
            wanted["host"] = environment.host = last(fields, "host").replace("<", "").replace(">", "")
        if "profile" in fields:
            wanted["profile"] = environment.profile = last(fields, "profile") or None
        if run_time:
            wanted["run_time"] = run_time
        if environment.parsed_options is not None:
            options.update(wanted)
        return users, rate, run_time

    def _picked(self, fields: Fields, runner: Runner) -> tuple[list[type[User]], LoadTestShape | None]:
        """User classes and shape. Raises UsageError for an unknown one."""
        environment = self._environment
        classes, shapes = environment.available_user_classes or {}, environment.available_shape_classes or {}
        if not classes:
            raise UsageError("UserClass picker is active but there are no available UserClasses")
        present = environment.user_classes if runner.state == STATE_RUNNING else []
        names = fields.get("user_classes") or [name for name, each in classes.items() if each in present]
        shape = last(fields, "shape_class", DEFAULT_SHAPE)
        if unknown := {*names} - classes.keys() | {shape} - shapes.keys() - {DEFAULT_SHAPE}:
            raise UsageError(f"no such class: {', '.join(sorted(unknown))}")
        return [each for name, each in classes.items() if name in (names or classes)], shapes.get(shape)

    def _user(self) -> tuple[dict[str, Any], int]:
        from flask import request

        self._environment.update_user_class(json.loads(request.data))
        return {}, 201

    def _tasks(self) -> dict[str, Any]:
        from plimsoll.locust.inspectuser import get_ratio

        classes, counts = self._environment.user_classes, self.runner.user_classes_count
        return {"per_class": get_ratio(classes, counts, False), "total": get_ratio(classes, counts, True)}

    def _full_history(self) -> Any:
        from flask import send_file

        path = getattr(self._csv_writer, "stats_history_file_name", None)
        if path is None or not getattr(self._environment.parsed_options, "stats_history_enabled", False):
            return "Error: Server was not started with option to generate full history.", 404
        return send_file(Path(path()).absolute(), mimetype="text/csv", as_attachment=True, max_age=0)

    def _stop(self) -> dict[str, Any]:
        self._forget_end()
        self.runner.stop()
        return {"success": True, "message": "Test stopped"}

    def _reset(self) -> str:
        self._environment.events.reset_stats.fire()
        self.runner.stats.reset_all()
        self.runner.exceptions = {}
        return "ok"

    def _forget_end(self) -> None:
        if self._end is not None:
            self._end.kill()
            self._end = None


def _like(current: Any, texts: list[str]) -> Any:
    """The form's value for an option, converted to the option's type."""
    if isinstance(current, bool):
        return texts[-1] == "true"
    if isinstance(current, list):
        values = texts[0].split(",") if len(texts) == 1 and "," in texts[0] else texts
        return [int(each) for each in values] if current and all(isinstance(each, int) for each in current) else values
    return texts[-1] if current is None else type(current)(texts[-1])
