//! Receives what happens to the streams of a connection.

use plimsoll_http::Head;

use crate::StreamError;

/// Receives the responses of a connection. The events of one stream come in this order: interim\*, head, body\*,
/// trailers?, end; `failed` may come instead of each of them. Nothing follows `end` and `failed`.
///
/// `tag` is the number that was given to [`Connection::open`](crate::Connection::open).
pub trait Events {
    /// Header blocks and data of this stream have come in frames of `bytes` bytes, their headers included. It comes before
    /// the event of a header block, and after that of data.
    fn frames(&mut self, _tag: u64, _bytes: usize) {}
    /// A 1xx response. The final one follows.
    fn interim(&mut self, tag: u64, status: u16);
    /// The head of the final response. Its `raw` is text: `HTTP/2 200`, then `name: value` lines, then a blank line.
    fn head(&mut self, tag: u64, head: &Head<'_>);
    /// The next bytes of the body; never empty.
    fn body(&mut self, tag: u64, chunk: &[u8]);
    /// The lines after the body, with the blank line.
    fn trailers(&mut self, tag: u64, raw: &[u8]);
    /// The response is complete. The stream is closed.
    fn end(&mut self, tag: u64);
    /// There is no complete response. The stream is closed, the connection lives on.
    fn failed(&mut self, tag: u64, error: StreamError);
}
