//! Frames: their headers, and those that this end writes.

use crate::Code;

/// Bytes of a frame's header.
pub(crate) const HEADER: usize = 9;
/// Maximum length of a frame's payload unless a peer announces more.
pub(crate) const MIN_MAX_FRAME: u32 = 1 << 14;
/// The largest window of flow control, and the largest number of a stream.
pub(crate) const MAX_31: u32 = (1 << 31) - 1;

/// What a client sends first.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Of SETTINGS and PING.
pub(crate) const ACK: u8 = 1;
/// Of DATA and HEADERS.
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const PADDED: u8 = 8;
/// Of HEADERS: the payload begins with five bytes of priority.
pub(crate) const WITH_PRIORITY: u8 = 0x20;

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Bytes of the payload, below 2²⁴.
    pub(crate) length: u32,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    /// 0: the connection.
    pub(crate) stream: u32,
}

impl Header {
    pub(crate) fn parse(bytes: [u8; HEADER]) -> Header {
        let [a, b, c, kind, flags, stream @ ..] = bytes;
        // The highest bit of the stream is reserved: it is ignored.
        Header { length: u32::from_be_bytes([0, a, b, c]), kind, flags, stream: u32::from_be_bytes(stream) & MAX_31 }
    }

    pub(crate) fn encode(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..3].copy_from_slice(&self.length.to_be_bytes()[1..]);
        bytes[3..5].copy_from_slice(&[self.kind, self.flags]);
        bytes[5..].copy_from_slice(&self.stream.to_be_bytes());
        bytes
    }

    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Appends a frame.
pub(crate) fn push(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    out.extend_from_slice(&Header { length: payload.len() as u32, kind, flags, stream }.encode());
    out.extend_from_slice(payload);
}

pub(crate) fn push_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    push(out, WINDOW_UPDATE, 0, stream, &increment.to_be_bytes());
}

pub(crate) fn push_reset(out: &mut Vec<u8>, stream: u32, code: Code) {
    push(out, RST_STREAM, 0, stream, &code.0.to_be_bytes());
}

/// Appends a GOAWAY. This end has accepted no streams of the peer: the last one is 0.
pub(crate) fn push_goaway(out: &mut Vec<u8>, code: Code) {
    push(out, GOAWAY, 0, 0, &[[0; 4], code.0.to_be_bytes()].concat());
}

/// The payload of a padded frame without its padding; `None` if there is more padding than payload.
pub(crate) fn without_padding(header: Header, payload: &[u8]) -> Option<&[u8]> {
    if !header.has(PADDED) {
        return Some(payload);
    }
    let (&padding, rest) = payload.split_first()?;
    rest.get(..rest.len().checked_sub(padding.into())?)
}

#[cfg(test)]
mod tests {
    use super::{DATA, HEADER, Header, PADDED, without_padding};

    #[test]
    fn a_header_is_the_same_after_its_bytes() {
        let header = Header { length: 0x01_0203, kind: 4, flags: 5, stream: 0x7f01_0203 };
        assert_eq!(header.encode(), [1, 2, 3, 4, 5, 0x7f, 1, 2, 3]);
        assert_eq!(Header::parse(header.encode()), header);
        assert_eq!(Header::parse([0xff; HEADER]).stream, 0x7fff_ffff, "without the reserved bit");
    }

    #[test]
    fn padding_is_at_most_the_payload() {
        let header = Header { length: 0, kind: DATA, flags: PADDED, stream: 1 };
        assert_eq!(without_padding(header, &[2, 7, 0, 0]), Some(&[7][..]));
        assert_eq!(without_padding(header, &[3, 0, 0, 0]), Some(&[][..]));
        assert_eq!(without_padding(header, &[4, 0, 0, 0]), None);
        assert_eq!(without_padding(header, &[]), None);
        assert_eq!(without_padding(Header { flags: 0, ..header }, &[9, 9]), Some(&[9, 9][..]));
    }
}
