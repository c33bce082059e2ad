"""What a locustfile offers: user classes, tasks, shapes, and its own options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Value = str | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnOption:
    """A command-line option that the locustfile adds."""

    name: str
    """The name of the attribute in `parsed_options`."""
    options: tuple[str, ...]
    """The option as typed, with its dashes."""
    kind: str
    """text, checkbox, select, multiple or secret."""
    help: str
    value: Value
    """From the command line, the environment or the default; never a secret."""
    choices: tuple[str, ...]
    required: bool
    shown: bool
    """The form may show it."""
    number: str
    """int or float for a numeric option."""
    takes: str
    """Its arguments: "" none, "1" one, "+" several, "append" one, repeatable."""

    def words(self, value: Value) -> list[str]:
        """The option with this value as words of a command line."""
        longest = max(self.options, key=len)
        if self.kind == "checkbox":
            positive = next((each for each in self.options if not each.startswith("--no-")), "")
            negative = next((each for each in self.options if each.startswith("--no-")), "")
            return [each for each in (positive if value else negative,) if each]
        if not isinstance(value, tuple):
            return [f"{longest}={value}"]
        if self.takes == "append":
            return [f"{longest}={each}" for each in value]
        return [longest, *value]


@dataclass(frozen=True, slots=True)
class TaskNode:
    """A task, or a TaskSet."""

    name: str
    share: float
    """0…1, of its parent."""
    tags: tuple[str, ...]
    tasks: tuple[TaskNode, ...]
    is_chain: bool


@dataclass(frozen=True, slots=True)
class OwnClass:
    """A user class of the locustfile, as the form shows it."""

    name: str
    weight: float
    fixed_count: int
    host: str
    tasks: tuple[TaskNode, ...]
    needs_host: bool = False
    """Its users cannot begin without the URL of a host, and nothing in the locustfile can choose one later."""


@dataclass(frozen=True, slots=True)
class Description:
    """A locustfile with the options of a plan."""

    classes: tuple[OwnClass, ...] = ()
    picked: tuple[str, ...] = ()
    """The classes that the command line names; all classes if it names none."""
    shapes: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    """The shape classes that use users, spawn rate and run time."""
    options: tuple[OwnOption, ...] = ()
    error: str = ""
    """Why the locustfile cannot be read."""

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(sorted({tag for each in self.classes for tag in _tags(each.tasks)}))

    @property
    def secret(self) -> frozenset[str]:
        """Options whose values must not be stored."""
        return frozenset(option for each in self.options if each.kind == "secret" for option in each.options)


def replaced(words: Sequence[str], options: Sequence[OwnOption], values: Mapping[str, Value]) -> list[str]:
    """The words that are options of the locustfile, with these values in place of the given ones.

    values: by name; other options stay unchanged.
    """
    kept = [word for name, part in _parts(words, options) if name is not None and name not in values for word in part]
    return kept + [word for each in options if each.name in values for word in each.words(values[each.name])]


def positionals(words: Sequence[str], options: Sequence[OwnOption]) -> list[str]:
    """The words that belong to no option: user classes, a plan."""
    return [word for name, part in _parts(words, options) if name is None for word in part]


def _parts(words: Sequence[str], options: Sequence[OwnOption]) -> Iterator[tuple[str | None, list[str]]]:
    """Each option's name ("" if unknown) and its words; None for a word that belongs to no option."""
    known = {option: each for each in options for option in each.options}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        option, equals, _ = word.partition("=")
        if not word.startswith("-"):
            yield None, [word]
            continue
        found = known.get(option)
        part = [word]
        takes = "1" if found is None else found.takes
        while takes and not equals and rest and not rest[0].startswith("-"):
            part.append(rest.pop(0))
            if takes != "+":
                break
        yield (found.name if found else ""), part


def _tags(nodes: Sequence[TaskNode]) -> set[str]:
    return {tag for node in nodes for tag in (*node.tags, *_tags(node.tasks))}
