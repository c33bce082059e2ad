from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.experiment.real_cells import PROGRAM, TIMEOUT_S, cell, experiment, folder_in, target

from plimsoll.experiment.cell_values import CellError
from plimsoll.experiment.source import SourceCheckout
from plimsoll.experiment.spec import Target, TargetFact, Variant
from plimsoll.experiment.target import CellTarget, placeholder_values, prepared
from plimsoll.stats.study import Level

if TYPE_CHECKING:
    from pathlib import Path


def _made(path: Path, what: Target, **given: Any) -> CellTarget:
    return prepared(cell(**given), experiment(path, what), folder_in(path))


def test_placeholders_stand_for_what_the_cell_is(tmp_path: Path) -> None:
    spec = experiment(tmp_path, target(url="http://127.0.0.1:{port}/{variant}/"))
    one = cell(level=Level("/s", 1e6), repeat=3, operation="upload")
    values = placeholder_values(one, spec, spec.variants[0], SourceCheckout(tmp_path / "v1"), 12000)
    ports = {values.pop(name) for name in ("port2", "port3")} | {12000}
    assert len(ports) == 3
    assert values == {
        "python": sys.executable, "folder": tmp_path, "source": tmp_path / "v1", "port": 12000, "variant": "a",
        "level": "1000000", "operation": "upload", "repeat": 3, "seed": 7, "url": "http://127.0.0.1:12000/a",
    }  # fmt: skip
    half = cell(level=Level("/s", 0.5))
    assert placeholder_values(half, spec, spec.variants[0], SourceCheckout(tmp_path), 1)["level"] == "0.5"
    assert placeholder_values(cell(level=None), spec, spec.variants[0], SourceCheckout(tmp_path), 1)["level"] == ""


def test_a_twin_is_started_as_what_it_is_the_twin_of(tmp_path: Path) -> None:
    spec = experiment(tmp_path, target())
    twin = Variant("a again", target(), twin_of="a")
    assert placeholder_values(cell(), spec, twin, SourceCheckout(tmp_path), 1)["variant"] == "a"


def test_it_runs_in_the_folder_of_the_experiment_or_where_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    assert _made(tmp_path, target()).cwd == tmp_path
    (tmp_path / "x").mkdir()
    spec = experiment(tmp_path / "sub", target(cwd="deep"))
    assert prepared(cell(), spec, folder_in(tmp_path / "x")).cwd == tmp_path / "sub" / "deep"


def test_a_folder_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(CellError, match=r"cwd = 'nowhere' leads to .*/nowhere, which is no folder"):
        _made(tmp_path, target(cwd="nowhere"))


def test_its_environment_is_ours_and_what_the_file_adds(tmp_path: Path) -> None:
    made = _made(tmp_path, target(env={"MODE": "{variant} on {port}"}))
    assert made.env["MODE"] == f"a on {made.values['port']}"
    assert made.env["PATH"] == os.environ["PATH"]
    environment = made.commands(cell(), tmp_path).env
    assert {name: environment[name] for name in set(environment) - set(made.env)} == {
        "PLIMSOLL_LEVEL": "2", "PLIMSOLL_OPERATION": "", "PLIMSOLL_REPEAT": "1", "PLIMSOLL_SEED": "7",
        "PLIMSOLL_URL": made.url, "PLIMSOLL_VARIANT": "a",
    }  # fmt: skip
    assert environment["MODE"] == made.env["MODE"]


def test_it_is_started_found_healthy_observed_and_stopped(tmp_path: Path, process_mark: str) -> None:
    made = _made(tmp_path, target("parent", build=TargetFact("build", path="/build"), env={"BUILD": "{variant}"}))
    commands = made.commands(cell(), tmp_path)
    made.start()
    try:
        made.wait_until_healthy(commands)
        assert made.build == "a"
        assert commands.fact(TargetFact("port", path="/port")) == made.values["port"]
        assert made.ended() is None
        assert made.process is not None
        assert made.observed_pid() == (made.process.parent, False)
    finally:
        ending = made.stop()
    assert str(ending) == "ended by SIGTERM"
    assert made.crashed is None
    kept = made.to_dict()
    assert kept["log"] == [f"listening on {made.values['port']}"]
    assert kept["command"][0] == sys.executable
    assert (kept["build"], kept["pid"]) == ("a", made.process.pid)
    assert "image" not in kept


@pytest.mark.parametrize(
    ("says", "is_right"),
    [
        ("a", True), ("v1", True), ("c0ffee1", True), ("c0ffee1" + "0" * 33, True), ("c0ffee", False), ("b", False),
        ("", False), ("deadbee", False),
    ],
)  # fmt: skip
def test_it_must_be_what_was_asked_for(tmp_path: Path, process_mark: str, says: str, is_right: bool) -> None:
    what = target(build=TargetFact("build", command=("echo", says)), git="v1")
    ready = replace(what.healthy, path=None, command=("true",))
    variant = Variant("a", replace(what, start=(), healthy=ready))
    values = dict.fromkeys(("variant", "level", "operation", "repeat", "seed"), "") | {"url": "http://x"}
    source = SourceCheckout(tmp_path, "c0ffee1" + "0" * 33)
    made = CellTarget(variant, source, {**values}, tmp_path, dict(os.environ), tmp_path / "log")
    commands = made.commands(cell(), tmp_path)
    if is_right:
        made.wait_until_healthy(commands)
    else:
        with pytest.raises(CellError, match=f"says it is {says!r}, and 'a' or 'v1' or 'c0ffee1.*' was asked for"):
            made.wait_until_healthy(commands)


def test_a_command_may_say_that_it_is_healthy(tmp_path: Path, process_mark: str) -> None:
    flag = tmp_path / "ready"
    what = target("deaf")
    made = _made(tmp_path, replace(what, healthy=replace(what.healthy, path=None, command=("test", "-e", str(flag)))))
    made.start()
    try:
        flag.touch()
        made.wait_until_healthy(made.commands(cell(), tmp_path))
    finally:
        made.stop()


def test_a_stubborn_one_is_killed_and_that_is_noted(tmp_path: Path, process_mark: str) -> None:
    made = _made(tmp_path, target("stubborn", stop_within=0.3))
    made.start()
    try:
        made.wait_until_healthy(made.commands(cell(), tmp_path))
    finally:
        made.stop()
    assert made.notes == ["the target had to be killed: it did not end within 0.3 s of SIGTERM"]
    assert made.to_dict()["notes"] == made.notes


def test_one_that_somebody_else_kills_has_crashed(tmp_path: Path, process_mark: str) -> None:
    made = _made(tmp_path, target("deaf"))
    made.start()
    assert made.process is not None
    os.kill(made.process.pid, signal.SIGKILL)
    assert made.process.wait(TIMEOUT_S)
    made.stop()
    assert str(made.crashed).startswith("ended by SIGKILL (")
    assert made.notes == [], "nobody here killed it"


def test_one_that_ends_by_itself_is_told_apart_from_one_that_was_stopped(tmp_path: Path, process_mark: str) -> None:
    made = _made(tmp_path, target("stillborn"))
    made.start()
    assert made.process is not None
    assert made.process.wait(TIMEOUT_S)
    made.stop()
    assert str(made.crashed) == "exit status 3"


def test_a_program_that_there_is_not_is_named(tmp_path: Path, process_mark: str) -> None:
    made = _made(tmp_path, target(start=("./serve", "{port}")))
    with pytest.raises(CellError, match=r"the target cannot be started: \./serve: No such file or directory"):
        made.start()


def test_passwords_are_not_told(tmp_path: Path) -> None:
    made = _made(tmp_path, target(start=("serve", "--db-password", "s3cret", "postgresql://me:s3cret@db/x")))
    assert "s3cret" not in repr(made.to_dict())


DOCKER = """#!/bin/sh
echo "$@" >> {log}
case "$1" in
version) ;;
image) echo sha256:1234 ;;
run)
    while [ "$1" != --publish ]; do shift; done
    port=${{2%:*}}
    exec {python} {program} ${{port#*:}} ;;
inspect) exit 1 ;;
esac
"""


def test_a_container_is_run_and_removed(tmp_path: Path, process_mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program that takes docker's words."""
    log = tmp_path / "words"
    engine = tmp_path / "docker"
    engine.write_text(DOCKER.format(log=log, python=sys.executable, program=PROGRAM))
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    made = _made(tmp_path, target(start=("serve",), image="shop:2", container_port=80, env={"TOKEN": "s3cret"}))
    made.start()
    try:
        made.wait_until_healthy(made.commands(cell(), tmp_path))
        assert made.observed_pid() is None
    finally:
        made.stop()
    port = made.values["port"]
    name = f"plimsoll-{os.getpid()}-{port}"
    assert log.read_text().splitlines() == [
        "version",
        "image inspect --format {{.Id}} shop:2",
        f"run --rm --name {name} --publish 127.0.0.1:{port}:80 --env TOKEN shop:2 serve",
        "inspect --format {{.State.Pid}} " + name,
        f"rm --force {name}",
    ]
    assert made.to_dict()["image_id"] == "sha256:1234"
