//! Frames (RFC 6455 §5): the header of a server's frame, and the encoder of a client's.

use crate::ProtocolError;

/// Maximum bytes of a control frame's payload.
pub(crate) const CONTROL_LIMIT: usize = 125;
/// Maximum bytes of the header of a frame without a mask.
pub(crate) const HEADER_LIMIT: usize = 10;

const FINAL: u8 = 0x80;
/// The reserved bit of permessage-deflate: the message is compressed.
const COMPRESSED: u8 = 0x40;
const OTHER_RESERVED: u8 = 0x30;
const MASKED: u8 = 0x80;
/// In place of a length: two bytes with it follow.
const LENGTH_16: u8 = 0x7e;
/// In place of a length: eight bytes with it follow.
const LENGTH_64: u8 = 0x7f;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opcode {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}

impl Opcode {
    fn parse(byte: u8) -> Result<Opcode, ProtocolError> {
        Ok(match byte & 15 {
            0 => Opcode::Continuation,
            1 => Opcode::Text,
            2 => Opcode::Binary,
            8 => Opcode::Close,
            9 => Opcode::Ping,
            10 => Opcode::Pong,
            other => return Err(ProtocolError::Opcode(other)),
        })
    }

    pub(crate) fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// The header of a frame of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) opcode: Opcode,
    /// It is the last frame of its message.
    pub(crate) is_final: bool,
    pub(crate) is_compressed: bool,
    /// Bytes of the payload.
    pub(crate) length: u64,
}

impl Header {
    /// Parses the header at the start of `bytes`, and returns it with its length; None if it is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, ProtocolError> {
        let &[first, second, ref rest @ ..] = bytes else { return Ok(None) };
        if first & OTHER_RESERVED != 0 {
            return Err(ProtocolError::ReservedBits);
        }
        let opcode = Opcode::parse(first)?;
        let (is_final, is_compressed) = (first & FINAL != 0, first & COMPRESSED != 0);
        if second & MASKED != 0 {
            return Err(ProtocolError::Masked);
        }
        if opcode.is_control() {
            if usize::from(second) > CONTROL_LIMIT {
                return Err(ProtocolError::ControlTooLong);
            }
            if !is_final {
                return Err(ProtocolError::ControlFragmented);
            }
        }
        let (length, size, least) = match (second, rest.first_chunk(), rest.first_chunk()) {
            (LENGTH_16, Some(&short), _) => (u64::from(u16::from_be_bytes(short)), 4, 126),
            (LENGTH_64, _, Some(&long)) => (u64::from_be_bytes(long), 10, 1 << 16),
            (LENGTH_16 | LENGTH_64, ..) => return Ok(None),
            (length, ..) => (u64::from(length), 2, 0),
        };
        if length < least || length > i64::MAX as u64 {
            return Err(ProtocolError::Length);
        }
        Ok(Some((Header { opcode, is_final, is_compressed, length }, size)))
    }
}

/// Masking keys: xorshift64*, which is cheap. The keys need not be secret here: they protect proxies against scripts in
/// browsers that choose what a browser sends.
#[derive(Debug)]
pub(crate) struct Masks(u64);

impl Masks {
    pub(crate) fn new(seed: u64) -> Masks {
        // 0 is the one state that xorshift cannot leave.
        Masks(seed ^ 0x9e37_79b9_7f4a_7c15 | 1)
    }

    fn next(&mut self) -> [u8; 4] {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32).to_ne_bytes()
    }
}

/// Appends a whole message, or a control frame, as one masked frame.
pub(crate) fn encode(opcode: Opcode, payload: &[u8], masks: &mut Masks, into: &mut Vec<u8>) {
    let length = payload.len();
    into.reserve(14 + length);
    into.push(FINAL | opcode as u8);
    match length {
        0..=125 => into.push(MASKED | length as u8),
        126..=0xffff => {
            into.push(MASKED | LENGTH_16);
            into.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            into.push(MASKED | LENGTH_64);
            into.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let key = masks.next();
    into.extend_from_slice(&key);
    let start = into.len();
    into.extend_from_slice(payload);
    mask(&mut into[start..], key);
}

/// Combines the payload with the key, eight bytes at a time.
fn mask(payload: &mut [u8], key: [u8; 4]) {
    let [a, b, c, d] = key;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut chunks = payload.chunks_exact_mut(8);
    for chunk in &mut chunks {
        let word = u64::from_ne_bytes(chunk.try_into().expect("chunks have 8 bytes"));
        chunk.copy_from_slice(&(word ^ wide).to_ne_bytes());
    }
    for (byte, key) in chunks.into_remainder().iter_mut().zip(key.into_iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use super::{Header, Masks, Opcode, encode, mask};
    use crate::ProtocolError;

    #[test]
    fn the_masked_hello_of_the_standard() {
        let mut payload = b"Hello".to_vec();
        mask(&mut payload, [0x37, 0xfa, 0x21, 0x3d]);
        assert_eq!(payload, [0x7f, 0x9f, 0x4d, 0x51, 0x58]);
    }

    #[test]
    fn the_mask_continues_over_any_length() {
        let key = [1, 2, 3, 4];
        for length in 0..40 {
            let mut payload = vec![0; length];
            mask(&mut payload, key);
            let expected: Vec<u8> = key.into_iter().cycle().take(length).collect();
            assert_eq!(payload, expected);
        }
    }

    #[test]
    fn lengths_have_their_shortest_form() {
        for (length, header) in [(125, &[0x82, 0xfd][..]), (126, &[0x82, 0xfe, 0, 126]), (65_536, &[0x82, 0xff])] {
            let mut out = Vec::new();
            encode(Opcode::Binary, &vec![0; length], &mut Masks::new(0), &mut out);
            assert!(out.starts_with(header), "{length}");
        }
        assert_eq!(Header::parse(&[0x82, 126, 0, 125]), Err(ProtocolError::Length));
        assert_eq!(Header::parse(&[0x82, 127, 0, 0, 0, 0, 0, 0, 255, 255]), Err(ProtocolError::Length));
        assert_eq!(Header::parse(&[0x82, 127, 128, 0, 0, 0, 0, 0, 0, 0]), Err(ProtocolError::Length));
    }

    #[test]
    fn no_two_frames_in_a_row_have_the_same_mask() {
        let mut masks = Masks::new(7);
        let keys: std::collections::HashSet<_> = (0..1000).map(|_| masks.next()).collect();
        assert!(keys.len() > 990);
    }
}
