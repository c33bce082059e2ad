//! The body of a request that is sent in parts: the caller does not have it all when the head is sent.

use std::io::Write;

use crate::head::header;

/// How the parts of a body are framed on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// One follows another: the head says how long they are together.
    Plain,
    /// Each part is a chunk (RFC 9112 §7.1).
    Chunked,
}

impl Parts {
    /// As the head of the request says. If it has a Content-Length, a Transfer-Encoding has no effect, as in urllib3.
    pub fn of(head: &[u8]) -> Self {
        let is_chunked = header(head, "transfer-encoding").is_some() && header(head, "content-length").is_none();
        if is_chunked { Self::Chunked } else { Self::Plain }
    }

    /// Appends a part. An empty one adds nothing: an empty chunk would be the end of the body.
    pub fn push(self, part: &[u8], out: &mut Vec<u8>) {
        match self {
            _ if part.is_empty() => {}
            Self::Plain => out.extend_from_slice(part),
            Self::Chunked => {
                out.reserve(part.len() + 20);
                // Writing to a vector does not fail.
                let _ = write!(out, "{:x}\r\n", part.len());
                out.extend_from_slice(part);
                out.extend_from_slice(b"\r\n");
            }
        }
    }

    /// Appends the end of the body.
    pub fn end(self, out: &mut Vec<u8>) {
        if self == Self::Chunked {
            out.extend_from_slice(b"0\r\n\r\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    fn framed(parts: Parts, bodies: &[&str]) -> String {
        let mut out = Vec::new();
        for part in bodies {
            parts.push(part.as_bytes(), &mut out);
        }
        parts.end(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn the_head_says_how_parts_are_framed() {
        for (lines, expected) in [
            ("Content-Length: 3\r\n", Parts::Plain),
            ("transfer-encoding: chunked\r\n", Parts::Chunked),
            ("Transfer-Encoding: chunked\r\ncontent-length: 3\r\n", Parts::Plain),
            ("", Parts::Plain),
        ] {
            assert_eq!(Parts::of(format!("POST / HTTP/1.1\r\n{lines}\r\n").as_bytes()), expected, "{lines}");
        }
    }

    #[test]
    fn parts_of_a_known_length_follow_each_other() {
        assert_eq!(framed(Parts::Plain, &["one", "", "two"]), "onetwo");
        assert_eq!(framed(Parts::Plain, &[]), "");
    }

    #[test]
    fn each_part_of_an_unknown_length_is_a_chunk_and_an_empty_one_is_none() {
        let long = "x".repeat(0x1a2b);
        let expected = format!("3\r\none\r\n1a2b\r\n{long}\r\n0\r\n\r\n");
        assert_eq!(framed(Parts::Chunked, &["one", "", &long]), expected);
        assert_eq!(framed(Parts::Chunked, &[]), "0\r\n\r\n");
    }
}
