from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from tests.report.studies import SAMPLES, imported, ladder

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.report.formats import FORMATS
from plimsoll.report.outputs import by_suffix, text, write
from plimsoll.report.render.illustrated import markdown_part
from plimsoll.report.sources import OutputRequest, StudySource

TEXTS = [name for name, each in FORMATS.items() if each.study is not None]


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("format", [name for name in TEXTS if name != "html"])
def test_every_format_reports_every_shape(format, sample):
    made = text(StudySource(SAMPLES[sample]()), format, OutputRequest("plimsoll report x", 80))
    # A ladder of somebody else's numbers may give nothing to annotate.
    assert made.endswith("\n") or format == "github"
    assert "nan" not in made.lower().replace("nanoseconds", "").split()


@pytest.mark.parametrize("format", [name for name in TEXTS if name not in ("html", "csv")])
def test_nothing_depends_on_when_it_is_written(format):
    request = OutputRequest("plimsoll report x", 80)
    assert text(StudySource(ladder()), format, request) == text(StudySource(ladder()), format, request)


def test_json_and_junit_can_be_read():
    assert json.loads(text(StudySource(ladder()), "json", OutputRequest("x")))["notes"][-1] == "Report by: x"
    assert ElementTree.fromstring(text(StudySource(ladder()), "junit", OutputRequest()).encode()).tag == "testsuites"


def test_the_name_of_a_file_gives_its_format():
    assert [by_suffix(each) for each in ("a.html", "a.MD", "a.json", "a.csv", "a.svg", "a", "a.pdf")] == [
        "html",
        "md",
        "json",
        "csv",
        "svg",
        None,
        None,
    ]
    assert [by_suffix(each) for each in ("a.txt", "a.xml", "a.bmf.json")] == ["text", "junit", "bmf"]  # fmt: skip


def test_a_file_in_a_missing_folder_is_refused(tmp_path):
    for path in (tmp_path / "new" / "report.md", tmp_path / "new" / "report/"):
        with pytest.raises(UsageError, match=f"there is no folder {tmp_path / 'new'}; make it first"):
            write(StudySource(ladder()), "md", str(path), OutputRequest())
    assert not (tmp_path / "new").exists()


def test_a_file_is_written(tmp_path):
    path = tmp_path / "report.md"
    assert write(StudySource(ladder()), "md", str(path), OutputRequest("plimsoll report x")) == [path]
    assert path.read_text().startswith("# permalink\n")


def test_markdown_in_a_folder_has_its_charts_beside_it(tmp_path):
    written = write(StudySource(imported()), "md", f"{tmp_path}/report/", OutputRequest())
    names = {path.name for path in written}
    report = (tmp_path / "report" / "report.md").read_text()
    assert names == {path.name for path in (tmp_path / "report").iterdir()}
    linked = {line.rsplit("(", 1)[1].rstrip(")") for line in report.splitlines() if line.startswith("![")}
    assert linked == names - {"report.md"}
    assert linked
    assert (tmp_path / "report" / next(iter(linked))).read_text().startswith("<svg")


def test_pictures_go_into_a_folder(tmp_path):
    written = write(StudySource(imported()), "png", str(tmp_path / "png"), OutputRequest())
    assert written
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    with pytest.raises(UsageError, match="say into which folder, with -o FOLDER/"):
        text(StudySource(imported()), "svg", OutputRequest())
    (tmp_path / "a.svg").write_text("")
    with pytest.raises(UsageError, match=r"a\.svg is a file; --format svg writes into a folder: -o a/"):
        write(StudySource(imported()), "svg", str(tmp_path / "a.svg"), OutputRequest())


def test_csv_in_a_folder_has_all_tables(tmp_path):
    assert sorted(path.name for path in write(StudySource(ladder()), "csv", f"{tmp_path}/", OutputRequest())) == [
        "comparisons.csv", "findings.csv", "trials.csv",
    ]  # fmt: skip


def test_other_formats_in_a_folder_have_a_name(tmp_path):
    assert [path.name for path in write(StudySource(ladder()), "junit", f"{tmp_path}/", OutputRequest())] == [
        "report.xml"
    ]


def test_a_place_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PlimsollError, match=r"cannot write .*file/x\.md: "):
        write(StudySource(ladder()), "md", str(tmp_path / "file" / "x.md"), OutputRequest())


def test_a_part_of_another_document(tmp_path):
    made = markdown_part(StudySource(imported()), OutputRequest(), 2, str(tmp_path / "charts"), "charts")
    assert "\n### Summary\n" in made
    assert "\n# " not in f"\n{made}"
    assert "](charts/" in made
    assert any((tmp_path / "charts").iterdir())
    assert "![" not in markdown_part(StudySource(imported()), OutputRequest(), 1, None, None)
