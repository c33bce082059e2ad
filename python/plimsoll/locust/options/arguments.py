"""Locust's own options as an argparse parser has them.

For what reads `parser` and `environment.parsed_options`: which names there are, of which type, with which default.
The command line of `plimsoll run` itself is in `plimsoll.cli`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll import __version__

if TYPE_CHECKING:
    from plimsoll.locust.options.parser import LocustArgumentParser


def timespan(text: str) -> int:
    """Whole seconds."""
    # Not above: the coordinator knows these options too, and has no use for what plimsoll.users imports.
    from plimsoll.locust.util.timespan import parse_timespan

    try:
        return parse_timespan(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def positive_integer(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def positive_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError("must be a finite number")
    if number <= 0:
        raise argparse.ArgumentTypeError("must be > 0")
    return number


def json_user_config(text: str) -> list[dict[str, Any]]:
    """Attributes for user classes: one object or a list of them, as JSON or as the name of a .json file."""
    try:
        found = json.loads(Path(text).read_text() if text.endswith(".json") else text)
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"must be valid JSON, or a file of it: {error}") from error
    configs = found if isinstance(found, list) else [found]
    if any("user_class_name" not in each for each in configs):
        raise argparse.ArgumentTypeError("The user config must specify a user_class_name")
    return configs


def refused(reason: str) -> type[argparse.Action]:
    """For an option that Locust dropped: using it tells what there is instead."""

    class Refused(argparse.Action):
        def __call__(self, *_: Any) -> NoReturn:
            raise argparse.ArgumentError(self, reason)

    return Refused


_FLAG: dict[str, Any] = {"action": "store_true", "default": False}
_HIDDEN: dict[str, Any] = {"help": argparse.SUPPRESS}


def _see(change: str) -> dict[str, Any]:
    return {"action": refused(change), "nargs": 0, **_HIDDEN}


_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]

# fmt: off
BASIC: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("-f", "--locustfile"), {"default": "locustfile.py", "env_var": "LOCUST_LOCUSTFILE"}),
    (("--config",), {"is_config_file_arg": True}),
]
"""What is needed to find the locustfile."""

GROUPS: dict[str | None, list[tuple[tuple[str, ...], dict[str, Any]]]] = {
    None: [
        (("-H", "--host"), {"env_var": "LOCUST_HOST"}),
        (("-u", "--users"), {"type": int, "dest": "num_users", "env_var": "LOCUST_USERS"}),
        (("-r", "--spawn-rate"), {"type": positive_float, "env_var": "LOCUST_SPAWN_RATE"}),
        (("-t", "--run-time"), {"type": timespan, "env_var": "LOCUST_RUN_TIME"}),
        (("-l", "--list"), {**_FLAG, "dest": "list_commands"}),
        (("--config-users",), {"type": json_user_config, "nargs": "*", "env_var": "LOCUST_CONFIG_USERS"}),
    ],
    "Web UI options": [
        (("--web-host",), {"default": "", "env_var": "LOCUST_WEB_HOST"}),
        (("--web-host-display-name",), {"env_var": "LOCUST_WEB_HOST_DISPLAY_NAME", **_HIDDEN}),
        (("--web-port", "-P"), {"type": int, "default": 8089, "env_var": "LOCUST_WEB_PORT"}),
        (("--web-base-path",), {"default": "", "env_var": "LOCUST_WEB_BASE_PATH"}),
        (("--headless",), {**_FLAG, "env_var": "LOCUST_HEADLESS"}),
        (("--autostart",), {**_FLAG, "env_var": "LOCUST_AUTOSTART"}),
        (("--autoquit",), {"type": int, "default": -1, "env_var": "LOCUST_AUTOQUIT"}),
        (("--headful",), {**_FLAG, "env_var": "LOCUST_HEADFUL", **_HIDDEN}),
        (("--web-auth",), {"action": refused("--web-auth has been replaced with --web-login"), **_HIDDEN}),
        (("--web-login",), {**_FLAG, "env_var": "LOCUST_WEB_LOGIN"}),
        (("--tls-cert",), {"default": "", "env_var": "LOCUST_TLS_CERT"}),
        (("--tls-key",), {"default": "", "env_var": "LOCUST_TLS_KEY"}),
        (("--class-picker",), {**_FLAG, "env_var": "LOCUST_USERCLASS_PICKER"}),
        (("--build-path",), {"default": "", "env_var": "LOCUST_BUILD_PATH", **_HIDDEN}),
        (("--legacy-ui",), {**_see("--legacy-ui is no longer supported"), "default": False}),
    ],
    "Master options": [
        (("--master",), {**_FLAG, "env_var": "LOCUST_MODE_MASTER"}),
        (("--master-bind-host",), {"default": "*", "env_var": "LOCUST_MASTER_BIND_HOST"}),
        (("--master-bind-port",), {"type": int, "default": 5557, "env_var": "LOCUST_MASTER_BIND_PORT"}),
        (("--expect-workers",), {"type": positive_integer, "default": 1, "env_var": "LOCUST_EXPECT_WORKERS"}),
        (("--expect-workers-max-wait",), {"type": int, "default": 0, "env_var": "LOCUST_EXPECT_WORKERS_MAX_WAIT"}),
        (("--enable-rebalancing",), _FLAG),
        (("--expect-slaves",), _see("--expect-slaves has been renamed to --expect-workers")),
    ],
    "Worker options": [
        (("--worker",), {**_FLAG, "env_var": "LOCUST_MODE_WORKER"}),
        (("--processes",), {"type": int, "env_var": "LOCUST_PROCESSES"}),
        (("--slave",), _see("--slave has been renamed to --worker")),
        (("--master-host",), {"default": "127.0.0.1", "env_var": "LOCUST_MASTER_NODE_HOST"}),
        (("--master-port",), {"type": int, "default": 5557, "env_var": "LOCUST_MASTER_NODE_PORT"}),
    ],
    "Tag options": [
        (("-T", "--tags"), {"nargs": "*", "env_var": "LOCUST_TAGS"}),
        (("-E", "--exclude-tags"), {"nargs": "*", "env_var": "LOCUST_EXCLUDE_TAGS"}),
    ],
    "Request statistics options": [
        (("--csv",), {"dest": "csv_prefix", "env_var": "LOCUST_CSV"}),
        (("--csv-full-history",), {**_FLAG, "dest": "stats_history_enabled", "env_var": "LOCUST_CSV_FULL_HISTORY"}),
        (("--print-stats",), {**_FLAG, "env_var": "LOCUST_PRINT_STATS"}),
        (("--only-summary",), {**_FLAG, "env_var": "LOCUST_ONLY_SUMMARY"}),
        (("--reset-stats",), {**_FLAG, "env_var": "LOCUST_RESET_STATS"}),
        (("--html",), {"dest": "html_file", "env_var": "LOCUST_HTML"}),
        (("--json",), _FLAG),
        (("--json-file",), {}),
    ],
    "Logging options": [
        (("--skip-log-setup",), {**_FLAG, "env_var": "LOCUST_SKIP_LOG_SETUP"}),
        (("--loglevel", "-L"),
         {"type": str.upper, "choices": _LEVELS, "default": "INFO", "env_var": "LOCUST_LOGLEVEL"}),
        (("--logfile",), {"env_var": "LOCUST_LOGFILE"}),
    ],
    "Other options": [
        (("--show-task-ratio",), _FLAG),
        (("--show-task-ratio-json",), _FLAG),
        (("--version", "-V"),
         {"action": "version", "version": f"plimsoll {__version__} (Python {sys.version.split()[0]})"}),
        (("--exit-code-on-error",), {"type": int, "default": 1, "env_var": "LOCUST_EXIT_CODE_ON_ERROR"}),
        (("-s", "--stop-timeout"), {"type": timespan, "default": "0", "env_var": "LOCUST_STOP_TIMEOUT"}),
        (("--equal-weights",), _FLAG),
        (("--profile",), {}),
        (("--otel",), {**_FLAG, "env_var": "LOCUST_ENABLE_OPENTELEMETRY"}),
    ],
    "User classes": [(("user_classes",), {"nargs": "*"})],
}
# fmt: on


def setup_parser_arguments(parser: LocustArgumentParser) -> None:
    """Add all of Locust's options but those that name the locustfile and the configuration file."""
    for title, options in GROUPS.items():
        holder = parser if title is None else parser.add_argument_group(title)
        for names, settings in options:
            holder.add_argument(*names, **settings)
    parser.set_defaults(user_classes=os.environ.get("LOCUST_USER_CLASSES", "").split())
