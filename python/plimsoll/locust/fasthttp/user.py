"""FastHttpUser: Locust's second HTTP user, with the quirks of its client and the same engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.users.rest import GrpcMixin, RestMixin
from plimsoll.users.user import User, required_host

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.locust.fasthttp.session import FastHttpSession
    from plimsoll.users.user import UserEnvironment


class FastHttpUser(User, RestMixin[Any], GrpcMixin):
    """A user whose `client` is a FastHttpSession. Its settings are class attributes; times are seconds."""

    abstract = True

    network_timeout: float = 60.0
    """Limit for each wait for bytes, as in Locust."""
    connection_timeout: float = 60.0
    """Limit for connecting."""
    timeout: float | None = None
    """Limit for a whole request including redirects. Locust has none."""
    max_redirects: int = 30
    max_retries: int = 0
    insecure: bool = True
    """Do not check certificates."""
    default_headers: Mapping[str, str] | None = None
    """Sent with every request."""
    concurrency: int = 10
    """Accepted and unused: each greenlet of user code sends at once, over its own connection."""
    http2: bool = False
    """Speak HTTP/2, and nothing else."""
    users_per_connection: int = 1
    """With HTTP/2: how many users of this class share a connection."""
    proxy_host: str | None = None
    proxy_port: int | None = None

    client_pool: Any = None
    """Accepted and unused: the engine keeps separate connections for each user."""
    ssl_context_factory: Callable[[], Any] | None = None
    """Accepted and unused: the engine does TLS; see `insecure`."""

    client: FastHttpSession

    @classmethod
    def import_client(cls) -> None:
        import plimsoll.locust.fasthttp.session  # noqa: F401

    def __init__(self, environment: UserEnvironment) -> None:
        super().__init__(environment)
        host = required_host(self)
        from plimsoll.locust.fasthttp.session import FastHttpSession

        self.client = FastHttpSession(
            base_url=host,
            request_event=environment.events.request,
            user=self,
            network_timeout=self.network_timeout,
            connection_timeout=self.connection_timeout,
            timeout=self.timeout,
            max_redirects=self.max_redirects,
            max_retries=self.max_retries,
            insecure=self.insecure,
            concurrency=self.concurrency,
            headers=self.default_headers,
            proxy_host=self.proxy_host,
            proxy_port=self.proxy_port,
        )
