"""The package of docs/guides/extend.md, installed as the page says, adds a member at each door."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.command import CountingTarget

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "extend.md"
BLOCK = re.compile(r"^```(python|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The folder of the installed package."""
    folder = tmp_path_factory.mktemp("paw")
    blocks = BLOCK.findall(GUIDE.read_text())
    shape, *others = (text for language, text in blocks if language == "python")
    (folder / "plimsoll_paw_shapes.py").write_text(shape)
    (folder / "plimsoll_paw.py").write_text("\n\n".join(others))
    (toml,) = (text for language, text in blocks if language == "toml")
    info = folder / "plimsoll_paw-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plimsoll-paw\nVersion: 1.0\n")
    points = re.sub(r'\[project\.entry-points\."(.+)"\]', r"[\1]", toml).replace('"', "")
    (info / "entry_points.txt").write_text(points)
    return folder


@pytest.fixture(scope="module")
def plimsoll(package, tmp_path_factory):
    """Runs the command in a folder of its own, with the package installed."""
    folder = tmp_path_factory.mktemp("work")

    def run(*arguments: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(package), "PLIMSOLL_EXIT_CODE_ON_INVALID": "0", "COLUMNS": "120"}
        command = [sys.executable, "-m", "plimsoll", *arguments]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run.folder = folder
    return run


def test_a_shape_an_observer_an_output_a_finding_and_a_format(plimsoll):
    target = CountingTarget()
    try:
        text = plimsoll(
            "run", target.url, "--headless", "--breath", "20/s", "-t", "2s", "--observe", "load-average",
            "--out", "counts=counts.txt",
        )  # fmt: skip
    finally:
        target.close()
    assert "breathing around 20/s" in text
    report = plimsoll("report", "last")
    assert "load" in report
    assert f"All {target.total} requests have one name." in report
    line = plimsoll("export", "last", "--format", "line", "-o", "-")
    assert re.fullmatch(r"\S+ \d+ requests 0 failed\n", line)
    assert int(line.split()[1]) == target.total
    counts = [line.split() for line in (plimsoll.folder / "counts.txt").read_text().splitlines()]
    assert sum(int(count) for _, count in counts) == target.total


def test_a_placer(plimsoll):
    target = CountingTarget()
    try:
        plimsoll("run", target.url, "--headless", "--rate", "20/s", "-t", "2s", "--on", "here:2")
    finally:
        target.close()
    assert target.total == 40


def test_an_importer(plimsoll):
    (plimsoll.folder / "results.paw").write_text(
        "# paw\n" + "".join(f"{second} {20 + second}\n" for second in range(40))
    )
    assert "paw" in plimsoll("report", "results.paw")


def test_a_mistake_of_an_importer_is_no_traceback(plimsoll):
    (plimsoll.folder / "bad.paw").write_text("# paw\nabc def\n")
    with pytest.raises(AssertionError, match="the reader of paw results failed: ValueError: could not convert"):
        plimsoll("report", "bad.paw")


def test_a_source(plimsoll):
    (plimsoll.folder / "urls.txt").write_text("# urls\nhttp://127.0.0.1:8000/a\nhttp://127.0.0.1:8000/b\n")
    plimsoll("scenario", "urls.txt", "-o", "plan.toml")
    plan = (plimsoll.folder / "plan.toml").read_text()
    assert '"/a"' in plan
    assert '"/b"' in plan
