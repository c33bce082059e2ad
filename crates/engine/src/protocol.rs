//! The seam between a connection and the protocol that it speaks. A protocol turns requests into bytes and bytes into
//! responses; it knows no socket, no clock and no TLS.

mod http1;

use plimsoll_http::{Head, Limits, Sink};

use crate::call::{Failure, Keep, Response, Wire};
pub(crate) use http1::Http1;

/// A response of announced length gets its memory at once up to this size; beyond it grows as it arrives.
const RESERVE_AT_MOST: u64 = 1 << 20;

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
    /// The response has no body, whatever its head says.
    pub(crate) head_request: bool,
    /// The body of the request waits for a 100 (Continue).
    pub(crate) held: &'a mut bool,
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
        if self.keep != Keep::Nothing {
            let wanted = self.keep == Keep::All && !self.head_request && head.status != 304;
            let announced = head.content_length.filter(|_| wanted);
            let body = announced.unwrap_or(0).min(RESERVE_AT_MOST) as usize;
            self.response.bytes.reserve_exact(head.raw.len() + body);
            self.response.bytes.extend_from_slice(head.raw);
            self.response.head = head.raw.len();
        }
    }

    #[inline]
    fn body(&mut self, chunk: &[u8]) {
        self.response.body_length += chunk.len() as u64;
        if self.keep != Keep::Nothing {
            self.response.bytes.extend_from_slice(chunk);
        }
    }

    fn trailers(&mut self, raw: &[u8]) {
        if self.keep != Keep::Nothing {
            self.response.trailers.extend_from_slice(raw);
        }
    }
}
