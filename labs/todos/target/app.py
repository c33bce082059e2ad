"""The service as one ASGI application: settings → engine → routes, with the request counter around it all."""

from fastapi import FastAPI
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from . import routes_async, routes_sync
from .counter import RequestCounter
from .settings import POOL_OVERFLOW, POOL_SIZE, Settings


def create_app(settings: Settings) -> RequestCounter:
    """Build the service. `/_count` answers with the counter's figures, `/_variant` with the name of the build."""
    variant = settings.variant
    pool = {"pool_size": POOL_SIZE, "max_overflow": POOL_OVERFLOW}
    api = FastAPI(title="todos")
    if variant.asynchronous:
        api.include_router(routes_async.router(create_async_engine(settings.database_url, **pool), variant))
    else:
        api.include_router(routes_sync.router(create_engine(settings.database_url, **pool), variant))
    counter = RequestCounter(api)

    @api.get("/_count")
    async def count() -> dict[str, int]:
        return counter.requests

    @api.get("/_variant")
    async def variant_name() -> str:
        return variant.name

    return counter
