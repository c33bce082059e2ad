"""What the engine is made of takes any bytes."""

import subprocess
import sys
import tarfile
import tomllib
from hashlib import sha1
from pathlib import Path

import pytest
from fuzz import CI_SECONDS
from fuzz.engine import FOLDER, TARGETS, crates, kept, pack, unpack

MOST_BYTES = 300_000
"""Of an archive: the repository has all that were ever committed."""


def test_the_lock_file_has_what_the_crates_need() -> None:
    """Else nothing is built: `make fuzz` keeps to it."""
    locked = {each["name"]: each for each in tomllib.loads((FOLDER / "Cargo.lock").read_text())["package"]}
    names = [name for name in locked if name.startswith("plimsoll-") and name != "plimsoll-fuzz"]
    assert len(names) >= 6
    for name in names:
        manifest = tomllib.loads((FOLDER.parent / "crates" / name.removeprefix("plimsoll-") / "Cargo.toml").read_text())
        tables = [manifest, *manifest.get("target", {}).values()]
        needed = {each for table in tables for each in table.get("dependencies", {})}
        assert needed == {each.split()[0] for each in locked[name].get("dependencies", ())}, name


def test_each_target_has_seeds_and_kept_inputs_and_is_described() -> None:
    assert TARGETS == ("content", "decoder", "events", "grpc", "histogram", "http2", "scenario", "websocket")
    guide = (FOLDER / "README.md").read_text()
    for target in TARGETS:
        assert list((FOLDER / "seeds" / target).iterdir())
        assert kept(target).stat().st_size < MOST_BYTES
        assert f"| `{target}` |" in guide


@pytest.mark.parametrize(
    ("target", "built_from"),
    [
        ("decoder", {"http"}),
        ("histogram", {"record"}),
        ("grpc", {"grpc", "http"}),
        ("scenario", {"scenario", "grpc", "http", "websocket"}),
    ],
)
def test_a_target_is_built_from_the_crates_that_it_names_and_from_theirs(target: str, built_from: set[str]) -> None:
    assert crates(target) == built_from


def test_the_same_inputs_become_the_same_archive_and_come_out_of_it(tmp_path: Path) -> None:
    inputs = [b"", b"\x00\xff", b"text" * 1000]
    archive = tmp_path / "target.tar.xz"
    archive.write_bytes(pack(inputs))
    assert pack([*reversed(inputs), inputs[0]]) == archive.read_bytes()
    unpack(archive, tmp_path / "corpus")
    assert {path.name: path.read_bytes() for path in (tmp_path / "corpus").iterdir()} == {
        sha1(each).hexdigest(): each for each in inputs
    }


@pytest.mark.parametrize("target", TARGETS)
def test_kept_inputs_are_files_without_a_time_named_by_their_contents(target: str) -> None:
    with tarfile.open(kept(target)) as archive:
        members = archive.getmembers()
        assert len(members) >= 10
        for member in members:
            file = archive.extractfile(member)
            assert file is not None
            assert (member.name, member.mtime) == (sha1(file.read()).hexdigest(), 0)


@pytest.mark.long
@pytest.mark.timeout(1800)  # it builds, too, or waits while the others do
@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_found(target: str) -> None:
    # Other tests that run at the same time measure times.
    command = ["nice", "-n", "5", sys.executable, "-m", "fuzz.engine", target, "--seed", "1"]
    command += ["--seconds", str(CI_SECONDS)]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "nothing found" in done.stdout
