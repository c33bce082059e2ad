"""A run that the page requests, as the equivalent command line."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.errors import FieldError, SeveralFieldsError, UsageError
from plimsoll.load.durations import parse_duration
from plimsoll.load.levels import parse_rate
from plimsoll.load.options import OPEN_ONLY, SHAPE_OPTIONS
from plimsoll.load.origins import is_host_url
from plimsoll.load.shapes.registry import SHAPES
from plimsoll.run.options.command import RunWords, run_words
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import defaults, run_options
from plimsoll.run.planned import PlannedRun
from plimsoll.run.planning import FOR_TLS, FOR_URLS, make_outputs, make_plan
from plimsoll.say.durations import format_duration
from plimsoll.say.names import listed
from plimsoll.server.control import class_settings
from plimsoll.server.control.description import positionals, replaced
from plimsoll.server.messages import RunRequest
from plimsoll.stats.thresholds.grammar import parse_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planning import RunInput
    from plimsoll.server.control.description import Description, Value

TEXTS = ("warmup", "host", "profile", "name")
"""Options with the same text in the form; an empty text omits the option."""
LISTS = ("tags", "exclude_tags", "thresholds")
"""Options with the same value in the form."""
FIELDS = {
    **{name: name for name in ("users", "spawn_rate", "rate", "run_time", "stop_timeout", *TEXTS, *LISTS)},
    **dict.fromkeys((name for name in SHAPE_OPTIONS if name != "rate"), "shape_text"),
    "threshold": "thresholds",
}
"""By option name: its field in the form."""
OF_ALL = ("allow_hosts", "max_rate", "max_run_time", "insecure")
"""Options that hold for whatever is sent, a proof too."""
OF_SOURCE = (
    *FOR_URLS,
    *FOR_TLS,
    "locustfile",
    "host",
    "class_picker",
    "config_users",
    "slo",
    "otel",
    "tags",
    "exclude_tags",
)
"""Options that say something about one source only."""
DURATIONS = ("run_time", "warmup", "stop_timeout")
"""Fields that contain one duration."""
_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_SHORT = re.compile(r", as in -t 1m")


class RunRequests:
    """The runs that can be requested with this command line.

    words: the parsed command line. name: of the source; "": as the command line names it.
    """

    def __init__(self, words: RunWords, plan: RunPlan, what: RunInput, name: str = "") -> None:
        self._name = name
        self.plan = replace(plan, has_page=True)
        self._arguments = words.arguments
        self._given = words.given
        self._what = what
        self._secret = words.secret
        self.request = _request(words.given, plan, self.has_plan)

    @property
    def has_plan(self) -> bool:
        """The load cannot be expressed in the form."""
        if (shape := _shape(self._given)) is not None:
            return SHAPES[shape].form is None
        return self._what.plan is not None and self._what.plan.load is not None

    @property
    def source(self) -> str:
        """The source, for people."""
        return self._name or ", ".join(Path(file).name for file in self.plan.locustfiles) or self.plan.source or ""

    def of_plan(self, path: Path) -> RunRequests:
        """The runs of a plan with the options of this command line that do not belong to its own source. Raises
        PlimsollError."""
        unset = defaults()
        given = {**self._given, **{name: unset[name] for name in OF_SOURCE}}
        words = RunWords((str(path),), given, frozenset())
        return RunRequests(words, *make_plan(words.arguments, words.given), name=path.name)

    @property
    def of_all(self) -> tuple[str, ...]:
        """The options that hold for whatever is sent, as words of a command line without a page."""
        return tuple(run_words((), {name: self._given[name] for name in OF_ALL}))

    @property
    def is_fixed(self) -> bool:
        """No choice is left: the source is a URL, a plan or targets."""
        return not self._what.locustfiles or self._what.plan is not None

    @property
    def picks(self) -> bool:
        return bool(self._given["class_picker"])

    def first(self) -> PlannedRun:
        """The run exactly as on the command line."""
        return self._planned(self._given, self.plan, self._what, self._secret)

    def planned(self, request: RunRequest, description: Description) -> PlannedRun:
        """Raises SeveralFieldsError with all unreadable fields, FieldError for fields that contradict each other, or
        UsageError if no field is at fault."""
        _check_fields(request)
        class_settings.check(request.class_settings, description.classes)
        _check_host(request, description)
        given = {**self._given, **_values(request, self.has_plan)}
        given["config_users"] = (*self._given["config_users"], *class_settings.texts(request.class_settings))
        if not self._what.locustfiles and self._what.plan is None:
            given["host"] = self._given["host"]
        arguments = self._arguments
        if self._what.locustfiles:
            arguments = self._own_arguments(request, description)
        try:
            plan, what = make_plan(arguments, given)
        except UsageError as error:
            raise _in_words(error) from error
        if plan.is_open != (request.model == "open"):
            other = "a number of users" if request.model == "open" else "a rate"
            raise FieldError(f"this is {other}, which is of the other model", "shape_text")
        secret = self._secret | description.secret
        plan = replace(
            plan,
            has_page=True,
            command=("plimsoll", "run", *run_words(arguments, given)),
            shape_class=request.shape_class or ("" if self.picks else None),
        )
        return self._planned(given, plan, what, secret)

    def _planned(self, given: Mapping[str, Any], plan: RunPlan, what: RunInput, secret: frozenset[str]) -> PlannedRun:
        return PlannedRun(plan, make_outputs(given, plan, what, secret))

    def _own_arguments(self, request: RunRequest, description: Description) -> tuple[str, ...]:
        """User classes, and options of the locustfile; unchanged options keep their original words."""
        known = {each.name: each for each in description.options if each.shown}
        values: dict[str, Value] = {}
        for name, value in request.arguments.items():
            option = known.get(name)
            if option is None:
                raise FieldError(f"the locustfile has no option {name}", f"arguments.{name}")
            value = tuple(value) if isinstance(value, list) else value
            if value != option.value:
                values[name] = _checked(name, option.choices, option.number, value)
        for name, option in known.items():
            if option.required and not values.get(name, option.value) and option.kind != "secret":
                raise FieldError(f"{name.replace('_', ' ')} is needed", f"arguments.{name}")
        unknown = sorted(set(request.classes) - {each.name for each in description.classes})
        if unknown:
            raise FieldError(f"the locustfile has no user class {', '.join(unknown)}", "classes")
        sources = [each for each in positionals(self._arguments, description.options) if each.endswith(".toml")]
        return (*sources, *request.classes, *replaced(self._arguments, description.options, values))


def _shape(given: Mapping[str, Any]) -> str | None:
    return next((name for name in SHAPE_OPTIONS if given[name]), None)


def _request(given: Mapping[str, Any], plan: RunPlan, has_plan: bool) -> RunRequest:
    """The initial content of the form."""
    option = _shape(given) or "rate"
    form = SHAPES[option].form
    is_written = option != "rate" and not has_plan
    texts: dict[str, Any] = {name: _text(given[name]) for name in ("run_time", "stop_timeout", *TEXTS)}
    return RunRequest(
        model="open" if plan.is_open else "closed",
        users=plan.users,
        spawn_rate=plan.spawn_rate,
        rate=given["rate"] or "",
        shape=form.name if form and not has_plan else "plan",
        shape_text=given[option] if is_written else "",
        **texts,
        **{name: given[name] for name in LISTS},
    )


def _text(value: str | float | None) -> str:
    """A text unchanged, or seconds as a duration."""
    if value is None:
        return ""
    return value if isinstance(value, str) else format_duration(value)


def _values(request: RunRequest, has_plan: bool) -> dict[str, Any]:
    """The command-line options of a request. Raises FieldError."""
    is_open, is_plain = request.model == "open", request.shape == "constant"
    if request.shape == "plan" and not has_plan:
        raise FieldError("there is no plan; choose another shape", "shape")
    options = {each.form.name: name for name, each in SHAPES.items() if each.form}
    if request.shape not in (*options, "plan"):
        raise FieldError(f"there is no shape {request.shape}; there are {listed(options)}", "shape")
    shapes: dict[str, Any] = dict.fromkeys(SHAPE_OPTIONS) if request.shape != "plan" else {}
    if is_open and is_plain:
        shapes["rate"] = _needed(request.rate, "rate", "a rate, as 900/s, is needed")
    elif not is_plain and request.shape != "plan":
        shapes[options[request.shape]] = _needed(
            request.shape_text, "shape_text", f"what the {request.shape} is like is needed"
        )
    closed = not is_open and is_plain
    return {
        **shapes,
        **({"reset_stats": False} if is_open else dict.fromkeys(OPEN_ONLY) if request.shape != "plan" else {}),
        "users": _converted("users", request.users) if closed else None,
        "spawn_rate": _converted("spawn_rate", request.spawn_rate) if closed else None,
        "run_time": _converted("run_time", request.run_time) if request.run_time else None,
        "stop_timeout": _converted("stop_timeout", request.stop_timeout) if request.stop_timeout else None,
        **{name: getattr(request, name) or None for name in TEXTS},
        **{name: getattr(request, name) for name in LISTS},
    }


def _check_host(request: RunRequest, description: Description) -> None:
    """Raises FieldError if a class that would have users needs a host and has none, or one that is no URL."""
    chosen = request.classes or description.picked
    taking_part = [each for each in description.classes if not chosen or each.name in chosen]
    for each in class_settings.configured(taking_part, request.class_settings):
        if not each.needs_host or not (each.weight or each.fixed_count):
            continue
        host = request.host or each.host
        if not host:
            raise FieldError(f"a host is needed, as http://127.0.0.1:8000: class {each.name} has none", "host")
        if not is_host_url(host):
            whose = "" if request.host else f" of class {each.name}"
            raise FieldError(f"host {host!r}{whose} must begin with http:// or https://", "host")


def _check_fields(request: RunRequest) -> None:
    """Raises SeveralFieldsError for all unreadable texts."""
    found = []
    checks: list[Callable[[], object]] = [
        *(partial(_duration, name, getattr(request, name)) for name in DURATIONS if getattr(request, name)),
        *(partial(_threshold, text) for text in request.thresholds),
    ]
    if request.model == "open" and request.shape == "constant" and request.rate:
        checks.append(partial(_rate, request.rate))
    for check in checks:
        try:
            check()
        except FieldError as error:
            found.append(error)
    if found:
        raise found[0] if len(found) == 1 else SeveralFieldsError(found)


def _duration(name: str, text: str) -> None:
    try:
        parse_duration(text)
    except UsageError as error:
        raise FieldError(f"{name.replace('_', ' ')}: {error}", name) from error


def _threshold(text: str) -> None:
    try:
        parse_threshold(text)
    except UsageError as error:
        raise FieldError(str(error), "thresholds") from error


def _rate(text: str) -> None:
    try:
        parse_rate(text)
    except (UsageError, ValueError) as error:
        raise FieldError(f"rate: {error}", "rate") from error


def _needed(text: str, field: str, otherwise: str) -> str:
    if not text.strip():
        raise FieldError(otherwise, field)
    return text.strip()


def _converted(name: str, value: object) -> Any:
    """Parsed as on the command line."""
    option = next(TableOption(row=each) for each in run_options() if each.value_name == name)
    try:
        return option.type.convert(value, option, None)
    except click.BadParameter as error:
        raise FieldError(f"{name.replace('_', ' ')}: {error.message}", name) from error


def _in_words(error: UsageError) -> UsageError:
    """An error about an option, as an error about a field."""
    text = _SHORT.sub("", str(error))
    found = _FLAG.search(text)
    said = _FLAG.sub(lambda flag: flag[1].replace("-", " "), text)
    field = FIELDS.get(found[1].replace("-", "_")) if found else None
    return FieldError(said, field) if field else UsageError(said)


def _checked(name: str, choices: tuple[str, ...], number: str, value: Value) -> Value:
    """Raises FieldError for a value that the locustfile's option rejects."""
    field, called = f"arguments.{name}", name.replace("_", " ")
    texts = value if isinstance(value, tuple) else (value,)
    for text in texts:
        if not isinstance(text, str):
            continue
        if choices and text not in choices:
            raise FieldError(f"{called}: {text!r} is none of {', '.join(choices)}", field)
        if number and text:
            try:
                {"int": int, "float": float}[number](text)
            except ValueError:
                raise FieldError(f"{called}: {text!r} is not a number", field) from None
    return value
