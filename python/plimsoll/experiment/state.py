"""What an experiment leaves in the store: its file, by which a changed one is known, and its cells."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from plimsoll.errors import UsageError
from plimsoll.experiment.cell_values import ExperimentCell
from plimsoll.experiment.spec import Experiment, Variant
from plimsoll.load.mistakes import shown
from plimsoll.redact import storable_json
from plimsoll.store.cells import ExperimentFile

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from plimsoll.experiment.cell_values import State
    from plimsoll.store.cells import StoredCell

FREE = ("file", "question", "shape", "repeats", "budget", "out", "notify")
"""Fields that may differ when an experiment continues, because they do not change what a cell measures. The `changes`
of a variant may differ, too."""


def kept_file(spec: Experiment, command: str) -> ExperimentFile:
    """The experiment as the store keeps it. Raises UsageError when one of its files cannot be read."""
    return ExperimentFile(
        spec=to_json(spec),
        digest=digest(spec),
        files=file_digests(spec),
        question=spec.question,
        seed=spec.seed,
        is_aa=spec.is_aa,
        command=command,
    )


def to_json(spec: Experiment) -> dict[str, Any]:
    """Without the URLs that get the answer, which are secrets."""
    return cast("dict[str, Any]", json.loads(json.dumps(asdict(replace(spec, notify=())))))


def from_json(plain: dict[str, Any]) -> Experiment:
    """The inverse. Raises UsageError when another version of Plimsoll wrote it in a way that is not understood."""
    try:
        return _reader().validate_python(plain)
    except ValueError as error:
        raise UsageError("the experiment was kept by another version of Plimsoll, and cannot be read") from error


@cache
def _reader() -> TypeAdapter[Experiment]:
    from pydantic import TypeAdapter

    return TypeAdapter(Experiment)


def digest(spec: Experiment) -> str:
    """A digest of everything that decides what cells measure, and of what was declared for comparison."""
    text = json.dumps(_deciding(to_json(spec)), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _deciding(plain: dict[str, Any]) -> dict[str, Any]:
    variants = [{**each, "changes": ""} for each in plain["variants"]]
    return {name: value for name, value in {**plain, "variants": variants}.items() if name not in FREE}


def file_digests(spec: Experiment) -> dict[str, str]:
    """The digests of the locustfiles and plans, by their paths as written. Raises UsageError."""
    from plimsoll.experiment.file.file import plan_files

    try:
        return {written: hashlib.sha256(path.read_bytes()).hexdigest() for written, path in plan_files(spec).items()}
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from error


def changes(kept: ExperimentFile, now: ExperimentFile) -> list[str]:
    """What differs between two states of an experiment, a line each, as "variants[1].start: … → …"; [] for nothing."""
    lines = [
        f"{written} has changed ({kept.files.get(written, 'not there')[:8]} → {digest[:8]})"
        for written, digest in now.files.items()
        if kept.files.get(written) != digest
    ]
    if kept.digest != now.digest:
        before, after = _flat(_deciding(kept.spec)), _flat(_deciding(storable_json(now.spec)))
        for path in [*before, *(each for each in after if each not in before)]:
            if before.get(path) != after.get(path):
                was = shown(before[path]) if path in before else "(not there)"
                lines.append(f"{path}: {was} → {shown(after[path]) if path in after else '(not there)'}")
        if not lines:
            lines.append("a value that is not kept in the store: a password in a URL")
    return lines


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Leaves by their paths; lists of plain values are leaves, too."""
    if isinstance(value, dict):
        named = ((f"{path}.{name}".strip("."), each) for name, each in value.items())
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        named = ((f"{path}[{place}]", each) for place, each in enumerate(value))
    else:
        return {path: value}
    return {inner: leaf for name, each in named for inner, leaf in _flat(each, name).items()}


def as_aa(spec: Experiment, variant: str) -> Experiment:
    """The experiment that compares this variant with itself. Raises UsageError if there is no such variant."""
    base = spec.variant(variant)
    twin: Variant = replace(base, name=f"{variant} again", twin_of=base.build, changes="")
    return replace(
        spec,
        name=aa_name(spec.name, variant),
        variants=(replace(base, changes=""), twin),
        compare=replace(spec.compare, against=("baseline",)),
        shape="auto",
        is_aa=True,
        question=f"How far apart are two runs of {variant} that do not differ?",
    )


def aa_name(experiment: str, variant: str) -> str:
    return f"{experiment} A-A {variant}"


def row_of(cell: ExperimentCell) -> dict[str, Any]:
    """A pending cell as a row of the store."""
    return {
        "number": cell.number,
        "repeat": cell.repeat,
        "variant": cell.variant,
        "unit": cell.level.unit if cell.level else None,
        "level": cell.level.value if cell.level else None,
        "operation": cell.operation,
        "seed": cell.seed,
    }


def cell_of(row: StoredCell) -> ExperimentCell:
    return ExperimentCell(
        number=row.number,
        repeat=row.repeat,
        variant=row.variant,
        level=row.level,
        operation=row.operation,
        seed=row.seed,
        state=cast("State", row.state),
        reason=row.reason,
        run=row.run,
        key=row.key,
    )
