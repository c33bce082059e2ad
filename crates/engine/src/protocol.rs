//! The interface between a connection and its protocol. A protocol converts requests to bytes and bytes to responses.
//! It has no socket, clock or TLS.

mod http1;

use plimsoll_http::{self as http, Head, Heads, Sink};

use crate::call::{Failure, Keep, Response, Wire};
pub(crate) use http1::{Http1, asks_to_upgrade, unkept};

/// Maximum memory to allocate at once for a response of known length. A longer one grows as it arrives.
const RESERVE_AT_MOST: u64 = 1 << 20;
/// The header with the target's own timings.
const SERVER_TIMING: &str = "server-timing";

/// One end of a connection, for one exchange after another. `default` is the state of a new connection.
///
/// Calls are static, so that the interface adds no cost to HTTP/1.1.
pub(crate) trait Protocol: Default {
    /// Starts an exchange with this request. Discards an earlier incomplete exchange.
    fn begin(&mut self, wire: &Wire);

    /// The bytes to write next; empty while the peer must send. `request`: the part of the request that may be sent
    /// now. `written`: bytes of this exchange's output that were sent.
    fn output<'a>(&'a mut self, request: &'a [u8], written: usize) -> &'a [u8];

    /// Parses bytes of the peer and passes the results to `collector`. No bytes mean the end of the stream: then the
    /// response is complete, or the result is an error.
    fn input(&mut self, heads: &mut Heads, bytes: &[u8], collector: &mut Collector<'_>) -> Result<Progress, Failure>;
}

/// The state of an exchange after some input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The response is not complete.
    More,
    /// The response is complete. `reusable`: the connection may carry another exchange.
    Done { reusable: bool },
}

/// Stores the parts of a response that the call wants.
pub(crate) struct Collector<'a> {
    pub(crate) response: &'a mut Response,
    pub(crate) keep: Keep,
    /// The request of this response.
    pub(crate) wire: &'a Wire,
    /// The request's body waits for 100 (Continue).
    pub(crate) held: &'a mut bool,
    /// The memory limit for bodies is reached.
    pub(crate) refused: bool,
}

impl Collector<'_> {
    /// Reserves space for this many more bytes, if the memory limit allows it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, more: usize) {
        let Response { bytes, held, .. } = &mut *self.response;
        if self.keep == Keep::Stream {
            return bytes.reserve(more);
        }
        let needed = bytes.len() + more;
        let generous = needed.max(2 * bytes.capacity());
        match [generous, needed].into_iter().find(|&room| held.raise_to(room as u64)) {
            Some(room) => bytes.reserve_exact(room - bytes.len()),
            None => self.refused = true,
        }
    }
}

/// Stores the Server-Timing headers of a head that has some.
#[cold]
fn timing(raw_head: &[u8]) -> Box<[u8]> {
    http::values(raw_head, SERVER_TIMING).collect::<Vec<_>>().join(&b',').into()
}

impl Sink for Collector<'_> {
    fn interim(&mut self, status: u16) {
        if status == 100 {
            *self.held = false;
        }
    }

    #[inline]
    fn head(&mut self, head: &Head<'_>) {
        self.response.status = head.status;
        self.response.minor = head.minor;
        self.response.notes = head.notes;
        self.response.timing = head.notes.timing.then(|| timing(head.raw));
        if self.keep != Keep::Nothing {
            let wanted = self.keep == Keep::All && !self.wire.head_request && head.status != 304;
            let announced = head.content_length.filter(|_| wanted);
            let body = announced.unwrap_or(0).min(RESERVE_AT_MOST) as usize;
            let room = head.raw.len() + body;
            if self.response.held.raise_to(room as u64) {
                self.response.bytes.reserve_exact(room);
            } else {
                self.refused = true;
            }
            self.response.bytes.extend_from_slice(head.raw);
            self.response.head = head.raw.len();
        }
    }

    #[inline]
    fn body(&mut self, chunk: &[u8]) {
        self.response.body_length += chunk.len() as u64;
        if self.keep != Keep::Nothing {
            if self.response.bytes.capacity() - self.response.bytes.len() < chunk.len() && !self.refused {
                self.grow(chunk.len());
            }
            if !self.refused {
                self.response.bytes.extend_from_slice(chunk);
            }
        }
    }

    fn trailers(&mut self, raw: &[u8]) {
        if self.keep != Keep::Nothing {
            self.response.trailers.extend_from_slice(raw);
        }
    }
}
