"""What a release uploads: with its page, stripped, and enough to work by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from scripts import build_backend
from scripts.build_backend import PAGE, ROOT
from scripts.wheels import faults, missing

NAMES = [path.relative_to(ROOT / "python").as_posix() for path in PAGE]
NAMES += ["plimsoll/py.typed", "plimsoll/_engine.pyi", "plimsoll_lab-0.1.0.dist-info/licenses/LICENSE"]
X86_64 = b"\x7fELF" + bytes(14) + (62).to_bytes(2, "little") + bytes(100)


def a_wheel(folder: Path, names: list[str], engine: bytes = X86_64) -> Path:
    path = folder / "plimsoll_lab-0.1.0-cp311-abi3-manylinux_2_28_x86_64.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x")
        archive.writestr("plimsoll/_engine.abi3.so", engine)
    return path


def test_what_is_wrong_with_a_wheel(tmp_path: Path) -> None:
    assert faults(a_wheel(tmp_path, NAMES)) == []
    assert faults(a_wheel(tmp_path, NAMES[1:])) == [f"{NAMES[0]} is missing"]
    assert faults(a_wheel(tmp_path, NAMES, X86_64 + b".symtab\0")) == ["the engine is not stripped"]
    assert faults(a_wheel(tmp_path, NAMES, X86_64[:18] + b"\xb7\0" + X86_64[20:])) == ["the engine is for aarch64"]
    assert faults(a_wheel(tmp_path, NAMES, X86_64 + os.urandom(9_000_000)))[0].startswith("it has 9")
    assert faults(a_wheel(tmp_path, [*NAMES, "plimsoll/_engine.cpython-311.so"])) == ["2 engines"]


def test_a_package_without_its_page_is_not_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_backend, "ROOT", tmp_path)
    monkeypatch.setattr(build_backend, "PAGE", (tmp_path / "report.js",))
    with pytest.raises(SystemExit, match=r"the page is missing \(report.js\)"):
        build_backend.build_wheel(str(tmp_path))
    assert not list(tmp_path.iterdir())
    (tmp_path / "report.js").write_text("")
    build_backend.page()


def test_a_clone_without_the_tools_for_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_backend, "ROOT", tmp_path)
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text("{}")
    (tmp_path / "Makefile").write_text("page:\n\t@echo missing: Node >&2; exit 1\n")
    with pytest.raises(SystemExit, match="the page cannot be built"):
        build_backend.build_sdist(str(tmp_path))
    assert "missing: Node" in capfd.readouterr().err
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="the page cannot be built"):
        build_backend.build_editable(str(tmp_path))
    assert capfd.readouterr().err == "missing: make\n"


@pytest.mark.long
def test_an_installed_wheel_runs_reports_and_serves_its_page(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    words = ["wheel", ".", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "pip", *words], cwd=ROOT, env=environment, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert missing(wheel) == []
    assert faults(wheel) == []
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    installed = [str(tmp_path / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages")]
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", str(wheel)], check=True
    )
    # Its dependencies are those of this environment; `make wheels` installs them again.
    Path(installed[0], "others.pth").write_text(sysconfig.get_path("purelib"))
    done = subprocess.run(
        [str(python), str(ROOT / "scripts" / "smoke.py")], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
