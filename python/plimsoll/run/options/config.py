"""Locust's configuration files: defaults for the options of the command line, and the JSON of `--config-users`.

From the weakest: ~/.locust.conf, ./locust.conf, [tool.locust] of ./pyproject.toml, the file of --config. The
environment and the command line are stronger than all of them.
"""

from __future__ import annotations

import json
import re
import tomllib
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError
from plimsoll.load.file_access import checked

if TYPE_CHECKING:
    from collections.abc import Iterable


class FileSettings(dict[str, str | list[str]]):
    """Values by long option name, without the dashes; a flag that is on has the value "true".

    places: where each one stands, "PATH, line 3".
    """

    def __init__(self) -> None:
        super().__init__()
        self.places: dict[str, str] = {}

    def put(self, key: str, value: str | list[str], place: str) -> None:
        self[key] = value
        self.places[key] = place

    def put_all(self, others: FileSettings) -> None:
        """Those that are there already give way."""
        self.update(others)
        self.places.update(others.places)


_LINE = re.compile(r"-*(?P<key>[^:=;#\s]+)\s*(?:(?P<sign>[:=\s])\s*(?P<value>.*?))?\s*(?:\s[;#].*)?")


def read_settings(config: str | None, home: Path, here: Path) -> FileSettings:
    """All files together. config: the file of --config. Raises UsageError for one that cannot be read."""
    return _together((home / ".locust.conf", here / "locust.conf", here / "pyproject.toml"), config)


def read_named(names: Iterable[str], config: str | None) -> FileSettings:
    """The same of files that a program names, the strongest last. names: patterns; one without a file is left out."""
    patterns = [str(Path(name).expanduser()) for name in names]
    found = [path for pattern in patterns for path in sorted(glob(pattern))]  # noqa: PTH207 - it may be absolute
    return _together(map(Path, found), config)


def _together(paths: Iterable[Path], config: str | None) -> FileSettings:
    settings = FileSettings()
    for path in paths:
        if path.is_file():
            settings.put_all(_read(path))
    if config is not None:
        settings.put_all(_read(checked(Path(config).expanduser())))
    return settings


def parse(lines: Iterable[str], name: str) -> FileSettings:
    """`key = value`, `key: value`, `key value`, or `key` for a flag; lists as [a, b]; [sections] are ignored.

    name: of the file, for messages. Raises UsageError.
    """
    settings = FileSettings()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text[0] in "#;[" or text.startswith("---"):
            continue
        match = _LINE.fullmatch(text)
        if match is None:
            raise UsageError(f"{name}:{number}: not understood: {text}")
        value = _value(match["value"], match["sign"] in (":", "="))
        settings.put(match["key"].replace("_", "-"), value, f"{name}, line {number}")
    return settings


def _read(path: Path) -> FileSettings:
    if path.suffix == ".toml":
        return _toml(path)
    return parse(_text(path).splitlines(), str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def _toml(path: Path) -> FileSettings:
    text = _text(path)
    try:
        section: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    for name in ("tool", "locust"):
        section = section.get(name, {})
        if not isinstance(section, dict):
            raise UsageError(f"{path}: {name} must be a table: the options are in [tool.locust]")
    settings = FileSettings()
    for key, value in section.items():
        settings.put(key.replace("_", "-"), _plain(value), _toml_place(path, text, key))
    return settings


def _toml_place(path: Path, text: str, key: str) -> str:
    """The key's line after the header of the table; the file alone where it is written in another way."""
    head, header, table = text.partition("[tool.locust]")
    if header and (match := re.search(rf"^\s*[\"']?{re.escape(key)}[\"']?\s*=", table, re.MULTILINE)):
        return f"{path}, line {(head + header + table[: match.end()]).count(chr(10)) + 1}"
    return str(path)


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
            text = checked(Path(text).expanduser()).read_text()
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
