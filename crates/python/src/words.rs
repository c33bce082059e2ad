//! Texts looked at eight bytes at a time, as numbers whose lowest byte is the first one.

pub(crate) const BYTES: usize = 8;

const ONES: u64 = u64::from_le_bytes([1; BYTES]);
const HIGH_BITS: u64 = ONES << 7;

/// Eight bytes from `at`; those past the end are 0.
#[inline]
pub(crate) fn word(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(&whole) = rest.first_chunk() {
        return u64::from_le_bytes(whole);
    }
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// How many bytes come before the first one that cannot stand for itself in JSON: a quote, a backslash, a control
/// character. 8: there is none.
#[inline]
pub(crate) fn plain_bytes(word: u64) -> usize {
    (specials(word).trailing_zeros() / 8) as usize
}

/// Whether all bytes stand for themselves in JSON in ASCII.
#[inline]
pub(crate) fn is_plain_ascii(text: &[u8]) -> bool {
    let is_plain = |word| specials(word) | equals(word, 0x7f) | word & HIGH_BITS == 0;
    let (words, rest) = text.as_chunks::<BYTES>();
    let rest = word(rest, 0) | (ONES * u64::from(b' ')) << (8 * rest.len());
    words.iter().all(|&whole| is_plain(u64::from_le_bytes(whole))) && is_plain(rest)
}

/// The first byte with a set high bit is a special one. Those after it may be others.
#[inline]
fn specials(word: u64) -> u64 {
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH_BITS;
    controls | equals(word, b'"') | equals(word, b'\\')
}

/// The first byte with a set high bit is this one. Those after it may be others.
#[inline]
fn equals(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGH_BITS
}
