"""The command line for a locustfile: the options it adds itself, and `environment.parsed_options`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from plimsoll.errors import UnknownOptionError, UsageError
from plimsoll.locust.options.arguments import add_basic, setup_parser_arguments
from plimsoll.locust.options.parser import LocustArgumentParser
from plimsoll.run.options import locustfiles
from plimsoll.run.options.option import Kind
from plimsoll.run.options.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.worker.script import Role

DEFAULT_CONFIG_FILES = ("~/.locust.conf", "locust.conf", "pyproject.toml")

_NOT_FOR_WORKERS: dict[str, Any] = {
    "run_time": None,
    "autostart": None,
    "csv_prefix": None,
    "stats_history_enabled": False,
    "html_file": None,
    "print_stats": None,
}
"""Options without meaning in one of several workers, and their values there."""


def make_parser() -> LocustArgumentParser:
    """With Locust's options; the locustfile's listeners add theirs. Parsing errors raise UsageError."""
    parser = LocustArgumentParser(add_help=False, refuse=_refuse)
    add_basic(parser)
    setup_parser_arguments(parser)
    return parser


def parse(parser: LocustArgumentParser, plan: RunPlan, role: Role = "alone") -> argparse.Namespace:
    """`environment.parsed_options`: the plan's values under Locust's names, and the locustfile's own options.

    Values missing on the command line are the parser's defaults, which the locustfile may have changed. Raises
    UnknownOptionError, or UsageError for a value that an option of the locustfile rejects.
    """
    parsed, unknown = parser.parse_known_args(plan.arguments, argparse.Namespace(**_by_locusts_names(plan)))
    if options := [each for each in unknown if each.startswith("-")]:
        raise UnknownOptionError(options[0].partition("=")[0])
    parsed.user_classes = [*parsed.user_classes, *unknown]
    if role == "worker":
        vars(parsed).update(_NOT_FOR_WORKERS, worker=True)
    elif role == "main":
        parsed.master = True
    if role != "alone":
        parsed.expect_workers = plan.processes
    return parsed


def settle(parsed: argparse.Namespace, plan: RunPlan) -> dict[str, Any]:
    """Fields of the plan that the locustfile changed, by defaults of the parser or in a listener of `init`.

    Also puts the defaults of a run into parsed_options. Call it after `init`, and not in one of several workers.
    """
    parsed.num_users = 1 if parsed.num_users is None else parsed.num_users
    parsed.spawn_rate = 1 if parsed.spawn_rate is None else parsed.spawn_rate
    wanted: dict[str, Any] = {
        "users": int(parsed.num_users),
        "spawn_rate": float(parsed.spawn_rate),
        "run_time": None if parsed.run_time is None else float(parsed.run_time),
        "stop_timeout": float(parsed.stop_timeout or 0),
        "exit_code_on_error": parsed.exit_code_on_error,
        "reset_stats": bool(parsed.reset_stats),
        "equal_weights": bool(parsed.equal_weights),
    }
    return {name: value for name, value in wanted.items() if value != getattr(plan, name)}


def _by_locusts_names(plan: RunPlan) -> dict[str, Any]:
    """The given values, or else the plan's; option defaults are left out."""
    values = {"headless": True, "locustfile": ",".join(plan.locustfiles), **dict(plan.options)}
    for row in ROWS:
        if row.locust is None:
            continue
        value = values.pop(row.dest, getattr(plan, row.value_name, None))
        if row.kind is Kind.DURATION:
            value = _whole(value)
        is_default = value == row.default or str(value) == row.locust.default
        if value is not None and value is not False and value not in ((), []) and not is_default:
            values[row.dest] = list(value) if isinstance(value, tuple) else value
    return values


def _whole(seconds: float | None) -> float | None:
    """An integer if possible: Locust has only whole seconds."""
    return int(seconds) if seconds is not None and seconds == int(seconds) else seconds


# For programs


def get_empty_argument_parser(
    add_help: bool = True, default_config_files: Sequence[str] = DEFAULT_CONFIG_FILES
) -> LocustArgumentParser:
    """A parser with only the options for the locustfile and the configuration file."""
    parser = LocustArgumentParser(prog="locust", add_help=add_help, default_config_files=default_config_files)
    add_basic(parser)
    return parser


def get_parser(default_config_files: Sequence[str] = DEFAULT_CONFIG_FILES) -> LocustArgumentParser:
    """A parser with Locust's options, and those that listeners of `init_command_line_parser` add."""
    from plimsoll.users.events import events

    parser = get_empty_argument_parser(default_config_files=default_config_files)
    setup_parser_arguments(parser)
    events.init_command_line_parser.fire(parser=parser)
    return parser


def parse_options(args: Sequence[str] | None = None) -> argparse.Namespace:
    """The options in args, or on this process's command line; an unknown option ends the process."""
    parser = get_parser()
    parsed = parser.parse_args(args)
    if parsed.stats_history_enabled and parsed.csv_prefix is None:
        parser.error("'--csv-full-history' requires '--csv'.")
    return parsed


def parse_locustfile_option(args: Sequence[str] | None = None) -> argparse.Namespace:
    """The options known before the locustfile is imported; its own options are skipped."""
    parser = get_empty_argument_parser(add_help=False)
    setup_parser_arguments(parser)
    return parser.parse_known_args(args)[0]


def get_locustfiles_locally(options: argparse.Namespace) -> list[str]:
    """The absolute paths of the files given with -f. Raises LocustfileError."""
    return [str(path) for path in locustfiles.find(options.locustfile)]


def default_args_dict() -> dict[str, Any]:
    """Locust's options and their defaults, without configuration files."""
    parser = get_empty_argument_parser(default_config_files=())
    setup_parser_arguments(parser)
    return vars(parser.parse_args([]))


class UIExtraArgOptions(NamedTuple):
    """An option of the locustfile in a form of a web page."""

    default_value: Any
    is_secret: bool
    is_required: bool
    help_text: str | None
    is_multiple: bool
    choices: list[str] | None = None


def ui_extra_args_dict(args: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """The `UIExtraArgOptions` fields of every option of the locustfile that a web page may show."""
    parser = get_parser()
    shown, known = parser.args_included_in_web_ui, default_args_dict()
    extra = {
        name: value for name, value in vars(parser.parse_args(args)).items() if name in shown and name not in known
    }
    return {
        name: UIExtraArgOptions(
            default_value=value,
            is_secret=name in parser.secret_args_included_in_web_ui,
            is_required=name in parser.required_args_included_in_web_ui,
            help_text=shown[name].help,
            is_multiple=name in parser.multiple_args_included_in_web_ui,
            choices=list(choices) if (choices := shown[name].choices) is not None else None,
        )._asdict()
        for name, value in extra.items()
    }


def _refuse(message: str) -> NoReturn:
    raise UsageError(message)
