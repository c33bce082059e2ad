from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.report.splice import Splice

BEGIN, END = "<!-- plimsoll:begin todos -->", "<!-- plimsoll:end todos -->"


@pytest.fixture
def readme(tmp_path):
    def write(text: str) -> str:
        path = tmp_path / "README.md"
        path.write_bytes(text.encode())
        return str(path)

    return write


def text_of(path: str) -> str:
    return Path(path).read_bytes().decode()


def test_what_stands_between_the_markers_is_replaced_and_nothing_else(readme):
    path = readme(f"# A\n\n{BEGIN}\nold\n{END}\n\nmore \n")
    assert Splice(path, "todos").replace("new\n\nlines\n", "plimsoll report todos --splice README.md")
    assert text_of(path) == (
        "# A\n\n<!-- plimsoll:begin todos: plimsoll report todos --splice README.md -->\n\nnew\n\nlines\n\n"
        f"{END}\n\nmore \n"
    )


def test_the_same_again_changes_nothing_and_does_not_touch_the_file(readme):
    path = readme(f"{BEGIN}\n{END}\n")
    assert Splice(path, "todos").replace("text", "plimsoll report todos")
    os.utime(path, (1, 1))
    assert not Splice(path, "todos").replace("text", "plimsoll report todos")
    assert Path(path).stat().st_mtime == 1


def test_an_empty_block_and_one_at_the_very_end_of_a_file(readme):
    path = readme(f"{BEGIN}\n{END}")
    Splice(path, "todos").replace("text", "")
    assert text_of(path) == f"{BEGIN}\n\ntext\n\n{END}"


def test_line_ends_are_those_of_the_file(readme):
    path = readme(f"a\r\n{BEGIN}\r\nold\r\n{END}\r\nb\nc\r\n")
    Splice(path, "todos").replace("x\ny", "")
    assert text_of(path) == f"a\r\n{BEGIN}\r\n\r\nx\r\ny\r\n\r\n{END}\r\nb\nc\r\n"


def test_bytes_that_look_like_ends_of_lines_stay(readme):
    head = "\ufeffone\u2028two\x0cthree\x85\n"
    path = readme(f"{head}{BEGIN}\n{END}\n")
    Splice(path, "todos").replace("x", "")
    assert text_of(path).startswith(head)


def test_a_command_cannot_end_the_marker(readme):
    path = readme(f"{BEGIN}\n{END}\n")
    Splice(path, "todos").replace("x", "plimsoll report 'a --> b'\n")
    assert text_of(path).splitlines()[0] == "<!-- plimsoll:begin todos: plimsoll report 'a --&gt; b' -->"
    assert not Splice(path, "todos").replace("x", "plimsoll report 'a --> b'")


def test_markers_in_code_are_examples(readme):
    path = readme(f"````md\n```\n{BEGIN}\n{END}\n````\n~~~\n{BEGIN}\n~~~\n{BEGIN}\nold\n{END}\n")
    Splice(path, "todos").replace("new", "")
    assert text_of(path).count(BEGIN) == 3
    assert "old" not in text_of(path)


def test_the_depth_of_the_heading_above(readme):
    path = readme(f"# A\n```\n# no heading\n```\n### B ###\n{BEGIN}\n## inner\n{END}\n")
    assert Splice(path, "todos").under == 3
    assert Splice(readme(f"{BEGIN}\n{END}\n"), "todos").under == 0


def test_other_blocks_are_left_alone(readme):
    path = readme(f"<!-- plimsoll:begin a -->\n1\n<!-- plimsoll:end a -->\n{BEGIN}\n2\n{END}\n")
    Splice(path, "todos").replace("3", "")
    assert text_of(path).startswith("<!-- plimsoll:begin a -->\n1\n<!-- plimsoll:end a -->\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing\n", "README.md: no block todos; put these two lines where it is to be: "
                      "<!-- plimsoll:begin todos --> and <!-- plimsoll:end todos -->"),
        (f"x\n{BEGIN}\n", "README.md:2: block todos never ends; add <!-- plimsoll:end todos -->"),
        (f"{END}\n{BEGIN}\n", "README.md:1: block todos ends before it begins"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "README.md:2: block todos begins again; it began in line 1"),
        (f"{BEGIN}\n{END}\n\n{BEGIN}\n{END}\n", "README.md:4: block todos begins again; it began in line 1"),
        (f"{BEGIN}\n{END}\n{END}\n", "README.md:3: block todos ends again; it ended in line 2"),
        (f"{BEGIN}\n<!-- plimsoll:begin a -->\n<!-- plimsoll:end a -->\n{END}\n",
         "README.md:2: block a begins within block todos, and would be overwritten"),
        ("<!-- plimsoll:begin -->\n", "README.md:1: the marker names no block: <!-- plimsoll:begin NAME -->"),
    ],
)  # fmt: skip
def test_mistakes_name_the_line(readme, text, message):
    with pytest.raises(UsageError) as caught:
        Splice(readme(text), "todos")
    assert str(caught.value).endswith(message)


def test_files_that_cannot_be_read(tmp_path, readme):
    with pytest.raises(UsageError, match=r"none.md: cannot be read: No such file"):
        Splice(tmp_path / "none.md", "todos")
    (tmp_path / "latin.md").write_bytes(b"\xe4")
    with pytest.raises(UsageError, match=r"latin.md: not UTF-8 at byte 0"):
        Splice(tmp_path / "latin.md", "todos")
    with pytest.raises(UsageError, match="a block cannot be called"):
        Splice(readme(""), "a b")


def test_rights_and_links_stay_and_nothing_is_left_behind(tmp_path, readme):
    path = readme(f"{BEGIN}\n{END}\n")
    Path(path).chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to("README.md")
    Splice(link, "todos").replace("new", "")
    assert link.is_symlink()
    assert "new" in text_of(path)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["README.md", "link.md"]


def test_a_file_that_cannot_be_replaced_is_as_it_was(tmp_path, readme, monkeypatch):
    path = readme(f"{BEGIN}\n{END}\n")
    splice = Splice(path, "todos")
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(PlimsollError, match=r"cannot write .*README\.md: No space left"):
        splice.replace("new", "")
    assert text_of(path) == f"{BEGIN}\n{END}\n"
    assert [each.name for each in tmp_path.iterdir()] == ["README.md"]
