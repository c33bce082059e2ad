"""The calls of the appliance, of the service google.cloud.kms.v1.KeyManagementService."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
from google.cloud import kms_v1 as kms

from .import_job import AES_BYTES, ImportJob
from .keys import Key, KeyRing, PreconditionError, State, Version
from .lane import Call, Lane

SERVICE = "google.cloud.kms.v1.KeyManagementService"
AES = kms.CryptoKeyVersion.CryptoKeyVersionAlgorithm.GOOGLE_SYMMETRIC_ENCRYPTION
METHOD = kms.ImportJob.ImportMethod.RSA_OAEP_3072_SHA256_AES_256


class KeyManagement:
    """One key ring. Calls that change or read a key use the queue. A destruction, and calls that prepare an import, do
    not."""

    def __init__(self, ring: KeyRing, lane: Lane) -> None:
        self._ring = ring
        self._lane = lane
        self._jobs: dict[str, ImportJob] = {}

    async def create_import_job(self, request: kms.CreateImportJobRequest) -> kms.ImportJob:
        job = await asyncio.to_thread(ImportJob, f"{request.parent}/importJobs/{request.import_job_id}")
        self._jobs[job.name] = job
        return _shown_job(job)

    async def create_crypto_key(self, request: kms.CreateCryptoKeyRequest) -> kms.CryptoKey:
        return _shown(self._ring.create(request.crypto_key_id))

    async def import_crypto_key_version(self, request: kms.ImportCryptoKeyVersionRequest) -> kms.CryptoKeyVersion:
        key, job = self._ring.key(request.parent), self._jobs[request.import_job]
        version = key.import_begins()
        await self._lane.call(Call.IMPORT)
        try:
            version.material = await asyncio.to_thread(job.unwrap, request.wrapped_key)
        except ValueError:
            version.become(State.IMPORT_FAILED)
        else:
            version.become(State.ENABLED if len(version.material) == AES_BYTES else State.IMPORT_FAILED)
        return _shown_version(version)

    async def get_crypto_key(self, request: kms.GetCryptoKeyRequest) -> kms.CryptoKey:
        await self._lane.call(Call.GET)
        return _shown(self._ring.key(request.name))

    async def update_crypto_key(self, request: kms.UpdateCryptoKeyRequest) -> kms.CryptoKey:
        await self._lane.call(Call.UPDATE)
        key = self._ring.key(request.crypto_key.name)
        if "labels" in request.update_mask.paths:
            key.labels = dict(request.crypto_key.labels)
        return _shown(key)

    async def list_crypto_keys(self, request: kms.ListCryptoKeysRequest) -> kms.ListCryptoKeysResponse:
        return kms.ListCryptoKeysResponse(total_size=len(self._ring))

    async def list_crypto_key_versions(
        self, request: kms.ListCryptoKeyVersionsRequest
    ) -> kms.ListCryptoKeyVersionsResponse:
        await self._lane.call(Call.VERSIONS)
        shown = [_shown_version(each) for each in self._ring.key(request.parent).versions]
        return kms.ListCryptoKeyVersionsResponse(crypto_key_versions=shown, total_size=len(shown))

    async def destroy_crypto_key_version(self, request: kms.DestroyCryptoKeyVersionRequest) -> kms.CryptoKeyVersion:
        await self._lane.destroy()
        version = self._ring.version(request.name)
        version.become(State.DESTROY_SCHEDULED)
        return _shown_version(version)


def handlers(service: KeyManagement) -> grpc.GenericRpcHandler:
    """What a server needs to handle these calls."""
    calls = {
        "CreateImportJob": (service.create_import_job, kms.CreateImportJobRequest, kms.ImportJob),
        "CreateCryptoKey": (service.create_crypto_key, kms.CreateCryptoKeyRequest, kms.CryptoKey),
        "ImportCryptoKeyVersion": (
            service.import_crypto_key_version,
            kms.ImportCryptoKeyVersionRequest,
            kms.CryptoKeyVersion,
        ),
        "GetCryptoKey": (service.get_crypto_key, kms.GetCryptoKeyRequest, kms.CryptoKey),
        "UpdateCryptoKey": (service.update_crypto_key, kms.UpdateCryptoKeyRequest, kms.CryptoKey),
        "ListCryptoKeys": (service.list_crypto_keys, kms.ListCryptoKeysRequest, kms.ListCryptoKeysResponse),
        "ListCryptoKeyVersions": (
            service.list_crypto_key_versions,
            kms.ListCryptoKeyVersionsRequest,
            kms.ListCryptoKeyVersionsResponse,
        ),
        "DestroyCryptoKeyVersion": (
            service.destroy_crypto_key_version,
            kms.DestroyCryptoKeyVersionRequest,
            kms.CryptoKeyVersion,
        ),
    }
    return grpc.method_handlers_generic_handler(
        SERVICE,
        {
            name: grpc.unary_unary_rpc_method_handler(
                _answering(call), request_deserializer=asked.deserialize, response_serializer=answered.serialize
            )
            for name, (call, asked, answered) in calls.items()
        },
    )


def _answering(call: Callable[[Any], Awaitable[Any]]) -> Callable[[Any, grpc.aio.ServicerContext], Awaitable[Any]]:
    """The call, with the cloud service's errors."""

    async def answer(request: Any, context: grpc.aio.ServicerContext) -> Any:
        try:
            return await call(request)
        except KeyError as error:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"{error.args[0]} not found")
        except PreconditionError as error:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))

    return answer


def _shown(key: Key) -> kms.CryptoKey:
    enabled = [each for each in key.versions if each.state is State.ENABLED]
    return kms.CryptoKey(
        name=key.name,
        purpose=kms.CryptoKey.CryptoKeyPurpose.ENCRYPT_DECRYPT,
        labels=key.labels,
        import_only=True,
        primary=_shown_version(enabled[0]) if enabled else None,
    )


def _shown_version(version: Version) -> kms.CryptoKeyVersion:
    state = kms.CryptoKeyVersion.CryptoKeyVersionState[version.state.value]
    return kms.CryptoKeyVersion(name=version.name, state=state, algorithm=AES, protection_level=kms.ProtectionLevel.HSM)


def _shown_job(job: ImportJob) -> kms.ImportJob:
    return kms.ImportJob(
        name=job.name,
        import_method=METHOD,
        protection_level=kms.ProtectionLevel.HSM,
        state=kms.ImportJob.ImportJobState.ACTIVE,
        public_key=kms.ImportJob.WrappingPublicKey(pem=job.public_pem),
    )
