from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.observe import owners
from plimsoll.observe.owners import Container, Program, Unit
from plimsoll.observe.sampler import ProbeError


@pytest.fixture
def sleeper(tmp_path: Path):
    """A program with a name of its own, and a child with another one."""
    program = tmp_path / "plim-sleeper"
    shutil.copy(shutil.which("sh") or "/bin/sh", program)
    with subprocess.Popen(
        [program, "-c", "sleep 600 & echo $!; wait"], stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        yield process.pid, child
        os.killpg(process.pid, 9)


def _command(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{script}")
    path.chmod(0o755)


def test_a_program_is_all_its_processes_and_what_they_started(sleeper) -> None:
    assert {each.pid for each in Program("plim-sleeper")()} == set(sleeper)
    with pytest.raises(ProbeError, match="no process is called plim-nothing"):
        Program("plim-nothing")()


def test_a_container_is_found_by_its_engine(sleeper, tmp_path, monkeypatch) -> None:
    """The engine is asked once, and again when the process is gone."""
    pid, child = sleeper
    tools, asked = tmp_path / "tools", tmp_path / "asked"
    tools.mkdir()
    script = f"""
open({str(asked)!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
if sys.argv[-1] != "web":
    sys.exit("Error: No such object: " + sys.argv[-1])
print({pid})
"""
    _command(tools, "docker", script)
    monkeypatch.setenv("PATH", f"{tools}")
    container = Container("web")
    assert {each.pid for each in container()} == {pid, child}
    assert {each.pid for each in container()} == {pid, child}
    assert asked.read_text() == "inspect --format {{.State.Pid}} web\n"
    with pytest.raises(ProbeError, match="no container db is running: Error: No such object: db"):
        Container("db")()


def test_a_container_that_has_stopped_is_not_running(tmp_path, monkeypatch) -> None:
    _command(tmp_path, "podman", "print(0)")
    monkeypatch.setenv("PATH", f"{tmp_path}")
    with pytest.raises(ProbeError, match=r"no container web is running$"):
        Container("web")()


def test_a_unit_is_its_control_group(sleeper, tmp_path, monkeypatch) -> None:
    pid, child = sleeper
    group = tmp_path / "cgroup" / "system.slice" / "app.service"
    (group / "worker").mkdir(parents=True)
    (group / "cgroup.procs").write_text(f"{pid}\n")
    (group / "worker" / "cgroup.procs").write_text(f"{child}\n999999999\n")
    monkeypatch.setattr(owners, "CGROUPS", tmp_path / "cgroup")
    said = {"app.service": "/system.slice/app.service", "gone.service": ""}
    _command(tmp_path, "systemctl", f"print({said!r}[sys.argv[-1]])")
    monkeypatch.setenv("PATH", f"{tmp_path}")
    assert [each.pid for each in Unit("app.service")()] == [pid, child]
    with pytest.raises(ProbeError, match=r"the unit gone\.service is not running"):
        Unit("gone.service")()


def test_what_this_machine_lacks_is_said_at_once(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="docker or podman must be on this machine"):
        Container("web")
    with pytest.raises(UsageError, match="systemctl must be on this machine"):
        Unit("app.service")
