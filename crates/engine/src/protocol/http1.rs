//! HTTP/1.1: [`plimsoll_http`] as a protocol of the engine.

use plimsoll_http::{self as http, Decoder, Fed, Heads};
use plimsoll_record::Outcome;

use super::{Collector, Progress, Protocol};
use crate::call::{Bytes, Failure, Wire, is_idempotent};
use plimsoll_scenario::bodies::no_room;

impl Wire {
    /// Encodes a request and its body.
    pub fn encode(request: &http::Request<'_>, body: &[u8]) -> Result<Wire, http::RequestError> {
        let mut bytes = Vec::with_capacity(256 + body.len());
        let encoded = request.encode(&mut bytes)?;
        bytes.extend_from_slice(body);
        Ok(Wire {
            bytes: Bytes::Owned(bytes),
            head: encoded.head,
            expect_continue: encoded.expect_continue && !body.is_empty(),
            head_request: request.method == "HEAD",
            continues: false,
            idempotent: is_idempotent(request.method),
        })
    }

    /// Fills in a form. None: a part is not valid.
    pub fn fill(form: &http::Form, target: &str, values: &[&[u8]], body: &[u8]) -> Option<Wire> {
        let (bytes, head) = form.fill(target, values, body)?;
        Some(Wire {
            bytes: Bytes::Owned(bytes),
            head,
            expect_continue: false,
            head_request: form.method() == "HEAD",
            continues: false,
            idempotent: is_idempotent(form.method()),
        })
    }

    /// The same head, whose body follows in parts.
    #[must_use]
    pub fn in_parts(self) -> Wire {
        let expect = http::header(&self.bytes.as_slice()[..self.head], "expect");
        let expect_continue = expect.is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        Wire { expect_continue, continues: true, ..self }
    }
}

/// The error for a 101 (Switching Protocols) without an upgrade request.
const UNASKED_UPGRADE: &str = "status 101 (Switching Protocols) to a request without an Upgrade header";

/// The first bytes of a TLS alert: a TLS server's reply to plain bytes.
const TLS_ALERT: [u8; 2] = [0x15, 0x03];

/// A request has the same bytes on every connection and is encoded earlier, so the decoder has all the state.
#[derive(Debug, Default)]
pub(crate) struct Http1 {
    decoder: Decoder,
}

impl Protocol for Http1 {
    #[inline]
    fn begin(&mut self, wire: &Wire) {
        if wire.continues && asks_to_upgrade(wire) {
            self.decoder.begin_upgrade();
        } else {
            self.decoder.begin(wire.head_request);
        }
    }

    #[inline]
    fn output<'a>(&'a mut self, request: &'a [u8], written: usize) -> &'a [u8] {
        &request[written..]
    }

    #[inline]
    fn input(&mut self, heads: &mut Heads, bytes: &[u8], collector: &mut Collector<'_>) -> Result<Progress, Failure> {
        if bytes.is_empty() {
            return self.end();
        }
        match self.decoder.feed(heads, bytes, collector) {
            Ok(_) if collector.refused => Err(unkept()),
            Ok(Fed { done: Some(_), .. }) if collector.response.status == 101 && !asks_to_upgrade(collector.wire) => {
                Err(Failure::new(Outcome::Protocol, UNASKED_UPGRADE))
            }
            // Extra bytes after the response: never reuse the connection.
            Ok(Fed { consumed, done: Some(done) }) => {
                Ok(Progress::Done { reusable: done.keep_alive && consumed == bytes.len() })
            }
            Ok(_) => Ok(Progress::More),
            Err(error) => Err(refused(bytes, &error)),
        }
    }
}

#[cold]
pub(crate) fn asks_to_upgrade(wire: &Wire) -> bool {
    http::header(&wire.bytes.as_slice()[..wire.head], "upgrade").is_some()
}

/// The memory limit is reached. The error number distinguishes it from a limit of the system.
#[cold]
pub(crate) fn unkept() -> Failure {
    Failure { outcome: Outcome::Protocol, message: no_room(), errno: Some(libc::ENOMEM) }
}

/// `bytes`: the start or continuation of the invalid response.
#[cold]
fn refused(bytes: &[u8], error: &http::ProtocolError) -> Failure {
    let hint = if bytes.starts_with(&TLS_ALERT) { "; is it https?" } else { "" };
    Failure::new(Outcome::Protocol, format!("{error}{hint}"))
}

impl Http1 {
    #[cold]
    fn end(&mut self) -> Result<Progress, Failure> {
        match self.decoder.eof() {
            Ok(_) => Ok(Progress::Done { reusable: false }),
            Err(error) => Err(Failure::new(Outcome::Reset, error.to_string())),
        }
    }
}
