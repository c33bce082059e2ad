"""Fuzz the parts of the engine: `python -m fuzz.engine [TARGET …] [--seconds N | --keep] [--seed N]`

Builds the targets with libFuzzer's coverage counters, and runs one after the other. Each begins with its seeds, its
kept inputs and those that earlier runs added to fuzz/corpus/. A finding is written to fuzz/artifacts/, and the exit
status is 1.

With --keep nothing is fuzzed: of the inputs in fuzz/corpus/, the smallest that reach what neither seeds nor kept inputs
reach are added to the archive in fuzz/kept/.
"""

import argparse
import base64
import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from hashlib import sha1
from pathlib import Path

FOLDER = Path(__file__).parent
TARGETS = tuple(sorted(path.stem for path in (FOLDER / "fuzz_targets").glob("*.rs")))
MACHINE = f"{platform.machine()}-unknown-linux-gnu"
"""Named in the build, so that build scripts have no coverage counters."""
COVERAGE = (
    "-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters", "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares", "--cfg=fuzzing", "-Cdebug-assertions", "-Ccodegen-units=1",
)  # fmt: skip
"""The flags of `cargo fuzz` without the address sanitizer, which needs a nightly toolchain."""
LONGEST_S = 60
"""Maximum seconds for one input. Most take microseconds, but the machine may be busy."""
MOST_MIB = 1024


def crates(target: str) -> set[str]:
    """The folders in crates/ that a target is built from."""
    found: set[str] = set()
    open_ = set(re.findall(r"\bplimsoll_(\w+)", (FOLDER / "fuzz_targets" / f"{target}.rs").read_text()))
    while open_:
        found.add(crate := open_.pop())
        manifest = tomllib.loads((FOLDER.parent / "crates" / crate / "Cargo.toml").read_text())
        needed = {name.removeprefix("plimsoll-") for name in manifest["dependencies"] if name.startswith("plimsoll-")}
        open_ |= needed - found
    return found


def kept(target: str) -> Path:
    """The archive of a target's inputs that is part of the repository."""
    return FOLDER / "kept" / f"{target}.tar.xz"


def pack(inputs: Iterable[bytes]) -> bytes:
    """Returns a tar archive, compressed by xz. The same inputs become the same bytes.

    Each input is named as libFuzzer names it: by its SHA-1.
    """
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for name, data in sorted({sha1(data).hexdigest(): data for data in inputs}.items()):
            member = tarfile.TarInfo(name)  # without a time and an owner
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


def unpack(path: Path, folder: Path) -> None:
    """Write the inputs of an archive into a folder."""
    with tarfile.open(path) as archive:
        archive.extractall(folder, filter="data")


def build(targets: Sequence[str]) -> bool:
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--target", MACHINE]
    command += ["--manifest-path", str(FOLDER / "Cargo.toml"), *(f"--bin={target}" for target in targets)]
    return subprocess.run(command, env=os.environ | {"RUSTFLAGS": " ".join(COVERAGE)}).returncode == 0


def run(target: str, seconds: int, seed: int) -> bool:
    """Returns whether there was no finding. seconds: 0 tries only what is known. seed: 0 for another one each time."""
    artifacts = FOLDER / "artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    options = [f"-artifact_prefix={artifacts}/", "-print_final_stats=1", f"-seed={seed}"]
    options += [f"-max_total_time={seconds}" if seconds else "-runs=0"]
    dictionary = FOLDER / "fuzz_targets" / f"{target}.dict"
    options += [f"-dict={dictionary}"] if dictionary.exists() else []
    done = _start(target, _corpus(target), _seeds(target), *options)
    lines = done.stderr.splitlines()
    if done.returncode:
        print(f"{target}: a finding", *lines[-40:], *_artifacts(lines), sep="\n")
        return False
    units = next((line.split()[-1] for line in lines if "number_of_executed_units" in line), "?")
    print(f"{target}: {units} inputs, nothing found", flush=True)
    return True


def keep(target: str) -> bool:
    """Add to the archive of a target what is known and reaches more. Returns whether that was possible."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-fuzz-") as folder:
        reached = shutil.copytree(_seeds(target), Path(folder) / "reached")
        seeds = set(reached.iterdir())
        if kept(target).exists():
            unpack(kept(target), reached)
        done = _start(target, reached, _corpus(target), "-merge=1")
        if done.returncode:
            print(f"{target}: not merged", *done.stderr.splitlines()[-40:], sep="\n")
            return False
        inputs = [path.read_bytes() for path in reached.iterdir() if path not in seeds]
    kept(target).write_bytes(pack(inputs))
    print(f"{target}: {len(inputs)} inputs kept, {kept(target).stat().st_size:,} bytes", flush=True)
    return True


def _seeds(target: str) -> Path:
    return FOLDER / "seeds" / target


def _corpus(target: str) -> Path:
    """The folder of the inputs that are known, with the kept ones."""
    corpus = FOLDER / "corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    if kept(target).exists():
        unpack(kept(target), corpus)
    return corpus


def _start(target: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [FOLDER / "target" / MACHINE / "release" / target, *arguments]
    command += [f"-timeout={LONGEST_S}", f"-rss_limit_mb={MOST_MIB}"]
    return subprocess.run([str(each) for each in command], stderr=subprocess.PIPE, text=True, errors="replace")


def _artifacts(lines: list[str]) -> list[str]:
    """The inputs of the findings that libFuzzer's output names, for machines whose files nobody gets, such as CI's."""
    paths = [line.partition("Test unit written to ")[2] for line in lines]
    return [f"base64 of {path}: {base64.b64encode(Path(path).read_bytes()).decode()}" for path in paths if path]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.engine", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--seconds", type=int, default=60, help="for each target; 0: only the known inputs")
    parser.add_argument("--seed", type=int, default=0, help="of the random generator; 0: another one each time")
    either.add_argument("--keep", action="store_true", help="add what was found to the kept inputs, and do not fuzz")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(TARGETS):
        parser.error(f"no target is called {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if arguments.seconds < 0:
        parser.error("--seconds must not be negative")
    targets = arguments.targets or TARGETS
    if not build(targets):
        return 2
    fine = [keep(target) if arguments.keep else run(target, arguments.seconds, arguments.seed) for target in targets]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
