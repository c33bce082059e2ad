"""What may be written down: no secrets, and only text that every database takes."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from plimsoll.plain_text import MARK, without_userinfo
from plimsoll.plain_text import MASK as MASK

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

_WORDS = (
    r"passw(?:or)?d|passphrase|passcode|pwd|secret|token|credentials?|signature|jwt|authorization|cookie|csrf|xsrf"
    r"|(?:api|access|account|private|secret|shared|signing|subscription)[-_]?key|session[-_]?id|sessid"
)
_SECRET = rf"(?:{_WORDS}|session|(?<![a-z0-9])(?:sid|sig|auth|otp))\d{{0,2}}"
"""The end of a name that stands for something secret: X-Api-Key, accessToken, db_password; not token_count, tokens."""
_SECRET_HEADER = re.compile(
    r"auth|cookie|token|key|secret|passw|pwd|session|jwt|signature|credential|csrf|xsrf", re.IGNORECASE
)
_SECRET_FIELD = re.compile(rf"{_WORDS}|{_SECRET}$|(?<![a-z])t?otp|(?<![a-z0-9])(?:pass|pin)$|^key$", re.IGNORECASE)
_SECRET_OPTIONS = frozenset({"--notify"})
"""Their values are URLs that are secret as a whole."""
_SECRET_NAME = re.compile(rf"{_SECRET}$|^-*login$", re.IGNORECASE)

# Each of these takes time in proportion to the text: it begins with something literal, and never goes far back.
_LENGTHS = r"(?:\d{1,6}(?:\.\d{1,3})?(?:ms|[smh])){1,4}(?![^\s\"',;&)])"
_METHODS = r"(?<=auth=)(?:basic|bearer|digest|kerberos|negotiate|ntlm|oauth2?|sigv4)(?![^\s\"',;&)])"
_VARIABLE = r"\$\{[\w.]+\}(?![^\s&;,\"'<>()\[\]\\])"
_KEPT = rf"(?!=|{_VARIABLE}|(?:none|null|true|false|undefined)\b|{_METHODS}|{_LENGTHS})"
"""What is no secret although its name says so: --slo first_token=500ms, auth=sigv4, csrf=${csrf}."""
_VALUE = r"(?:\$\{[\w.:]*\}|[^\s&;,\"'<>()\[\]{}\\])+"
_TELLING = r"(?=[^\s\"'<>()]*\d)[^\s\"'<>()]{6,}"
"""What is no word of a sentence."""
_BREAK = rf"(?:[\r{MARK}]?\n|\\r\\n)"
"""Of lines, also as Python prints it, and as it is in a text without control characters."""
_BEGINS_LINE = r"(?:^|(?<=[\"':]))[ \t-]{0,20}"
_MARKED = r"gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|[sr]k[-_](?:live|test|proj|ant)[-_]|sk-|AIza|npm_|hf_|SG\."
"""Beginnings of keys by which services recognize their own."""
_PATTERNS = [
    # -----BEGIN RSA PRIVATE KEY----- …
    (r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----).*?(?=-----END|\Z)", re.DOTALL),
    # JSON Web Tokens, and keys that are marked.
    (r"\b(eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?", 0),
    (r"\b(AKIA|ASIA)[A-Z0-9]{16}\b", 0),
    (rf"\b({_MARKED})[\w.-]{{16,}}", 0),
    # Authorization: Bearer …, also without the name of the header
    (r"\b((?:bearer|basic|digest)\s)(?=\S*(?:\d|[a-z](?-i:[A-Z])|=))[\w.~+/=-]{6,}", re.IGNORECASE),
    # Cookie: a=1; b=2
    (r"\b((?:(?:proxy-)?authorization|(?:set-)?cookie)\s?:\s?)[^\r\n\"'\\]+", re.IGNORECASE),
    # X-Api-Key: …, within a line, and where a line, a text or a message begins
    (rf"(?<![\w/-])(\w{{1,20}}-[\w-]{{0,60}}{_SECRET}\s?:\s?){_VALUE}", re.IGNORECASE),
    (
        rf"({_BEGINS_LINE}[\w.-]{{0,60}}{_SECRET}:[ \t]{{0,5}})[^\s\"'][^\r\n\"']*",
        re.IGNORECASE | re.MULTILINE,
    ),
    # "password": "…", ('token', b'…'), password="…", and the first in a string of JSON
    (rf"({_SECRET}(?:[\"']\s?[:,=]|\s?[:=])\s?b?\")(?:[^\"\\]|\\++.)*+", re.IGNORECASE | re.DOTALL),
    (rf"({_SECRET}(?:[\"']\s?[:,=]|\s?[:=])\s?b?')(?:[^'\\]|\\++.)*+", re.IGNORECASE | re.DOTALL),
    (rf"({_SECRET}\\+[\"']\s?[:,]\s?\\+[\"'])[^\"'\\]*+", re.IGNORECASE),
    # password=…, password%3D…, user[password]=…, "token": 123456
    (rf"({_SECRET}(?:=|\]=|%5d=|%3d|[\"']\s?:\s?(?=\d))){_KEPT}{_VALUE}", re.IGNORECASE),
    # secret = …, of settings; `session = f(x)` is somebody's code
    (rf"((?:passw(?:or)?d|passphrase|pwd|secret|api[-_]?key)\s?=\s){_KEPT}{_VALUE}", re.IGNORECASE),
    (rf"(<(?:\w{{1,20}}:)?{_SECRET}(?:\s[^<>]{{0,200}})?>)[^<]+(?=</)", re.IGNORECASE),
    # a field of a multipart form
    (
        rf"(\bname=\\?\"[\w.-]{{0,60}}{_SECRET}\\?\"(?:(?!{_BREAK}{_BREAK}).){{0,300}}?"
        rf"{_BREAK}{_BREAK})(?:(?!{_BREAK}).)+",
        re.IGNORECASE | re.DOTALL,
    ),
    # sentences: the password 'x1', (password: abc123), auth=('ann', 'x'), ["token", "x"]
    (rf"({_SECRET}\s{{1,3}}\\?[\"'])(?=[^\"'\\\n]*\d)[^\"'\\\n]{{6,}}", re.IGNORECASE),
    (rf"({_SECRET}:\s{{1,3}}){_TELLING}", re.IGNORECASE),
    (r"(\bauth=\((?:[^()'\"]{0,2}['\"][^'\"]{0,200}['\"],\s?)?['\"])[^'\"]+", re.IGNORECASE),
    # subprotocols of WebSockets: access_token.x, base64url.bearer.authorization.k8s.io.x
    (rf"({_SECRET}(?:\.k8s\.io)?\.)(?=[\w-]*\d)[\w-]{{16,}}", re.IGNORECASE),
    # ${hmac_sha256:KEY:TEXT} of a plan, also where a URL has encoded it
    (r"(\$(?:\{|%7b)hmac_[a-z0-9_]{4,20}(?::|%3a))(?!\$\{)(?:(?!%3a|%7d)[^:}])+", re.IGNORECASE),
    # --db-password x, --user ann:x
    (rf"(--?[\w-]{{0,60}}{_SECRET}[ \t]+[\"']?)(?![-\"'])[^\s\"'<>]+", re.IGNORECASE),
    (r"(--(?:user|login)[ =][\w.@-]{1,60}:)[^\s\"'<>]+", re.IGNORECASE),
    # --out webhook=https://host/services/x, and services whose URLs are secret as a whole
    (r"(\bwebhook=https?://[^\s/\"'<>]{1,300}/)[^\s\"'<>]+", re.IGNORECASE),
    (r"(\bhooks\.slack\.com/|\bdiscord(?:app)?\.com/api/webhooks/)[^\s\"'<>]+", re.IGNORECASE),
    # ?key=… and ?code=… of URLs, where they are long
    (r"((?<=[?&])(?:key|code)=)(?=[^&\s]*\d)[^&\s\"'<>]{12,}", re.IGNORECASE),
]
_HINT = re.compile(
    rf"pass|pwd|secret|token|cred|sig|jwt|auth|cookie|csrf|xsrf|key|sess|sid|otp|hmac_|code=|hook|--user|--login|bearer|basic"
    rf"|digest|eyJ|AKIA|ASIA|-----BEGIN|{_MARKED}",
    re.IGNORECASE,
)
"""Every text with a secret outside of a URL's user information has one of these."""
_SHORTEST_KEY = 20
"""Characters of the shortest key that is recognized by itself. A shorter text that is a mere name has no secret."""


def redact(text: str) -> str:
    """The text with everything masked that looks like a secret: passwords and users in URLs, values of headers, fields
    and parameters whose names are those of secrets, tokens and private keys that can be recognized by themselves.

    Masking twice changes nothing.
    """
    text = without_userinfo(text)
    if _HINT.search(text) and not (len(text) < _SHORTEST_KEY and text.isidentifier()):
        for pattern in _secrets():
            text = pattern.sub(rf"\g<1>{MASK}", text)
    return text


@cache
def _secrets() -> list[re.Pattern[str]]:
    """Compiled when a text may have one: that takes longer than most of the imports of a command."""
    return [re.compile(pattern, flags) for pattern, flags in _PATTERNS]


def is_secret_header(name: str) -> bool:
    """Whether the value of a header is not written down. Here doubt decides for yes."""
    return _SECRET_HEADER.search(name) is not None


def masked_headers(headers: Iterable[Sequence[str]], credentials: Container[str] = ()) -> list[list[str]]:
    """Names and values of headers, the values masked that are not written down, and what looks like a
    secret in others.

    credentials: names, in small letters, of headers that are known to carry a credential, whatever they are called.
    """
    return [
        [name, MASK if is_secret_header(name) or name.lower() in credentials else redact(value)]
        for name, value in headers
    ]


def is_secret_field(name: str) -> bool:
    """The same for a field, or a parameter, of a request."""
    return _SECRET_FIELD.search(name) is not None


def redact_options(words: Sequence[str], secret: Container[str] = ()) -> list[str]:
    """A command line with the values of options masked that are secret, or called like something that is; also within
    words that are JSON.

    secret: options with their dashes.
    """
    plain: list[str] = []
    hide = False
    for word in words:
        option, equals, value = word.partition("=")
        if not word.startswith("-"):
            plain.append(MASK if hide else _redact_json(word))
            continue
        hide = option in secret or option in _SECRET_OPTIONS or bool(_SECRET_NAME.search(option))
        plain.append(f"{option}={MASK if hide else _redact_json(value)}" if equals else word)
        hide = hide and not equals
    return plain


def redact_values(value: Any) -> Any:
    """JSON in which what is called like something secret is masked: {"password": "***"}."""
    match value:
        case dict():
            return {
                name: MASK if _SECRET_NAME.search(str(name)) else redact_values(each) for name, each in value.items()
            }
        case list() | tuple():
            return [redact_values(each) for each in value]
        case _:
            return value


def _redact_json(word: str) -> str:
    """The same for a word of a command line; other words, and those without secrets, stay as they are."""
    if not word.lstrip().startswith(("{", "[")):
        return word
    try:
        value = json.loads(word)
    except ValueError:
        return word
    plain = redact_values(value)
    return word if plain == value else json.dumps(plain, ensure_ascii=False)


def storable(text: str) -> str:
    """The text redacted, and without the code points that a database refuses (NUL, lone surrogates)."""
    return redact(text).replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any) -> Any:
    """The same for every string of a JSON value, and null for NaN and infinity, which JSON does not have."""
    match value:
        case float() if not math.isfinite(value):
            return None
        case str():
            return storable(value)
        case dict():
            return {storable(str(key)): storable_json(each) for key, each in value.items()}
        case list() | tuple():
            return [storable_json(each) for each in value]
        case _:
            return value
