"""A Debian package has the command, its environment, completion and licence, and names no folder where it was made."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from scripts import deb

pytestmark = pytest.mark.skipif(
    shutil.which("dpkg-deb") is None or not Path(deb.PYTHON).exists() or os.uname().machine not in deb.ARCHITECTURES,
    reason="not a Debian system",
)
INFO = "plimsoll_lab-0.1.0.dist-info"
FILES = {
    "plimsoll/__init__.py": "",
    "plimsoll/__main__.py": "def main():\n    print('completion of plimsoll')\n\n\nmain()\n",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: plimsoll-lab\nVersion: 0.1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": "[console_scripts]\nplimsoll = plimsoll.__main__:main\nx = plimsoll:x\n",
    f"{INFO}/RECORD": "",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deb")
    wheel = folder / "plimsoll_lab-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    return deb.build(wheel, folder)


def test_its_fields(package: Path) -> None:
    def field(name: str) -> str:
        return deb.output(["dpkg-deb", "--field", str(package), name]).strip()

    assert field("Package") == "plimsoll-lab"
    assert package.name == f"plimsoll-lab_{field('Version')}_{field('Architecture')}.deb"
    minor = int(deb.output([deb.PYTHON, "-c", "import sys; print(sys.version_info.minor)"]))
    assert field("Depends") == f"libc6 (>= 2.28), python3 (>= 3.{minor}), python3 (<< 3.{minor + 1})"
    assert deb.installed_kib(package) > 0


def test_its_files(package: Path, tmp_path: Path) -> None:
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path)], check=True)
    names = {path.name for path in (tmp_path / "opt/plimsoll/bin").iterdir()}
    assert {name for name in names if not name.startswith("python")} == {"plimsoll"}
    assert (tmp_path / "opt/plimsoll/bin/plimsoll").read_text().startswith("#!/opt/plimsoll/bin/python\n")
    assert (tmp_path / "usr/bin/plimsoll").readlink() == Path("/opt/plimsoll/bin/plimsoll")
    completion = tmp_path / "usr/share/bash-completion/completions/plimsoll"
    assert completion.read_text() == "completion of plimsoll\n"
    documents = {path.name for path in (tmp_path / "usr/share/doc/plimsoll-lab").iterdir()}
    assert documents == {"copyright", "changelog.gz"}
    assert list(tmp_path.rglob("__init__.*.pyc")) != []
    made_in = b"plimsoll-deb-"
    naming = [path for path in tmp_path.rglob("*") if path.is_file() and made_in in path.read_bytes()]
    assert naming == []


def test_a_folder_without_a_wheel(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"has no wheel for this machine .*: make wheels, or --wheel FILE"):
        deb.wheel_of(tmp_path)
