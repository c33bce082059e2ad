import json

from plimsoll.report.page.write import safe_json


def test_json_never_ends_the_element_it_stands_in():
    evil = {"</script><!--": ["<script>", "&lt;", "\u2028\u2029", 'a"b\\']}
    text = safe_json(evil)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == evil
