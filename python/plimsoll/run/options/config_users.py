"""`--config-users`: attributes of user classes, from the command line or from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def user_configs(texts: Iterable[str]) -> list[dict[str, Any]]:
    """One dict per class, with its name as `user_class_name`. texts: JSON, or names of files with JSON.

    Raises UsageError.
    """
    return [config for text in texts for config in _configs(text)]


def _configs(text: str) -> list[dict[str, Any]]:
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
