"""Writes the mix of an access log as a plan: a request for each endpoint, with its weight, and the rate of the log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

from plimsoll.redact import redact
from plimsoll.say.numbers import count, counted, moment, percent, significant
from plimsoll.sources.access_logs.mix import (
    LONGEST_QUERY,
    VALUE,
    identifier,
    path_of,
    reasons_in_words,
    value_names,
)
from plimsoll.sources.draft import csv_of, unused
from plimsoll.sources.exchange import percent_encoded
from plimsoll.sources.making import ScenarioFiles
from plimsoll.sources.plan_text import toml_string

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.sources.access_logs.mix import Endpoint, LogMix, TargetSample

_SHOWN = 5
"""Endpoints in a sentence."""


def mix_files(mix: LogMix, names: Sequence[str], stem: str, host: str | None) -> ScenarioFiles:
    """The plan, and the files of targets beside it. names: of the logs. stem: the name of the plan's file without its
    suffix. host: the base URL of the target; None: it is given with -H."""
    writer = _MixPlan(mix, stem)
    lines = [f"# Made by plimsoll scenario from {', '.join(names)}: {_what(mix)}."]
    lines += [f"target = {toml_string(host)}"] if host else []
    lines += writer.feeders
    lines += writer.requests
    lines += _phase(mix)
    notes = list(writer.notes)
    if mix.without_body:
        named = _shares(mix.without_body.most_common(), mix.requests + sum(mix.left_out.values()))
        notes.append(f"a log does not have the bodies of {named}: add these requests to the plan yourself")
    return ScenarioFiles("\n".join(lines) + "\n", writer.files, notes=tuple(notes))


def mix_in_words(mix: LogMix) -> list[str]:
    """What was found, in sentences."""
    counts: Counter[str] = Counter()
    for endpoint, sample in mix.endpoints:
        counts[endpoint.name] += sample.requests
    named = _shares(counts.most_common(), mix.requests)
    lines = [f"{counted(len(counts), 'endpoint')} of {_what(mix)}: {named}."]
    if mix.left_out:
        lines.append(f"{count(sum(mix.left_out.values()))} left out: {reasons_in_words(mix)}.")
    if mix.seconds:
        lines.append(f"{_rates(mix)}.")
    return lines


class _MixPlan:
    """The requests of a plan, the most frequent first."""

    def __init__(self, mix: LogMix, stem: str) -> None:
        self.files: dict[str, bytes] = {}
        self.feeders: list[str] = []
        self.requests: list[str] = []
        self.notes: list[str] = []
        self._stem = stem
        self._names: set[str] = set()
        masked = MaskedTargets()
        self._without_secrets = masked
        for endpoint, sample in mix.endpoints:
            self._add(endpoint, sample, sample.requests / mix.requests)
        self.notes += masked.notes()

    def _add(self, endpoint: Endpoint, sample: TargetSample, share: float) -> None:
        path = path_of(endpoint.segments)
        target = self._target(endpoint, [self._without_secrets(target) for target in sample.targets])
        self.requests += ["", "[[request]]"]
        if target != path:
            self.requests.append(f"name = {toml_string(path)}")
        self.requests += [
            f"{endpoint.method.lower()} = {toml_string(target)}",
            f"weight = {sample.requests}  # {percent(share)}",
        ]

    def _target(self, endpoint: Endpoint, targets: list[str]) -> str:
        """Path and query as the plan has them: a variable for each value that differs, with a column of its feeder."""
        columns = _columns(endpoint, targets)
        varying = {name: values for name, values in columns.items() if len(set(values)) > 1}
        feeder = ""
        if varying:
            feeder = unused(identifier(path_of(endpoint.segments)) or "root", self._names)
            self._names.add(feeder)
            file = f"{self._stem}.{feeder}.csv"
            self.files[file] = csv_of(varying)
            self.feeders += [
                "",
                f"[feeder.{feeder}]",
                f"file = {toml_string(file)}",
                'order = "random"',
                'share = "all"',
            ]
        parts = iter(
            f"${{{feeder}.{name}}}" if name in varying else percent_encoded(values[0]).replace("${", "$${")
            for name, values in columns.items()
        )
        path = "".join(
            f"/{next(parts) if segment == VALUE else segment.replace('${', '$${')}" for segment in endpoint.segments
        )
        query = "&".join(f"{percent_encoded(name)}={next(parts)}" for name in endpoint.query)
        return f"{path}?{query}" if query else path


class MaskedTargets:
    """Targets of a log without the credentials in them."""

    def __init__(self) -> None:
        self._masked = 0

    def __call__(self, target: str) -> str:
        masked = redact(target)
        self._masked += masked != target
        if _shape(masked) == _shape(target):
            return masked
        # What looks like a credential goes across the parts of the target.
        names = "&".join(f"{percent_encoded(name)}=***" for name in _shape(target)[1])
        return f"{'/'.join(map(redact, target.partition('?')[0].split('/')))}?{names}"

    def notes(self) -> Iterator[str]:
        """What is to be done about them."""
        if self._masked:
            yield f"{counted(self._masked, 'target')} had credentials in the query: they are masked; write valid ones"


def _shape(target: str) -> tuple[int, list[str]]:
    """The number of segments, and the names of the query."""
    path, _, query = target.partition("?")
    return path.count("/"), [name for name, _ in parse_qsl(query[:LONGEST_QUERY], keep_blank_values=True)]


def _columns(endpoint: Endpoint, targets: list[str]) -> dict[str, list[str]]:
    """The values of the path and of the query of each target, decoded, by a name for each."""
    names = value_names(endpoint.segments)
    for name in endpoint.query:
        names.append(unused(identifier(name) or "value", names))
    rows = [values_of(endpoint, target) for target in targets]
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if names else {}


def values_of(endpoint: Endpoint, target: str) -> list[str]:
    """The values of the path and of the query of a target, decoded."""
    path, _, query = target.partition("?")
    segments = zip(path.split("/")[1:], endpoint.segments, strict=True)
    values = [unquote(own) for own, segment in segments if segment == VALUE]
    return [*values, *(value for _, value in parse_qsl(query[:LONGEST_QUERY], keep_blank_values=True))]


def _phase(mix: LogMix) -> list[str]:
    if not mix.seconds:
        return []
    lines = ["", f"# {_rates(mix)}."]
    if mix.mean_pause_s is not None:
        pause = significant(mix.mean_pause_s, 3)
        lines.append(
            f"# {counted(mix.visits, 'visit')}, with pauses of {pause} s on average: "
            f'for a closed model write users = … and think = "{pause}s".'
        )
    rate = significant(mix.requests / mix.seconds, 3)
    return [*lines, "[[phase]]", f'rate = "{rate}/s"', 'spacing = "poisson"']


def _rates(mix: LogMix) -> str:
    """Minutes that the log has only in part count for what they have."""
    mean = significant(mix.requests / mix.seconds, 3)
    if len(mix.minutes) < 2:
        return f"{mean}/s on average"
    return f"{mean}/s on average, {significant(max(mix.minutes.values()) / 60, 3)}/s in the busiest minute"


def _what(mix: LogMix) -> str:
    requests = counted(mix.requests, "request")
    if not mix.seconds:
        return requests
    return f"{requests} from {moment(mix.first)} to {moment(mix.last)}"


def _shares(counts: Sequence[tuple[str, int]], total: int) -> str:
    named = [f"{name} {percent(number / total)}" for name, number in counts[:_SHOWN]]
    return ", ".join([*named, *(["…"] if len(counts) > _SHOWN else [])])
