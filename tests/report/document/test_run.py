import json
from dataclasses import replace
from types import SimpleNamespace

from tests.report.documents import CONTRACT, all_of, charts_in, section, shown_charts, table

from plimsoll.record import Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.report.document.blocks import Answer, Details, Doubts, Facts, Preformatted, TableBlock
from plimsoll.report.document.run import GROWING, run_document
from plimsoll.report.document.run_tables import MOST_ROWS, machines
from plimsoll.report.render.html import to_json
from plimsoll.say.numbers import NONE
from plimsoll.say.outcome import streams_began
from plimsoll.say.validity import check_texts
from plimsoll.stats.view import RunView


def ids(document):
    return [each.id for each in document.sections]


def doubts(document):
    (block,) = section(document, "validity").blocks
    assert isinstance(block, Doubts)
    return block


def test_a_time_that_was_cut_short_is_at_least_that(view, run, valid):
    document = run_document(view, run, valid)
    requests, response = table(document, "Requests"), table(document, "Response time percentiles (ms)")
    slow = next(row for row in response.rows if row.cells[1] == "/slow")
    assert slow.cells[2:] == ("≥30\u202f000",) * 8
    assert requests.rows[-1].kind == "total"
    assert requests.rows[-1].cells[1:5] == ("Aggregated", "100 %", "217", "9")


def test_sections_stand_in_their_order(view, run, valid, invalid):
    document = run_document(view, run, invalid)
    assert ids(document) == [
        "thresholds", "findings", "numbers", "course", "percentiles", "failures", "exceptions", "validity",
        "environment", "notes",
    ]  # fmt: skip
    labels = [each.label or each.title for each in document.sections]
    assert labels == [
        "Thresholds", "Findings", "Numbers", "Time", "Percentiles", "Failures", "Exceptions", "Validity",
        "Environment", "Notes",
    ]  # fmt: skip
    assert "thresholds" not in ids(run_document(view, run, replace(valid, thresholds=())))


def test_machines_have_a_column_of_retransmissions_where_one_of_them_is_known(view, make_health):
    facts = RunFacts.from_json(
        {"cluster": {"machines": [{"host": "vm-a", "workers": [0]}, {"host": "vm-b", "workers": [1]}]}}
    )
    for worker in (0, 1):
        row = make_health(1, worker)
        row.requests = 10
        view.generator.add(row)
    described = SimpleNamespace(facts=facts)

    def last_column():
        (block,) = machines(view, described).blocks
        return block.table.columns[-1].title, [row.cells[-1] for row in block.table.rows]

    assert last_column()[0] == "CPU"
    view.generator.by_worker[1].retransmissions = 0
    assert last_column() == ("# Retrans.", [NONE, "0"])
    view.generator.by_worker[0].retransmissions = 1234
    assert last_column() == ("# Retrans.", ["1\u202f234", "0"])


def test_it_begins_with_what_was_run(view, run, valid):
    run.notes = ["after the deployment"]
    document = run_document(view, run, valid)
    assert document.title.endswith("5 users · http://127.0.0.1:8000")
    assert document.lines[0].startswith(f"run {run.id}, finished, 20")
    assert document.lines[-1] == "note: after the deployment"
    assert document.refs == (run.id,)
    answer, facts = document.head
    assert isinstance(answer, Answer)
    assert answer.sentences[0].startswith("Your code raises ZeroDivisionError: division by zero. ")
    assert isinstance(facts, Facts)
    assert facts.style == "status"
    assert [each.name for each in facts.facts] == [
        "measured", "requests", "failed", "unanswered", "requests/s", "p50", "p95", "p99",
    ]  # fmt: skip
    total = table(document, "Response time percentiles (ms)").rows[-1].cells
    values = {each.name: each.value for each in facts.facts}
    assert (values["p50"], values["p95"], values["p99"]) == tuple(f"{total[place]} ms" for place in (2, 7, 8))
    assert not document.is_growing


def test_an_invalid_run_shows_its_times_too(view, run, invalid, valid):
    assert run_document(view, run, invalid).head[1] == run_document(view, run, valid).head[1]


def test_a_time_that_is_not_clean_is_shown_with_the_generators_share(make_interval, run, valid):
    view = RunView()
    late = make_interval([40.0] * 10)
    late.service = make_interval([31.0] * 10).service
    view.add([late])
    document = run_document(view, run, valid)
    _, facts = document.head
    assert isinstance(facts, Facts)
    (p99,) = (each.value for each in facts.facts if each.name == "p99")
    assert p99 == "40.0 ms (up to 9.0 ms of it is the generator's)"
    tables = {each.table.caption: each.table for each in all_of(TableBlock, document)}
    table = tables["Response time percentiles (ms)"]
    assert set(table.rows[0].cells[2:]) == {"40.0*"}
    assert table.note == "* up to 9.0 ms of a marked time is the generator's"
    assert "*" not in str(tables["Service time percentiles (ms): what the target took"].rows)


def test_one_that_goes_on_says_so(view, run, valid):
    document = run_document(view, run, valid, is_growing=True)
    assert document.is_growing
    assert document.lines[-1] == GROWING
    assert GROWING not in run_document(view, run, valid).lines


def test_one_that_was_not_kept_has_a_page_too(view, valid):
    document = run_document(view, None, valid)
    assert document.title == "A run that was not kept"
    assert document.refs == ()
    assert document.lines == ("These numbers come from memory: the store does not have all of this run.",)
    assert "environment" not in ids(document)


def test_its_answer_says_when_streams_began_in_the_words_of_the_terminal(make_interval, run, valid):
    request, token = (make_interval([ms] * 10, method=method) for method, ms in (("POST", 9.0), ("first token", 6.0)))
    with_stream, without = RunView(), RunView()
    with_stream.add([request, token], [], [])
    without.add([request], [], [])
    (sentence,) = run_document(with_stream, run, valid).head[0].sentences
    assert sentence.endswith(". Half had their first token within 6.00 ms, 99 % within 6.00 ms.")
    assert sentence.endswith(streams_began(with_stream))
    assert "first token" not in run_document(without, run, valid).head[0].sentences[0]


def test_one_without_any_request_has_a_page_too(run, valid):
    document = run_document(RunView(), run, valid)
    assert {"validity", "numbers", "notes"} <= set(ids(document))


def test_where_the_time_went(view, run, valid):
    document = run_document(view, run, valid)
    name = next(each for each in charts_in(section(document, "percentiles").blocks) if each.startswith("parts"))
    parts = next(each for each in document.charts if each.name == name)
    assert parts.spec["encoding"]["color"]["scale"]["domain"] == ["response", "service", "lag"]


def test_an_invalid_run_has_its_reasons_and_its_numbers(view, run, valid, invalid):
    document = run_document(view, run, invalid)
    assert doubts(document).bad
    assert doubts(document).lines == tuple(check_texts((*invalid.validity.failed, *invalid.validity.remarks)))
    assert any("clock, workers" in line for line in doubts(document).small)
    assert section(document, "percentiles").blocks, "they tell what the generator's limit was"
    fine = run_document(view, run, valid)
    numbers = [each.table for each in all_of(TableBlock, fine)]
    assert numbers == [each.table for each in all_of(TableBlock, document) if each.table.caption != "Thresholds"]
    assert doubts(fine).small[0] == "Checks passed: 1."


def test_what_was_hidden_is_told(view, run, valid, omission):
    document = run_document(view, run, replace(valid, omission=omission))
    assert doubts(document).small[-3].startswith("coordinated omission: the target stalled")


def test_exceptions_and_failures_are_there(view, run, valid):
    document = run_document(view, run, valid)
    (folded,) = section(document, "exceptions").blocks
    assert isinstance(folded, Details)
    assert folded.summary == "8 × ZeroDivisionError: division by zero"
    assert folded.soft.startswith("/home/ann/load/locustfile.py:12")
    (text,) = folded.blocks
    assert isinstance(text, Preformatted)
    assert "ZeroDivisionError: division by zero" in text.text
    kinds = table(document, "Failures by kind, and the time until they failed")
    messages = table(document, "Failures by message")
    assert [row.cells[0] for row in kinds.rows] == ["connect", "http", "timeout"]
    assert {row.cells[1] for row in messages.rows} == {"http", "connect"}
    assert [each.split("-")[0] for each in charts_in(section(document, "failures").blocks)] == ["failures"]


def test_failures_beyond_the_limit_are_counted(view, run, valid):
    view.add([], [], [Failure("GET", "/x", "http", f"message {place}", 1, 1.0, 2.0) for place in range(600)])
    messages = table(run_document(view, run, valid), "Failures by message")
    assert len(messages.rows) == 500
    assert messages.note == "102 more; `plimsoll show RUN --json` has all."


def test_where_messages_differ_the_first_stands_beside_what_they_have_in_common(run, valid):
    view = RunView()
    one = Failure("GET", "/x", "reset", "took [number] s", 3, 1.0, 2.0, "took 1.5 s")
    view.add([], [], [one])
    messages = table(run_document(view, run, valid), "Failures by message")
    assert [column.title for column in messages.columns][-1] == "Message"
    assert [row.cells[-1] for row in messages.rows] == ["took 1.5 s"]
    view.add([], [], [replace(one, example="took 1.7 s"), Failure("GET", "/x", "http", "HTTP 500", 1, 1.0, 2.0)])
    messages = table(run_document(view, run, valid), "Failures by message")
    assert [column.title for column in messages.columns][-2:] == ["Message", "First message"]
    assert [row.cells[-2:] for row in messages.rows] == [("took [number] s", "took 1.5 s"), ("HTTP 500", "")]


def test_of_too_many_endpoints_the_busiest_are_shown(make_interval, run, valid):
    view = RunView()
    view.add([make_interval([1.0] * (1 + (place > 4)), name=f"/{place:05}") for place in range(MOST_ROWS + 5)])
    document = run_document(view, run, valid)
    requests = table(document, "Requests")
    assert len(requests.rows) == MOST_ROWS + 1
    assert requests.rows[0].cells[1] == "/00005"
    assert "5 more" in requests.note
    assert next(each for each in all_of(TableBlock, document) if each.id == "requests").has_filter


def test_the_notes_begin_with_the_lines_below_the_tables_of_the_terminal(view, run, valid, invalid):
    (block,) = section(run_document(view, run, valid), "notes").blocks
    generator = next(place for place, line in enumerate(block.lines) if line.startswith("generator"))
    rank = next(place for place, line in enumerate(block.lines) if "rank" in line)
    assert generator < rank
    (open_model,) = section(run_document(view, run, invalid), "notes").blocks
    assert len(open_model.lines) == len(block.lines) + 1, "what was offered and what was sent"


def test_the_environment_is_the_manifest(view, run, valid):
    run.manifest = Manifest.from_json(
        run.manifest.to_json()
        | {"started": 1.0, "spawn_rate": 2.5, "versions": {"plimsoll": "0.1.0"}, "classes": ["A"]}
    )
    (block,) = section(run_document(view, run, valid), "environment").blocks
    assert isinstance(block, Facts)
    assert {each.name: each.value for each in block.facts} == {
        "users": "5", "host": "http://127.0.0.1:8000", "spawn rate": "2.5", "versions plimsoll": "0.1.0",
    }  # fmt: skip
    assert block.style == "manifest"


def test_it_is_what_the_page_was_promised(view, run, valid, invalid):
    for assessment in (valid, invalid):
        for growing in (False, True):
            document = run_document(view, run, assessment, is_growing=growing)
            text = to_json(document)
            assert [error.message for error in CONTRACT.iter_errors(json.loads(text))] == []
            assert shown_charts(document) <= {each.name for each in document.charts}
