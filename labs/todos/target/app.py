"""The service as one ASGI application: settings → engines → routes, inside the request counter."""

from fastapi import APIRouter, FastAPI
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine

from . import routes_async, routes_lab, routes_sync
from .counter import RequestCounter
from .databases import Databases
from .settings import POOL_OVERFLOW, POOL_SIZE, Settings
from .variants import Handlers


def create_app(settings: Settings, databases: Databases) -> RequestCounter:
    """Build the service. Only its own routes are counted; the lab's begin with "/_"."""
    api = FastAPI(title="todos")
    counter = RequestCounter(api)
    api.include_router(todos_router(settings))
    api.include_router(routes_lab.router(databases, counter))
    return counter


def todos_router(settings: Settings) -> APIRouter:
    """The service's routes, over one pool of connections per database."""
    pool = {"pool_size": POOL_SIZE, "max_overflow": POOL_OVERFLOW}
    variant = settings.variant
    make_engine = create_async_engine if variant.handlers is Handlers.ASYNC else create_engine
    writes = make_engine(settings.primary_url, **pool)
    reads = make_engine(settings.replica_url, **pool) if settings.replica_url else writes
    routes = routes_async if variant.handlers is Handlers.ASYNC else routes_sync
    return routes.router(reads, writes, variant)
