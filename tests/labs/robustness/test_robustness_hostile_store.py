"""The group `hostile-store`: one trial, and each broken promise is found."""

from __future__ import annotations

import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

from labs.robustness.groups import GROUPS
from labs.robustness.groups.hostile_store import broken
from labs.robustness.watched import HOOK, Watched

if TYPE_CHECKING:
    from pathlib import Path


def test_a_trial_is_kept(tmp_path: Path) -> None:
    assert not GROUPS["hostile-store"](tmp_path, Random(1)).broken


def found(*events: list[str], code: int = 0, words: str = "", changed: tuple[str, ...] = ()) -> str:
    return "; ".join(broken(Watched(code, words, list(events), list(changed)), ("show",)))


def test_each_broken_promise_is_named() -> None:
    assert found() == ""
    assert found(["write", "/dev/null"], ["write", "/work/plimsoll.db-wal"]) == ""
    assert found(["subprocess.Popen", "git", "['git', '-C', '/a', 'rev-parse', 'HEAD']"]) == ""
    assert found(code=4) == "the exit code is 4"
    assert found(words="Traceback (most recent call last):") == "a traceback is shown"
    assert found(words="\x1b[2J") == "control characters are shown"
    assert found(["write", "/bait/precious.txt"]) == "it opened /bait/precious.txt to write"
    assert found(["import", "/bait/evil.py"]) == "it imported /bait/evil.py"
    assert found(["subprocess.Popen", "touch", "['touch', 'x']"]) == "it started touch ['touch', 'x']"
    assert found(["socket.bind", "<socket>", "('127.0.0.1', 1)"]) == "it listened at ('127.0.0.1', 1)"
    assert found(changed=("/bait/precious.txt",)) == "it changed /bait/precious.txt"


def test_the_watch_sees_what_a_process_and_its_children_do(tmp_path: Path) -> None:
    bait, log = tmp_path / "bait", tmp_path / "log"
    bait.mkdir()
    (bait / "evil.py").write_text("import socket\nsocket.create_server(('127.0.0.1', 0))\nopen('x', 'w')\n")
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-P', {str(bait / 'evil.py')!r}])"
    environment = {"WATCH_LOG": str(log), "WATCH_BAIT": str(bait), "PYTHONPATH": str(HOOK)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    text = log.read_text()
    assert all(f'"{each}' in text for each in ("subprocess.Popen", "socket.bind", f'write", "{tmp_path / "x"}'))
    assert f'["import", "{bait / "evil.py"}"]' in text
