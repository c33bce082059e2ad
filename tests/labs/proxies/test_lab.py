"""Each variant serves the same files, and ends with its caller's signal."""

import hashlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from labs.proxies.lab import FILES, MEAN_BYTES, VARIANTS, make_files

from plimsoll.experiment.ports import free_port

ROOT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin") is None, reason="there is no nginx"
    ),
]


def fetched(url: str) -> str:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                return hashlib.sha256(reply.read()).hexdigest()
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_all_variants_serve_the_same_files_and_end_when_told(tmp_path: Path) -> None:
    make_files(tmp_path / "files")
    expected = hashlib.sha256((tmp_path / "files" / "7.bin").read_bytes()).hexdigest()
    for variant in VARIANTS:
        port = free_port()
        command = [sys.executable, "-m", "labs.proxies.lab", "--variant", variant, "--port", str(port)]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as lab:
            try:
                assert fetched(f"http://127.0.0.1:{port}/7.bin") == expected, variant
            finally:
                lab.send_signal(signal.SIGTERM)
            assert lab.wait(20) == 0, variant
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/7.bin", timeout=2)


def test_the_files_are_those_of_the_plan_and_as_large_as_said(tmp_path: Path) -> None:
    make_files(tmp_path / "files")
    sizes = [each.stat().st_size for each in (tmp_path / "files").iterdir()]
    assert len(sizes) == FILES == len((ROOT / "labs/proxies/files.csv").read_text().split()) - 1
    assert sum(sizes) / FILES == pytest.approx(MEAN_BYTES, rel=0.01)
