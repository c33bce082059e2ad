from pathlib import Path

import pytest
from benches.readme import README, markers, splice

BEGIN, END = markers()


def test_only_what_stands_between_the_markers_changes(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n{BEGIN}old\n{END}after\n")
    splice("new", readme)
    splice("newer", readme)
    assert readme.read_text() == f"before\n{BEGIN}\nnewer\n{END}after\n"


def test_a_file_without_markers_is_left_alone(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("no markers\n")
    with pytest.raises(ValueError, match="lacks the markers"):
        splice("new", readme)
    assert readme.read_text() == "no markers\n"


def test_our_own_readme_has_them() -> None:
    text = README.read_text()
    assert text.count(BEGIN) == text.count(END) == 1
