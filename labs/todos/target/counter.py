"""The service's own account of what reached it, to hold against what a load generator says it sent."""

from collections import Counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class RequestCounter:
    """An ASGI application around another that counts its requests by method and path template.

    Paths that begin with "/_" are the lab's own and are not counted. A request is counted before the first byte of its
    response leaves, so a response that was seen is counted.
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
            count()  # a request that got no response has arrived all the same


def template(scope: Scope) -> str:
    """The path as the route declares it ("/todos/{id}"), or as it was sent when no route took it."""
    return str(getattr(scope.get("route"), "path", scope["path"]))
