"""What all placers have in common, and one that another package adds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.run.joined import VISITOR

from plimsoll.errors import UsageError
from plimsoll.run.placers.kinds import GROUP, PLACERS, placer_of
from plimsoll.run.placers.placer import Placement, PlacerKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget

TOY = f'''
"""A placer of one file: workers are processes of this machine."""

import os
import subprocess
import sys

from plimsoll.errors import UsageError
from plimsoll.run.placers.placer import Placement, Placer, PlacerKind


class Here(Placer):
    def __init__(self, where):
        if not where.isdecimal():
            raise UsageError("say how many: here:2")
        self.count, self.processes = int(where), []

    def start(self, master):
        words = ["run", "-f", "-", "--worker", "--master-port", str(master.port)]
        environment = {{**os.environ, "PLIMSOLL_JOIN_TOKEN": master.token}}
        self.processes = [
            subprocess.Popen([{sys.executable!r}, "-m", "plimsoll", *words], env=environment) for _ in range(self.count)
        ]
        return self.count

    def look(self):
        ended = [process for process in self.processes if process.poll() is not None]
        self.processes = [process for process in self.processes if process not in ended]
        return Placement(tuple(f"process {{process.pid}} has ended" for process in ended))

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait()


HERE = PlacerKind("here:2", "processes of this machine", Here)
'''


@pytest.mark.parametrize("name", sorted(PLACERS))
def test_a_placer_is_made_of_its_example_and_may_be_looked_at_and_closed_before_it_starts(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts.txt").write_text("vm-a\n")
    kind = PLACERS[name]
    assert kind.example.startswith(f"{name}:") and kind.help
    placer = placer_of(kind.example)
    assert placer.look() == Placement()
    placer.close()
    placer.close()
    with pytest.raises(UsageError, match=f"--on {name}: "):
        placer_of(name)


def test_a_package_adds_a_placer_whose_workers_join_and_end_with_the_run(
    plimsoll: Command, target: CountingTarget, tmp_path: Path
) -> None:
    folder = tmp_path / "packages"
    info = folder / "toy_placer-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "toy_placer.py").write_text(TOY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-placer\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\nhere = toy_placer:HERE\n")
    plimsoll.environment["PYTHONPATH"] = str(folder)
    plimsoll.write(VISITOR)
    words = ("run", "--headless", "-H", target.url, "-u", "4", "-t", "1s", "-s", "10s")
    done = plimsoll.in_a_process(*words, "--on", "here:2")
    assert done.code == 0, done
    assert plimsoll.stored()["generator"]["workers"] == 2
    assert plimsoll.stored()["total"]["requests"] == target.total > 0
    assert not [each for each in psutil.Process().children(recursive=True) if "--worker" in each.cmdline()]
    refused = plimsoll.in_a_process(*words, "--on", "here:some")
    assert (refused.code, refused.err) == (2, "plimsoll: --on here:some: say how many: here:2\n")


def test_an_unknown_placer_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"--on kubs:x: there is no such placer.*there are k8s:.*, ssh:hosts.txt"):
        placer_of("kubs:x")
    assert all(isinstance(kind, PlacerKind) for kind in PLACERS.values())
