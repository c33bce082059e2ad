"""The built files of the page."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from plimsoll.web import live_folder

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Receive, Scope, Send

FOR_EVER = "public, max-age=31536000, immutable"


def routes() -> list[BaseRoute]:
    """The page, which is not cached, and its assets, whose names change with their content."""

    def index(_: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        return FileResponse(live_folder() / "index.html", headers=headers, media_type="text/html")

    return [Route("/", index), Mount("/assets", _Assets())]


class _Assets:
    """Raises PlimsollError if the page is not built."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._files(scope, receive, send)

    @functools.cached_property
    def _files(self) -> _Immutable:
        return _Immutable(directory=live_folder() / "assets")


class _Immutable(StaticFiles):
    def file_response(self, *arguments: object, **more: object) -> Response:
        response = super().file_response(*arguments, **more)  # type: ignore[arg-type]
        response.headers["Cache-Control"] = FOR_EVER
        return response
