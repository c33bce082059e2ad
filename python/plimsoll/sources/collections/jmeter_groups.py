"""Thread groups of a JMeter test plan: which of them are flows, how often each is chosen, and which load they are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.say.names import listed
from plimsoll.sources.draft import unused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.sources.collections.jmx import JmeterElement
    from plimsoll.sources.source_input import SourceInput

_GROUP = re.compile(r"(?:.*\.)?(\w*ThreadGroup)")
"""Those of plugins have the name of their package before their own."""
_OWN = ("ThreadGroup", "SetupThreadGroup", "PostThreadGroup")
"""Those of JMeter itself: they have a ramp-up, a duration and loops."""
_ONCE = {"SetupThreadGroup": "before the others", "PostThreadGroup": "after the others"}
"""When groups run that are no part of the load."""
_POSITIVE = re.compile(r"[1-9][0-9]{0,8}")
_ROWS = "ultimatethreadgroupdata"
"""Of an Ultimate Thread Group: rows that begin with a number of threads."""


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """One thread group. Seconds and loops are 0 where it has none."""

    element: JmeterElement
    name: str
    """Another one for each group."""
    threads: int | None
    """None: it is no number."""
    ramp_s: int = 0
    duration_s: int = 0
    delay_s: int = 0
    loops: int = 0
    """0: without end."""


def is_group(element: JmeterElement) -> bool:
    """Whether an element is a thread group, also one of a plugin."""
    return _GROUP.fullmatch(element.kind) is not None


def chosen_groups(
    source: SourceInput, elements: Sequence[JmeterElement], filled: Callable[[str, str], str]
) -> tuple[list[ThreadGroup], list[str]]:
    """The groups that are flows, and notes about the others. filled: fills in variables, and takes where they stand.
    Raises UsageError for a name of a group that there is none of."""
    titles = [element.title for element in elements]
    wanted = source.variables.get("group")
    if wanted is not None and wanted not in titles:
        raise UsageError(f"--set group={wanted}: {source.name} has {', '.join(titles)}")
    notes: list[str] = []
    kept = [element for element in elements if wanted in (None, element.title)]
    if wanted is None and (others := [element for element in kept if element.kind not in _ONCE]):
        notes += [
            f"{source.name}: {element.kind} {element.title} runs once {_ONCE[element.kind]}, and is left out; "
            f"--set 'group={element.title}' translates it alone"
            for element in kept if element.kind in _ONCE
        ]  # fmt: skip
        kept = others
    if wanted is not None:
        kept = kept[:1]
    names: list[str] = []
    groups: list[ThreadGroup] = []
    for element in kept:
        names.append(unused(element.title, names))
        groups.append(_thread_group(element, names[-1], filled))
    idle = [group for group in groups if group.threads == 0]
    if 0 < len(idle) < len(groups):
        notes += [f"{source.name}: {group.name} has 0 threads, and is left out" for group in idle]
        groups = [group for group in groups if group.threads != 0]
    return groups, notes


def weights_of(groups: Sequence[ThreadGroup]) -> dict[str, float]:
    """How often each flow is chosen: by the iterations of the groups, or by their threads if some have no end."""
    counted = all(group.loops for group in groups)
    return {group.name: float((group.threads or 1) * (group.loops if counted else 1)) for group in groups}


def load_notes(groups: Sequence[ThreadGroup]) -> Iterator[str]:
    """The load of the groups as options of `plimsoll run`, and what these cannot say."""
    users = sum(group.threads or 1 for group in groups)
    ramp, length = max(group.ramp_s for group in groups), max(group.duration_s for group in groups)
    options = [f"-u {users}"] if all(group.threads is not None for group in groups) else []
    options += [f"-r {users / ramp:.3g}"] if ramp and options else []
    options += [f"-t {length}s"] if length else []
    if options and all(group.loops for group in groups):
        options.append(f"--iterations {sum((group.threads or 1) * group.loops for group in groups)}")
    names = listed([group.name for group in groups], "and")
    if options:
        yield f"{names}: {'its load is' if len(groups) == 1 else 'their load is'} {' '.join(options)} of plimsoll run"
    for group in groups:
        if group.threads is None:
            yield f"{group.name}: its number of threads is no number: choose its load, and its weight"
        if group.element.kind not in _OWN:
            kind = group.element.kind.rpartition(".")[2]
            yield f"{group.name}: the schedule of {kind} is not translated: choose the load in plimsoll run"
    if len(groups) > 1:
        yield from _differences(groups)


def _differences(groups: Sequence[ThreadGroup]) -> Iterator[str]:
    """What one load cannot say of several groups."""
    counted = all(group.loops for group in groups)
    of = "iterations (threads × loops)" if counted else "threads"
    hint = "" if counted else ": a group with shorter iterations does more of them in JMeter; change the weights then"
    yield f"the weights of the flows are the {of} of their groups{hint}"
    own = [group for group in groups if group.element.kind in _OWN]
    for what, values, said in (
        ("ramp-ups", [group.ramp_s for group in own], "-r is for the longest"),
        ("durations", [group.duration_s for group in own], "-t is the longest"),
        ("delays", [group.delay_s for group in own], "all flows begin together"),
    ):
        if len(set(values)) > 1:
            named = ", ".join(f"{group.name} {value} s" for group, value in zip(own, values, strict=True))
            yield f"the groups have different {what} ({named}): {said}"


def _thread_group(element: JmeterElement, name: str, filled: Callable[[str, str], str]) -> ThreadGroup:
    node = element.node

    def number(name: str, otherwise: str = "0") -> int | None:
        """None for what is no number."""
        text = filled(node.value(name, otherwise), element.title).strip() or otherwise
        return int(text) if text == "0" or _POSITIVE.fullmatch(text) else None

    threads = number("ThreadGroup.num_threads", "" if element.kind not in _OWN else "1")
    if threads is None and node.child("TargetLevel") is not None:
        threads = number("TargetLevel")
    if rows := node.collected(_ROWS):
        firsts = [row.children[0].text.strip() for row in rows if row.children]
        threads = sum(int(text) for text in firsts if _POSITIVE.fullmatch(text)) or None
    if element.kind not in _OWN:
        return ThreadGroup(element, name, threads)
    has_schedule = node.is_on("ThreadGroup.scheduler")
    return ThreadGroup(
        element, name, threads, number("ThreadGroup.ramp_time") or 0,
        (number("ThreadGroup.duration") or 0) if has_schedule else 0,
        (number("ThreadGroup.delay") or 0) if has_schedule else 0,
        _loops(element, filled),
    )  # fmt: skip


def _loops(element: JmeterElement, filled: Callable[[str, str], str]) -> int:
    """0: without end."""
    said = (child.value("LoopController.loops") for child in element.node.children)
    text = filled(next(filter(None, said), ""), element.title)
    return int(text) if _POSITIVE.fullmatch(text) else 0
