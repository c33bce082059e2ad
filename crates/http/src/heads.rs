//! The heads that were parsed last. A target often sends the same head again, byte for byte, until the second in its Date
//! ends: then nothing is parsed.

use crate::framing::{self, Asked, Parsed};
use crate::{Limits, ProtocolError};

/// Heads that are kept. Replies of the same length share a place, so that endpoints in turn do not displace each other.
const PLACES: usize = 16;

/// Longest head that is kept, bytes.
const LONGEST: usize = 1024;

/// The limits of responses, and the heads of some earlier ones. Shared by the decoders of many connections.
#[derive(Debug)]
pub struct Heads {
    /// How much of a response is accepted.
    limits: Limits,
    kept: [Option<Kept>; PLACES],
}

/// A head that was parsed.
#[derive(Debug)]
struct Kept {
    /// With the blank line; at most [`LONGEST`] bytes.
    raw: Vec<u8>,
    asked: Asked,
    parsed: Parsed,
}

impl Heads {
    /// No heads yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, kept: [const { None }; PLACES] }
    }

    /// How much of a response is accepted.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Sets the limit of bodies, bytes.
    pub fn limit_body(&mut self, bytes: u64) {
        self.limits.body = bytes;
    }

    /// Parses the head at the start of `bytes`; `None` if it is incomplete.
    #[inline]
    pub(crate) fn parse(&mut self, bytes: &[u8], asked: Asked) -> Result<Option<Parsed>, ProtocolError> {
        let place = bytes.len() % PLACES;
        match &self.kept[place] {
            // It ends with a blank line, so what follows belongs to the body.
            Some(kept) if bytes.starts_with(&kept.raw) && kept.asked == asked => Ok(Some(kept.parsed)),
            _ => self.parse_other(bytes, asked, place),
        }
    }

    #[inline(never)]
    fn parse_other(&mut self, bytes: &[u8], asked: Asked, place: usize) -> Result<Option<Parsed>, ProtocolError> {
        let parsed = framing::parse(bytes, &self.limits, asked)?;
        if let Some(parsed) = parsed.filter(|parsed| parsed.length <= LONGEST) {
            let mut raw = self.kept[place].take().map_or_else(Vec::new, |kept| kept.raw);
            raw.clear();
            raw.extend_from_slice(&bytes[..parsed.length]);
            self.kept[place] = Some(Kept { raw, asked, parsed });
        }
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Heads, LONGEST, PLACES};
    use crate::framing::{Asked, Body, Parsed};
    use crate::{Limits, ProtocolError};

    const FIVE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    const SIX: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!";

    fn heads() -> Heads {
        Heads::new(Limits::default())
    }

    fn parse(heads: &mut Heads, bytes: &[u8], asked: Asked) -> Parsed {
        heads.parse(bytes, asked).unwrap().unwrap()
    }

    fn kept(heads: &Heads) -> usize {
        heads.kept.iter().flatten().count()
    }

    #[test]
    fn a_head_that_comes_again_has_the_same_meaning() {
        let mut heads = heads();
        let all = [FIVE, SIX, FIVE, SIX].map(|bytes| parse(&mut heads, bytes, Asked::Body).body);
        assert_eq!(all, [5, 6, 5, 6].map(Body::Length));
        assert_eq!(kept(&heads), 2);
    }

    #[test]
    fn the_meaning_depends_on_what_was_asked() {
        let mut heads = heads();
        let all = [Asked::Body, Asked::Head, Asked::Body].map(|asked| parse(&mut heads, FIVE, asked).body);
        assert_eq!(all, [Body::Length(5), Body::None, Body::Length(5)]);
    }

    #[test]
    fn heads_of_the_same_length_take_the_place_of_each_other() {
        let mut heads = heads();
        let other = String::from_utf8(FIVE.to_vec()).unwrap().replace("200", "404");
        let all = [FIVE, other.as_bytes(), FIVE].map(|bytes| parse(&mut heads, bytes, Asked::Body).status);
        assert_eq!(all, [200, 404, 200]);
        assert_eq!(kept(&heads), 1);
    }

    #[test]
    fn the_beginning_of_a_known_head_is_incomplete_as_before() {
        let mut heads = heads();
        parse(&mut heads, FIVE, Asked::Body);
        let partial = &FIVE[..FIVE.len() - PLACES];
        assert_eq!(heads.parse(partial, Asked::Body), Ok(None));
    }

    #[test]
    fn long_and_invalid_heads_are_not_kept() {
        let mut heads = heads();
        let long = format!("HTTP/1.1 204 No Content\r\nA: {}\r\n\r\n", "x".repeat(LONGEST));
        assert_eq!(parse(&mut heads, long.as_bytes(), Asked::Body).status, 204);
        let invalid = b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n";
        for _ in 0..2 {
            assert_eq!(heads.parse(invalid, Asked::Body), Err(ProtocolError::ContentLength));
        }
        assert_eq!(kept(&heads), 0);
    }
}
