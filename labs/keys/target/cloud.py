"""The cloud service, through its own client library."""

import itertools
from collections.abc import Sequence

import grpc
from cloud.import_job import wrap
from google.cloud import kms_v1 as kms
from google.cloud.kms_v1.services.key_management_service.transports import KeyManagementServiceGrpcAsyncIOTransport

RING = "projects/lab/locations/global/keyRings/lab"
JOB = "appliance"


class Cloud:
    """All calls of one appliance. They raise google.api_core.exceptions.GoogleAPICallError."""

    def __init__(self, address: str) -> None:
        """address: `HOST:PORT`."""
        self._address = address
        self._job = kms.ImportJob()
        self._numbers = itertools.count(1)

    async def connect(self) -> None:
        """Request an import job for all uploads."""
        # The channel belongs to the running event loop.
        self._channel = grpc.aio.insecure_channel(self._address)
        transport = KeyManagementServiceGrpcAsyncIOTransport(channel=self._channel)
        self._client = kms.KeyManagementServiceAsyncClient(transport=transport)
        self._numbers = itertools.count(await self.count() + 1)
        job = kms.ImportJob(
            import_method=kms.ImportJob.ImportMethod.RSA_OAEP_3072_SHA256_AES_256,
            protection_level=kms.ProtectionLevel.HSM,
        )
        self._job = await self._client.create_import_job(parent=RING, import_job_id=JOB, import_job=job)

    async def close(self) -> None:
        await self._channel.close()

    async def count(self) -> int:
        found = await self._client.list_crypto_keys({"parent": RING, "page_size": 1})
        return int(found.total_size)

    async def upload(self, material: bytes) -> kms.CryptoKey:
        """Add a key whose first version has this material."""
        wanted = kms.CryptoKey(purpose=kms.CryptoKey.CryptoKeyPurpose.ENCRYPT_DECRYPT, import_only=True)
        key = await self._client.create_crypto_key(
            {
                "parent": RING,
                "crypto_key_id": f"key-{next(self._numbers)}",
                "crypto_key": wanted,
                "skip_initial_version_creation": True,
            }
        )
        key.primary = await self._client.import_crypto_key_version(
            {
                "parent": key.name,
                "algorithm": kms.CryptoKeyVersion.CryptoKeyVersionAlgorithm.GOOGLE_SYMMETRIC_ENCRYPTION,
                "import_job": self._job.name,
                "wrapped_key": wrap(material, self._job.public_key.pem),
            }
        )
        return key

    async def key(self, id: int) -> kms.CryptoKey:
        return await self._client.get_crypto_key(name=_name(id))

    async def label(self, id: int, labels: dict[str, str]) -> kms.CryptoKey:
        key = kms.CryptoKey(name=_name(id), labels=labels)
        return await self._client.update_crypto_key(crypto_key=key, update_mask={"paths": ["labels"]})

    async def versions(self, id: int) -> Sequence[kms.CryptoKeyVersion]:
        found = await self._client.list_crypto_key_versions(parent=_name(id))
        return [each async for each in found]

    async def destroy(self, id: int, number: int) -> kms.CryptoKeyVersion:
        return await self._client.destroy_crypto_key_version(name=f"{_name(id)}/cryptoKeyVersions/{number}")


def _name(id: int) -> str:
    return f"{RING}/cryptoKeys/key-{id}"
