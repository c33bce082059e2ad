"""The service's own count of requests, to compare with a load generator's."""

from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RequestCounter:
    """An ASGI middleware that counts requests by method and path template.

    Paths that begin with "/_" belong to the lab and are not counted. A request is counted before the first byte of its
    response is sent, so every response that a client sees is counted.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.requests: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith("/_"):
            await self.app(scope, receive, send)
            return
        counted = False

        def count() -> None:
            nonlocal counted
            if not counted:
                counted = True
                self.requests[f"{scope['method']} {template(scope)}"] += 1

        async def send_counted(message: Message) -> None:
            count()
            await send(message)

        try:
            await self.app(scope, receive, send_counted)
        finally:
            count()  # a request without a response has also arrived


def template(scope: Scope) -> str:
    """The declared path of the route ("/todos/{id}"), or the sent path if no route matched."""
    return str(getattr(scope.get("route"), "path", scope["path"]))
