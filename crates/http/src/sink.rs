//! Receives the parts of a decoded response.

/// The head of a final response.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// 100 to 999.
    pub status: u16,
    /// The x in HTTP/1.x: 0 or 1. 10 for HTTP/2, so that 10 more than this is Python's number of the version.
    pub minor: u8,
    /// From the status line to the blank line, both included. Folded lines have been joined.
    pub raw: &'a [u8],
    /// The value of the header, even without a body (HEAD, 304); `None` if a transfer coding overrides it.
    pub content_length: Option<u64>,
    /// Headers that it has.
    pub notes: Notes,
}

/// Which of these headers a head has. Noted while it is parsed, so that nobody needs to search a head without them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Notes {
    /// Server-Timing.
    pub timing: bool,
    /// Set-Cookie.
    pub cookie: bool,
    /// Content-Encoding.
    pub coding: bool,
}

/// Receives the parts of a response in order: interim*, head, body*, trailers?.
pub trait Sink {
    /// A 1xx response. The final one follows.
    fn interim(&mut self, _status: u16) {}
    /// The head of the final response.
    fn head(&mut self, head: &Head<'_>);
    /// The next bytes of the body, with chunks joined; never empty. Other transfer codings are not decoded: our
    /// requests do not ask for them.
    fn body(&mut self, chunk: &[u8]);
    /// The trailer lines after a chunked body, if there are any, including the blank line.
    fn trailers(&mut self, _raw: &[u8]) {}
}
