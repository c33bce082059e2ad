//! Heads that are the same bytes as one of the last: their result is known. Servers send the same head until the second
//! of its Date or the length of the body changes.

use std::cell::RefCell;

use crate::framing::{self, Asked, Parsed};
use crate::{Limits, ProtocolError};

/// How many heads are kept. Another one takes the place of the oldest.
const PLACES: usize = 4;
/// Bytes of the longest head that is kept.
const LONGEST: usize = 512;

thread_local! {
    static KNOWN: RefCell<Heads> = const { RefCell::new(Heads { places: [const { None }; PLACES], next: 0 }) };
}

struct Heads {
    places: [Option<Known>; PLACES],
    /// The place of the next one.
    next: usize,
}

struct Known {
    bytes: [u8; LONGEST],
    asked: Asked,
    /// The limit of its lines.
    lines: usize,
    parsed: Parsed,
}

/// The same as [`framing::parse`].
pub(crate) fn parse(bytes: &[u8], limits: &Limits, asked: Asked) -> Result<Option<Parsed>, ProtocolError> {
    KNOWN.with_borrow_mut(|heads| match heads.places.iter().flatten().find(|known| known.is_at(bytes, limits, asked)) {
        Some(known) => Ok(Some(known.parsed)),
        None => heads.parse(bytes, limits, asked),
    })
}

impl Heads {
    #[inline(never)]
    fn parse(&mut self, bytes: &[u8], limits: &Limits, asked: Asked) -> Result<Option<Parsed>, ProtocolError> {
        let parsed = framing::parse(bytes, limits, asked)?;
        if let Some(parsed) = parsed.filter(|head| head.length <= LONGEST) {
            let place = &mut self.places[self.next];
            self.next = (self.next + 1) % PLACES;
            let known = place.get_or_insert(Known { bytes: [0; LONGEST], asked, lines: limits.headers, parsed });
            known.bytes[..parsed.length].copy_from_slice(&bytes[..parsed.length]);
            (known.asked, known.lines, known.parsed) = (asked, limits.headers, parsed);
        }
        Ok(parsed)
    }
}

impl Known {
    /// Whether these bytes begin with it. A head ends with its blank line, so the bytes after it do not matter.
    #[inline]
    fn is_at(&self, bytes: &[u8], limits: &Limits, asked: Asked) -> bool {
        self.asked == asked && self.lines == limits.headers && bytes.starts_with(&self.bytes[..self.parsed.length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice in a row, and after others have taken the places.
    #[test]
    fn a_head_that_is_known_has_the_same_result() {
        let heads: Vec<Vec<u8>> = (0..2 * PLACES)
            .flat_map(|length| {
                let head =
                    |line: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n{line}\r\nbody").into_bytes();
                [
                    head(""),
                    head("Set-Cookie: a=b\r\n"),
                    head("Connection: close\r\n"),
                    head(&format!("A: {:600}\r\n", "")),
                ]
            })
            .collect();
        let (all, two) = (Limits::default(), Limits { headers: 1, ..Limits::default() });
        for _ in 0..3 {
            for head in &heads {
                for asked in [Asked::Body, Asked::Body, Asked::Head, Asked::Connect, Asked::Upgrade, Asked::Body] {
                    for limits in [&all, &two, &two, &all] {
                        for length in [head.len(), head.len() - 4, head.len() - 5, 20] {
                            let bytes = &head[..length];
                            let (found, expected) = (parse(bytes, limits, asked), framing::parse(bytes, limits, asked));
                            assert_eq!(found, expected, "{} {asked:?}", bytes.escape_ascii());
                        }
                    }
                }
            }
        }
    }
}
