"""What has changed since a run was stored."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.experiment.drift import facts_of
from plimsoll.experiment.reproduction.files import shown
from plimsoll.record.manifest import GitState
from plimsoll.run.manifest import manifest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.run.plan import RunPlan
    from plimsoll.store import StoredRun

SHOWN_DIGITS = 12
"""Hexadecimal digits of a digest that people compare."""
_OF_TARGET = {"commit": "commit of the target", "build": "build of the target", "image": "image of the target"}


def circumstances(run: StoredRun, plan: RunPlan) -> list[str]:
    """What differs now from then. plan: what is run now; its files must be there."""
    # git is not asked here for changed files.
    before = replace(run.manifest, git=GitState(commit=run.manifest.commit or None))
    found = differences(facts_of(before), facts_of(manifest(plan, None, only_commit=True)))
    return found or ["machine, versions and files are as they were then"]


def differences(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A line for each fact that both have, with different values."""
    return [f"{name}: then {was}, now {now[name]}" for name, was in then.items() if name in now and now[name] != was]


def target_facts(target: Mapping[str, Any]) -> dict[str, str]:
    """What is known of a cell's target, by what people call it."""
    return {said: str(target[name]) for name, said in _OF_TARGET.items() if target.get(name) is not None}


def compared(path: Path | str, then: str | None) -> str:
    """The path, and whether its contents are those of the stored run. then: their SHA-256; None: not known."""
    try:
        now = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    if then is None:
        return f"{shown(path)} (the store does not have its digest)"
    if now == then:
        return f"{shown(path)} (as it was then)"
    return f"{shown(path)} (CHANGED: then {then[:SHOWN_DIGITS]}, now {now[:SHOWN_DIGITS]})"
