"""`plimsoll report` and `plimsoll compare` on runs that are kept, and on studies that are made for the purpose."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.studies import SAMPLES

from plimsoll.record.manifest import Manifest, StoredScenario
from plimsoll.report.sources import StudySource
from plimsoll.stats.analysis import Analysis
from plimsoll.store import Store

NOON = 1_795_176_000.0  # 2026-11-20 12:00 UTC


@pytest.fixture
def pair(plimsoll, make_interval, make_health):
    """Two finished runs of one scenario in the default store; the ids, the slower one last."""
    ids = []
    with Store.open() as store:
        for number, time in enumerate((10.0, 20.0)):
            manifest = {
                "started": NOON + 60 * number,
                "users": 5,
                "model": "closed",
                "scenario": {"name": "locustfile.py"},
            }
            writer = store.start_run(Manifest.from_json(manifest))
            for second in range(10):
                intervals = [
                    make_interval([time] * 60, second=second, name="/todos"), make_interval([time], second=second),
                ]  # fmt: skip
                writer.commit(intervals, [make_health(second, users=5, lag_us=[3], delay_us=[3])])
            writer.finish("finished", NOON + 10, [])
            ids.append(writer.id)
    return ids


@pytest.fixture
def analysed(monkeypatch, stored_run_ids):
    """plimsoll report NAME tells the sample of this name, perhaps changed."""

    def use(analysis: Analysis) -> None:
        source = StudySource(analysis)
        target = "plimsoll.cli.parts.reporting.opened_study"
        monkeypatch.setattr(target, lambda refs, store, renames: nullcontext(source))

    return use


def test_one_run(plimsoll, pair):
    result = plimsoll("report", pair[0])
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[2].startswith(f"run {pair[0]}, finished, ")
    assert "measured: 10 s; requests: 610; failed: none" in result.stdout.replace("\n", " ")
    assert f"Report by: plimsoll report {pair[0]}" in result.stdout
    assert "\x1b" not in result.stdout


def test_two_runs_are_compared(plimsoll, pair):
    result = plimsoll("compare", *pair, "--format", "json")
    found = json.loads(result.stdout)
    each = next(each for each in found["comparisons"] if (each["name"], each["metric"]["text"]) == ("/todos", "p50"))
    assert (each["a"], each["b"], each["word"]) == (*pair, "one run")
    assert each["ratio"] == pytest.approx(2.0, rel=0.01)
    assert [variant["name"] for variant in found["study"]["variants"]] == pair
    assert any("were not run side by side" in warning for warning in found["study"]["warnings"])


def test_report_on_several_is_the_same_as_compare(plimsoll, pair):
    one, other = plimsoll("report", *pair, "--format", "csv"), plimsoll("compare", *pair, "--format", "csv")
    assert one.stdout_bytes == other.stdout_bytes
    assert len(list(csv.DictReader(io.StringIO(one.stdout)))) == 6


@pytest.fixture
def other_tool(tmp_path):
    """A result of vegeta, whose endpoints have no names."""
    path = tmp_path / "vegeta.csv"
    lines = [
        f"{int((NOON + number / 10) * 1e9)},200,15000000,0,5,,,a,{number},GET,http://h/x," for number in range(100)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_an_endpoint_with_another_name_is_compared(plimsoll, pair, other_tool):
    result = plimsoll("compare", str(other_tool), pair[0], "--rename", "http://h/x=/todos", "--format", "json")
    assert result.exit_code in (0, 3), result.output
    found = json.loads(result.stdout)
    each = next(each for each in found["comparisons"] if (each["name"], each["metric"]["text"]) == ("/todos", "p50"))
    assert each["ratio"] == pytest.approx(10 / 15, rel=0.01)
    text = plimsoll("compare", str(other_tool), pair[0], "--rename", "http://h/x=/todos", "--format", "md").stdout
    assert "--rename http://h/x=/todos" in " ".join(text.split())


@pytest.mark.parametrize(
    ("rename", "message"),
    [
        (
            "/todo=/x",
            "--rename /todo=…: no endpoint has this name. Did you mean /todos? There are GET / and GET /todos",
        ),
        ("/todos", "--rename takes OLD=NEW, not /todos"),
        ("/todos=/", "would both be GET /; their percentiles cannot be those of one endpoint"),
    ],
)
def test_a_rename_that_cannot_be_is_a_usage_error(plimsoll, pair, rename, message):
    result = plimsoll("compare", *pair, "--rename", rename)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_single_result_has_nothing_to_rename_for(plimsoll, pair):
    result = plimsoll("report", pair[0], "--rename", "/todos=/x")
    assert result.exit_code == 2
    assert "--rename is for results that are compared" in result.stderr


def test_the_name_of_the_file_tells_the_format(plimsoll, pair, tmp_path):
    Path("out").mkdir()
    result = plimsoll("report", "last", "-o", "out/run.md")
    assert (result.exit_code, result.stdout) == (0, "out/run.md\n")
    text = (tmp_path / "out" / "run.md").read_text()
    assert "| GET    | /todos " in text
    assert "Report by: plimsoll report last -o out/run.md" in text


def test_a_block_in_a_readme(plimsoll, pair, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("# Mine\n\n## Load\n\n<!-- plimsoll:begin load -->\n<!-- plimsoll:end load -->\n\n## End\n")
    arguments = ("report", pair[0], "--splice", "README.md", "--block", "load")
    first = plimsoll(*arguments)
    assert (first.exit_code, first.stdout) == (0, "README.md: block load written\n")
    text = readme.read_text()
    assert f"<!-- plimsoll:begin load: plimsoll {' '.join(arguments)} -->\n\nrun {pair[0]}, finished, " in text
    assert text.endswith("<!-- plimsoll:end load -->\n\n## End\n")
    assert plimsoll(*arguments).stdout == "README.md: block load is as it was\n"
    assert readme.read_text() == text


def test_charts_beside_a_readme(plimsoll, pair, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"<!-- plimsoll:begin {pair[0]} -->\n<!-- plimsoll:end {pair[0]} -->\n")
    Path("docs").mkdir()
    result = plimsoll("report", pair[0], "--splice", "README.md", "-o", "docs/charts/")
    assert result.exit_code == 0, result.output
    linked = [line.rsplit("(", 1)[1].rstrip(")") for line in readme.read_text().splitlines() if line.startswith("![")]
    assert linked
    assert all((tmp_path / path).is_file() for path in linked)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["last", "--splice", "README.md"], "README.md: cannot be read: No such file or directory"),
        (
            ["last", "--splice", "x", "--format", "html"],
            "--splice writes Markdown, so --format html does not go with it",
        ),
        (
            ["last", "--splice", "x", "-o", "y.md"],
            "--splice says where the report goes; -o y.md could only be a folder",
        ),
        (["last", "--block", "x"], "--block is the name of a block in the file that --splice names"),
        (["last", "--table", "findings"], "--table is for --format csv, not text"),
        (["last", "--format", "svg"], "--format svg writes several files: say into which folder, with -o FOLDER/"),
        (
            ["last", "-o", "x.foo"],
            "-o x.foo: no format has the ending .foo; known are .bmf.json, .txt, .xml, .json, .csv, .html, ",
        ),
        (
            ["last", "-o", "no/x.html"],
            "-o: cannot write no/x.html: there is no folder no; make it first, or choose another",
        ),
        (["last", "--format", "md", "-o", "no/report/"], "there is no folder no; make it first, or choose another"),
        (["last", "--format", "pdf"], "invalid value for '--format'"),
        (["nothing"], "has no run 'nothing'"),
        ([], "missing argument 'REF...'"),
        (["last", "last"], "was given twice: it cannot be compared with itself"),
    ],
)
def test_mistakes(plimsoll, pair, arguments, message):
    result = plimsoll("report", *arguments)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert result.stderr.startswith("plimsoll: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [["svg", "-o", "charts/"], ["png", "-o", "charts/"], ["md", "-o", "report/"]])
def test_without_the_library_that_draws(plimsoll, pair, monkeypatch, arguments):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    result = plimsoll("report", "last", "--format", *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("plimsoll: SVG and PNG need vl-convert: pip install 'plimsoll-lab[pictures]'")
    assert not list(Path().glob("*/*.svg"))
    for format in ("html", "md"):
        assert plimsoll("report", "last", "--format", format).exit_code == 0


def test_without_a_store(plimsoll):
    result = plimsoll("report", "last")
    assert result.exit_code == 2
    assert "no store at" in result.stderr


def test_runs_that_have_nothing_in_common(plimsoll, pair, make_interval):
    with Store.open() as store:
        writer = store.start_run(Manifest(started=NOON + 300, users=5, scenario=StoredScenario(name="other.py")))
        writer.commit([make_interval([1.0], name="/a"), make_interval([1.0], name="/b")], [])
        writer.finish("finished", NOON + 301, [])
    result = plimsoll("compare", pair[0], "last")
    assert result.exit_code == 2
    assert "they have no endpoint in common, so these runs did not do the same" in result.stderr


def test_an_invalid_run_has_no_success_to_report(plimsoll, make_interval, make_health):
    with Store.open() as store:
        writer = store.start_run(
            Manifest(started=NOON, users=5, model="closed", scenario=StoredScenario(name="locustfile.py"))
        )
        for second in range(10):
            writer.commit([make_interval([10.0] * 60, second=second)], [make_health(second, users=5, exhausted=1)])
        writer.finish("finished", NOON + 10, [])
    result = plimsoll("report", "last")
    assert result.exit_code == 3
    assert "INVALID: the load was not the load asked for (exhausted)" in result.stdout


@pytest.mark.parametrize(
    ("sample", "arguments", "code"),
    [
        ("ladder", [], 0),
        ("ladder", ["--fail-on", "regression"], 1),
        ("operations", ["--fail-on", "regression"], 0),
        ("rates", [], 3),
    ],
)
def test_exit_codes(plimsoll, analysed, sample, arguments, code):
    analysed(SAMPLES[sample]())
    assert plimsoll("report", sample, *arguments).exit_code == code


def test_what_is_better_passes(plimsoll, analysed):
    sample = SAMPLES["ladder"]()
    better = (replace(each, ratio=2.0 if each.metric.more_is_better else 0.5) for each in sample.comparisons)
    analysed(Analysis(sample.study, (), tuple(better)))
    assert plimsoll("report", "x", "--fail-on", "regression").exit_code == 0


def test_a_file_needs_no_store(plimsoll, tmp_path):
    rows = "".join(f"{build},/a,1000,{size}\n" for build, size in (("old", 5000), ("new", 9000)))
    (tmp_path / "table.csv").write_text(f"build,name,requests,average size\n{rows}")
    result = plimsoll("report", str(tmp_path / "table.csv"), "--format", "github")
    assert result.exit_code in (0, 3), result.output
    assert "PAYLOAD" in result.stdout
    assert not (tmp_path / "plimsoll.db").exists()


def test_run_does_not_load_what_only_reports_need():
    code = (
        "import sys; import plimsoll.cli.run, plimsoll.run.planning, plimsoll.run.options.command\n"
        "print([name for name in ('scipy', 'statsmodels', 'arch', 'vl_convert', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_last_good_run_is_the_baseline(plimsoll, stored_run_ids):
    with Store.open() as store:
        store.labels.of_run(stored_run_ids[0], tags=["release"])
    found = plimsoll("compare", "--baseline", "release@{last}", "--format", "md")
    assert found.exit_code in (0, 3), found.stderr
    assert stored_run_ids[0] in found.stdout
    assert stored_run_ids[1] in found.stdout
    named = plimsoll("compare", "--baseline", stored_run_ids[0], "last", "--format", "md")
    assert named.exit_code in (0, 3)


def test_without_an_earlier_run_the_last_one_is_reported_alone(plimsoll, stored_run_ids):
    alone = plimsoll("report", "last", "--format", "md")
    found = plimsoll("compare", "--baseline", "main@{last}", "--fail-on", "regression", "--format", "md")
    assert found.exit_code == alone.exit_code
    remark = f"no earlier run of main in {Path.cwd() / 'plimsoll.db'}: nothing to compare"
    assert found.stderr == f"plimsoll: {remark}\n"
    assert "no earlier run of main in" in found.stdout
    assert found.stdout.partition("**Answer.**")[2][:200] == alone.stdout.partition("**Answer.**")[2][:200] != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["last"], "compare takes two, A and B, not 1; or --baseline REF and B"),
        (["--baseline", "last", "a", "b"], "so there is one more, not 2"),
    ],
)
def test_mistakes_with_a_baseline(plimsoll, stored_run_ids, arguments, message):
    result = plimsoll("compare", *arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert message in result.stderr
