"""What a locustfile offers for a choice: user classes, tasks, shapes, and options of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Value = str | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnOption:
    """An option that the locustfile has added to the command line."""

    name: str
    """The name of the attribute in `parsed_options`."""
    options: tuple[str, ...]
    """The option as typed, with its dashes."""
    kind: str
    """text, checkbox, select, multiple or secret."""
    help: str
    value: Value
    """What the command line, the environment and its default say; of a secret nothing."""
    choices: tuple[str, ...]
    required: bool
    shown: bool
    """A form may ask for it."""
    number: str
    """int or float for an option that is one."""
    takes: str
    """What follows it: "" nothing, "1", "+" several, "append" one, and it may be repeated."""

    def words(self, value: Value) -> list[str]:
        """How a command line says that."""
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
    """0…1, of what it is a part of."""
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


@dataclass(frozen=True, slots=True)
class Description:
    """A locustfile, as the options of a plan find it."""

    classes: tuple[OwnClass, ...] = ()
    picked: tuple[str, ...] = ()
    """The classes that the command line names; all classes if it names none."""
    shapes: tuple[str, ...] = ()
    common: tuple[str, ...] = ()
    """Of these, the ones that look at users, spawn rate and run time."""
    options: tuple[OwnOption, ...] = ()
    error: str = ""
    """Why there is nothing."""

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(sorted({tag for each in self.classes for tag in _tags(each.tasks)}))

    @property
    def secret(self) -> frozenset[str]:
        """Options whose values are not to be written down."""
        return frozenset(option for each in self.options if each.kind == "secret" for option in each.options)


def replaced(words: Sequence[str], options: Sequence[OwnOption], values: Mapping[str, Value]) -> list[str]:
    """The options among the words that only the locustfile can explain, with these values in place of what is said
    there of them.

    values: by name; an option that is not among them stays as it is.
    """
    kept = [word for name, part in _parts(words, options) if name is not None and name not in values for word in part]
    return kept + [word for each in options if each.name in values for word in each.words(values[each.name])]


def positionals(words: Sequence[str], options: Sequence[OwnOption]) -> list[str]:
    """Those of such words that belong to no option: user classes, a plan."""
    return [word for name, part in _parts(words, options) if name is None for word in part]


def _parts(words: Sequence[str], options: Sequence[OwnOption]) -> Iterator[tuple[str | None, list[str]]]:
    """An option's name, "" for one that is not known, with its words; None with a word that belongs to none."""
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
