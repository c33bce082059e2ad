from pathlib import Path

import pytest
from labs.todos import postgres_programs
from labs.todos.errors import LabError


def fake_programs(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in postgres_programs.PROGRAMS:
        (folder / name).touch(mode=0o755)
    return folder


def test_a_folder_counts_only_with_all_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    incomplete = tmp_path / "incomplete"
    incomplete.mkdir()
    (incomplete / "postgres").touch(mode=0o755)
    complete = fake_programs(tmp_path / "complete")
    monkeypatch.setattr(postgres_programs, "candidates", lambda: iter([incomplete, complete]))
    assert postgres_programs.installed() == complete


def test_without_a_server_and_without_the_wheel_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_programs, "candidates", lambda: iter([]))
    monkeypatch.setattr(postgres_programs, "WHEEL", str(tmp_path / "there-is-no-such.whl"))
    monkeypatch.setattr(postgres_programs, "WHEEL_FOLDER", tmp_path / "wheel")
    with pytest.raises(LabError) as raised:
        postgres_programs.programs()
    for line in ("apt-get install postgresql", "brew install postgresql", "-m pip install", "there-is-no-such.whl"):
        assert line in str(raised.value)


def test_the_copy_for_another_user_keeps_the_place_inside_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "wheel"
    folder = fake_programs(wheel / "package" / "bin")
    monkeypatch.setattr(postgres_programs, "WHEEL_FOLDER", wheel)
    copy = postgres_programs.readable_copy(folder, tmp_path / "copy")
    assert copy == tmp_path / "copy" / "package" / "bin"
    assert (copy / "postgres").exists()
    system = fake_programs(tmp_path / "system")
    assert postgres_programs.readable_copy(system, tmp_path / "other") == system
