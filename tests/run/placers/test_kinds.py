"""What all placers have in common. That another package may add one is in `tests/docs/test_extend.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.run.placers import ray
from plimsoll.run.placers.kinds import PLACERS, placer_of
from plimsoll.run.placers.placer import Placement, PlacerKind

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", sorted(PLACERS))
def test_a_placer_is_made_of_its_example_and_may_be_looked_at_and_closed_before_it_starts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ray, "find_spec", lambda _: True)
    (tmp_path / "hosts.txt").write_text("vm-a\n")
    kind = PLACERS[name]
    assert kind.example.startswith(f"{name}:") and kind.help
    placer = placer_of(kind.example)
    assert placer.look() == Placement()
    placer.close()
    placer.close()
    with pytest.raises(UsageError, match=f"--on {name}: "):
        placer_of(name)


def test_an_unknown_placer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"--on kubs:x: there is no such placer.*there are k8s:.*, ray:.*, ssh:"):
        placer_of("kubs:x")
    assert all(isinstance(kind, PlacerKind) for kind in PLACERS.values())
