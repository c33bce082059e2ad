//! Header blocks (HPACK, RFC 7541), decoded without a dynamic table.
//!
//! This end announces a table of 0 bytes, so an entry that is added to it is dropped at once (§4.4).

mod huffman;
mod table;

use crate::HpackError;

pub(crate) use table::{STATIC, find};

/// A string of a block, not decoded yet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    bytes: &'a [u8],
    is_huffman: bool,
}

impl Text<'_> {
    /// Appends the string. It stops soon after `limit` bytes.
    pub(crate) fn append(self, limit: usize, out: &mut Vec<u8>) -> Result<(), HpackError> {
        if self.is_huffman {
            return huffman::decode(self.bytes, limit, out);
        }
        out.extend_from_slice(&self.bytes[..self.bytes.len().min(limit.saturating_add(1))]);
        Ok(())
    }
}

/// A name: its position in the static table, or a string.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Name<'a> {
    Static(usize),
    Literal(Text<'a>),
}

/// A header field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field<'a> {
    /// A name and a value of the static table.
    Static(usize),
    Literal(Name<'a>, Text<'a>),
}

/// The fields of a block, one after another.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    has_begun: bool,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(block: &'a [u8]) -> Fields<'a> {
        Fields { rest: block, has_begun: false }
    }

    /// The next field; `None` at the end of the block.
    pub(crate) fn next(&mut self) -> Result<Option<Field<'a>>, HpackError> {
        while let Some(&first) = self.rest.first() {
            if first & 0xe0 == 0x20 {
                // A new size of the dynamic table. Only its maximum is allowed, 0, and only before the first field.
                if self.integer(5)? != 0 || self.has_begun {
                    return Err(HpackError::TableSize);
                }
                continue;
            }
            self.has_begun = true;
            if first & 0x80 != 0 {
                let index = self.integer(7)?;
                return Ok(Some(Field::Static(position(index)?)));
            }
            // Whether the peer adds the field to its table makes no difference here.
            let index = self.integer(if first & 0x40 != 0 { 6 } else { 4 })?;
            let name = if index == 0 { Name::Literal(self.text()?) } else { Name::Static(position(index)?) };
            return Ok(Some(Field::Literal(name, self.text()?)));
        }
        Ok(None)
    }

    fn text(&mut self) -> Result<Text<'a>, HpackError> {
        let is_huffman = self.rest.first().is_some_and(|first| first & 0x80 != 0);
        let length = self.integer(7)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(HpackError::Truncated)?;
        self.rest = rest;
        Ok(Text { bytes, is_huffman })
    }

    /// An integer in the last `bits` bits of the next byte and in the bytes after it (§5.1).
    fn integer(&mut self, bits: u32) -> Result<usize, HpackError> {
        let (&first, rest) = self.rest.split_first().ok_or(HpackError::Truncated)?;
        self.rest = rest;
        let most = (1_u32 << bits) - 1;
        let mut value = u32::from(first) & most;
        if value < most {
            return Ok(value as usize);
        }
        // Four bytes reach 2²⁸, more than a block has bytes.
        for shift in [0, 7, 14, 21] {
            let (&byte, rest) = self.rest.split_first().ok_or(HpackError::Truncated)?;
            self.rest = rest;
            value += u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value as usize);
            }
        }
        Err(HpackError::Integer)
    }
}

/// The position in the static table of an index, which counts from 1.
fn position(index: usize) -> Result<usize, HpackError> {
    match index {
        0 => Err(HpackError::Index(0)),
        1..=61 => Ok(index - 1),
        _ => Err(HpackError::Index(index)),
    }
}

/// Appends an integer: `first` has the bits before its `bits` bits.
pub(crate) fn push_integer(out: &mut Vec<u8>, first: u8, bits: u32, value: usize) {
    let most = (1_usize << bits) - 1;
    if value < most {
        return out.push(first | value as u8);
    }
    out.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a string as it is: without Huffman's code, which costs both ends more time than it saves here.
pub(crate) fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    push_integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests;
