"""What the engine of a release is trained with."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import training, wheels
from scripts.build_backend import ROOT

URLS = {
    "nginx": "http://127.0.0.1:1",
    "http2": "http://127.0.0.1:2",
    "truth": "http://127.0.0.1:3",
    "tls": "https://127.0.0.1:4",
    "grpc": "127.0.0.1:5",
    "websocket": "127.0.0.1:6",
}


def test_every_server_has_a_load_and_every_load_a_number_of_requests(tmp_path: Path) -> None:
    loads = list(training.loads(URLS, tmp_path))
    text = " ".join(word for load in loads for word in load.words) + (tmp_path / "plan.toml").read_text()
    assert [name for name, url in URLS.items() if url not in text] == []
    timed = [load.words for load in loads if "--iterations" not in load.words]
    assert len(timed) == 1, "a rate, which has a duration instead"
    assert "--rate" in timed[0]


def test_the_files_of_a_load_exist(tmp_path: Path) -> None:
    words = [word for load in training.loads(URLS, tmp_path) for word in load.words]
    files = [Path(word) for word in words if word.startswith("/")]
    assert files
    assert [file for file in files if not file.is_file()] == []


def test_without_the_tools_the_message_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rustc = tmp_path / "rustc"
    rustc.write_text(f"#!/bin/sh\necho {tmp_path}\n")
    rustc.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=r"rustup component add llvm-tools .*--no-profile"):
        training.profdata()


def test_a_load_that_fails_ends_the_training_with_its_output() -> None:
    with pytest.raises(SystemExit, match=r"(?s)failed with 3: .*no such server"):
        training.run([sys.executable, "-c", "print('no such server'); raise SystemExit(3)"])


def test_a_profile_is_used_for_the_target_that_it_was_made_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    flags: dict[str, str] = {}

    def note(command: list[str], cwd: Path = ROOT, environment: dict[str, str] | None = None) -> None:
        if "build" in command:
            flags[command[command.index("--target") + 1]] = (environment or {}).get("RUSTFLAGS", "")

    monkeypatch.setattr(wheels, "run", note)
    monkeypatch.setattr(wheels, "page", lambda: None)
    used = f"-Cprofile-use={training.PROFILE}"
    cases = (([], "x86_64", used), (["--no-profile"], "x86_64", ""), ([], "aarch64", ""))
    for words, machine, of_trained in cases:
        monkeypatch.setattr(sys, "argv", ["wheels", "--out", str(tmp_path / "dist"), *words])
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        with pytest.raises(ValueError, match="not enough values"):  # there is no source distribution to look into
            wheels.main()
        assert flags == {target: of_trained if target == training.TARGET else "" for target in wheels.TARGETS}
