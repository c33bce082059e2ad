"""Files are written by the format of JMeter 5.6, as its SampleResultConverter has it."""

from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

T = 1_600_000_000_000
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<testResults version="1.2">\n'
HOME = f'<httpSample t="120" lt="80" ts="{T}" s="true" lb="home" rc="200" rm="OK" tn="g 1-1" by="10" ng="2" na="2"/>\n'
FAILED = f"""<httpSample t="50" ts="{T + 1000}" s="false" lb="log in" rc="500" rm="Server Error" by="20" na="3">
  <assertionResult><name>A</name><failure>true</failure><error>false</error>
    <failureMessage>no token &lt;here&gt;</failureMessage></assertionResult>
  <responseData class="java.lang.String">secret</responseData>
  <httpSample t="10" ts="{T + 1040}" s="true" lb="image" rc="200" rm="OK"/>
</httpSample>
"""
VISIT = f"""<sample t="300" ts="{T}" s="true" lb="visit" rm="Number of samples in transaction : 1, number of failing">
  <httpSample t="30" ts="{T + 1500}" s="true" lb="home" rc="200" rm="OK" by="30"/>
</sample>
"""
END = "</testResults>\n"
XML = HEAD + HOME + FAILED + VISIT + END


def test_samples_are_those_of_csv(read_text):
    (trial,) = read_text(XML, "run.jtl").trials
    home, login = trial.endpoint(("", "home")), trial.endpoint(("", "log in"))
    assert (home.requests, home.failures, home.min, home.max, home.size) == (2, 0, 30, 120, 20)
    assert [(kind.status, kind.message) for kind in login.kinds] == [(500, "no token <here>")]
    assert (trial.level, trial.duration, len(trial.endpoints)) == (Level("users", 3.0), pytest.approx(1.53), 2)
    assert trial.notes == ("1 samples of transaction controllers are left out",)


def test_a_run_that_was_killed_has_no_end(read_text):
    (trial,) = read_text(HEAD + HOME + "<httpSample t=", "run.jtl").trials
    assert (trial.total.requests, trial.notes) == (1, ("the file has no end: the run was cut off",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (XML + XML, r"holds two results of JMeter \(lines 1 and 14\): split them into one file each"),
        (HEAD + END, "holds no requests"),
        (HEAD + "<httpSample t='fast' lb='a'/>" + END, r"run\.jtl:3: elapsed: 'fast' is no number"),
        (HEAD + "<httpSample t='5' lb='a'/>" + END, r"run\.jtl:3: timeStamp: ''"),
        (HEAD + "<a></b>" + END, r"run\.jtl:3: is no XML: mismatched tag"),
        (HEAD + "<a>" * 300, r"run\.jtl:3: is not what JMeter writes: its XML is nested too deeply"),
        ("<testResults>&" + END, r"run\.jtl:1: is no XML"),
    ],
)
def test_bad_files(read_text, text, message):
    with pytest.raises(UsageError, match=message):
        read_text(text, "run.jtl")


def test_a_doctype_is_refused_because_its_entities_can_grow(read_text):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>\n'
    with pytest.raises(UsageError):
        read_text(HEAD.replace("<testResults", bomb + "<testResults") + "&b;" + END, "run.jtl")


def test_a_long_tag_is_refused_and_a_long_body_is_not(read_text, monkeypatch):
    monkeypatch.setattr("plimsoll.importers.jtl_xml._LONGEST_TOKEN", 1 << 20)
    body = f"<responseData>{'x' * (5 << 20)}</responseData>"
    assert read_text(HEAD + HOME + body + END, "run.jtl").trials[0].total.requests == 1
    with pytest.raises(UsageError, match="a tag is longer than 1 MiB"):
        read_text(HEAD + f'<httpSample lb="{"x" * (5 << 20)}"/>' + END, "run.jtl")
