//! The seam between a connection and the protocol that it speaks. A protocol turns requests into bytes and bytes into
//! responses; it knows no socket, no clock and no TLS.

mod http1;

use plimsoll_http::{self as http, Head, Limits, Sink};

use crate::call::{Failure, Keep, Response, Wire};
pub(crate) use http1::Http1;

/// A response of announced length gets its memory at once up to this size; beyond it grows as it arrives.
const RESERVE_AT_MOST: u64 = 1 << 20;
/// The header in which a response names parts of its time.
const SERVER_TIMING: &str = "server-timing";

/// One end of a conversation with a peer, one exchange after another. `default` is the state of a new connection.
///
/// A connection calls these methods through its type, so that HTTP/1.1 costs what it costs without the seam.
pub(crate) trait Protocol: Default {
    /// Begins an exchange with this request. An earlier exchange that is not complete is forgotten.
    fn begin(&mut self, wire: &Wire);

    /// The bytes to write next; empty when it is the peer's turn. `request`: what may go out now of the request that was
    /// begun. `written`: how much of the output of this exchange has gone out.
    fn output<'a>(&'a mut self, request: &'a [u8], written: usize) -> &'a [u8];

    /// Reads what the peer sent and hands its meaning to `collector`. No bytes are the end of the stream: then the
    /// response is complete, or the result is an error.
    fn input(&mut self, limits: &Limits, bytes: &[u8], collector: &mut Collector<'_>) -> Result<Progress, Failure>;
}

/// Where an exchange is after some input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The response is not complete.
    More,
    /// The response is complete. `reusable`: the connection may carry another exchange.
    Done { reusable: bool },
}

/// Keeps what a protocol reads of a response, as far as the call wants it.
pub(crate) struct Collector<'a> {
    pub(crate) response: &'a mut Response,
    pub(crate) keep: Keep,
    /// The request that it is the response to.
    pub(crate) wire: &'a Wire,
    /// The body of the request waits for a 100 (Continue).
    pub(crate) held: &'a mut bool,
    /// There is no memory for the body.
    pub(crate) refused: bool,
}

impl Collector<'_> {
    /// Makes room for so many more bytes, if there is memory for them.
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

/// Of a head that has the header.
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
        self.response.timing = head.has_timing.then(|| timing(head.raw));
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
