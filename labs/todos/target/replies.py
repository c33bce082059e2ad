"""Renders responses as JSON: by FastAPI, or by orjson."""

from typing import Any

import orjson
from fastapi import APIRouter
from starlette.responses import JSONResponse

from .variants import Variant


class OrjsonResponse(JSONResponse):
    """The same as FastAPI's deprecated ORJSONResponse: the response model becomes Python objects, which orjson renders.
    Without a response class, FastAPI lets pydantic write the JSON directly."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def api_router(variant: Variant) -> APIRouter:
    """An empty router with the variant's response class."""
    return APIRouter(default_response_class=OrjsonResponse) if variant.orjson else APIRouter()
