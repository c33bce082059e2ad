"""Makes a Debian package of a wheel, with all its dependencies in a folder of its own, and tries it on this system.

    python -m scripts.deb [--wheel FILE] [--out dist]     writes plimsoll-lab_VERSION_ARCHITECTURE.deb there
    python -m scripts.deb --check FILE                    installs it, uses it, removes it (as root)

The package is for the Python of this system (/usr/bin/python3), because other libraries of C belong to one version of
Python. The commands of dpkg do the rest: debhelper would build from sources, which a wheel already is.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.published import version

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
NAME = "plimsoll-lab"
PREFIX = Path("opt/plimsoll")
PYTHON = "/usr/bin/python3"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
CONTROL = """\
Package: {name}
Version: {version}
Architecture: {architecture}
Maintainer: Plimsoll maintainers <maintainers@plimsoll.invalid>
Installed-Size: {kibibytes}
Depends: libc6 (>= 2.28), python3 (>= 3.{minor}), python3 (<< 3.{next})
Section: net
Priority: optional
Description: load-testing lab for HTTP services
 Plimsoll runs locustfiles, plans and URLs on an engine in Rust, keeps each run,
 compares runs and writes reports. All its libraries are in /{prefix}.
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.deb", description=__doc__.partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help="instead of the one for this machine in dist")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--check", type=Path, metavar="FILE", help="install this package, use it and remove it")
    options = parser.parse_args()
    if options.check is not None:
        print(check(options.check))
        return
    package = build(options.wheel or wheel_of(options.out), options.out)
    print(f"{package}: {package.stat().st_size / 1e6:.0f} MB, {installed_kib(package) / 1024:.0f} MiB installed")


def wheel_of(out: Path) -> Path:
    """The wheel for this machine and glibc. Ends the process if there is none."""
    pattern = f"plimsoll_lab-{version()}-*manylinux*_{os.uname().machine}.whl"
    wheels = sorted(out.glob(pattern))
    if not wheels:
        sys.exit(f"deb: {out} has no wheel for this machine ({pattern}): make wheels, or --wheel FILE")
    return wheels[0]


def build(wheel: Path, out: Path) -> Path:
    """Install the wheel into a folder as of the system, add what Debian expects, and pack it."""
    minor = int(output([PYTHON, "-c", "import sys; print(sys.version_info.minor)"]))
    architecture = ARCHITECTURES[os.uname().machine]
    with tempfile.TemporaryDirectory(prefix="plimsoll-deb-") as folder:
        stage = Path(folder) / "stage"
        stage.mkdir(mode=0o755)
        environment(stage, wheel)
        documents(stage)
        kibibytes = sum(path.lstat().st_size for path in stage.rglob("*") if not path.is_dir()) // 1024
        (stage / "DEBIAN").mkdir()
        (stage / "DEBIAN" / "control").write_text(
            CONTROL.format(
                name=NAME,
                version=version(),
                architecture=architecture,
                kibibytes=kibibytes,
                minor=minor,
                next=minor + 1,
                prefix=PREFIX,
            )
        )
        run(["chmod", "-R", "u+rwX,go+rX,go-w", str(stage)])
        out.mkdir(exist_ok=True)
        package = out / f"{NAME}_{version()}_{architecture}.deb"
        run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(stage), str(package)])
    return package


def environment(stage: Path, wheel: Path) -> None:
    """A virtual environment that works in its final place: nothing in it names the folder where it was made."""
    home = stage / PREFIX
    run([PYTHON, "-m", "venv", "--without-pip", str(home)])
    python = str(home / "bin" / "python")
    run([
        sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check",
        "--no-compile", "--only-binary=:all:", str(wheel),
    ])  # fmt: skip
    for path in (home / "bin").iterdir():
        if path.name != "plimsoll" and not path.name.startswith("python"):
            path.unlink()
    command = home / "bin" / "plimsoll"
    command.write_text(re.sub(r"\A#!.*", f"#!/{PREFIX}/bin/python", command.read_text(), count=1))
    settings = home / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace(str(stage), ""))
    # Compiled now: Python must not write files that dpkg does not know. A byte code file names its final place.
    run([python, "-m", "compileall", "-q", "-j0", "-s", str(stage), "-p", "/", str(home / "lib")])
    for path in home.rglob("direct_url.json"):
        path.unlink()  # it names the wheel's path on the machine that made the package
    (stage / "usr" / "bin").mkdir(parents=True)
    (stage / "usr" / "bin" / "plimsoll").symlink_to(f"/{PREFIX}/bin/plimsoll")


def documents(stage: Path) -> None:
    """The licence, the changelog, and the completion for bash."""
    folder = stage / "usr" / "share" / "doc" / NAME
    folder.mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "copyright")
    (folder / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))
    completions = stage / "usr" / "share" / "bash-completion" / "completions"
    completions.mkdir(parents=True)
    script = output([str(stage / PREFIX / "bin" / "python"), "-m", "plimsoll", "completion", "bash"])
    (completions / "plimsoll").write_text(script)


def check(package: Path) -> str:
    """Install the package, use it like a new user, remove it. Ends the process if something fails or is left."""
    if is_installed():
        sys.exit(f"deb: {NAME} is installed here already: dpkg -r {NAME}")
    names = [line.split(maxsplit=5)[5] for line in output(["dpkg-deb", "--contents", str(package)]).splitlines()]
    paths = [Path("/") / name.partition(" -> ")[0].removeprefix("./") for name in names]
    before = {path for path in paths if path.exists()}
    run(["dpkg", "-i", str(package)])
    try:
        with tempfile.TemporaryDirectory(prefix="plimsoll-deb-") as folder:
            run(["/usr/bin/plimsoll", "--version"], cwd=Path(folder))
            run([f"/{PREFIX}/bin/python", str(ROOT / "scripts" / "smoke.py")], cwd=Path(folder))
    finally:
        run(["dpkg", "-r", NAME])
    left = sorted(str(path) for path in paths if path not in before and (path.exists() or path.is_symlink()))
    if left or is_installed():
        sys.exit(f"deb: {len(left)} paths are left after dpkg -r: {', '.join(left[:5])}")
    return f"{package.name}: installed, used and removed; nothing of its {len(paths)} paths is left"


def is_installed() -> bool:
    """Whether dpkg knows the package, as installed or as removed with files left."""
    return subprocess.run(["dpkg-query", "-W", NAME], capture_output=True).returncode == 0


def installed_kib(package: Path) -> int:
    """The size that the package says it takes, in KiB."""
    return int(output(["dpkg-deb", "--field", str(package), "Installed-Size"]))


def run(command: Sequence[str], cwd: Path = ROOT) -> None:
    """Ends the process if the command fails."""
    done = subprocess.run(command, cwd=cwd)
    if done.returncode:
        sys.exit(f"deb: failed with {done.returncode}: {' '.join(command)}")


def output(command: Sequence[str]) -> str:
    """The standard output of a command. Ends the process if the command fails."""
    # A folder elsewhere: the package must not be that of this clone.
    done = subprocess.run(command, cwd="/", stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"deb: failed with {done.returncode}: {' '.join(command)}")
    return done.stdout


if __name__ == "__main__":
    main()
