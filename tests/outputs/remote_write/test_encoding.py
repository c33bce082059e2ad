"""Pieces of messages, and blocks of snappy."""

from __future__ import annotations

import pytest
from tests.outputs.remote_write.messages import unpacked

from plimsoll.outputs.remote_write.encoding import encode_number, encode_signed, snappy_block, with_length


def test_a_block_of_literals() -> None:
    # As in the format description of snappy: the length, then tag 61 with the length less 1 in two bytes.
    assert snappy_block(b"abc") == b"\x03\xf4\x02\x00abc"
    assert snappy_block(b"") == b"\x00"
    long = snappy_block(b"x" * 70_000)
    assert long[:3] == b"\xf0\xa2\x04"
    assert long[3:6] == b"\xf4\xff\xff"
    assert long[6 + 65536 :][:3] == b"\xf4\x6f\x11"
    assert unpacked(long) == b"x" * 70_000


@pytest.mark.parametrize(
    ("number", "encoded"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")], ids=str
)
def test_a_number_has_seven_bits_a_byte(number: int, encoded: bytes) -> None:
    assert encode_number(number) == encoded


def test_a_signed_number_is_in_zigzag() -> None:
    assert [encode_signed(number)[0] for number in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]


def test_a_text_begins_with_its_length() -> None:
    assert with_length(b"ab") == b"\x02ab"
