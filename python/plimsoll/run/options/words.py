"""The command that says the same as some values of options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.load.durations import format_duration
from plimsoll.run.options.option import Kind, Use
from plimsoll.run.options.rows import PAGE
from plimsoll.run.options.table import run_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def run_words(arguments: Sequence[str], given: Mapping[str, Any]) -> list[str]:
    """What follows `plimsoll run`, without a page. given: values by name; what has the default is left out."""
    words = []
    for row in run_options():
        value = given.get(row.value_name)
        skipped = row.group == PAGE or row.use is Use.IGNORED or row.value_name == "headless"
        if skipped or value is None or value is False or value in ((), row.default):
            continue
        texts = [_text(row.kind, each) for each in (value if isinstance(value, tuple) else (value,))]
        if row.kind is Kind.FLAG:
            words.append(row.flag)
        elif row.is_list:
            words += [row.flag, *texts]  # of one that comes again, only the last values count
        else:
            words += [word for text in texts for word in (row.flag, text)]
    # Last: after an option of the locustfile, words may be its values. A list before them ends with --headless.
    return [*words, "--headless", *arguments]


def _text(kind: Kind, value: Any) -> str:
    if kind is Kind.DURATION:
        return format_duration(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
