//! What a decoder makes of a response, part by part.

/// The head of a final response.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// 100 to 999.
    pub status: u16,
    /// The x in HTTP/1.x: 0 or 1.
    pub minor: u8,
    /// From the status line to the blank line, both included. Folded lines have been joined.
    pub raw: &'a [u8],
    /// What the response says, also when it has no body (HEAD, 304); `None` when a transfer coding overrides it.
    pub content_length: Option<u64>,
    /// It has the header Server-Timing.
    pub has_timing: bool,
}

/// Receives the parts of a response in their order: interim*, head, body*, trailers?.
pub trait Sink {
    /// A 1xx response; the final one is still to come.
    fn interim(&mut self, _status: u16) {}
    /// The head of the final response.
    fn head(&mut self, head: &Head<'_>);
    /// The next bytes of the body, its chunks joined; never empty. Other transfer codings, for which no request of ours
    /// asks, are not undone.
    fn body(&mut self, chunk: &[u8]);
    /// The trailer lines behind a chunked body, if there are any, with their blank line.
    fn trailers(&mut self, _raw: &[u8]) {}
}
