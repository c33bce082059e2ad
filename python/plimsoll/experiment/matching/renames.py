"""Other names for endpoints, so that results in which one endpoint has two names can be compared (`--rename`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.load.mistakes import nearest
from plimsoll.record import STREAM_ROWS
from plimsoll.say.names import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.record import TracedRequest
    from plimsoll.stats.study import Measured, Study, Trial

_MOST_NAMED = 20
_METHOD = re.compile(r"(?P<method>[A-Z]+) (?P<name>.+)")

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rename:
    """old: a name, then all endpoints with it are meant; or a method and a name."""

    old: str
    new: str

    @classmethod
    def parse(cls, text: str) -> Rename:
        """OLD=NEW, divided at the only "=" or at the first one with a blank on each side. Raises UsageError."""
        parts = text.split(" = ", 1) if " = " in text else text.split("=")
        if len(parts) != 2 or not all(part.strip() for part in parts):
            raise UsageError(f"--rename takes OLD=NEW, not {text}; write OLD = NEW if a name contains =")
        old, new = parts
        return cls(old.strip(), new.strip())

    def __str__(self) -> str:
        return f"{self.old}={self.new}"


def renamed(studies: Sequence[Study], renames: Sequence[Rename]) -> list[Study]:
    """The studies with the new names. Raises UsageError for a name that no study has, and for two endpoints of a run
    that would have the same name."""
    if renames and len(studies) < 2:
        raise UsageError("--rename is for results that are compared: name at least two")
    known = {endpoint.key for study in studies for trial in study.trials for endpoint in trial.endpoints}
    changes: dict[_Key, _Key] = {}
    for rename in renames:
        meant = [key for key in known if rename.old in (key[1], _label(key))]
        if not meant:
            raise UsageError(_unknown(rename.old, known))
        for key in meant:
            new = _new_key(key, rename.new, known)
            if changes.setdefault(key, new) != new:
                raise UsageError(f"--rename {rename}: {_label(key)} already becomes {_label(changes[key])}")
    return [_renamed(study, changes) for study in studies] if changes else list(studies)


def _new_key(key: _Key, new: str, known: Iterable[_Key]) -> _Key:
    """Rows about the replies of an endpoint keep their method, which says what they measure."""
    found = next((other for other in known if _label(other) == new), None)
    if found is None:
        match = _METHOD.fullmatch(new)
        found = (match["method"], match["name"]) if match else (key[0], new)
    return (key[0], found[1]) if key[0] in STREAM_ROWS else found


def _unknown(name: str, known: Iterable[_Key]) -> str:
    labels = sorted({_label(key) for key in known})
    if not labels:
        return f"--rename {name}=…: these results have no endpoints"
    close = nearest(name, dict.fromkeys([*labels, *sorted({key[1] for key in known})]))
    hint = f" Did you mean {close}?" if close else ""
    shown = labels[:_MOST_NAMED]
    more = f" and {len(labels) - len(shown)} more" if len(labels) > len(shown) else ""
    return f"--rename {name}=…: no endpoint has this name.{hint} There are {listed(shown)}{more}"


def _label(key: _Key) -> str:
    return f"{key[0]} {key[1]}".strip()


def _renamed(study: Study, changes: dict[_Key, _Key]) -> Study:
    return replace(
        study,
        trials=tuple(_of_trial(study, trial, changes) for trial in study.trials),
        noise=tuple(replace(noise, endpoint=changes.get(noise.endpoint, noise.endpoint)) for noise in study.noise),
        claims=tuple(
            replace(claim, endpoint=changes.get(claim.endpoint, claim.endpoint)) if claim.endpoint else claim
            for claim in study.claims
        ),
    )


def _of_trial(study: Study, trial: Trial, changes: dict[_Key, _Key]) -> Trial:
    before: dict[_Key, Measured] = {}
    endpoints = []
    for endpoint in trial.endpoints:
        key = changes.get(endpoint.key, endpoint.key)
        if key in before:
            both = listed([before[key].label, endpoint.label])
            raise UsageError(
                f"--rename: {both} of {study.name} would both be {_label(key)}; their percentiles cannot be those of "
                "one endpoint"
            )
        before[key] = endpoint
        endpoints.append(replace(endpoint, method=key[0], name=key[1]))
    labels = {_label(old): _label(new) for old, new in changes.items()}
    return replace(
        trial,
        endpoints=tuple(endpoints),
        work=tuple(
            replace(work, source=labels.get(work.source, work.source)) if work.kind == "part" else work
            for work in trial.work
        ),
        slowest=tuple(_of_slow(slow, changes) for slow in trial.slowest),
    )


def _of_slow(request: TracedRequest, changes: dict[_Key, _Key]) -> TracedRequest:
    method, name = changes.get((request.method, request.name), (request.method, request.name))
    return request._replace(method=method, name=name)
