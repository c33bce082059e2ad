from __future__ import annotations

from labs.published.__main__ import main

from plimsoll.importers.studies import find
from plimsoll.store import Store


def test_a_report_is_kept_as_a_study(tmp_path, report_path, capsys):
    store = str(tmp_path / "runs.db")
    arguments = ["--name", "todos", "--think", "0", "--variant", "step 7=both", "--store", store]
    assert main([str(report_path("003")), *arguments]) == 0
    assert "stored as todos (s" in capsys.readouterr().out
    with Store.open(store, create=False) as opened:
        study = find(opened, "todos")
    assert study.variants == (*(f"step {number}" for number in range(1, 7)), "both")


def test_what_was_skipped_is_named_with_its_line(tmp_path, report_path, capsys):
    assert main([str(report_path("000")), "--store", str(tmp_path / "runs.db")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("skipped: ")]
    assert lines[0].startswith("skipped: 000_a0b59a2107bb9b6e.txt:205: ")
    assert "run together" in lines[0]


def test_a_mistake_is_one_line(tmp_path, capsys):
    path = tmp_path / "prose.txt"
    path.write_text("no table\n")
    assert main([str(path), "--store", str(tmp_path / "runs.db")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "runs.db").exists()
