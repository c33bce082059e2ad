"""Run the long tests whose sources changed since the last landed commit.

    python -m scripts.long_tests COMMAND…    append those tests to the command and run it, if there are any

Groups with a make target of their own are named, and left to it. $LONG_SECONDS limits the time in which tests may
begin; those that come later are skipped, and counted.

The last landed commit is $CI_BASE if it is set, else the point where this branch left origin's default branch, else
the first parent of a merge. When none of these is known, everything runs. `make test-long` always runs everything,
also the exhaustive tests, which take minutes of both cores and which `make ci` leaves out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from fuzz.engine import TARGETS, crates
from scripts.repeat_failed import run

ROOT = Path(__file__).parents[1]

SHARED = (
    ".ci/", "Cargo.lock", "Cargo.toml", "Makefile", "pyproject.toml", "scripts/", "tests/command.py",
    "tests/conftest.py",
)  # fmt: skip
"""What tests depend on, whatever they test."""


class Group(NamedTuple):
    tests: tuple[str, ...]
    """Files or folders below the root that hold long tests, or single tests of a file: FILE::TEST."""
    sources: tuple[str, ...]
    """Their subjects: files, or folders that end with a slash. The tests themselves are always included."""
    shared: tuple[str, ...] = SHARED
    """What else they depend on. Nothing for fuzzing, which is done only when its subject changes."""
    target: str = ""
    """The make target that is run for a change of their subject; CI does not run them."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files and folders of the tests."""
        return tuple(test.partition("::")[0] for test in self.tests)


PACKAGE = "python/plimsoll/"
ENGINE = ("crates/", f"{PACKAGE}run/", f"{PACKAGE}users/", f"{PACKAGE}load/", f"{PACKAGE}record")


def _fuzzed_target(target: str) -> Group:
    """Fuzzing of a part of the engine."""
    inputs = (f"fuzz/fuzz_targets/{target}.", f"fuzz/kept/{target}.", f"fuzz/seeds/{target}/")
    built_from = (f"crates/{crate}/" for crate in sorted(crates(target)))
    return Group(
        (f"tests/fuzz/test_fuzz_engine.py::test_nothing_is_found[{target}]",),
        ("Cargo.toml", "fuzz/Cargo.", "fuzz/engine.py", *inputs, *built_from),
        shared=(),
        target="fuzz",
    )


def _fuzzed_files(kind: str, *sources: str) -> Group:
    """Fuzzing of a kind of file."""
    return Group(
        (f"tests/fuzz/test_fuzz_files.py::test_damaged_files_are_read_or_refused[{kind}]",),
        ("fuzz/files.py", "fuzz/mutation.py", *sources),
        shared=(),
        target="fuzz",
    )


GROUPS = {
    "documents": Group(
        ("tests/docs", "tests/scripts/test_site.py"),
        (
            "README.md", "docs/", "zensical.toml", "labs/todos/", *ENGINE,
            *(f"{PACKAGE}{each}/" for each in ("api", "cli", "report", "experiment", "capacity", "importers", "store")),
        ),
    ),
    "action": Group(("tests/scripts/test_action.py",), ("action.yml", f"{PACKAGE}cli/", f"{PACKAGE}report/")),
    "wheels": Group(
        ("tests/scripts/test_wheels.py",),
        ("pyproject.toml", "Cargo.toml", "scripts/build_backend.py", "scripts/smoke.py", "scripts/wheels.py"),
    ),
    "homebrew": Group(("tests/scripts/test_homebrew.py",), ("packaging/", "pyproject.toml", "scripts/homebrew.py")),
    "start": Group(("tests/test_init.py",), (f"{PACKAGE}__init__.py", f"{PACKAGE}__main__.py")),
    "digest": Group(("tests/run/test_digest.py",), ("crates/scenario/src/auth/", "crates/engine/src/native/")),
    "proof": Group(("tests/sources/proof/test_headers.py", "tests/cli/test_scenario.py"), (f"{PACKAGE}sources/",)),
    "scenarios": Group(("tests/scenarios",), (f"{PACKAGE}sources/",), target="scenarios"),
    "macos": Group(
        ("tests/scripts/test_macos.py",),
        ("Cargo.toml", "crates/engine/Cargo.toml", "crates/engine/src/platform/", "scripts/check-macos"),
    ),
    "browser": Group(
        ("tests/web", "tests/report/render/test_html_page.py"),
        ("web/", *(f"{PACKAGE}{each}/" for each in ("report", "server", "locust/web"))),
    ),
    "joined workers": Group(
        (
            "tests/run/test_joined_workers.py", "tests/run/test_load_options.py", "tests/run/test_machines.py",
            "tests/run/test_replaced_workers.py", "tests/run/test_resumed_runs.py",
        ),
        ("tests/run/joined.py", "tests/run/replaced.py", f"{PACKAGE}run/", f"{PACKAGE}cli/parts/workers.py"),
    ),
    "placers": Group(
        ("tests/run/placers",),
        (
            "tests/run/joined.py", "tests/run/page_session.py", f"{PACKAGE}run/placers/", f"{PACKAGE}run/transport/",
            f"{PACKAGE}run/planned.py", f"{PACKAGE}cli/parts/doctor_workers.py",
        ),
    ),
    "python interface": Group(("tests/api",), (f"{PACKAGE}api/", f"{PACKAGE}run/supervised/", f"{PACKAGE}run/options")),
    "outputs": Group(
        ("tests/run/coordinator/test_output_feed.py",),
        (f"{PACKAGE}outputs/", f"{PACKAGE}run/coordinator/output_", "tests/outputs/receiver.py"),
    ),
    "protocols": Group(
        ("tests/run/test_http2_servers.py", "tests/run/test_counts.py"),
        ("tests/run/http2_servers.py", "labs/robustness/journal_target.py", *ENGINE),
    ),
    "parity": Group(("tests/parity",), ("tests/parity/", f"{PACKAGE}locust/", *ENGINE)),
    "truth": Group(("tests/labs/truth",), ("labs/truth/", f"{PACKAGE}stats/", f"{PACKAGE}store/", *ENGINE)),
    "robustness": Group(
        ("tests/labs/robustness",),
        (
            "labs/robustness/", "labs/truth/", f"{PACKAGE}store/", f"{PACKAGE}run/interrupts.py",
            f"{PACKAGE}run/perform.py", f"{PACKAGE}run/coordinator/", *ENGINE,
        ),
        target="robustness",
    ),
    "hostile stores": Group(
        ("tests/cli/test_hostile_stores.py",),
        ("labs/robustness/", *(f"{PACKAGE}{each}/" for each in ("cli", "experiment", "load", "store", "run/options"))),
    ),
    **{f"fuzzed {target}": _fuzzed_target(target) for target in TARGETS},
    "fuzzed results": _fuzzed_files("results", "fuzz/seeds/results/", f"{PACKAGE}importers/"),
    "fuzzed plans": _fuzzed_files("plans", "fuzz/seeds/plans/", f"{PACKAGE}load/"),
    "fuzzed experiments": _fuzzed_files("experiments", f"{PACKAGE}experiment/file/", f"{PACKAGE}load/"),
    "wrong types": Group(
        ("tests/load/test_wrong_types.py", "tests/experiment/file/test_wrong_types.py"),
        ("tests/wrong_values.py", "fuzz/seeds/plans/", f"{PACKAGE}load/", f"{PACKAGE}experiment/file/"),
    ),
    "labs": Group(
        ("tests/labs/todos", "tests/labs/forum", "tests/labs/keys", "tests/labs/tunnels"),
        ("labs/", *(f"{PACKAGE}{each}/" for each in ("experiment", "observe", "run/supervised"))),
    ),
    "importers": Group(("tests/importers",), ("tests/long_texts.py", f"{PACKAGE}importers/")),
    "statistics": Group(("tests/stats", "tests/capacity"), (f"{PACKAGE}stats/", f"{PACKAGE}capacity/")),
    "benches": Group(("tests/benches",), ("benches/", *ENGINE), target="bench"),
}  # fmt: skip


def concerned(changed: list[str] | None) -> list[str]:
    """The names of the groups that these changes affect; all of them if the changes are unknown (None)."""
    if changed is None:
        return list(GROUPS)
    return [name for name, group in GROUPS.items() if any(_is_within(file, group) for file in changed)]


def changed_files() -> list[str] | None:
    """Files that differ from the last landed commit; None if unknown."""
    base = os.environ.get("CI_BASE") or _left_at() or _landed_before()
    found = None if base is None else _git("diff", "--name-only", "--no-renames", base, "--")
    return None if found is None else found.splitlines()


def _is_within(file: str, group: Group) -> bool:
    # A source without a slash at its end may be a module or a package: record.py, record/.
    return file.startswith((*group.shared, *group.sources, *group.files))


def _left_at() -> str | None:
    """The commit at which this branch left origin's default branch; None on that branch itself."""
    base = _git("merge-base", "HEAD", "origin/HEAD")
    return None if base == _git("rev-parse", "HEAD") else base


def _landed_before() -> str | None:
    """The first parent of a merge. None for another commit, which may be the last of several that landed together."""
    return _git("rev-parse", "--verify", "HEAD^1") if _git("rev-parse", "--verify", "HEAD^2") else None


def _git(*arguments: str) -> str | None:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def main(command: list[str]) -> int:
    groups = {name: GROUPS[name] for name in concerned(changed_files())}
    here = {name: group for name, group in groups.items() if not group.target}
    print(f"long tests of the changed files: {', '.join(here) or 'none'}", flush=True)
    targets = dict.fromkeys(group.target for group in groups.values() if group.target)
    if targets:
        print(f"not here, but to be run for this change: make {' '.join(targets)}", flush=True)
    if not here:
        return 0
    if seconds := os.environ.get("LONG_SECONDS"):
        os.environ["TESTS_BEGIN_BEFORE"] = str(time.time() + float(seconds))
    return run([*command, *(path for group in here.values() for path in group.tests)], ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
