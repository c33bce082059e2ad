from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.studies import SAMPLES, chain, imported

from plimsoll.say.answer.shape import changes_of, collected, facts_of, shape_of
from plimsoll.stats.study import Level, Study, Trial


@pytest.mark.parametrize("name", ["ladder", "operations", "chain", "rates"])
def test_the_shape_can_be_facts_of_from_the_trials(name):
    study = SAMPLES[name]().study
    assert shape_of(study) == name
    assert shape_of(replace(study, shape="auto")) == name


def test_what_is_said_wins():
    assert shape_of(replace(chain().study, shape="ladder")) == "ladder"


def test_two_versions_at_one_level_are_a_ladder_of_one_rung():
    assert shape_of(imported().study) == "ladder"
    assert shape_of(Study("s", (Trial(id="1", variant="a", level=Level("users", 5)),))) == "operations"


def test_what_changed_is_the_studys_word_before_that_of_a_run():
    study = chain().study
    assert changes_of(study) == {"index": "an index on created_at", "async": "async handlers", "limit": "LIMIT 200"}
    assert changes_of(replace(study, changes={"index": "other"}))["index"] == "other"


def test_collected_texts_and_other_facts():
    trials = (
        Trial(
            id="1", variant="a", collected={"explain": "Seq Scan"}, facts={"rows": 1.0, "plan": "x\ny", "changes": "c"}
        ),
        Trial(id="2", variant="a", collected={"explain": "other"}, facts={"rows": 2.0}),
        Trial(id="3", variant="b", facts={"rows": 9.0}),
    )
    study = Study("s", trials)
    assert collected(study, "a") == {"explain": "Seq Scan", "plan": "x\ny"}
    assert facts_of(study, "a") == {"rows": (1.0, 2.0)}
