//! The header `traceparent` (<https://www.w3.org/TR/trace-context/>): each request gets its own trace, so that a slow
//! request can be found in the target's traces.

use std::io::Write;

use plimsoll_record::Sampling;

use crate::call::{Bytes, Wire};

const NAME: &[u8] = b"traceparent:";
/// Name, version, 32 digits of the trace, 16 of the parent, flags, with their separators and CR LF.
const LENGTH: usize = NAME.len() + 1 + 55 + 2;

/// Adds a new trace to each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracer {
    /// The first half of all traces.
    prefix: u64,
    /// Which headers have the flag *sampled*.
    sampling: Sampling,
    serial: u64,
}

impl Tracer {
    pub(crate) fn new(prefix: u64, sampling: Sampling) -> Tracer {
        Tracer { prefix, sampling, serial: 0 }
    }

    /// Inserts the header after the request line. Returns the second half of the trace; 0 if the request already has
    /// the header, which then stays unchanged.
    pub(crate) fn mark(&mut self, wire: &mut Wire) -> u64 {
        let bytes = wire.bytes.as_slice();
        let Some(line) = bytes.iter().position(|&byte| byte == b'\n') else { return 0 };
        let (line, rest) = bytes.split_at(line + 1);
        // Without a body, the head ends at the end of the bytes.
        let head = &rest[..wire.head.saturating_sub(line.len()).min(rest.len())];
        if head.split(|&byte| byte == b'\n').any(|each| starts_with(each, NAME)) {
            return 0;
        }
        self.serial += 1;
        let (trace, parent) = (mixed(self.serial), mixed(!self.serial));
        let mut marked = Vec::with_capacity(bytes.len() + LENGTH);
        marked.extend_from_slice(line);
        let flags = u8::from(self.sampling.takes(trace));
        write!(marked, "traceparent: 00-{:016x}{trace:016x}-{parent:016x}-{flags:02x}\r\n", self.prefix)
            .expect("writing to a Vec does not fail");
        marked.extend_from_slice(rest);
        wire.head += marked.len() - bytes.len();
        wire.bytes = Bytes::Owned(marked);
        trace
    }
}

/// The parent's id in the header of a request, of the second half of its trace.
#[must_use]
pub fn parent_of(trace: u64) -> u64 {
    mixed(!unmixed(trace))
}

fn starts_with(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// A pseudo-random number per serial: collectors that sample traces use their last digits. It is the finalizer of
/// `SplitMix64` (Steele, Lea, Flood 2014), which maps only 0 to 0.
fn mixed(serial: u64) -> u64 {
    let mut mixed = serial;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The serial of a number of [`mixed`]: its steps are taken back, by the inverses of its factors modulo 2^64.
fn unmixed(mixed: u64) -> u64 {
    let mut serial = mixed ^ (mixed >> 31) ^ (mixed >> 62);
    serial = serial.wrapping_mul(0x3196_42b2_d24d_8ec3);
    serial = (serial ^ (serial >> 27) ^ (serial >> 54)).wrapping_mul(0x96de_1b17_3f11_9089);
    serial ^ (serial >> 30) ^ (serial >> 60)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn wire(text: &str) -> Wire {
        let head = text.find("\r\n\r\n").expect("a head") + 4;
        Wire {
            bytes: Bytes::Shared(text.as_bytes().into()),
            head,
            expect_continue: false,
            head_request: false,
            continues: false,
            idempotent: true,
        }
    }

    fn text(wire: &Wire) -> &str {
        std::str::from_utf8(wire.bytes.as_slice()).expect("text")
    }

    #[test]
    fn the_header_stands_behind_the_request_line_and_the_body_where_it_was() {
        let mut marked = wire("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
        let trace = Tracer::new(0xabc, Sampling::ALL).mark(&mut marked);
        let expected = format!("POST /a HTTP/1.1\r\ntraceparent: 00-0000000000000abc{trace:016x}-");
        assert!(text(&marked).starts_with(&expected), "{}", text(&marked));
        let line = text(&marked).lines().nth(1).expect("the header");
        assert_eq!((line.len(), &line[line.len() - 3..]), (LENGTH - 2, "-01"));
        assert!(text(&marked).ends_with("-01\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"));
        assert_eq!(&marked.bytes.as_slice()[marked.head..], b"body");
    }

    #[test]
    fn the_parent_follows_from_the_trace() {
        let mut tracer = Tracer::new(1, Sampling::ALL);
        for _ in 0..1000 {
            let mut marked = wire("GET / HTTP/1.1\r\n\r\n");
            let trace = tracer.mark(&mut marked);
            let expected = format!("{trace:016x}-{:016x}-01", parent_of(trace));
            assert!(text(&marked).contains(&expected), "{expected} in {}", text(&marked));
        }
    }

    #[test]
    fn the_flag_is_set_for_the_sample() {
        let sampling = Sampling::of(0.25);
        let mut tracer = Tracer::new(1, sampling);
        let sampled = (0..1000).filter(|_| {
            let mut marked = wire("GET / HTTP/1.1\r\n\r\n");
            let is_sampled = sampling.takes(tracer.mark(&mut marked));
            assert!(text(&marked).contains(if is_sampled { "-01\r\n" } else { "-00\r\n" }), "{}", text(&marked));
            is_sampled
        });
        assert!((200..300).contains(&sampled.count()));
    }

    #[test]
    fn every_request_has_a_trace_of_its_own() {
        let mut tracer = Tracer::new(1, Sampling::ALL);
        let seen: HashSet<u64> = (0..1000).map(|_| tracer.mark(&mut wire("GET / HTTP/1.1\r\n\r\n"))).collect();
        assert_eq!(seen.len(), 1000);
        assert!(!seen.contains(&0));
    }

    #[test]
    fn a_header_that_is_there_stays_and_one_in_a_body_is_none() {
        let given = "GET / HTTP/1.1\r\nTraceParent: 00-1-2-01\r\n\r\n";
        let mut marked = wire(given);
        assert_eq!(Tracer::new(1, Sampling::ALL).mark(&mut marked), 0);
        assert_eq!(text(&marked), given);
        assert_ne!(Tracer::new(1, Sampling::ALL).mark(&mut wire("POST / HTTP/1.1\r\n\r\n\ntraceparent: x")), 0);
    }
}
