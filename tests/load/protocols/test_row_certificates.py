"""Client certificates of users, as plans name them: what becomes of them, and mistakes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.protocols.tls import tls_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.load.plan_file import PlanFile

PLAN = """
[target]
url = "https://127.0.0.1:1"
cert = CERT
[feeder.people]
file = "people.csv"
FIELDS
[[request]]
get = "/"
"""


@pytest.fixture
def folder(tmp_path: Path, certificate: tuple[str, str], other_certificate: tuple[str, str]) -> Path:
    """a.pem and a.key, b.pem and b.key, and people.csv that names them."""
    for name, (own, key) in (("a", certificate), ("b", other_certificate)):
        shutil.copy(own, tmp_path / f"{name}.pem")
        shutil.copy(key, tmp_path / f"{name}.key")
        both = Path(own).read_text() + Path(key).read_text()
        (tmp_path / f"{name}.both").write_text(both)
    (tmp_path / "people.csv").write_text(
        "name,cert,key,both\na,a.pem,a.key,a.both\nb,b.pem,b.key,b.both\na,a.pem,a.key,\n"
    )
    return tmp_path


def _text(cert: str, fields: str = "") -> str:
    return PLAN.replace("CERT", cert).replace("FIELDS", fields)


@pytest.mark.parametrize(
    "cert", ['["${people.cert}", "${people.key}"]', '["${people.name}.pem", "${people.name}.key"]']
)
def test_each_row_has_its_files(plan: Callable[..., PlanFile], folder: Path, cert: str) -> None:
    scenario = plan(_text(cert)).scenario
    assert scenario is not None
    (target,) = scenario["targets"]
    rows = [[str(folder / f"{name}.pem"), str(folder / f"{name}.key")] for name in "aba"]
    assert (target["cert"], target["certs"]) == (None, {"feeder": "people", "rows": rows})
    # A question before the run, for a schema, takes the first one.
    assert tls_settings(target)["cert"] == tuple(rows[0])


def test_a_file_may_have_both(plan: Callable[..., PlanFile], folder: Path) -> None:
    scenario = plan(_text('"${people.name}.both"')).scenario
    assert scenario is not None
    path = str(folder / "b.both")
    assert scenario["targets"][0]["certs"]["rows"][1] == [path, path]


MISTAKES = [
    ('"${people.cert}"', "", ":4: target.cert: {0}/people.csv:2 of feeder people: {0}/a.pem has no private key in PEM"),
    ('"${people.both}"', "", ':4: target.cert: {0}/people.csv:4 of feeder people: "${{people.both}}" is empty'),
    ('"${people.name}.p12"', "", "{0}/people.csv:2 of feeder people: cannot read {0}/a.p12: No such file or directory"),
    ('["${people.cert}", "b.key"]', "", "the key in {0}/b.key is not that of the certificate in {0}/a.pem"),
    ('"${user}"', "", ':4: target.cert: "${{user}}" is no column of a feeder; there are people'),
    ('"${people.pem}"', "", 'names column "pem", which feeder "people" does not have; it has name, cert, key and both'),
    ('"${people.name"', "", ":4: target.cert: takes the columns of one feeder: ${{people.cert}}"),
    ('"${people.name}.both"', 'order = "random"', ":7: feeder.people.order: contradicts cert: users keep their rows"),
    ('"${people.name}.both"', 'at_end = "stop"', ":7: feeder.people.at_end: contradicts cert: users keep their rows"),
]


@pytest.mark.parametrize(("cert", "fields", "message"), MISTAKES)
def test_mistakes_are_named_with_their_row(
    plan: Callable[..., PlanFile], folder: Path, cert: str, fields: str, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        plan(_text(cert, fields))
    assert message.format(folder) in str(refused.value)


def test_a_row_of_the_plan_has_its_number(plan: Callable[..., PlanFile], folder: Path) -> None:
    text = _text('"${people.c}"').replace('file = "people.csv"', 'rows = [{ c = "a.both" }, { c = "none" }]')
    with pytest.raises(UsageError) as refused:
        plan(text)
    assert f"target.cert: row 2 of feeder people: cannot read {folder}/none" in str(refused.value)


def test_flows_need_another_feeder(plan: Callable[..., PlanFile], folder: Path) -> None:
    with pytest.raises(UsageError, match="choice: contradicts cert"):
        plan('choice = "people.name"\n' + _text('"${people.name}.both"'))


def test_tokens_that_users_share_are_not_asked_for_with_their_certificates(
    plan: Callable[..., PlanFile], folder: Path
) -> None:
    auth = 'auth = { oauth2 = { token_url = "/token", client_id = "a", client_secret = "b" } }\n'
    with pytest.raises(UsageError, match=r"auth\.oauth2\.token_url: users share tokens"):
        plan(auth + _text('"${people.name}.both"'))
