from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from tests.importers import (
    test_gatling,
    test_ghz,
    test_hdr,
    test_hey,
    test_jtl,
    test_jtl_xml,
    test_k6,
    test_phout,
    test_vegeta,
    test_wrk,
)
from tests.importers.language_models import test_aiperf, test_guidellm, test_vllm_bench
from tests.long_texts import ALPHABETS, LENGTH, count_steps, long_text

from plimsoll.errors import UsageError
from plimsoll.importers import IMPORTERS, Importer, read, reading
from plimsoll.importers.options import ImportOptions
from plimsoll.importers.result_file import ResultFile
from plimsoll.importers.single import number, study_of_run
from plimsoll.stats.study import Level, Measured, Study

NS = test_vegeta.NS
SAMPLES = {
    "Locust CSV": "Type,Name,Request Count,Failure Count\nGET,/,3,0\n",
    "k6 points, JSON": "\n".join(test_k6.POINTS),
    "k6 points, CSV": "metric_name,timestamp,metric_value,status\nhttp_req_duration,1795176000,5,200\n",
    "k6 summary": '{"metrics": {"http_req_duration": {"avg": 1}}, "root_group": {}}',
    "vegeta report, text": test_vegeta.TEXT,
    "vegeta report, JSON": '{"latencies": {"50th": 1, "max": 2}, "bytes_in": {"mean": 1}, "duration": 5, "wait": 1, '
    '"requests": 1, "rate": 1, "status_codes": {"200": 1}}',
    "vegeta results": f"{NS},200,1000,0,0,,,a,0,GET,/,\n",
    "wrk, wrk2": test_wrk.WRK2,
    "ghz summary": test_ghz.TEXT,
    "ghz JSON": json.dumps(test_ghz.document(test_ghz.DETAILS)),
    "oha JSON": '{"summary": {"successRate": 1, "total": 2}, "statusCodeDistribution": {"200": 1}}',
    "hey or oha CSV": "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0,0,0,0,1,1,200\n",
    "hey or oha summary": test_hey.HEY,
    "JMeter JTL": "\n".join([test_jtl.TITLES, *test_jtl.ROWS]),
    "JMeter JTL, XML": test_jtl_xml.XML,
    "Gatling simulation.log, text": test_gatling.TEXT,
    "Gatling simulation.log, binary": test_gatling.binary("3.15.1", *test_gatling.RECORDS),
    "HdrHistogram log": f"{test_hdr.HEAD}1.0,1.0,5.0,{test_hdr.foreign([5_000_000])}\n",
    "HdrHistogram percentiles": "Value Percentile TotalCount 1/(1-Percentile)\n1.0 1.0 1 inf\n",
    "vLLM bench serve": json.dumps(test_vllm_bench.SUMS | test_vllm_bench.DETAILS),
    "GuideLLM benchmarks": test_guidellm.report(test_guidellm.benchmark(test_guidellm.CONCURRENT)),
    "AIPerf records": "\n".join(test_aiperf.RECORDS),
    "AIPerf, GenAI-Perf summary": json.dumps(test_aiperf.SUMMARY),
    "phout": test_phout.line(1_795_176_000.0, "", 100, 0, 200),
    "tables in text, Markdown or CSV": "Name | p50 | p99\n---|---|---\n/a | 1 | 2\n",
}


def content(name):
    sample = SAMPLES[name]
    return sample if isinstance(sample, bytes) else sample.encode()


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda each: each.name)
@pytest.mark.parametrize("packed", [False, True])
def test_each_format_is_told_by_its_contents(tmp_path, importer, packed):
    path = tmp_path / "results"
    path.write_bytes(gzip.compress(content(importer.name)) if packed else content(importer.name))
    takers = [each.name for each in IMPORTERS[:-1] if each.sniff(ResultFile(path))]
    assert takers == [importer.name] * (importer is not IMPORTERS[-1])
    study = read(path, name="x", think=0.5)
    assert (study.name, study.source) == ("x", str(path))
    assert all(trial.think == 0.5 for trial in study.trials)


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda each: each.name)
def test_variant_and_operation_can_be_told_of_each(tmp_path, importer):
    path = tmp_path / "results"
    path.write_bytes(content(importer.name))
    (trial,) = read(path, variant="new", operation="buy", users=9).trials
    assert (trial.variant, trial.operation, trial.users, trial.offered) == ("new", "buy", 9, None)
    (trial,) = read(path, variant=["new"], operation=["buy"], rate=9).trials
    assert (trial.variant, trial.operation, trial.users, trial.offered) == ("new", "buy", None, 9)
    assert (trial.level.unit, trial.level.value) == ("/s", 9)


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda each: each.name)
def test_no_file_that_ends_early_brings_a_traceback(tmp_path, importer):
    whole = content(importer.name)
    path = tmp_path / "results"
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        path.write_bytes(whole[:end])
        try:
            read(path)
        except UsageError as error:
            assert str(error).startswith((str(tmp_path), "results:")), error


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda each: each.name)
def test_no_file_with_other_numbers_brings_a_traceback(tmp_path, importer):
    whole = content(importer.name)
    path = tmp_path / "results"
    for old, new in ((b"0", b"x"), (b"1", b"-1"), (b":", b""), (b",", b",,"), (b"2", b"null"), (b"0", b"1e999")):
        path.write_bytes(whole.replace(old, new))
        try:
            read(path)
        except UsageError as error:
            assert str(error)


def test_utf_16_with_a_mark_and_utf_8_with_one(tmp_path):
    text = "Name | p50 | p99\n---|---|---\n/ä | 1 | 2\n"
    for encoding in ("utf-16", "utf-8-sig", "utf-8"):
        path = tmp_path / "report.md"
        path.write_bytes(text.encode(encoding))
        assert read(path).trials[0].endpoints[0].name == "/ä"


def test_text_in_another_encoding_names_the_line(tmp_path):
    path = tmp_path / "report.md"
    path.write_bytes("first\nName | p50 | p99\n/ä | 1 | 2\n".encode("latin-1"))
    with pytest.raises(UsageError, match=r"report\.md:3: is not UTF-8 text"):
        read(path)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(UsageError, match=r"none\.csv: No such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "x.gz").write_bytes(gzip.compress(os.urandom(5000))[:3000])
    with pytest.raises(UsageError, match=r"x\.gz: is gzipped, and damaged"):
        read(tmp_path / "x.gz")


def test_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "report.md"
    path.write_text("x\n" * 100)
    with pytest.raises(UsageError, match="is larger than"):
        ResultFile(path, most_text=50).text()
    with pytest.raises(UsageError, match=r"report\.md:26: the file is larger"):
        list(ResultFile(path, most_bytes=50).lines())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"users": 0}, "users: must be greater than 0"),
        ({"duration": float("nan")}, "duration: must be greater than 0"),
        ({"think": -1}, "think: must not be less than 0"),
        ({"users": 5, "rate": 5}, "a closed model has users, an open one a rate"),
        ({"unit": "fortnight"}, "unit: must be one of ns, us, ms, s or min"),
        ({"user": 5}, "'user' is no option of an import; there are name, users"),
        ({"variant": ["a", "b"]}, r"variant: 2 names for 1 that were found \(report\)"),
    ],
)
def test_what_cannot_be_read(tmp_path, settings, message):
    path = tmp_path / "report.md"
    path.write_bytes(content(IMPORTERS[-1].name))
    with pytest.raises(UsageError, match=message):
        read(path, **settings)


def test_every_importer_is_in_the_guide():
    guide = (Path(__file__).parents[2] / "docs/guides/importing.md").read_text()
    for importer in IMPORTERS:
        assert f"| {importer.name} |" in guide


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"summary": null, "x": "successRate"}', "is not what oha writes"),
        ('{"latencies": {"50th": 1}, "bytes_in": {}, "requests": 1, "duration": 1}', "'status_codes' is missing"),
        ('{"metrics": {"http_req_duration": 5}}', "is not what k6 writes"),
    ],
)
def test_json_of_another_shape(tmp_path, text, message):
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        read(path)


def test_an_importer_is_one_function_to_recognize_a_file_one_to_read_it_and_one_row(tmp_path, monkeypatch):
    def is_toy(source: ResultFile) -> bool:
        return source.beginning.startswith("toy ")

    def read_toy(source: ResultFile, options: ImportOptions) -> Study:
        mean = number(source, 1, source.text().removeprefix("toy "), "mean")
        total = Measured("", "Aggregated", mean=mean)
        return study_of_run(source, options, seconds=None, total=total)

    monkeypatch.setattr(reading, "IMPORTERS", (Importer("toy", is_toy, read_toy), *IMPORTERS))
    path = tmp_path / "result.toy"
    path.write_text("toy 12.5")
    (trial,) = read(path, users=3).trials
    assert (trial.variant, trial.level, trial.total.mean) == ("result", Level("users", 3), 12.5)


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)], ids=["a fifth", "all"])
@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_a_file_with_a_long_text_in_any_line_takes_steps_in_proportion(tmp_path, importer, every):
    """No importer does more for a long text than look at each of its characters. every: one of so many combinations of
    a line, a place in it and an alphabet is tried."""
    lines = content(importer.name).splitlines(keepends=True)
    path = tmp_path / "results"
    for place, line in enumerate(lines[:12]):
        for turn, alphabet in enumerate([*ALPHABETS, "digits", "digits", "digits"]):
            if (place + turn) % every:
                continue
            cut = len(line) * ((turn + place) % 4) // 4
            long = line[:cut] + long_text(alphabet).encode() + line[cut:]
            path.write_bytes(b"".join([*lines[:place], long, *lines[place + 1 :]]))

            def read_it() -> None:
                try:
                    read(path)
                    importer.read(ResultFile(path), ImportOptions())
                except UsageError as error:
                    assert len(str(error)) < 2_000

            assert count_steps(read_it) < LENGTH, (line, alphabet)
