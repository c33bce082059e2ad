"""Damaged files are read or refused, and what else happens is found."""

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from fuzz import CI_SECONDS, files
from fuzz.files import KINDS, ROOT, Kind, judge
from fuzz.mutation import LONGEST, damaged

from plimsoll.errors import UsageError


def _raise(error: BaseException) -> Kind:
    def read(path: Path) -> None:
        raise error

    return Kind("", read)


@pytest.mark.parametrize("name", KINDS)
def test_every_seed_is_read_or_refused(name: str) -> None:
    seeds = sorted(ROOT.glob(KINDS[name].seeds))
    assert len(seeds) >= 5
    assert [found for path in seeds if (found := judge(KINDS[name], path))] == []


def test_only_a_clear_error_is_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judge(_raise(UsageError("file.csv:3: no number")), tmp_path) is None
    empty, crash = judge(_raise(UsageError(" ")), tmp_path), judge(_raise(IndexError("list")), tmp_path)
    assert empty is not None
    assert empty.place == "an error without words"
    assert crash is not None
    assert crash.place == "IndexError in elsewhere"
    assert "IndexError: list" in crash.words
    monkeypatch.setattr(files, "LONGEST_S", 1)
    slow = judge(Kind("", lambda path: re.fullmatch(r"(a|aa)+b", "a" * 60)), tmp_path)
    assert slow is not None
    assert slow.place.startswith("TooSlowError")


def test_the_same_number_damages_in_the_same_way() -> None:
    seeds = [path.read_bytes() for path in sorted(ROOT.glob(KINDS["results"].seeds))]
    first, second = ([damaged(seeds[0], seeds, Random(seed)) for seed in range(100)] for _ in range(2))
    assert first == second
    assert sum(each != seeds[0] for each in first) > 80
    assert max(map(len, first)) <= LONGEST


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused(name: str) -> None:
    # Other tests that run at the same time measure times.
    command = ["nice", "-n", "5", sys.executable, "-m", "fuzz.files", name, "--seed", "1"]
    command += ["--seconds", str(CI_SECONDS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "files, 0 findings" in done.stdout
