"""The corpus of stored runs: outputs are those of before, and a difference is found and shown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.corpus.__main__ import MOST_LINES, difference, differing
from tests.corpus.archives import OUTPUTS, STORES, pack, unpack
from tests.corpus.outputs import masked

from plimsoll.report.formats import FORMATS

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
def test_all_outputs_of_the_stored_runs_are_those_of_before() -> None:
    command = [sys.executable, "-m", "tests.corpus"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_format_has_an_output() -> None:
    names = [name.rpartition("/")[2] for name in unpack(OUTPUTS)]
    missing = [name for name, row in FORMATS.items() if not any(each.endswith(row.suffix) or name in each
               for each in names)]  # fmt: skip
    assert missing == []


def test_the_archives_are_small() -> None:
    assert sum(path.stat().st_size for path in STORES.glob("*.tar.xz")) < 4_000_000
    assert OUTPUTS.stat().st_size < 4_000_000


def test_an_archive_of_the_same_files_has_the_same_bytes(tmp_path: Path) -> None:
    files = {"b/one": b"1", "a": b"\x00" * 1000}
    pack(tmp_path / "a.tar.xz", files)
    pack(tmp_path / "b.tar.xz", files)
    assert (tmp_path / "a.tar.xz").read_bytes() == (tmp_path / "b.tar.xz").read_bytes()
    assert unpack(tmp_path / "a.tar.xz") == files


def test_outputs_that_changed_came_or_went_differ() -> None:
    before, now = {"same": b"x", "a": b"1", "old": b""}, {"same": b"x", "a": b"2", "new": b""}
    assert differing(before, now) == ["a", "new", "old"]


def test_a_difference_is_shown_by_its_lines() -> None:
    assert difference("a", b"1\n2\n3\n", b"1\n4\n3\n") == [
        "--- before/a",
        "+++ now/a",
        "@@ -1,3 +1,3 @@",
        " 1",
        "-2",
        "+4",
        " 3",
    ]
    assert difference("a", None, b"x") == ["new: a"]
    assert difference("a", b"x", None) == ["gone: a"]


def test_a_long_difference_is_cut() -> None:
    before, now = ("\n".join(f"{word} {number}" for number in range(1000)).encode() for word in ("x", "y"))
    lines = difference("a", before, now)
    assert len(lines) == MOST_LINES + 1
    assert lines[-1].endswith("lines more")


def test_of_json_in_one_line_only_the_changed_part_is_shown() -> None:
    before = b'{"a":1,' + b",".join(b'"k%d":%d' % (n, n) for n in range(100)) + b"}"
    assert difference("a", before, before.replace(b'"k50":50', b'"k50":51'))[3:] == [
        ' "k49":49,',
        '-"k50":50,',
        '+"k50":51,',
        ' "k51":51,',
    ]


def test_bytes_that_are_no_text_and_line_ends_differ_too() -> None:
    assert difference("a", b"\xff", b"\xfe\xff") == ["a: 1 bytes before, 2 now, not text"]
    assert difference("a", b"x\r\n", b"x\n") == ["a: 3 bytes before, 2 now: only line ends differ"]


def test_the_page_s_program_is_masked_but_its_document_is_not() -> None:
    page = (
        b'<style>p{}</style><meta content="script-src \'sha256-abc=\'"><script type="application/json">{}</script>'
        b"<script>let x = 1;</script>"
    )
    assert masked(page) == (
        b'<style/><meta content="script-src \'sha256-\'"><script type="application/json">{}</script><script/>'
    )
