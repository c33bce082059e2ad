"""What else differs between the variants of an experiment than what they are said to differ in.

A comparison of variants says what their declared factor does only if nothing else changed with it. So the
manifests of the runs and what is known of their targets are compared. Pure: values in, sentences out.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.experiment.spec import Experiment
    from plimsoll.record.cells import CellKey
    from plimsoll.record.manifest import Manifest

DATA_SHARE = 0.05
"""What the data that variants begin with may differ by: a table so much longer may take that much longer to read."""
MOST = 3
"""How many values a message names at most."""


@dataclass(frozen=True, slots=True, eq=False)
class RunConditions:
    """The conditions of one run: what should not change from run to run."""

    cell: CellKey
    manifest: Manifest
    target: Mapping[str, Any] = field(default_factory=dict)
    """What was noted of the target: `commit`, `build`, …"""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The target's facts before and after."""


def drift(spec: Experiment, runs: Sequence[RunConditions]) -> tuple[str, ...]:
    """A sentence for each thing that should have been the same and was not."""
    order = {each.name: place for place, each in enumerate(spec.variants)}
    runs = sorted(runs, key=lambda run: order.get(run.cell.variant, len(order)))
    return (
        *_manifests(runs),
        *_seeds(runs),
        *_builds(spec, runs),
        *_data(runs),
        *_hooks(spec),
    )


def facts_of(manifest: Manifest) -> dict[str, str]:
    """What should be the same in all runs of an experiment, by what people call it."""
    commit, machine = manifest.commit, manifest.machine
    known = {
        "machine": machine.hostname,
        "processor": manifest.cpu.model,
        "number of processors": manifest.cpu.count,
        "kernel": manifest.kernel,
        "CPU governor": machine.governor,
        "CPU quota": machine.cpu_quota,
        "Python": manifest.python,
        **{f"version of {package}": version for package, version in manifest.versions.items()},
        "number of worker processes": manifest.processes,
        "commit of the scenario": f"{commit[:12]}{' with changes' * manifest.is_dirty}" if commit else None,
        "files of the scenario": " ".join(str(file.sha256)[:12] for file in manifest.scenario.files) or None,
    }
    return {name: str(value) for name, value in known.items() if value is not None}


def _manifests(runs: Sequence[RunConditions]) -> Iterator[str]:
    facts = [facts_of(each.manifest) for each in runs]
    for name in dict.fromkeys(name for each in facts for name in each):
        by_variant: dict[str, set[str]] = defaultdict(set)
        for run, known in zip(runs, facts, strict=True):
            if name in known:
                by_variant[run.cell.variant].add(known[name])
        yield from _differing(name, by_variant)


def _differing(name: str, by_variant: Mapping[str, set[str]]) -> Iterator[str]:
    values = sorted({value for each in by_variant.values() for value in each})
    if len(values) < 2:
        return
    if all(len(each) == 1 for each in by_variant.values()):
        who = "; ".join(f"{variant}: {next(iter(each))}" for variant, each in list(by_variant.items())[:MOST])
        yield f"variants differ in more than they are said to: {name} ({who})"
    else:
        yield f"{name} changed while the experiment went on: {listed(values[:MOST])}"


def _seeds(runs: Sequence[RunConditions]) -> Iterator[str]:
    by_repeat: dict[int, set[Any]] = defaultdict(set)
    for run in runs:
        by_repeat[run.cell.repeat].add(run.manifest.seed)
    unlike = [str(repeat) for repeat, seeds in sorted(by_repeat.items()) if len(seeds) > 1]
    if unlike:
        yield f"the runs of a repeat did not draw from one seed (repeat {listed(unlike[:MOST])})"


def _builds(spec: Experiment, runs: Sequence[RunConditions]) -> Iterator[str]:
    """A variant is one build throughout; two variants with refs of their own are two."""
    by_variant: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        if commit := run.target.get("commit"):
            by_variant[run.cell.variant].add(str(commit)[:12])
    for variant, commits in by_variant.items():
        if len(commits) > 1:
            builds = listed(sorted(commits)[:MOST])
            yield f"the build of {variant} changed while the experiment went on: {builds}"
    if spec.is_aa:
        return
    refs = {each.name: each.target.git for each in spec.variants}
    names = [name for name in by_variant if len(by_variant[name]) == 1 and refs.get(name)]
    for place, second in enumerate(names):
        for first in names[:place]:
            if by_variant[first] == by_variant[second] and refs[first] != refs[second]:
                commit = next(iter(by_variant[first]))
                yield f"{first} ({refs[first]}) and {second} ({refs[second]}) are the same commit {commit}"


def _data(runs: Sequence[RunConditions]) -> Iterator[str]:
    """Numbers that targets reported before the run."""
    for name in dict.fromkeys(name for run in runs for name in run.data):
        by_variant: dict[str, list[float]] = defaultdict(list)
        for run in runs:
            before = _before(run.data.get(name))
            if before is not None:
                by_variant[run.cell.variant].append(before)
        medians = {variant: statistics.median(values) for variant, values in by_variant.items()}
        if len(medians) < 2:
            continue
        low, high = min(medians.values()), max(medians.values())
        if high - low > DATA_SHARE * abs(high):
            least, most = (next(each for each, value in medians.items() if value == end) for end in (low, high))
            yield (
                f"variants did not begin with the same data: {name} was {low:g} before runs of {least}, "
                f"{high:g} before those of {most}"
            )


def _before(fact: Any) -> float | None:
    value = fact[0] if isinstance(fact, list | tuple) and fact else fact
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _hooks(spec: Experiment) -> Iterator[str]:
    first, *others = spec.variants
    for kind in ("prepare", "seed", "reset"):
        unlike = [each.name for each in others if getattr(each.hooks, kind) != getattr(first.hooks, kind)]
        if unlike:
            yield (
                f"variants differ in more than they are said to: {listed(unlike[:MOST])} "
                f"{'has' if len(unlike) == 1 else 'have'} other {kind} commands than {first.name}"
            )
