"""What a cell of an experiment does besides its run: commands, files, environment, requests."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.experiment import container
from plimsoll.experiment.placeholders import fill, fill_all
from plimsoll.experiment.reproduction.effects import Doing, Effect
from plimsoll.experiment.reproduction.files import shown
from plimsoll.experiment.target import known_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.experiment.cell_values import ExperimentCell
    from plimsoll.experiment.spec import Experiment, Variant

ENGINE = "docker"
"""Stands for the first of docker and podman that works."""


def cell_effects(cell: ExperimentCell, spec: Experiment) -> Iterator[Effect]:
    """In the order in which they come to pass. Placeholders that are not known yet stay as they are."""
    variant = spec.variant(cell.variant)
    target = variant.target
    source = spec.folder if target.git is None else Path("{source}")
    values = {**known_values(cell, spec, variant), "source": source}
    folder = source if target.cwd is None else spec.path(fill(target.cwd, values))
    commands = list(_commands(variant, spec, values))
    if commands and folder != Path.cwd():
        yield Effect(Doing.RUNS, f"in {shown(folder)}:")
    for name, words in commands:
        yield Effect(Doing.RUNS, f"{name}: {shlex.join(words)}")
    yield Effect(Doing.WRITES, "a temporary folder for what these print, removed at the end")
    for name, value in target.env.items():
        yield Effect(Doing.SETS, f"{name}={fill(value, values)}")
    if commands:
        yield Effect(Doing.SETS, "PLIMSOLL_URL, _VARIANT, _LEVEL, _OPERATION, _REPEAT and _SEED for hooks")
    url = fill(target.url, values).rstrip("/")
    paths = [target.healthy.path, *(step.path for step in (target.build, *target.data) if step is not None)]
    for path in dict.fromkeys(path for path in paths if path is not None):
        yield Effect(Doing.CONNECTS, f"{url}/{fill(path, values).lstrip('/')}")


def _commands(variant: Variant, spec: Experiment, values: dict[str, object]) -> Iterator[tuple[str, Sequence[str]]]:
    """Each command with what it is for."""
    target, hooks = variant.target, variant.hooks
    if target.git is not None:
        yield "check out", ("git", "-C", str(spec.folder), "worktree", "add", "--detach", "{source}", target.git)
    if target.image is not None:
        yield "image", (ENGINE, "pull", target.image)
    has_run_already = not target.is_started
    seeding = "reset" if has_run_already and hooks.reset else "seed"
    yield from _hooks(variant, "prepare", values)
    if target.is_started:
        yield "start", _start(variant, values)
    if target.healthy.command is not None:
        yield "healthy", fill_all(target.healthy.command, values)
    yield from _hooks(variant, seeding, values)
    for fact in (target.build, *target.data):
        if fact is not None and fact.command is not None:
            yield fact.name, fill_all(fact.command, values)
    yield from _hooks(variant, "collect", values)


def _start(variant: Variant, values: dict[str, object]) -> Sequence[str]:
    target = variant.target
    words = fill_all(target.start, values)
    if target.image is None or target.container_port is None:
        return words
    return container.run_words(
        ENGINE, target.image, words, name="plimsoll-…", port="{port}", container_port=target.container_port,
        env=sorted(target.env),
    )  # fmt: skip


def _hooks(variant: Variant, kind: str, values: dict[str, object]) -> Iterator[tuple[str, Sequence[str]]]:
    for hook in getattr(variant.hooks, kind):
        yield kind if hook.name == kind else f"{kind} {hook.name}", fill_all(hook.command, values)
