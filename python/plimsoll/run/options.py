"""The options a locustfile adds to the command line, and `environment.parsed_options`."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.run.plan import RunPlan

# What Locust's web page and configargparse read; nobody here does.
_ONLY_THEIRS = ("include_in_web_ui", "is_secret", "is_multiple", "is_required")


class UnknownOption(UsageError):  # noqa: N818 - the option is what is wrong
    """Neither the command line nor the locustfile knows this option. The message is the option."""


class LocustfileParser(argparse.ArgumentParser):
    """What listeners of `init_command_line_parser` get; knows Locust's extra arguments of `add_argument`."""

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        return _add(super().add_argument, args, kwargs)

    def add_argument_group(self, *args: Any, **kwargs: Any) -> argparse._ArgumentGroup:
        group = super().add_argument_group(*args, **kwargs)
        plain = group.add_argument
        group.add_argument = lambda *args, **kwargs: _add(plain, args, kwargs)  # type: ignore[method-assign]
        return group

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def make_parser() -> LocustfileParser:
    """For the locustfile's listeners to add their options to."""
    return LocustfileParser(add_help=False, allow_abbrev=False)


def parse(parser: LocustfileParser, plan: RunPlan) -> argparse.Namespace:
    """`environment.parsed_options`: what the plan says, by Locust's names, and the locustfile's own options.

    Raises UnknownOption, or UsageError for a value that an option of the locustfile refuses.
    """
    parser.add_argument("user_classes", nargs="*")
    own, unknown = parser.parse_known_args(plan.arguments)
    if options := [each for each in unknown if each.startswith("-")]:
        raise UnknownOption(options[0].partition("=")[0])
    own.user_classes += unknown
    return argparse.Namespace(**{**_by_locusts_names(plan), **vars(own)})


def _by_locusts_names(plan: RunPlan) -> dict[str, Any]:
    return {
        **dict(plan.options),
        "locustfile": ",".join(plan.locustfiles),
        "host": plan.host,
        "num_users": plan.users,
        "spawn_rate": plan.spawn_rate,
        "run_time": plan.run_time,
        "stop_timeout": plan.stop_timeout,
        "processes": plan.processes,
        "tags": list(plan.tags) or None,
        "exclude_tags": list(plan.exclude_tags) or None,
        "reset_stats": plan.reset_stats,
        "loglevel": plan.loglevel,
        "logfile": plan.logfile,
        "skip_log_setup": plan.skip_log_setup,
        "exit_code_on_error": plan.exit_code_on_error,
        "headless": True,
        "master": False,
        "worker": False,
    }


def _add(add: Callable[..., argparse.Action], args: tuple[Any, ...], kwargs: dict[str, Any]) -> argparse.Action:
    if kwargs.get("is_required"):
        kwargs["required"] = True
    for name in _ONLY_THEIRS:
        kwargs.pop(name, None)
    action = add(*args, **{name: value for name, value in kwargs.items() if name != "env_var"})
    if (variable := kwargs.get("env_var")) and variable in os.environ:
        _take_from_environment(action, variable)
    return action


def _take_from_environment(action: argparse.Action, variable: str) -> None:
    """argparse converts a default that is a string, like a value of the command line."""
    text = os.environ[variable]
    action.required = False
    if action.nargs == 0:
        if text.strip().lower() in ("true", "yes", "on", "1"):
            action.default = action.const if action.const is not None else True
    elif action.nargs in ("*", "+"):
        action.default = text.split()
    else:
        action.default = text
