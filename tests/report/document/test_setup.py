from dataclasses import replace

from tests.report.studies import chain, imported, ladder, operations

from plimsoll.report.document.setup import LONGEST, says_changes, setup_text


def test_variants_load_repeats_length_machine_and_command():
    text = setup_text(ladder().study)
    assert text.startswith(
        "Measured: old and new, 48, 162, 336, 460 users, 5 interleaved repeats (40 runs) of 8 s after 2 s of warm-up, "
    )
    assert "Environment: machine 4 × Xeon E5-2666 v3, 7.5 GiB; kernel Linux 6.12.9; plimsoll 0.1.0." in text
    assert text.endswith("Measured by `plimsoll experiment experiment.toml`.")


def test_what_was_changed_is_said_once_where_a_variant_has_several_levels():
    study = replace(ladder().study, changes={"new": "an index on threads."})
    assert says_changes(study)
    assert " new: an index on threads. Environment: " in setup_text(study)
    assert not says_changes(chain().study), "with one level the table has a row for each variant"
    assert "LIMIT 200" not in setup_text(chain().study)


def test_operations_are_counted():
    assert setup_text(operations().study).startswith("Measured: 4 operations, 10, 30, 50 users, 12 runs of ")


def test_a_table_has_its_source():
    assert setup_text(imported().study) == "Measured: old and new, 48 users, 2 runs. Source: report.txt."


def test_long_texts_are_left_to_the_evidence():
    study = replace(ladder().study, about={"text": "x" * (LONGEST + 1)})
    assert "Environment" not in setup_text(study)
