"""Locust's configuration files: defaults for the options of the command line, and the JSON of `--config-users`.

From the weakest: ~/.locust.conf, ./locust.conf, [tool.locust] of ./pyproject.toml, the file of --config. The
environment and the command line are stronger than all of them.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

Settings = dict[str, str | list[str]]
"""Values by long option name, without the dashes; a flag that is on has the value "true"."""

_LINE = re.compile(r"-*(?P<key>[^:=;#\s]+)\s*(?:(?P<sign>[:=\s])\s*(?P<value>.*?))?\s*(?:\s[;#].*)?")


def read_settings(config: str | None, home: Path, here: Path) -> Settings:
    """All files together. config: the file of --config. Raises UsageError for one that cannot be read."""
    settings: Settings = {}
    for path in (home / ".locust.conf", here / "locust.conf"):
        if path.is_file():
            settings |= _read(path)
    settings |= _pyproject(here / "pyproject.toml")
    if config is not None:
        settings |= _read(Path(config).expanduser())
    return settings


def parse(lines: Iterable[str], name: str) -> Settings:
    """`key = value`, `key: value`, `key value`, or `key` for a flag; lists as [a, b]; [sections] are ignored.

    name: of the file, for messages. Raises UsageError.
    """
    settings: Settings = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text[0] in "#;[" or text.startswith("---"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise UsageError(f"{name}:{number}: not understood: {text}")
        settings[match["key"].replace("_", "-")] = _value(match["value"], match["sign"] in (":", "="))
    return settings


def _read(path: Path) -> Settings:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    if path.suffix == ".toml":
        return _toml(text, path)
    return parse(text.splitlines(), str(path))


def _pyproject(path: Path) -> Settings:
    return _toml(path.read_text(), path) if path.is_file() else {}


def _toml(text: str, path: Path) -> Settings:
    try:
        section = tomllib.loads(text).get("tool", {}).get("locust", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return {key.replace("_", "-"): _plain(value) for key, value in section.items()}


def _plain(value: object) -> str | list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def listed(text: str) -> str | list[str]:
    """[a, b], or the same as JSON, as a list; anything else as it is. Values that JSON nests stay JSON."""
    if not (text.startswith("[") and text.endswith("]")):
        return text
    try:
        return [json.dumps(each) if isinstance(each, dict | list) else str(each) for each in json.loads(text)]
    except ValueError:
        return [_unquoted(part.strip()) for part in text[1:-1].split(",")]


def _value(text: str | None, has_sign: bool) -> str | list[str]:
    if not text:
        return "" if has_sign else "true"
    return listed(_unquoted(text))


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def user_configs(texts: Iterable[str]) -> list[dict[str, Any]]:
    """One dict per class, with its name as `user_class_name`. texts: JSON, or names of files with JSON.

    Raises UsageError.
    """
    return [config for text in texts for config in _class_settings(text)]


def _class_settings(text: str) -> list[dict[str, Any]]:
    where = "--config-users"
    if text.lstrip()[:1] not in ("{", "["):
        where = text
        try:
            text = Path(text).expanduser().read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--config-users {where}: neither JSON nor a file that can be read: {error}") from error
    try:
        found = json.loads(text)
    except ValueError as error:
        raise UsageError(f"{where}: not JSON: {error}") from error
    configs = found if isinstance(found, list) else [found]
    for config in configs:
        if not isinstance(config, dict) or not isinstance(config.get("user_class_name"), str):
            raise UsageError(f"{where}: each user class is an object with its name as user_class_name, not {config!r}")
    return configs
