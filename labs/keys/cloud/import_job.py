"""Encrypted import of key material: RSA_OAEP_3072_SHA256_AES_256.

The sender wraps the material with a new AES key (RFC 5649), and that AES key with the public key of the import job
(RSA-OAEP, SHA-256). It sends both, one after the other. `wrap` is the sender's half.
"""

import secrets

from cryptography.hazmat.primitives import hashes, keywrap, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

MODULUS_BITS = 3072
AES_BYTES = 32
_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), label=None)


class ImportJob:
    """The receiver's half."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._private = rsa.generate_private_key(public_exponent=65537, key_size=MODULUS_BITS)

    @property
    def public_pem(self) -> str:
        spki = serialization.PublicFormat.SubjectPublicKeyInfo
        return self._private.public_key().public_bytes(serialization.Encoding.PEM, spki).decode()

    def unwrap(self, wrapped: bytes) -> bytes:
        """Returns the material. Raises ValueError if it was not wrapped for this job."""
        split = MODULUS_BITS // 8
        try:
            aes = self._private.decrypt(wrapped[:split], _OAEP)
            return keywrap.aes_key_unwrap_with_padding(aes, wrapped[split:])
        except keywrap.InvalidUnwrap as error:
            raise ValueError("the material was not wrapped with the AES key before it") from error


def wrap(material: bytes, public_pem: str) -> bytes:
    """public_pem: of the import job."""
    public = serialization.load_pem_public_key(public_pem.encode())
    if not isinstance(public, rsa.RSAPublicKey):
        raise TypeError("an import job has an RSA key")
    aes = secrets.token_bytes(AES_BYTES)
    return public.encrypt(aes, _OAEP) + keywrap.aes_key_wrap_with_padding(aes, material)
