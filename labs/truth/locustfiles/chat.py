"""Users that read chat completions from one path, which the environment sets."""

import os
from typing import Any, ClassVar

from plimsoll import FastHttpUser, HttpUser

TARGET = os.environ["TRUTH_TARGET"]


def chat(user: HttpUser | FastHttpUser) -> None:
    with user.client.get(TARGET, stream=True, catch_response=True) as response:
        for _ in response.events("llm"):
            pass


class Plain(HttpUser):
    tasks: ClassVar[list[Any]] = [chat]


class Fast(FastHttpUser):
    tasks: ClassVar[list[Any]] = [chat]
