"""The web page of a program that uses Plimsoll as a library: `environment.create_web_ui()`.

A Flask application, so that programs can add their own routes. Flask is imported only when one is created.
"""

from __future__ import annotations

import logging
import socket
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import gevent
import gevent.socket
from gevent import pywsgi

from plimsoll.distribution import pip_install
from plimsoll.errors import UsageError
from plimsoll.locust.html import host_of
from plimsoll.locust.legacy import LOCUST_VERSION
from plimsoll.locust.util import memoize
from plimsoll.locust.web.routes import WebRoutes
from plimsoll.users import log

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask

    from plimsoll.locust.environment import Environment

ViewT = TypeVar("ViewT", bound="Callable[..., Any]")

logger = logging.getLogger("locust.web")

# A program may assign these before it creates a WebUI.
DEFAULT_CACHE_TIME = 2.0
"""Seconds for which the response of /stats/requests is cached."""
HOST_IS_REQUIRED = False
"""Whether a form requires a host; templates of the program read it."""

LOOPBACK = "127.0.0.1"
BACKLOG = 64
"""Connections that may wait to be accepted."""
LARGEST_BODY = 64 << 20
"""Bytes of a request; a program may set another `MAX_CONTENT_LENGTH` in `app.config`."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class WebUI:
    """Serves the page from a greenlet; it is then the Environment's `web_ui`.

    host: the listening address; by default only programs on this machine can connect. port: 0 for any free port, which
    is then in `server.server_port`. web_base_path: the prefix of every path. stats_csv_writer: writes the CSV files.
    delayed_start: serve nothing before start(), so that routes can be added first. userclass_picker_is_active: POST
    /swarm may choose from `available_user_classes`. build_path: folder of templates for the program's own routes.
    Raises UsageError without Flask, and for web_login, which is not supported.
    """

    def __init__(
        self,
        environment: Environment,
        host: str = "",
        port: int = 8089,
        web_base_path: str | None = None,
        web_login: bool = False,
        tls_cert: str | None = None,
        tls_key: str | None = None,
        stats_csv_writer: Any = None,
        delayed_start: bool = False,
        userclass_picker_is_active: bool = False,
        build_path: str | None = None,
    ) -> None:
        if web_login:
            # No page is better than one without the expected protection.
            raise UsageError(
                "create_web_ui: there is no web_login; let a proxy in front of the page ask for a password"
            )
        from plimsoll.locust import stats

        self.environment = environment
        self.stats_csv_writer = stats_csv_writer or stats.StatsCSV(environment, stats.PERCENTILES_TO_REPORT)
        self.tls_cert, self.tls_key = tls_cert, tls_key
        self.host = host
        self.port = port
        self.web_login = False
        self.userclass_picker_is_active = userclass_picker_is_active
        self.template_args: dict[str, Any] = {}
        """Data about the test for the program's own templates; see `update_template_args`."""
        self.auth_args: dict[str, Any] = {}
        """Set by the program."""
        self.greenlet: gevent.Greenlet[..., Any] | None = None
        self.server: pywsgi.WSGIServer | None = None
        self._tls: dict[str, Any] = {"certfile": tls_cert, "keyfile": tls_key} if tls_cert and tls_key else {}
        self._routes = WebRoutes(environment, userclass_picker_is_active, self.stats_csv_writer)
        self.app = self._make_app(web_base_path, build_path)
        environment.web_ui = self
        if environment.runner is not None:
            self.update_template_args()
        if not delayed_start:
            self.start()

    def start(self) -> None:
        """Serve as soon as the caller lets others run. Errors such as a port in use are logged."""
        self.greenlet = gevent.spawn(self._serve)
        self.greenlet.link_exception(log.greenlet_exception_logger(logger))

    def stop(self) -> None:
        """Stop serving."""
        if self.server is not None:
            self.server.stop()
        if self.greenlet is not None:
            self.greenlet.kill()

    @property
    def login_manager(self) -> NoReturn:
        """Raises AttributeError: there is no login."""
        raise AttributeError("login_manager: there is no web_login")

    def auth_required_if_enabled(self, view_func: ViewT) -> ViewT:
        """A decorator for the program's own routes; without a login it returns them unchanged."""
        return view_func

    def update_template_args(self) -> None:
        """Update `template_args`; other values of the program stay."""
        from plimsoll.locust import stats

        environment, runner, shape = self.environment, self._routes.runner, self.environment.shape_class
        options = environment.parsed_options
        classes = environment.available_user_classes or {}
        self.template_args |= {
            "locustfile": environment.locustfile,
            "state": runner.state,
            "is_distributed": False,
            "user_count": runner.user_count,
            "version": LOCUST_VERSION,
            "host": host_of(environment) or "",
            "history": environment.stats.history if environment.stats.num_requests else [],
            "num_users": getattr(options, "num_users", None),
            "spawn_rate": getattr(options, "spawn_rate", None),
            "run_time": getattr(options, "run_time", None),
            "worker_count": 0,
            "show_userclass_picker": self.userclass_picker_is_active,
            "available_user_classes": sorted(classes) or None,
            "users": {name: each.json() for name, each in classes.items()} or None,
            "available_shape_classes": ["Default", *sorted(environment.available_shape_classes or {})],
            "percentiles_to_chart": stats.PERCENTILES_TO_CHART,
            "percentiles_to_statistics": stats.PERCENTILES_TO_STATISTICS,
            "stats_history_enabled": getattr(options, "stats_history_enabled", None),
            "hide_common_options": shape and not (self.userclass_picker_is_active or shape.use_common_options),
            "shape_use_common_options": shape and shape.use_common_options,
            "is_host_required": HOST_IS_REQUIRED,
            "profile": environment.profile,
        }

    def _serve(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # Bound here: gevent does not close a socket that it could not bind.
        bound = socket.create_server((self.host or LOOPBACK, self.port), family=family, backlog=BACKLOG)
        listener = gevent.socket.socket(family, fileno=bound.detach())
        self.server = pywsgi.WSGIServer(listener, self.app, log=None, error_log=logger, **self._tls)
        self.server.serve_forever()

    def _make_app(self, prefix: str | None, templates: str | None) -> Flask:
        try:
            from flask import Blueprint, Flask
        except ImportError as error:
            raise UsageError(f"create_web_ui needs Flask: {pip_install('locust')}") from error
        # Not the name of our logger: Flask logs errors to the logger of its name, which would log them here again.
        app = Flask("plimsoll.users.web_app", template_folder=templates)
        app.config["MAX_CONTENT_LENGTH"] = LARGEST_BODY
        app.before_request(self._refuse_foreign_pages)
        routes = Blueprint("locust", "locust.web", url_prefix=prefix)
        statistics = memoize(DEFAULT_CACHE_TIME)(self._routes.statistics)
        for path, view in {**self._routes.answers(), "/stats/requests": lambda: statistics()}.items():
            routes.add_url_rule(path, path.strip("/").replace("/", "_") or "index", view)
        for path, view in self._routes.actions().items():
            routes.add_url_rule(path, path.strip("/").replace("/", "_"), view, methods=["POST"])
        routes.register_error_handler(Exception, _answer_error)
        app.register_blueprint(routes)
        return app

    def _refuse_foreign_pages(self) -> tuple[str, int] | None:
        """Another site's page in a browser must neither start load nor read the results."""
        from flask import request

        from plimsoll.server.security.access import host_of_origin, hostname, is_of_this_machine

        name = hostname(request.host)
        if not is_of_this_machine(name, self.host):
            return f"this machine is not called {name}; ask for it by its address\n", 403
        origin = request.headers.get("Origin")
        if request.method not in SAFE_METHODS and origin is not None and host_of_origin(origin) != request.host:
            return "a page of another site may not do this\n", 403
        return None


def _answer_error(error: Exception) -> tuple[str, int]:
    """The exception of a view is the text of its response; it is logged unless it is a 404."""
    from flask import request

    code = getattr(error, "code", 500)
    level = logging.DEBUG if code <= HTTPStatus.NOT_FOUND else logging.ERROR
    logger.log(level, "%s %s: %s: %s", request.method, request.path, type(error).__name__, error)
    return f"{error}\n", code
