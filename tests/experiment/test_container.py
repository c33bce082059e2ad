from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.experiment import container
from plimsoll.experiment.cell_values import CellError


def _program(folder: Path, name: str, script: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_the_port_leads_into_the_container_and_only_from_this_machine() -> None:
    words = container.run_words(
        "docker", "shop:2", ["serve", "--fast"], name="plimsoll-1", port=12000, container_port=80, env=["A", "B"]
    )
    assert words == [
        "docker", "run", "--rm", "--name", "plimsoll-1", "--publish", "127.0.0.1:12000:80", "--env", "A", "--env", "B",
        "shop:2", "serve", "--fast",
    ]  # fmt: skip
    assert container.remove_words("podman", "plimsoll-1") == ["podman", "rm", "--force", "plimsoll-1"]


def test_without_docker_and_podman_that_is_said(programs: Path) -> None:
    with pytest.raises(CellError, match=r"needs docker or podman: there is no docker, there is no podman"):
        container.find_engine()


def test_an_engine_that_does_not_work_is_passed_over(programs: Path) -> None:
    _program(programs, "docker", "echo 'Cannot connect to the Docker daemon' >&2; exit 1")
    with pytest.raises(CellError) as caught:
        container.find_engine()
    assert "docker does not work here (Cannot connect to the Docker daemon), there is no podman" in str(caught.value)
    podman = _program(programs, "podman", "echo fine")
    assert container.find_engine() == podman


def test_an_image_is_pulled_only_if_it_is_not_here(programs: Path) -> None:
    engine = _program(
        programs, "docker",
        f"""echo "$@" >> {programs}/log
        case "$1" in
        image) [ -e {programs}/pulled ] && echo sha256:1 ;;
        pull) : > {programs}/pulled ;;
        esac""",
    )  # fmt: skip
    assert container.fetch(engine, "shop:2") == "sha256:1"
    assert container.fetch(engine, "shop:2") == "sha256:1"
    commands = (programs / "log").read_text().splitlines()
    assert [line.split()[0] for line in commands] == ["image", "pull", "image", "image"]
    assert commands[1] == "pull shop:2"


def test_an_image_that_there_is_not_is_named(programs: Path) -> None:
    engine = _program(programs, "docker", 'echo "no such image: $2" >&2; exit 1')
    with pytest.raises(CellError) as caught:
        container.fetch(engine, "shop:9")
    assert caught.value.one_line == "pull shop:9 failed; its last line: no such image: shop:9"


@pytest.mark.parametrize(("script", "pid"), [("echo 4711", 4711), ("echo 0", None), ("exit 1", None), ("echo", None)])
def test_the_pid_of_a_container_is_asked_for(programs: Path, script: str, pid: int | None) -> None:
    assert container.pid_of(_program(programs, "docker", script), "plimsoll-1") == pid
