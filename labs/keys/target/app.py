"""The appliance: it translates its own API into calls of the upstream, and waits for each."""

from typing import Any

from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

from .keys import Key, KeyRing, PreconditionError, State, Version
from .upstream import Call, Upstream


class Labels(BaseModel):
    """The body of `PATCH /cckm/google/keys/{id}`."""

    labels: dict[str, str]


class Upload(BaseModel):
    """The body of `POST /cckm/google/upload-key`."""

    algorithm: str
    material: str
    """Wrapped; its content is of no matter here."""


def create_app(upstream: Upstream, keys: int) -> FastAPI:
    """keys: how many there are from the beginning, >= 0, with ids 1…keys. `/_keys` returns how many there are now."""
    api = FastAPI(title="keys")
    ring = KeyRing()
    for _ in range(keys):
        ring.upload()

    @api.get("/_keys")
    async def count() -> int:
        return len(ring)

    @api.post("/cckm/google/upload-key", status_code=201)
    async def upload(_: Upload) -> dict[str, Any]:
        await upstream.call(Call.UPLOAD)
        return shown(ring.upload())

    @api.get("/cckm/google/keys/{id}")
    async def get(id: int) -> dict[str, Any]:
        await upstream.call(Call.GET)
        return shown(found(ring, id))

    @api.patch("/cckm/google/keys/{id}")
    async def patch(id: int, change: Labels) -> dict[str, Any]:
        await upstream.call(Call.PATCH)
        key = found(ring, id)
        key.labels |= change.labels
        return shown(key)

    @api.get("/cckm/google/keys/{id}/versions")
    async def versions(id: int) -> dict[str, Any]:
        await upstream.call(Call.VERSIONS)
        return {"resources": [shown_version(each) for each in found(ring, id).versions]}

    @api.post("/cckm/google/keys/{id}/versions/{number}/schedule-destroy")
    async def schedule_destroy(id: int, number: int) -> dict[str, Any]:
        await upstream.destroy()
        try:
            version = ring.version(id, number)
            version.become(State.DESTROY_SCHEDULED)
        except KeyError:
            raise HTTPException(404, f"no version {number} of key {id}") from None
        except PreconditionError as error:
            raise HTTPException(400, {"status": "FAILED_PRECONDITION", "message": str(error)}) from None
        return shown_version(version)

    return api


def found(ring: KeyRing, id: int) -> Key:
    """Raises HTTPException."""
    try:
        return ring.key(id)
    except KeyError:
        raise HTTPException(404, f"no key {id}") from None


def shown(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "purpose": "ENCRYPT_DECRYPT",
        "labels": key.labels,
        "primary": shown_version(key.versions[0]),
    }


def shown_version(version: Version) -> dict[str, str]:
    return {"name": version.name, "state": version.state, "algorithm": "GOOGLE_SYMMETRIC_ENCRYPTION"}
