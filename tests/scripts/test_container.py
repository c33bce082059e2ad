"""The container: what can be said of it without an engine that builds it."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILES = [ROOT / "Dockerfile", ROOT / "labs" / "todos" / "target" / "Dockerfile"]


@pytest.mark.parametrize(
    ("given", "run"),
    [
        ([], "run"),
        (["-f", "/mnt/locust/a b.py", "-H", "http://x"], "run|-f|/mnt/locust/a b.py|-H|http://x"),
        (["--headless"], "run|--headless"),
        (["run", "http://x"], "run|http://x"),
        (["report", "last"], "report|last"),
        (["--help"], "--help"),
        (["--version"], "--version"),
    ],
)
def test_options_alone_are_those_of_a_run(tmp_path, given, run):
    stand_in = tmp_path / "plimsoll"
    stand_in.write_text('#!/bin/sh\nIFS="|"; echo "$*"\n')
    stand_in.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = [str(ROOT / "container" / "entrypoint"), *given]
    assert subprocess.check_output(command, env=environment, text=True) == f"{run}\n"


@pytest.mark.parametrize("dockerfile", DOCKERFILES, ids=lambda path: path.parent.name)
def test_what_is_copied_is_there_and_sent_to_the_engine(dockerfile):
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile.read_text(), re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    assert sources
    ignore = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    sent = [line.removeprefix("!") for line in ignore if line.startswith("!")]
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == each or source.startswith(f"{each}/") for each in sent), source
    for name in (".venv/x", "web/node_modules", "python/plimsoll/_engine.abi3.so"):
        assert any(fnmatch.fnmatch(name, line.removeprefix("**/")) or name.startswith(line.removeprefix("**/"))
                   for line in ignore if not line.startswith(("!", "*\n")) and line != "*"), name  # fmt: skip


def test_all_members_of_the_workspace_are_copied():
    # Cargo builds none of them without the manifests of all.
    members = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["members"]
    copied = re.findall(r"^COPY (\S+) \1$", DOCKERFILES[0].read_text(), re.MULTILINE)
    assert [each for each in members if not any(each == path or each.startswith(f"{path}/") for path in copied)] == []


def test_the_services_of_the_lab_find_each_other():
    folder = ROOT / "labs" / "todos"
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    assert set(services) == {"primary", "replica", "migration", "api", "load"}
    for name, service in services.items():
        assert set(service.get("depends_on", {})) <= set(services), name
        for place in service.get("volumes", []):
            assert (folder / place.split(":")[0]).is_file(), place
        build = service.get("build")
        assert build is None or (folder / build["context"] / build.get("dockerfile", "Dockerfile")).is_file(), name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), "only this machine"
    urls = services["api"]["environment"]
    assert {urls[name].partition("@")[2].partition(":")[0] for name in urls if name.endswith("_URL")} == {
        "primary",
        "replica",
    }
