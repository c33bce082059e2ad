"""The parser to which locustfiles add their options: argparse with Locust's extensions.

An option may have an environment variable and a key in a configuration file. The command line takes precedence over the
environment, and the environment over the files.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from plimsoll.errors import UsageError
from plimsoll.run.options.config import listed, read_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Settings = dict[argparse.Action, tuple[str | list[str], str]]
    """By option: its value, and the source variable or key."""

ON, OFF = ("true", "yes", "on", "1"), ("false", "no", "off", "0")

_FOR_THE_WEB_PAGE = {"include_in_web_ui": True, "is_secret": False, "is_required": False, "is_multiple": False}
"""Locust's extra arguments of `add_argument` about its web page, and their defaults."""
_OF_CONFIGARGPARSE = (
    "add_config_file_help", "add_env_var_help", "args_for_setting_config_path", "args_for_writing_out_config_file",
    "auto_env_var_prefix", "config_arg_help_message", "config_arg_is_required", "config_file_parser_class",
    "ignore_unknown_config_file_keys", "write_out_config_file_arg_help_message",
)  # fmt: skip


class _Extended(argparse._ActionsContainer):
    """Shared by parser and groups."""

    def add_argument(self, *args: Any, **kwargs: Any) -> argparse.Action:
        """As in argparse. Also: env_var (variable with the value if the command line has none), and include_in_web_ui,
        is_secret, is_required and is_multiple for web pages."""
        shown = {name: kwargs.pop(name, default) for name, default in _FOR_THE_WEB_PAGE.items()}
        extra = {**shown, "env_var": kwargs.pop("env_var", None), "is_config": kwargs.pop("is_config_file_arg", False)}
        action = super().add_argument(*args, **kwargs)
        for name, value in extra.items():
            setattr(action, name, value)
        return action

    add = add_arg = add_argument

    def add_argument_group(self, *args: Any, **kwargs: Any) -> _Group:
        group = _Group(self, *args, **kwargs)
        self._action_groups.append(group)
        return group

    def add_mutually_exclusive_group(self, **kwargs: Any) -> _ExclusiveGroup:
        group = _ExclusiveGroup(self, **kwargs)
        self._mutually_exclusive_groups.append(group)
        return group


class _Group(_Extended, argparse._ArgumentGroup):
    pass


class _ExclusiveGroup(_Extended, argparse._MutuallyExclusiveGroup):
    pass


class LocustArgumentParser(_Extended, argparse.ArgumentParser):
    """The argument of listeners of `init_command_line_parser`.

    default_config_files: configuration files with defaults, or patterns of such; the last is the strongest. refuse:
    called with the error of a command line, and raises; without it the process exits with code 2. More arguments are
    those of argparse; those known only to configargparse have no effect.
    """

    def __init__(
        self,
        *args: Any,
        default_config_files: Sequence[str] = (),
        refuse: Callable[[str], NoReturn] | None = None,
        **kwargs: Any,
    ) -> None:
        for name in _OF_CONFIGARGPARSE:
            kwargs.pop(name, None)
        self.default_config_files = default_config_files
        self._refuse = refuse
        super().__init__(*args, **kwargs)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """A value already in the namespace takes precedence over environment and files."""
        words = list(sys.argv[1:] if args is None else args)
        namespace = namespace or argparse.Namespace()
        missing = [each for each in self._actions if not hasattr(namespace, each.dest) and not _given(each, words)]
        found, unknown = self._settings(missing, words)
        for action in missing:
            variable = getattr(action, "env_var", None)
            if variable and variable in os.environ:
                text = os.environ[variable]
                is_list = bool(action.nargs) or isinstance(action, argparse._AppendAction)
                found[action] = listed(text) if is_list else text, variable
        added = [word for action, setting in found.items() for word in self._words(action, *setting)]
        end = words.index("--") if "--" in words else len(words)
        parsed, surplus = super().parse_known_args([*words[:end], *added, *words[end:]], namespace)
        return parsed, [*unknown, *surplus]

    def error(self, message: str) -> NoReturn:
        if self._refuse is not None:
            self._refuse(self._explained(message))
        self.exit(2, f"{self.prog}: error: {self._explained(message)}\n")

    def _explained(self, message: str) -> str:
        """argparse's message; for an unknown option with the closest known one."""
        _, found, rest = message.partition("unrecognized arguments: ")
        options = [name for action in self._actions for name in action.option_strings]
        close = difflib.get_close_matches(rest.split()[0], options, n=1) if found else []
        return f"{message}\nDid you mean '{close[0]}'?" if close else message

    @property
    def args_included_in_web_ui(self) -> dict[str, argparse.Action]:
        """The options on a web page, by name."""
        return dict(self._for_the_page("include_in_web_ui"))

    @property
    def secret_args_included_in_web_ui(self) -> dict[str, argparse.Action]:
        return dict(self._for_the_page("is_secret"))

    @property
    def required_args_included_in_web_ui(self) -> dict[str, argparse.Action]:
        return dict(self._for_the_page("is_required"))

    @property
    def multiple_args_included_in_web_ui(self) -> dict[str, argparse.Action]:
        return dict(self._for_the_page("is_multiple"))

    def _for_the_page(self, mark: str) -> Iterator[tuple[str, argparse.Action]]:
        for action in self._actions:
            if getattr(action, "include_in_web_ui", False) and getattr(action, mark):
                yield action.dest, action

    def _settings(self, missing: Sequence[argparse.Action], words: Sequence[str]) -> tuple[Settings, list[str]]:
        """The values of these options in configuration files, and unknown keys as options."""
        found: Settings = {}
        unknown: list[str] = []
        known = {name: action for action in self._actions for name in action.option_strings}
        try:
            settings = read_named(self.default_config_files, self._config(words))
        except UsageError as error:
            self.error(str(error))
        for key, value in settings.items():
            action = known.get(f"--{key}")
            if action is None:
                unknown.append(f"--{key}={value}")
            elif action in missing:
                found[action] = value, key
        return found, unknown

    def _config(self, words: Sequence[str]) -> str | None:
        """The configuration file given on the command line."""
        names = [
            name for action in self._actions if getattr(action, "is_config", False) for name in action.option_strings
        ]
        for place, word in enumerate(words):
            name, equals, value = word.partition("=")
            if name in names:
                return value if equals else next(iter(words[place + 1 :]), None)
        return None

    def _words(self, action: argparse.Action, value: str | list[str], source: str) -> list[str]:
        """The option as words of a command line. source: variable or key, for messages."""
        name = action.option_strings[-1]
        if value == "" and action.nargs:
            return []
        if isinstance(action, argparse._CountAction):
            return [name] * int(str(value))
        if action.nargs == 0:
            return self._flag(action, str(value), source)
        if not isinstance(value, list):
            return [f"{name}={value}"]
        if isinstance(action, argparse._AppendAction):
            return [f"{name}={each}" for each in value]
        if not _takes_several(action):
            self.error(f"{source} can't be a list: {value}")
        return [name, *value]

    def _flag(self, action: argparse.Action, text: str, source: str) -> list[str]:
        if text.lower() in ON:
            return [action.option_strings[0]]
        if text.lower() not in OFF:
            self.error(f"Unexpected value for {source}: '{text}'. Expecting one of {', '.join((*ON, *OFF))}")
        return [action.option_strings[-1]] if isinstance(action, argparse.BooleanOptionalAction) else []


def _takes_several(action: argparse.Action) -> bool:
    return action.nargs in ("+", "*") or (isinstance(action.nargs, int) and action.nargs > 1)


def _given(action: argparse.Action, words: Sequence[str]) -> bool:
    """Whether the command line has this option."""
    return any(word.partition("=")[0] in action.option_strings for word in words) or any(
        # -n5 is -n 5
        word.startswith(name)
        for name in action.option_strings
        if len(name) == 2
        for word in words
        if word[1:2] != "-"
    )
