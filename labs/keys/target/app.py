"""The appliance: translates its own API to calls of the cloud service, and waits for each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from google.api_core.exceptions import GoogleAPICallError
from google.cloud import kms_v1 as kms
from pydantic import Base64Bytes, BaseModel

from .cloud import Cloud


class Labels(BaseModel):
    """The body of `PATCH /cckm/google/keys/{id}`."""

    labels: dict[str, str]


class Upload(BaseModel):
    """The body of `POST /cckm/google/upload-key`."""

    material: Base64Bytes
    """32 bytes."""


def create_app(address: str) -> FastAPI:
    """address: `HOST:PORT` of the cloud service. `/_keys` returns the number of keys."""
    cloud = Cloud(address)

    @asynccontextmanager
    async def connected(_: FastAPI) -> AsyncIterator[None]:
        await cloud.connect()
        yield
        await cloud.close()

    api = FastAPI(title="keys", lifespan=connected)

    @api.exception_handler(GoogleAPICallError)
    async def refused(_: Request, error: GoogleAPICallError) -> JSONResponse:
        status = error.grpc_status_code.name if error.grpc_status_code else "UNKNOWN"
        code = int(error.code) if error.code else 502
        return JSONResponse({"detail": {"status": status, "message": error.message}}, code)

    @api.get("/_keys")
    async def count() -> int:
        return await cloud.count()

    @api.post("/cckm/google/upload-key", status_code=201)
    async def upload(body: Upload) -> dict[str, Any]:
        return shown(await cloud.upload(body.material))

    @api.get("/cckm/google/keys/{id}")
    async def get(id: int) -> dict[str, Any]:
        return shown(await cloud.key(id))

    @api.patch("/cckm/google/keys/{id}")
    async def patch(id: int, change: Labels) -> dict[str, Any]:
        return shown(await cloud.label(id, change.labels))

    @api.get("/cckm/google/keys/{id}/versions")
    async def versions(id: int) -> dict[str, Any]:
        return {"resources": [shown_version(each) for each in await cloud.versions(id)]}

    @api.post("/cckm/google/keys/{id}/versions/{number}/schedule-destroy")
    async def schedule_destroy(id: int, number: int) -> dict[str, Any]:
        return shown_version(await cloud.destroy(id, number))

    return api


def shown(key: kms.CryptoKey) -> dict[str, Any]:
    return {
        "id": int(key.name.rpartition("-")[2]),
        "name": key.name,
        "purpose": key.purpose.name,
        "labels": dict(key.labels),
        "primary": shown_version(key.primary),
    }


def shown_version(version: kms.CryptoKeyVersion) -> dict[str, str]:
    return {"name": version.name, "state": version.state.name, "algorithm": version.algorithm.name}
