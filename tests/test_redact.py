from __future__ import annotations

import pytest
from tests.secrets_list import HARMLESS, SECRETS

from plimsoll.plain_text import plain_lines
from plimsoll.redact import redact, redact_options, redact_values, storable, storable_json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:8000/x?y=a@b", "http://127.0.0.1:8000/x?y=a@b"),
        ("http://ann:s3cret@example.org:8000/x", "http://ann:***@example.org:8000/x"),
        ("https://ann:p@ss:w@rd@example.org/", "https://ann:***@example.org/"),
        ("https://ghp_token@example.org/", "https://***@example.org/"),
        ("https://key:@example.org/", "https://***@example.org/"),
        ("postgresql+psycopg://ann:s3cret@db/runs", "postgresql+psycopg://ann:***@db/runs"),
        ("postgresql://ann@db/runs", "postgresql://ann@db/runs"),
        ("plimsoll run -H http://a:b@c -u 5 --store postgresql://d:e@f", None),
        ("GET 'http://a:b@c/d' failed, ask ops@example.org", "GET 'http://a:***@c/d' failed, ask ops@example.org"),
        ("no URL: a:b@c", "no URL: a:b@c"),
    ],
)
def test_passwords_in_urls_are_masked(text, expected):
    assert redact(text) == (expected or "plimsoll run -H http://a:***@c -u 5 --store postgresql://d:***@f")


@pytest.mark.parametrize(("marker", "text"), SECRETS.items())
def test_secrets_are_masked_wherever_they_stand(marker, text):
    assert marker in text
    masked = redact(text)
    assert marker not in masked
    assert "***" in masked
    assert redact(masked) == masked


@pytest.mark.parametrize(("marker", "text"), SECRETS.items())
def test_secrets_are_masked_in_lines_of_the_log(marker, text):
    assert marker not in redact(plain_lines(f"shop: about {text}")), "the log has marks in place of control characters"


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text) == text


def test_a_secret_that_begins_like_a_time_is_masked():
    assert redact("token=500ms-4f2a api_token=12h7 token=7") == "token=*** api_token=*** token=***"
    assert redact("auth=basic-4f2a auth=sigv4x token=basic") == "auth=*** auth=*** token=***"


def test_masking_twice_changes_nothing():
    once = redact("http://a:b@c and https://token@d")
    assert redact(once) == once


def test_what_a_database_refuses_is_replaced():
    assert storable("a\0b\ud800c µ") == "a\ufffdb?c µ"


def test_every_string_of_json():
    value = {"host": "http://a:b@c", "list": ["http://a:b@c", 1, None, True, 2.5], "deep": {"x\0": ("y\0",)}}
    assert storable_json(value) == {
        "host": "http://a:***@c",
        "list": ["http://a:***@c", 1, None, True, 2.5],
        "deep": {"x\ufffd": ["y\ufffd"]},
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run --password hunter2 -u 5", "run --password *** -u 5"),
        ("--api-key=abc --db_token x Shopper", "--api-key=*** --db_token *** ***"),
        ("--pin 1234 -p x", "--pin *** -p ***"),
        ("--token --users 5", "--token --users 5"),
        ("--token=x Shopper", "--token=*** Shopper"),
        ("--users 5 --name secret", "--users 5 --name secret"),
        ('--config-users [{"pin":1,"db_password":"x"}]', '--config-users [{"pin": 1, "db_password": "***"}]'),
        ('--config-users={"a":{"token":["x"]}} [x', '--config-users={"a": {"token": "***"}} [x'),
        ('--config-users [{"users":5}] {"passwd":', '--config-users [{"users":5}] {"passwd":'),
    ],
)
def test_values_of_secret_options_are_masked(words, expected):
    assert " ".join(redact_options(words.split(), {"--pin", "-p"})) == expected


def test_values_that_are_called_secret_are_masked():
    value = [{"user_class_name": "U", "Password": "x", "more": ({"api_key": {"a": 1}}, 5)}, "password"]
    masked = [{"user_class_name": "U", "Password": "***", "more": [{"api_key": "***"}, 5]}, "password"]
    assert redact_values(value) == masked
