"""How replies become JSON: by FastAPI itself, or by orjson."""

from typing import Any

import orjson
from fastapi import APIRouter
from starlette.responses import JSONResponse

from .variants import Variant


class OrjsonResponse(JSONResponse):
    """What FastAPI's ORJSONResponse was, before it was deprecated: the reply's model is turned into Python objects, and
    orjson renders those. Without a response class FastAPI lets pydantic write the JSON at once."""

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content)


def api_router(variant: Variant) -> APIRouter:
    """An empty router whose routes reply as the variant says."""
    return APIRouter(default_response_class=OrjsonResponse) if variant.orjson else APIRouter()
