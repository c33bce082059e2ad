//! From a header block to the text of a response's head, or to trailer lines.

use plimsoll_http::{Limits, Notes, ProtocolError};

use crate::hpack::{Field, Fields, Name, STATIC, Text};
use crate::{HpackError, StreamError};

const START: &[u8] = b"HTTP/2 ";

/// What the text of a head says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) status: u16,
    pub(crate) content_length: Option<u64>,
    pub(crate) notes: Notes,
}

/// Why a block gives no text: the connection or the stream is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlockError {
    Hpack(HpackError),
    Stream(StreamError),
}

impl From<HpackError> for BlockError {
    fn from(error: HpackError) -> BlockError {
        BlockError::Hpack(error)
    }
}

impl From<StreamError> for BlockError {
    fn from(error: StreamError) -> BlockError {
        BlockError::Stream(error)
    }
}

impl From<ProtocolError> for BlockError {
    fn from(error: ProtocolError) -> BlockError {
        BlockError::Stream(StreamError::Response(error))
    }
}

/// Replaces `text` by that of the head in this block. `limit`: maximum bytes of it.
pub(crate) fn head(block: &[u8], limit: usize, limits: &Limits, text: &mut Vec<u8>) -> Result<Parsed, BlockError> {
    text.clear();
    let mut writer = Writer { text, limit, lines: 0, limits, is_head: true };
    let mut fields = Fields::new(block);
    let mut parsed = Parsed { status: writer.status(fields.next()?)?, ..Parsed::default() };
    while let Some(field) = fields.next()? {
        let line = writer.line(field)?;
        note(&writer.text[line.0..line.1], &writer.text[line.1 + 2..], &mut parsed)?;
        writer.end_line()?;
    }
    writer.end_line()?;
    Ok(parsed)
}

/// Replaces `text` by the trailer lines in this block, with a blank line.
pub(crate) fn trailers(block: &[u8], limits: &Limits, text: &mut Vec<u8>) -> Result<(), BlockError> {
    text.clear();
    let mut writer = Writer { text, limit: limits.head, lines: 0, limits, is_head: false };
    let mut fields = Fields::new(block);
    while let Some(field) = fields.next()? {
        let line = writer.line(field)?;
        note(&writer.text[line.0..line.1], b"0", &mut Parsed::default())?;
        writer.end_line()?;
    }
    writer.end_line()
}

/// Appends fields as lines, within the limits.
struct Writer<'a> {
    text: &'a mut Vec<u8>,
    limit: usize,
    lines: usize,
    limits: &'a Limits,
    /// Otherwise the lines are trailers.
    is_head: bool,
}

impl Writer<'_> {
    /// The first line, from the field that must be `:status`.
    fn status(&mut self, field: Option<Field<'_>>) -> Result<u16, BlockError> {
        self.text.extend_from_slice(START);
        match field {
            Some(Field::Static(position)) if STATIC[position].0 == ":status" => {
                self.text.extend_from_slice(STATIC[position].1.as_bytes());
            }
            Some(Field::Literal(Name::Static(position), value)) if STATIC[position].0 == ":status" => {
                value.append(self.limit, self.text)?;
            }
            Some(Field::Literal(Name::Literal(name), value)) => {
                self.string(name)?;
                if self.text.split_off(START.len()) != b":status" {
                    return Err(StreamError::PseudoHeader.into());
                }
                value.append(self.limit, self.text)?;
            }
            _ => return Err(StreamError::PseudoHeader.into()),
        }
        let status = match self.text[START.len()..] {
            [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
                u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0')
            }
            _ => return Err(ProtocolError::StatusLine.into()),
        };
        self.end_line()?;
        Ok(status)
    }

    /// Appends a name and a value without the end of the line. Returns where the name starts and ends.
    fn line(&mut self, field: Field<'_>) -> Result<(usize, usize), BlockError> {
        let start = self.text.len();
        self.lines += 1;
        if self.lines > self.limits.headers {
            return Err(ProtocolError::TooManyHeaders { limit: self.limits.headers }.into());
        }
        let (name, value) = match field {
            Field::Static(position) => (Name::Static(position), None),
            Field::Literal(name, value) => (name, Some(value)),
        };
        match name {
            Name::Static(position) => self.text.extend_from_slice(STATIC[position].0.as_bytes()),
            Name::Literal(name) => {
                self.string(name)?;
                let name = &self.text[start..];
                if name.is_empty() || !name.iter().all(|&byte| IS_NAME[usize::from(byte)]) {
                    let is_pseudo = name.first() == Some(&b':');
                    let error = StreamError::Response(ProtocolError::HeaderName);
                    return Err(if is_pseudo { StreamError::PseudoHeader } else { error }.into());
                }
            }
        }
        let end = self.text.len();
        if self.text[start] == b':' {
            return Err(StreamError::PseudoHeader.into());
        }
        self.text.extend_from_slice(b": ");
        match (value, field) {
            (Some(value), _) => {
                self.string(value)?;
                if self.text[end + 2..].iter().any(|&byte| matches!(byte, 0 | b'\n' | b'\r')) {
                    return Err(ProtocolError::HeaderValue.into());
                }
            }
            (None, Field::Static(position)) => self.text.extend_from_slice(STATIC[position].1.as_bytes()),
            (None, Field::Literal(..)) => {}
        }
        Ok((start, end))
    }

    fn string(&mut self, text: Text<'_>) -> Result<(), BlockError> {
        text.append(self.limit.saturating_sub(self.text.len()), self.text)?;
        self.check()
    }

    fn end_line(&mut self) -> Result<(), BlockError> {
        self.text.extend_from_slice(b"\r\n");
        self.check()
    }

    fn check(&self) -> Result<(), BlockError> {
        let limit = self.limits.head;
        match self.text.len() <= self.limit {
            true => Ok(()),
            false if self.is_head => Err(ProtocolError::HeadTooLarge { limit }.into()),
            false => Err(ProtocolError::TrailersTooLarge { limit }.into()),
        }
    }
}

/// Takes from a header what the connection has to know, and refuses headers that HTTP/2 forbids (RFC 9113 §8.2.2).
fn note(name: &[u8], value: &[u8], parsed: &mut Parsed) -> Result<(), BlockError> {
    // The length comes first: it excludes nearly every header.
    match name.len() {
        7 if name == b"upgrade" => return Err(StreamError::ConnectionHeader.into()),
        10 if name == b"connection" || name == b"keep-alive" => return Err(StreamError::ConnectionHeader.into()),
        10 if name == b"set-cookie" => parsed.notes.cookie = true,
        13 if name == b"server-timing" => parsed.notes.timing = true,
        14 if name == b"content-length" => {
            let length = number(value).ok_or(ProtocolError::ContentLength)?;
            if parsed.content_length.is_some_and(|known| known != length) {
                return Err(ProtocolError::ContentLengthConflict.into());
            }
            parsed.content_length = Some(length);
        }
        16 if name == b"content-encoding" => parsed.notes.coding = true,
        16 if name == b"proxy-connection" => return Err(StreamError::ConnectionHeader.into()),
        17 if name == b"transfer-encoding" => return Err(StreamError::ConnectionHeader.into()),
        _ => {}
    }
    Ok(())
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = digits.trim_ascii();
    let mut number = 0_u64;
    for &digit in digits {
        let value = digit.is_ascii_digit().then_some(u64::from(digit & 15))?;
        number = number.checked_mul(10)?.checked_add(value)?;
    }
    (!digits.is_empty()).then_some(number)
}

/// The bytes of a header's name: those of a token, without capital letters.
const IS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'a'..=b'z' | b'0'..=b'9' | b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.'
            | b'^'..=b'`' | b'|' | b'~');
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use plimsoll_http::{Limits, Notes, ProtocolError};

    use super::{BlockError, Parsed, head, trailers};
    use crate::hpack::{push_integer, push_text};
    use crate::{HpackError, StreamError};

    fn block(fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in fields {
            push_integer(&mut block, 0x40, 6, 0);
            push_text(&mut block, name.as_bytes());
            push_text(&mut block, value.as_bytes());
        }
        block
    }

    fn read(fields: &[(&str, &str)]) -> Result<(Parsed, String), StreamError> {
        let limits = Limits { head: 200, headers: 3, ..Limits::default() };
        let mut text = b"old".to_vec();
        match head(&block(fields), limits.head, &limits, &mut text) {
            Ok(parsed) => Ok((parsed, String::from_utf8(text).unwrap())),
            Err(BlockError::Stream(error)) => Err(error),
            Err(BlockError::Hpack(error)) => panic!("{error}"),
        }
    }

    fn refused(fields: &[(&str, &str)]) -> StreamError {
        read(fields).unwrap_err()
    }

    #[test]
    fn a_head_is_text_and_what_it_says_is_noted() {
        let fields = [(":status", "404"), ("content-length", "12"), ("set-cookie", "a=1"), ("x-empty", "")];
        let (parsed, text) = read(&fields).unwrap();
        assert_eq!(text, "HTTP/2 404\r\ncontent-length: 12\r\nset-cookie: a=1\r\nx-empty: \r\n\r\n");
        let notes = Notes { cookie: true, ..Notes::default() };
        assert_eq!(parsed, Parsed { status: 404, content_length: Some(12), notes });
        let (parsed, _) = read(&[(":status", "200"), ("content-encoding", "br"), ("server-timing", "db")]).unwrap();
        assert_eq!(parsed.notes, Notes { coding: true, timing: true, ..Notes::default() });
    }

    #[test]
    fn fields_of_the_static_table_are_complete() {
        // :status 304, accept-encoding with its value, and age with a value.
        let mut text = Vec::new();
        let limits = Limits::default();
        let parsed = head(b"\x8b\x90\x0f\x06\x01\x35", limits.head, &limits, &mut text).unwrap();
        assert_eq!(
            (parsed.status, text.as_slice()),
            (304, &b"HTTP/2 304\r\naccept-encoding: gzip, deflate\r\nage: 5\r\n\r\n"[..])
        );
    }

    #[test]
    fn there_is_one_status_before_all_headers() {
        assert_eq!(refused(&[]), StreamError::PseudoHeader);
        assert_eq!(refused(&[("server", "x"), (":status", "200")]), StreamError::PseudoHeader);
        assert_eq!(refused(&[(":status", "200"), (":status", "200")]), StreamError::PseudoHeader);
        assert_eq!(refused(&[(":status", "200"), (":other", "1")]), StreamError::PseudoHeader);
        assert_eq!(refused(&[(":path", "/")]), StreamError::PseudoHeader);
        for status in ["", "20", "2000", "20x", "099", "200 OK"] {
            assert_eq!(refused(&[(":status", status)]), StreamError::Response(ProtocolError::StatusLine), "{status}");
        }
    }

    #[test]
    fn names_and_values_that_would_change_the_text_are_refused() {
        for name in ["", "Server", "a b", "a:b", "a\r\nb", "\u{e4}", "a\0"] {
            let error = refused(&[(":status", "200"), (name, "1")]);
            assert_eq!(error, StreamError::Response(ProtocolError::HeaderName), "{name}");
        }
        for value in ["a\r\nb: c", "a\nb", "a\0b"] {
            let error = refused(&[(":status", "200"), ("x", value)]);
            assert_eq!(error, StreamError::Response(ProtocolError::HeaderValue), "{value}");
        }
    }

    #[test]
    fn headers_of_a_connection_are_refused() {
        for name in ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"] {
            assert_eq!(refused(&[(":status", "200"), (name, "x")]), StreamError::ConnectionHeader, "{name}");
        }
    }

    #[test]
    fn lengths_are_numbers_and_agree() {
        let length = |value| read(&[(":status", "200"), ("content-length", value)]).map(|read| read.0.content_length);
        assert_eq!(length("007"), Ok(Some(7)));
        for wrong in ["", "-1", "1,1", "1x", "18446744073709551616"] {
            assert_eq!(length(wrong), Err(StreamError::Response(ProtocolError::ContentLength)), "{wrong}");
        }
        let twice = |value| read(&[(":status", "200"), ("content-length", "5"), ("content-length", value)]);
        assert!(twice("5").is_ok());
        assert_eq!(twice("6").unwrap_err(), StreamError::Response(ProtocolError::ContentLengthConflict));
    }

    #[test]
    fn limits_are_exact() {
        let fields = |length| [(":status", "200"), ("x", "y".repeat(length).leak() as &str)];
        // The status line has 12 bytes, the header 5 more than its value, the blank line 2.
        assert!(read(&fields(200 - 12 - 5 - 2)).is_ok());
        let too_large = StreamError::Response(ProtocolError::HeadTooLarge { limit: 200 });
        assert_eq!(refused(&fields(200 - 12 - 5 - 1)), too_large);
        assert_eq!(refused(&fields(100_000)), too_large);
        let lines = [(":status", "200"), ("a", ""), ("b", ""), ("c", ""), ("d", "")];
        assert!(read(&lines[..4]).is_ok());
        assert_eq!(refused(&lines), StreamError::Response(ProtocolError::TooManyHeaders { limit: 3 }));
    }

    #[test]
    fn trailers_are_lines_without_a_first_one() {
        let limits = Limits::default();
        let read = |fields: &[(&str, &str)]| {
            let mut text = b"old".to_vec();
            trailers(&block(fields), &limits, &mut text).map(|()| text)
        };
        assert_eq!(read(&[("grpc-status", "0"), ("x", "y")]).unwrap(), b"grpc-status: 0\r\nx: y\r\n\r\n");
        assert_eq!(read(&[(":status", "200")]), Err(BlockError::Stream(StreamError::PseudoHeader)));
        assert_eq!(read(&[("connection", "x")]), Err(BlockError::Stream(StreamError::ConnectionHeader)));
        assert_eq!(trailers(b"\xbe", &limits, &mut Vec::new()), Err(BlockError::Hpack(HpackError::Index(62))));
    }
}
