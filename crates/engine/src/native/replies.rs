//! The replies of a call of gRPC whose server streams. They are counted as events are.

use plimsoll_grpc::MessageSplitter;
use plimsoll_http as http;
use plimsoll_record::{Exchange, Recorder, StreamRows};

/// The replies that have come.
#[derive(Debug)]
pub(super) struct Replies {
    splitter: MessageSplitter,
    /// None: its name is over the limit of names.
    rows: Option<StreamRows>,
    /// Arrival of the last reply.
    previous: Option<u64>,
    /// The body, if the step reads it.
    kept: Option<Vec<u8>>,
    /// Maximum bytes of a reply, and of all that are kept.
    limit: u64,
    body: u64,
}

impl Replies {
    /// `head`: of the response. `keeps`: the step reads the replies.
    pub(super) fn new(head: &[u8], rows: Option<StreamRows>, keeps: bool, limit: u64) -> Replies {
        let splitter = MessageSplitter::new(http::header(head, "grpc-encoding"), limit);
        Replies { splitter, rows, previous: None, kept: keeps.then(Vec::new), limit, body: 0 }
    }

    /// Records the replies that end in these bytes. `exchange`: the stamps of the request, with the arrival of these
    /// bytes. The error says why nothing more can be read.
    pub(super) fn feed(&mut self, recorder: &mut Recorder, exchange: &Exchange, bytes: &[u8]) -> Result<(), String> {
        self.body += bytes.len() as u64;
        if let Some(kept) = &mut self.kept {
            if self.body > self.limit {
                let limit = self.limit;
                return Err(format!(
                    "all replies together are over the limit of {limit} bytes, and the step reads them"
                ));
            }
            kept.extend_from_slice(bytes);
        }
        let Replies { splitter, rows, previous, .. } = self;
        let fed = splitter.feed(bytes, &mut |reply| {
            if let Some(rows) = *rows {
                recorder.event(rows, exchange, *previous, reply.len() as u64);
            }
            *previous = Some(exchange.arrival);
        });
        fed.map_err(|error| error.to_string())
    }

    /// The body, or nothing if the step does not read it.
    pub(super) fn kept(&self) -> &[u8] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Bytes of the body so far.
    pub(super) fn body(&self) -> u64 {
        self.body
    }
}
