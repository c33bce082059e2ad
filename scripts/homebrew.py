"""Makes the Homebrew formula: Plimsoll's wheels for macOS, with those of all dependencies, by address and checksum.

python3 scripts/homebrew.py lock          resolves the dependencies anew, and writes packaging/homebrew/plimsoll-lab.rb
python3 scripts/homebrew.py check         exits with 1 if pip gives other files for the versions of the formula
python3 scripts/homebrew.py release dist  writes dist/plimsoll-lab.rb, with the checksums of Plimsoll's wheels there

pip resolves, for both CPUs. Wheels, because sources of NumPy and Pydantic take minutes and a compiler to install.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).parents[1]
FORMULA = ROOT / "packaging" / "homebrew" / "plimsoll-lab.rb"
PYTHON = "3.13"
MACOS = (14, "sonoma")
"""The oldest system: NumPy's wheels are for it."""
CPUS = {"arm64": "on_arm", "x86_64": "on_intel"}
WHEELS = {"arm64": "macosx_11_0_arm64", "x86_64": "macosx_10_12_x86_64"}
"""The platform in the name of Plimsoll's own wheel, which maturin chooses."""
UNKNOWN = "0" * 64
"""Instead of the checksum of a wheel that is not built yet: Homebrew refuses it."""
HEAD = """\
# Made by: python3 scripts/homebrew.py lock. A release puts in the checksums of Plimsoll's wheels.
class PlimsollLab < Formula
  include Language::Python::Virtualenv

  desc "Load-testing lab for HTTP services"
  homepage "https://pypi.org/project/plimsoll-lab/"
  version "{version}"
  license "Apache-2.0"

{own}
  depends_on macos: :{macos}
  depends_on "python@{python}"

"""
TAIL = """\
  def install
    venv = virtualenv_create(libexec, "python{python}")
    resources.each do |dependency|
      dependency.stage {{ venv.pip_install(Pathname.pwd.glob("*.whl")) }}
    end
    venv.pip_install_and_link(buildpath.glob("*.whl"))
    generate_completions_from_executable(bin/"plimsoll", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/plimsoll --version")
    system libexec/"bin/python", "-c", "import plimsoll._engine, plimsoll.users"
  end
end
"""
RESOURCE = re.compile(r'^  resource "([^"]+)" do\n(.*?)^  end\n', re.MULTILINE | re.DOTALL)
FILE = re.compile(r'(?:(on_\w+) do\n\s+)?url "([^"]+)", using: :nounzip\n\s+sha256 "([0-9a-f]{64})"')


@dataclass(frozen=True, order=True, slots=True)
class Wheel:
    """A file that pip would install."""

    name: str
    """Of the distribution, in small letters with hyphens."""
    url: str
    sha256: str

    @property
    def version(self) -> str:
        return self.url.rpartition("/")[2].split("-")[1]


def requirements() -> list[str]:
    """What the wheel of Plimsoll asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [str(text) for text in project["dependencies"]]


def version() -> str:
    """The version of the sources."""
    return str(tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"])


def resolve(wanted: Sequence[str], cpu: str, *words: str) -> list[Wheel]:
    """The wheels that pip would install on macOS. Ends the process if pip fails."""
    newest = MACOS[0]
    versions = [f"{major}_0" for major in range(newest, 10, -1)] + [f"10_{minor}" for minor in range(15, 8, -1)]
    platforms = [f"--platform=macosx_{system}_{kind}" for system in versions for kind in (cpu, "universal2")]
    with tempfile.TemporaryDirectory(prefix="plimsoll-homebrew-") as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
            "--disable-pip-version-check", f"--report={report}", "--only-binary=:all:", f"--target={folder}/none",
            f"--python-version={PYTHON}", *platforms, *words, *wanted,
        ]  # fmt: skip
        done = subprocess.run(command, stdout=subprocess.DEVNULL)
        if done.returncode:
            sys.exit(f"homebrew: pip failed with {done.returncode} for {cpu}")
        return of_report(report.read_text())


def of_report(text: str) -> list[Wheel]:
    """The wheels of pip's report, by name."""
    files = [(install["metadata"]["name"], install["download_info"]) for install in json.loads(text)["install"]]
    return sorted(
        Wheel(re.sub(r"[-_.]+", "-", name).lower(), info["url"], info["archive_info"]["hashes"]["sha256"])
        for name, info in files
    )


def formula(wheels: dict[str, list[Wheel]], own: dict[str, str]) -> str:
    """The text of the formula. wheels: by CPU. own: the checksum of Plimsoll's wheel by CPU."""
    text = HEAD.format(version=version(), own="".join(own_lines(own)), macos=MACOS[1], python=PYTHON)
    names = sorted({wheel.name for part in wheels.values() for wheel in part})
    for name in names:
        files = {cpu: wheel for cpu, part in wheels.items() for wheel in part if wheel.name == name}
        text += "\n".join(resource_lines(name, files)) + "\n\n"
    return text + TAIL.format(python=PYTHON)


def own_lines(own: dict[str, str]) -> Iterable[str]:
    """Address and checksum of Plimsoll's own wheel for each CPU."""
    for cpu, block in CPUS.items():
        address = f"https://files.pythonhosted.org/packages/cp311/p/plimsoll-lab/{own_name(cpu)}"
        yield f'  {block} do\n    url "{address}", using: :nounzip\n    sha256 "{own[cpu]}"\n  end\n'


def own_name(cpu: str) -> str:
    """The file name of Plimsoll's wheel."""
    return f"plimsoll_lab-{version()}-cp311-abi3-{WHEELS[cpu]}.whl"


def resource_lines(name: str, files: dict[str, Wheel]) -> Iterable[str]:
    """One dependency: a file for both CPUs, or one for each."""
    yield f'  resource "{name}" do'
    if len(set(files.values())) == 1 and set(files) == set(CPUS):
        wheel = next(iter(files.values()))
        yield f'    url "{wheel.url}", using: :nounzip'
        yield f'    sha256 "{wheel.sha256}"'
    else:
        for cpu, wheel in files.items():
            yield f"    {CPUS[cpu]} do"
            yield f'      url "{wheel.url}", using: :nounzip'
            yield f'      sha256 "{wheel.sha256}"'
            yield "    end"
    yield "  end"


def resources(text: str) -> dict[str, list[Wheel]]:
    """The dependencies in the text of a formula, by CPU."""
    wheels: dict[str, list[Wheel]] = {cpu: [] for cpu in CPUS}
    for name, body in RESOURCE.findall(text):
        for block, url, sha256 in FILE.findall(body):
            for cpu in CPUS:
                if block in ("", CPUS[cpu]):
                    wheels[cpu].append(Wheel(name, url, sha256))
    return wheels


def differences() -> list[str]:
    """Where the formula is not what pip would install for its versions, one sentence each."""
    faults = []
    for cpu, wheels in resources(FORMULA.read_text()).items():
        pinned = [f"{wheel.name}=={wheel.version}" for wheel in wheels]
        # All requirements too: a dependency that the formula lacks is one that pip adds.
        for wheel in set(resolve([*requirements(), *pinned], cpu)) ^ set(wheels):
            owner = "the formula" if wheel in wheels else "pip"
            faults.append(f"{cpu}: only {owner} has {wheel.url} with {wheel.sha256}")
    return sorted(faults)


def release(folder: Path) -> str:
    """The formula with the checksums of the wheels in a folder. Ends the process if a wheel is not there."""
    text = FORMULA.read_text()
    for cpu in CPUS:
        wheel = folder / own_name(cpu)
        if not wheel.is_file() or f'{wheel.name}", using' not in text:
            sys.exit(f"homebrew: {wheel} is not there, or the formula is for another version: homebrew.py lock")
        pattern = rf'({re.escape(wheel.name)}", using: :nounzip\n\s+sha256 ")[0-9a-f]+'
        text = re.sub(pattern, rf"\g<1>{hashlib.sha256(wheel.read_bytes()).hexdigest()}", text)
    return text


def main(words: list[str]) -> int:
    match words:
        case ["lock"]:
            wheels = {cpu: resolve(requirements(), cpu) for cpu in CPUS}
            FORMULA.write_text(formula(wheels, dict.fromkeys(CPUS, UNKNOWN)))
            print(f"{FORMULA}: {len(wheels['arm64'])} dependencies")
            return 0
        case ["check"]:
            for fault in (faults := differences()):
                print(f"homebrew: {fault}", file=sys.stderr)
            return 1 if faults else 0
        case ["release", folder] if Path(folder).is_dir():
            path = Path(folder) / FORMULA.name
            path.write_text(release(Path(folder)))
            print(path)
            return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
