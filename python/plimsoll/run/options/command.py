"""The command line of `run`: Locust's lists of values, configuration files, and help under headings."""

from __future__ import annotations

import os
from contextlib import chdir
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from plimsoll.errors import LocustfileError, UsageError
from plimsoll.run.options import locustfiles
from plimsoll.run.options.config import read_settings
from plimsoll.run.options.locustfile_options import LocustfileOptions, find_locustfile_options
from plimsoll.run.options.option import STORE, Kind, Use
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.rows import PAGE
from plimsoll.run.options.table import OPTIONS, run_options
from plimsoll.run.options.value_sources import keep_places, with_sources
from plimsoll.run.program import program_files
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from plimsoll.run.options.config import FileSettings

SHORT = 2
"""Length of a short option."""
DROPPED = {each.flag: each.help for each in OPTIONS if each.use is Use.DROPPED}
"""Options that Locust itself no longer has, and what it says of them."""
OURS = frozenset(flag for each in run_options() if each.locust is None for flag in each.flags)
"""Options that Locust has not: a locustfile may have one of the same name, and then it is the locustfile's."""
LOCUSTS = [flag for each in run_options() if each.locust is not None for flag in each.flags]
"""Options that Locust has."""
LISTS = {flag: each.flag for each in OPTIONS if each.is_list for flag in each.flags}
"""Options that take all the values up to the next option, as Locust's do, and their long names."""
LOCUSTFILE = ("-f", "--locustfile")
WITH_VALUE = frozenset(
    flag for each in run_options() if each.kind is not Kind.FLAG for flag in each.flags if len(flag) == SHORT
)
"""Short options that are followed by a value."""


def run_parameters() -> list[click.Parameter]:
    """The options of the table, and what to run."""
    words = click.Argument(
        ["arguments"], nargs=-1, type=click.UNPROCESSED, metavar="[URL | PLAN | TARGETS | FILE.py | CLASS…]",
        envvar="LOCUST_USER_CLASSES",
    )  # fmt: skip
    return [*(TableOption(row=each) for each in run_options()), words]


@dataclass(frozen=True, slots=True)
class RunWords:
    """A command line of `run` that was read."""

    arguments: tuple[str, ...]
    """User classes, sources, and options of the locustfile."""
    given: Mapping[str, Any]
    """The value of each option, by name; what was not given has its default."""
    secret: frozenset[str]
    """Options of the locustfile whose values are kept nowhere."""
    defaults: frozenset[str] = frozenset()
    """Names of the options that nothing has given a value: no word, no variable and no configuration file."""

    @property
    def places_workers(self) -> bool:
        """The command starts workers elsewhere."""
        return self.given["on"] is not None or self.given["cluster"] is not None


def read_words(words: Sequence[str], folder: Path | None = None) -> RunWords:
    """What follows `plimsoll run`, with environment and configuration files. folder: where relative paths begin, and
    configuration files are looked for. Raises UsageError."""
    command = RunCommand(
        "run", params=run_parameters(), add_help_option=False, context_settings={"ignore_unknown_options": True}
    )
    try:
        with chdir(folder or Path()):
            ctx = command.make_context("plimsoll run", list(words))
    except click.UsageError as error:
        message = error.format_message()
        raise UsageError(f"{message[:1].lower()}{message[1:]} (`plimsoll run --help` has all)") from error
    return words_of(ctx)


def words_of(ctx: click.Context) -> RunWords:
    """ctx: of a RunCommand."""
    given = dict(ctx.params)
    # A shell's quotes may have kept a blank beside a URL.
    words = (each.strip() if "://" in each and each[:1].isspace() else each for each in given.pop("arguments"))
    arguments = (*ctx.meta.get("settings", ()), *words)
    defaults = frozenset(name for name in given if ctx.get_parameter_source(name) is ParameterSource.DEFAULT)
    return RunWords(arguments, given, ctx.meta["locustfile"].secret, defaults)


class RunCommand(click.Command):
    """Options have the defaults that Locust's configuration files say. Settings there which are no option of ours
    are in `ctx.meta["settings"]`, spelt as options: the locustfile may know them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and locustfiles.is_locustfile(args[0]) and not _names_locustfile(args):
            args = ["-f", *args]
        ctx.meta["locustfile"] = LocustfileOptions()
        if not ctx.resilient_parsing:
            settings = read_settings(_config(args), Path.home(), Path.cwd())
            ctx.meta["locustfile"] = self._options_of_locustfile(apart(args), settings)
            self._take_settings(ctx, settings)
        separate = apart(args, ctx.meta["locustfile"].options)
        return super().parse_args(ctx, one_value_each(spelt_out(separate, self._names(ctx))))

    def _names(self, ctx: click.Context) -> list[str]:
        own = [name for each in self.get_params(ctx) for name in each.opts if name.startswith("--")]
        return [*own, *ctx.meta["locustfile"].options]

    def make_parser(self, ctx: click.Context) -> click.parser._OptionParser:
        """Without those of our own options that the locustfile has too: they are its then."""
        claimed = ctx.meta["locustfile"].options & OURS
        if not claimed:
            return super().make_parser(ctx)
        without = copy(self)
        without.params = [each for each in self.params if not claimed & set(each.opts)]
        return click.Command.make_parser(without, ctx)

    def _options_of_locustfile(self, args: Sequence[str], settings: FileSettings) -> LocustfileOptions:
        flags = {name for each in self.params for name in each.opts if isinstance(each, click.Option) and each.is_flag}
        named = settings.get("locustfile") or os.getenv("LOCUST_LOCUSTFILE") or os.getenv("PLIMSOLL_LOCUSTFILE")
        for place, each in enumerate(args):
            before = args[place - 1] if place else ""
            if before in LOCUSTFILE:
                named = each
            elif each.startswith("--locustfile="):
                named = each.partition("=")[2]
            elif locustfiles.is_source(each) and (not before.startswith("-") or before in flags):
                return LocustfileOptions()
        if "://" in str(named):
            return LocustfileOptions()  # not loaded twice
        try:
            found = locustfiles.find(str(named or locustfiles.DEFAULT))
            return find_locustfile_options([*found, *program_files()])
        except LocustfileError:
            return LocustfileOptions()  # the run says so, when it looks for the file

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except UsageError as error:
            error.args = (with_sources(str(error), ctx, run_options()), *error.args[1:])
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[click.Parameter]] = {}
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        for each in options:
            section = each.row.group if isinstance(each, TableOption) else STORE.group
            sections.setdefault(section, []).append(each)
        for name, parameters in sections.items():
            if records := [record for each in parameters if (record := each.get_help_record(ctx))]:
                with formatter.section(name):
                    formatter.write_dl(records)

    def _take_settings(self, ctx: click.Context, settings: FileSettings) -> None:
        parameters = {name: each for each in self.params for name in each.opts}
        claimed = ctx.meta["locustfile"].options & OURS
        defaults: dict[str, Any] = {}
        places: dict[str, str] = {}
        others: list[str] = []
        for key, value in settings.items():
            parameter = parameters.get(f"--{key}") if f"--{key}" not in claimed else None
            if parameter is not None and parameter.name is not None:
                defaults[parameter.name] = _as_default(parameter, value)
                places[parameter.name] = settings.places[key]
            else:
                others += _as_arguments(key, value, ctx.meta["locustfile"])
        ctx.default_map = defaults
        keep_places(ctx, places)
        ctx.meta["settings"] = others


def spelt_out(args: Sequence[str], names: Sequence[str]) -> list[str]:
    """Long options in full: as with Locust, the beginning of one of Locust's own will do if no other begins like it."""
    locusts = [name for name in LOCUSTS if name.startswith("--")]
    return [_spelt_out(each, names, locusts) for each in args]


def _spelt_out(argument: str, names: Sequence[str], locusts: Sequence[str]) -> str:
    name, equals, value = argument.partition("=")
    if not name.startswith("--") or len(name) < 4 or name in names:
        return argument
    meant = [each for each in locusts if each.startswith(name)]
    return meant[0] + equals + value if len(meant) == 1 else argument


def _names_locustfile(args: Sequence[str]) -> bool:
    return any(each.partition("=")[0] in LOCUSTFILE for each in apart(args))


def apart(args: Sequence[str], claimed: Container[str] = ()) -> list[str]:
    """`-f=x` and `-fx` as `-f x`. claimed: options of the locustfile, which stay as they are.

    Not of a list, which has no further values when it is written so.
    """
    separate: list[str] = []
    for position, each in enumerate(args):
        if each == "--":
            return [*separate, *args[position:]]
        name, value, full = each[:SHORT], each[SHORT:], each.partition("=")[0]
        if value and name in WITH_VALUE and name not in LISTS and (full == name or full not in claimed):
            separate += [name, value.removeprefix("=")]
        else:
            separate.append(each)
    return separate


def one_value_each(args: Sequence[str]) -> list[str]:
    """`--tags a b` as click wants it: `--tags a --tags b`. Of an option that comes again, the last values count."""
    others: list[str] = []
    lists: dict[str, list[str]] = {}
    rest: Sequence[str] = ()
    current = None
    for position, each in enumerate(args):
        if each == "--":
            rest = args[position:]
            break
        if each in LISTS:
            current = LISTS[each]
            lists[current] = []
        elif attached := _attached(each):
            current = None
            lists[attached[0]] = [attached[1]]
        elif each.startswith("-") or current is None:
            current = None
            others.append(each)
        else:
            lists[current].append(each)
    return [*(word for name, values in lists.items() for value in values for word in (name, value)), *others, *rest]


def _attached(argument: str) -> tuple[str, str] | None:
    """The long name and the only value of a list that is written `--tags=a`, `-T=a` or `-Ta`."""
    name, _, value = argument.partition("=")
    if name in LISTS:
        return LISTS[name], value
    short, value = argument[:SHORT], argument[SHORT:]
    return (LISTS[short], value) if short in LISTS and value else None


def _config(args: Sequence[str]) -> str | None:
    """The file of --config, which must be read before the other options are."""
    for position, each in enumerate(args):
        if each == "--config" and position + 1 < len(args):
            return args[position + 1]
        if each.startswith("--config="):
            return each.partition("=")[2]
    return None


def _as_default(parameter: click.Parameter, value: str | list[str]) -> object:
    if parameter.multiple:
        # A single value may have blanks in it; without one the file does not say anything.
        return ([value] if value else []) if isinstance(value, str) else value
    return ",".join(value) if isinstance(value, list) else value


def _as_arguments(key: str, value: str | list[str], options: LocustfileOptions) -> list[str]:
    if key == "user-classes":
        return value.split() if isinstance(value, str) else value
    if isinstance(value, list) and f"--{key}" in options.appending:
        return [f"--{key}={each}" for each in value]
    if isinstance(value, list):
        return [f"--{key}", *value]
    return [f"--{key}"] if value == "true" else [f"--{key}={value}"]


def run_words(arguments: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """What follows `plimsoll run`, without a page. given: values by name; what has the default is left out."""
    words = []
    for row in run_options():
        value = given.get(row.value_name)
        skipped = row.group == PAGE or row.use is Use.IGNORED or row.value_name == "headless"
        if skipped or value is None or value is False or value in ((), row.default):
            continue
        texts = [_value_text(row.kind, each) for each in (value if isinstance(value, tuple) else (value,))]
        if row.kind is Kind.FLAG:
            words.append(row.flag)
        elif row.is_list:
            words += [row.flag, *texts]  # of one that comes again, only the last values count
        else:
            words += [word for text in texts for word in (row.flag, text)]
    # Last: after an option of the locustfile, words may be its values. A list before them ends with --headless.
    return [*words, "--headless", *arguments]


def _value_text(kind: Kind, value: Any) -> str:
    if kind is Kind.DURATION:
        return format_duration(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
