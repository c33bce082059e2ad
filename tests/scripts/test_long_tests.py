"""Which long tests a change needs."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from fuzz.engine import TARGETS
from fuzz.files import KINDS
from scripts import long_tests
from scripts.long_tests import GROUPS, ROOT, changed_files, concerned, main

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

ENGINE = ["documents", "protocols", "parity", "truth", "robustness", "benches"]
"""Groups that a change of any part of the engine concerns."""
FUZZED = [f"fuzzed {name}" for name in (*TARGETS, *KINDS)]


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("web/src/charts/canvas.ts", ["browser"]),
        ("python/plimsoll/stats/view.py", ["truth", "statistics"]),
        ("python/plimsoll/record.py", ENGINE),
        ("labs/keys/plan.toml", ["labs"]),
        ("docs/guides/plans.md", ["documents"]),
        ("tests/web/test_live.py", ["browser"]),
        ("CHANGELOG.md", []),
    ],
)
def test_a_changed_file_concerns_the_groups_that_test_it(file: str, names: list[str]) -> None:
    assert concerned([file]) == names


@pytest.mark.parametrize(
    ("file", "fuzzed"),
    [
        ("crates/http/src/lib.rs", ["content", "decoder", "events", "grpc", "http2", "scenario", "websocket"]),
        ("crates/http2/src/lib.rs", ["http2"]),
        ("crates/websocket/src/lib.rs", ["scenario", "websocket"]),
        ("crates/record/src/recorder.rs", ["histogram"]),
        ("crates/engine/src/socket.rs", []),
        ("fuzz/fuzz_targets/decoder.dict", ["decoder"]),
        ("fuzz/seeds/grpc/any", ["grpc"]),
        ("fuzz/kept/grpc.tar.xz", ["grpc"]),
        ("fuzz/Cargo.lock", TARGETS),
        ("Cargo.toml", TARGETS),
        ("fuzz/files.py", KINDS),
        ("python/plimsoll/importers/csv.py", ["results"]),
        ("python/plimsoll/load/plan_file.py", ["plans", "experiments"]),
        ("tests/conftest.py", []),
    ],
)
def test_each_target_that_is_built_from_a_changed_file_is_fuzzed(file: str, fuzzed: Iterable[str]) -> None:
    assert [name for name in concerned([file]) if name in FUZZED] == [f"fuzzed {name}" for name in fuzzed]


def test_all_groups_run_if_the_changes_are_not_known() -> None:
    assert concerned(None) == list(GROUPS)


@pytest.mark.parametrize("changed", [["Makefile"], ["CHANGELOG.md", "pyproject.toml"]])
def test_everything_but_fuzzing_runs_if_the_changes_concern_all_tests(changed: list[str]) -> None:
    assert concerned(changed) == [name for name in GROUPS if name not in FUZZED]


@pytest.mark.parametrize("name", GROUPS)
def test_the_paths_of_a_group_exist(name: str) -> None:
    paths = [*GROUPS[name].files, *GROUPS[name].sources]
    assert [path for path in paths if not list(ROOT.glob(f"{path}*"))] == []


def test_the_single_tests_of_a_group_exist() -> None:
    single = [test.split("::") for group in GROUPS.values() for test in group.tests if "::" in test]
    assert len(single) == len(FUZZED)
    for file, name in single:
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text()


def test_every_file_with_long_tests_belongs_to_a_group() -> None:
    mark = re.compile(r"pytest\.mark\.long(?!\n@pytest\.mark\.exhaustive)")
    marked = [path for path in (ROOT / "tests").rglob("test_*.py") if mark.search(path.read_text())]
    homes = tuple(str(ROOT / path) for group in GROUPS.values() for path in group.files)
    ours = ROOT / "tests" / "scripts" / "test_long_tests.py"
    assert [path for path in marked if path != ours and not str(path).startswith(homes)] == []


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit, on a branch called main; it is what the script looks at."""
    monkeypatch.setattr(long_tests, "ROOT", tmp_path)
    monkeypatch.delenv("CI_BASE", raising=False)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@example.com")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, "first")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, name: str) -> None:
    (folder / name).write_text(name)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", name)


def test_a_merge_is_compared_with_what_was_there_before_it(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "work")
    commit(repository, "one")
    commit(repository, "two")
    git(repository, "checkout", "-q", "main")
    git(repository, "merge", "-q", "--no-ff", "work", "-m", "work")
    assert changed_files() == ["one", "two"]


def test_a_branch_is_compared_with_the_point_where_it_left_the_default_branch(repository: Path) -> None:
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    commit(repository, "one")
    commit(repository, "two")
    assert changed_files() == ["one", "two"]


def test_a_plain_commit_does_not_say_where_the_change_began(repository: Path) -> None:
    commit(repository, "one")
    assert changed_files() is None


def test_the_base_may_be_given_and_an_unknown_one_tells_nothing(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "one")
    monkeypatch.setenv("CI_BASE", "HEAD~1")
    assert changed_files() == ["one"]
    monkeypatch.setenv("CI_BASE", "nowhere")
    assert changed_files() is None


def test_the_command_gets_the_paths_and_its_exit_code_is_kept(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LONG_SECONDS", raising=False)
    code = "import sys; sys.exit(7 if sys.argv[1:] == ['tests/docs', 'tests/scripts/test_site.py'] else 1)"
    monkeypatch.setattr(long_tests, "changed_files", lambda: ["README.md"])
    assert main([sys.executable, "-c", code]) == 7


def test_without_a_group_the_command_does_not_run(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_tests, "changed_files", lambda: ["CHANGELOG.md"])
    assert main([sys.executable, "-c", "raise SystemExit(1)"]) == 0
    assert capfd.readouterr().out == "long tests of the changed files: none\n"


def test_groups_with_a_target_of_their_own_are_left_to_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_tests, "changed_files", lambda: ["fuzz/files.py", "benches/soak.py"])
    assert main([sys.executable, "-c", "raise SystemExit(1)"]) == 0
    assert capfd.readouterr().out == (
        "long tests of the changed files: none\nnot here, but to be run for this change: make fuzz bench\n"
    )


def test_tests_whose_turn_comes_too_late_are_skipped(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(long_tests, "changed_files", lambda: ["web/src/page.ts"])
    monkeypatch.setattr(long_tests, "ROOT", ROOT)
    monkeypatch.setenv("LONG_SECONDS", "-1")
    monkeypatch.setenv("TESTS_BEGIN_BEFORE", "")
    assert main([sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-m", "long"]) == 0
    assert "the time for long tests is over" in capfd.readouterr().out
