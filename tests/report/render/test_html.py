import json
import subprocess
import sys
from dataclasses import replace

import pytest
from tests.report.documents import document_of

from plimsoll.report.document.blocks import ChartSpec
from plimsoll.report.render.html import safe_json, to_json

EVIL = {"</script><!--": ["<script>", "&lt;", "\u2028\u2029", 'a"b\\']}


def with_spec(spec):
    return replace(document_of("imported"), charts=(ChartSpec("x", "X", "", spec, 100),))


def test_json_never_ends_the_element_it_stands_in():
    text = safe_json(with_spec(EVIL))
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text)["charts"][0]["spec"] == EVIL


def test_json_has_every_field_of_everything():
    document = document_of("imported")
    found = json.loads(to_json(document))
    assert (found["schema"], found["version"], found["title"]) == ("plimsoll.page", 1, document.title)
    assert [each["id"] for each in found["sections"]] == [each.id for each in document.sections]
    assert [block["type"] for each in found["sections"] for block in each["blocks"]] == [
        block.type for each in document.sections for block in each.blocks
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_an_error_and_not_a_broken_page(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(with_spec({"value": value}))


def test_whoever_asks_for_the_words_of_a_document_does_not_wait_for_what_makes_one():
    code = "import sys, plimsoll.report.document.blocks; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
