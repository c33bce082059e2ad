"""Archives of the corpus: the same content gives the same bytes."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent
STORES = FOLDER / "stores"
OUTPUTS = FOLDER / "outputs.tar.xz"

_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 256 << 20}]
"""A window over all of it: outputs of different formats say the same."""


def pack(path: Path, files: Mapping[str, bytes]) -> int:
    """Write them, in this order, without times and owners. Returns the size of the archive in bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    path.parent.mkdir(exist_ok=True)
    packed = lzma.compress(plain.getvalue(), filters=_FILTERS)
    path.write_bytes(packed)
    return len(packed)


def unpack(path: Path) -> dict[str, bytes]:
    """{name: content}"""
    found = {}
    with tarfile.open(path, "r:xz") as archive:
        for entry in archive:
            file = archive.extractfile(entry)
            assert file is not None
            found[entry.name] = file.read()
    return found
