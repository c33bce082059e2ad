"""The reference of all options, in Markdown. `python -m plimsoll.run.options.reference FILE` writes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.run.options.option import LEVELS, Kind, Use
from plimsoll.run.options.table import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.run.options.option import Option

_HEAD = """\
# Options of `plimsoll run`

<!-- `python -m plimsoll.run.options.reference docs/reference/options.md` writes this page. Do not edit it. -->

An option has its value from the first of these places that has one:

1. the command line,
2. its environment variables, the first that is listed before the second,
3. the file that `--config` names,
4. `[tool.locust]` in `./pyproject.toml`,
5. `./locust.conf`,
6. `~/.locust.conf`.

The key in a configuration file is the long option without its dashes: `--run-time` is `run-time` or `run_time`. A flag
is on with `true`. An option with several values takes the list `[a, b]`, in a file and in a variable.

`parsed_options` is the attribute of `environment.parsed_options` that a locustfile reads. An option without one is not
in Locust. A locustfile may add an option of the same name, which then wins.

User classes on the command line have the variable `LOCUST_USER_CLASSES` and the key `user-classes`.
"""
_TAKES = {
    Kind.FLAG: "",
    Kind.TEXT: "text",
    Kind.INTEGER: "an integer",
    Kind.USERS: "an integer from 1",
    Kind.COUNT: "an integer from 1",
    Kind.PORT: "0…65535",
    Kind.RATE: "a number above 0",
    Kind.SHARE: "a number from 0 to 1",
    Kind.DURATION: "a duration: `20`, `20s`, `3m`, `1h30m`",
    Kind.SIZE: "a size: `64MiB`, `1.5GiB`, `100KiB`, or a number of bytes",
    Kind.LEVEL: "a log level",
    Kind.USER_CONFIG: "JSON, or a file with JSON",
}
_WITHOUT_EFFECT = {
    Use.IGNORED: "Accepted without effect.",
    Use.LOCUSTFILE: "Only in `parsed_options`; it has no effect.",
}


def reference() -> str:
    """The text of the page."""
    groups: dict[str, list[Option]] = {}
    for each in OPTIONS:
        groups.setdefault(each.group, []).append(each)
    parts = [_HEAD]
    for name, rows in groups.items():
        parts += [f"## {name}\n", *(line for row in rows for line in _entry(row))]
    return "\n".join(parts)


def _entry(row: Option) -> Iterator[str]:
    yield f"### `{row.flag}`\n"
    if text := _meaning(row):
        yield f"{text}\n"
    for name, value in _facts(row):
        yield f"- {name}: {value}"
    yield ""


def _meaning(row: Option) -> str:
    return row.help.replace("<", "&lt;") or _WITHOUT_EFFECT.get(row.use, "")


def _facts(row: Option) -> Iterator[tuple[str, str]]:
    yield "option", " or ".join(f"`{each}{f' {row.metavar}' if row.metavar else ''}`" for each in row.flags)
    if len(row.verbs) > 1:
        yield "verbs", ", ".join(f"`{each}`" for each in row.verbs)
    if takes := _takes(row):
        yield "takes", takes
    if row.default is not None and row.is_of_run:
        yield "default", f"`{row.default}`"
    if row.use is Use.DROPPED:
        return
    if row.variables:
        yield "variables", ", ".join(f"`{each}`" for each in row.variables)
    if row.is_of_run:
        yield "key", f"`{row.key}`"
    if row.dest:
        yield "`parsed_options`", f"`{row.dest}`"


def _takes(row: Option) -> str:
    one = ", ".join(f"`{each}`" for each in row.choices or (LEVELS if row.kind is Kind.LEVEL else ()))
    one = one or _TAKES[row.kind]
    return f"{one}; any number of them" if row.multiple else one


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference())
