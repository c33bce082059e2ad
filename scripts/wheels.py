"""Builds the files of a release: wheels for the CPUs and C libraries of Linux, and a source distribution.

    python -m scripts.wheels [--target NAME]… [--out dist] [--no-profile]

Cross-builds with zig, so that no container is needed. The engine is trained first (`scripts.training`). Each wheel is
checked. Wheels for this machine are installed in a separate environment and used.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts import training
from scripts.build_backend import PAGE, ROOT, page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGETS = {
    "x86_64-unknown-linux-gnu": "manylinux_2_28",
    "aarch64-unknown-linux-gnu": "manylinux_2_28",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
}
"""Each with its oldest supported system."""
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""All of them load the same wheel. It is tested with the installed ones."""
MOST_MB = 8
"""Maximum size of a wheel. One with symbols is three times as large."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.wheels", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=tuple(TARGETS), help="instead of all")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--no-profile", action="store_true", help="do not train the engine: faster to build")
    options = parser.parse_args()
    targets = options.target or tuple(TARGETS)
    page()
    profile = None
    if training.TARGET in targets and not options.no_profile:
        if platform.machine() in training.TARGET:
            run([sys.executable, "-m", "scripts.training"])
            profile = training.PROFILE
        else:
            print(f"wheels: not trained: that takes a machine for {training.TARGET}", file=sys.stderr)
    shutil.rmtree(options.out, ignore_errors=True)
    for target in targets:
        build(target, options.out, profile if target == training.TARGET else None)
    run([sys.executable, "-m", "maturin", "sdist", "--out", str(options.out)])
    (sdist,) = options.out.glob("*.tar.gz")
    complain(sdist, [f"{name} is missing" for name in missing(sdist)])
    for wheel in sorted(options.out.glob("*.whl")):
        complain(wheel, faults(wheel))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {used(wheel)}", flush=True)


def build(target: str, out: Path, profile: Path | None = None) -> None:
    """Build the wheel of one target. profile: of its engine under load, for the compiler."""
    run(["rustup", "--quiet", "target", "add", target])
    run([
        sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--zig", "--target", target,
        "--compatibility", TARGETS[target], "--out", str(out),
    ], environment={"RUSTFLAGS": f"-Cprofile-use={profile}"} if profile else None)  # fmt: skip


def missing(archive: Path) -> list[str]:
    """Required files that the package lacks: the page, the types, the license."""
    names = _names(archive)
    wanted = [str(path.relative_to(ROOT / "python")) for path in PAGE]
    wanted += ["plimsoll/py.typed", "plimsoll/_engine.pyi", "LICENSE"]
    return [name for name in wanted if not any(each.endswith(name) for each in names)]


def faults(wheel: Path) -> list[str]:
    """The problems of a wheel."""
    found = [f"{name} is missing" for name in missing(wheel)]
    with zipfile.ZipFile(wheel) as archive:
        engines = [
            each
            for each in archive.infolist()
            if each.filename.startswith("plimsoll/_engine") and each.filename.endswith(".so")
        ]
        if len(engines) != 1:
            return [*found, f"{len(engines)} engines"]
        binary = archive.read(engines[0])
    if b".symtab\0" in binary or b".debug_info\0" in binary:
        found.append("the engine is not stripped")
    machine = {62: "x86_64", 183: "aarch64"}.get(int.from_bytes(binary[18:20], "little"), "unknown")
    if machine not in wheel.name:
        found.append(f"the engine is for {machine}")
    if wheel.stat().st_size > MOST_MB * 1e6:
        found.append(f"it has {wheel.stat().st_size / 1e6:.1f} MB")
    return found


def used(wheel: Path) -> str:
    """Installs a wheel in a new environment and uses it, with each Python of this machine. Returns a description."""
    if platform.machine() not in wheel.name or "musllinux" in wheel.name:
        return "looked into (it does not run on this machine)"
    versions = [each for each in PYTHONS if _runs(f"python{each}")]
    for version in versions:
        with tempfile.TemporaryDirectory(prefix="plimsoll-wheel-") as folder:
            bin = Path(folder) / "venv" / "bin"
            run([f"python{version}", "-m", "venv", str(bin.parent)])
            run([str(bin / "pip"), "install", "--quiet", "--disable-pip-version-check", str(wheel)])
            run([str(bin / "python"), str(ROOT / "scripts" / "smoke.py")], cwd=Path(folder))
    return f"installed and used with Python {', '.join(versions) or '(none is here)'}"


def _runs(python: str) -> bool:
    """A name on the path may be a shim without a program."""
    return shutil.which(python) is not None and not subprocess.run([python, "-c", ""], capture_output=True).returncode


def run(command: Sequence[str], cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> None:
    """Ends the process if the command fails."""
    # Maturin finds zig as a module of the first Python on the path.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(environment or {}), "PATH": path})
    if done.returncode:
        sys.exit(f"wheels: failed with {done.returncode}: {' '.join(map(str, command))}")


def complain(archive: Path, found: Sequence[str]) -> None:
    """Ends the process if there are problems."""
    if found:
        sys.exit(f"wheels: {archive.name}: {'; '.join(found)}")


def _names(archive: Path) -> list[str]:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.namelist()
    with tarfile.open(archive) as source:
        return source.getnames()


if __name__ == "__main__":
    main()
