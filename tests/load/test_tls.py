from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from plimsoll._engine import Origin
from plimsoll.errors import UsageError
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.plan_file import read_plan
from plimsoll.load.protocols.tls import check_authorities, check_own, tls_settings
from plimsoll.run.options.table import defaults
from plimsoll.run.planning import make_plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, certificate: tuple[str, str]) -> Path:
    """a.pem and a.key, both in both.pem; the key of another, one with a passphrase, and a file that is no PEM."""
    folder = tmp_path_factory.mktemp("files")
    own, key = (Path(each).read_text() for each in certificate)
    for name, text in {"a.pem": own, "a.key": key, "both.pem": own + key, "text": "hello\n"}.items():
        (folder / name).write_text(text)
    new = ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out"]
    subprocess.run([*new, folder / "other.key"], check=True, capture_output=True)
    subprocess.run([*new, folder / "locked.key", "-aes-256-cbc", "-pass", "pass:x"], check=True, capture_output=True)
    return folder


WRONG = [
    (("none.pem", None), "", "cannot read {}/none.pem: No such file or directory"),
    (("a.pem", "none.key"), "key", "cannot read {}/none.key: No such file or directory"),
    (("text", "a.key"), "", "{}/text has no certificate in PEM"),
    (("a.key", "a.pem"), "", "{}/a.key has no certificate in PEM"),
    (("a.pem", None), "", "{}/a.pem has no private key in PEM; name a file with the key, too"),
    (("a.pem", "text"), "key", "{}/text has no private key in PEM"),
    (("a.pem", "other.key"), "key", "the key in {0}/other.key is not that of the certificate in {0}/a.pem"),
    (("a.pem", "locked.key"), "key", "the key in {}/locked.key is encrypted; a key without a passphrase is needed"),
]  # fmt: skip


@pytest.mark.parametrize(("names", "field", "message"), WRONG)
def test_files_of_no_use_are_named(folder: Path, names: tuple[str, str | None], field: str, message: str) -> None:
    paths = [str(folder / name) for name in names if name]
    with pytest.raises(BadValueError) as caught:
        check_own(*paths)
    assert (caught.value.field, str(caught.value)) == (field, message.format(folder))
    # The same of an option, and of a plan by line.
    given = {**defaults(), **dict(zip(("cert", "key"), paths, strict=False))}
    with pytest.raises(UsageError) as caught_option:
        make_plan(("https://127.0.0.1:1/",), given)
    assert str(caught_option.value) == f"--{field or 'cert'}: {message.format(folder)}"
    plan = folder / "plan.toml"
    value = f'"{names[0]}"' if names[1] is None else f'["{names[0]}", "{names[1]}"]'
    plan.write_text(f'[target]\nurl = "https://h"\ncert = {value}\n[request]\nget = "/"\n')
    with pytest.raises(UsageError) as caught_plan:
        read_plan(str(plan))
    assert str(caught_plan.value) == f"{plan}:3: target.cert: {message.format(folder)}"


def test_both_forms_reach_the_engine(folder: Path) -> None:
    pair = [str(folder / "a.pem"), str(folder / "a.key")]
    both = str(folder / "both.pem")
    assert (check_own(*pair), check_own(both)) == (pair, both)
    for own in (pair, both):
        assert Origin("https://h", **tls_settings({"cert": own, "verify": pair[0]})).scheme == "https"


def test_authorities_are_certificates(folder: Path) -> None:
    path = str(folder / "a.pem")
    assert check_authorities(path) == path
    for name, message in {"a.key": "has no certificate", "none": "No such file"}.items():
        with pytest.raises(BadValueError, match=message):
            check_authorities(str(folder / name))


def planned_target(url: str, **options: object) -> dict[str, object]:
    plan, _ = make_plan((url,), {**defaults(), **options})
    assert plan.scenario is not None
    target: dict[str, object] = plan.scenario["targets"][0]
    return target


@pytest.mark.parametrize(
    ("url", "more"),
    [("https://h/", {}), ("wss://h/", {"message": "x"}), ("grpcs://h/a.B/C", {})],
)
def test_every_kind_of_url_takes_them(folder: Path, url: str, more: dict[str, object]) -> None:
    pair = [str(folder / "a.pem"), str(folder / "a.key")]
    found = planned_target(url, cacert=pair[0], cert=pair[0], key=pair[1], **more)
    assert (found["verify"], found["cert"]) == (pair[0], pair)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("https://h/",), {"key": "a.key"}, "--key goes with --cert FILE"),
        (("https://h/",), {"cacert": "a.pem", "insecure": True}, "--cacert and --insecure do not go together: "),
        (("http://h/",), {"cert": "a.pem"}, "--cert goes with a URL with TLS: https://"),
        (("https://h/",), {"cacert": "none"}, "--cacert: cannot read none: No such file"),
        ((), {"cacert": "a.pem"}, "--cacert goes with a URL: plimsoll run https://"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: tuple[str, ...], options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(arguments, {**defaults(), **options})
    assert str(caught.value).startswith(message)
