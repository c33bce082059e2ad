//! HTTP/2 (RFC 9113) for a client, without sockets and without a clock.
//!
//! A request comes in as the text of HTTP/1.1, and a response goes out as such a text: `HTTP/2 200`, the header lines
//! and a blank line. Between them are the frames of one connection.
//!
//! # Layout
//!
//! - `connection`: [`Connection`], the client's end. `connection::reading`: from bytes to responses;
//!   `connection::control`: SETTINGS, PING, GOAWAY and the like; `connection::sending`: request bodies.
//! - `stream`: one request and its response, and the windows of flow control.
//! - `frame`: headers of frames, and frames that this end writes.
//! - `request`, `response`: between the text of a head and a header block.
//! - `hpack`: header blocks (RFC 7541). No header is stored between two blocks: this end announces a table of 0 bytes.
//! - `options`: [`Options`], what this end announces. `events`: [`Events`], the receiver of responses.
//! - `error`: all errors of the above.
//!
//! # Example
//!
//! ```
//! use plimsoll_http::{Head, Limits};
//! use plimsoll_http2::{Connection, Events, Options, StreamError};
//!
//! #[derive(Default)]
//! struct Responses(Vec<String>);
//!
//! impl Events for Responses {
//!     fn interim(&mut self, _tag: u64, _status: u16) {}
//!     fn head(&mut self, tag: u64, head: &Head<'_>) {
//!         self.0.push(format!("{tag}: {}", String::from_utf8_lossy(head.raw)));
//!     }
//!     fn body(&mut self, tag: u64, chunk: &[u8]) {
//!         self.0.push(format!("{tag}: {}", String::from_utf8_lossy(chunk)));
//!     }
//!     fn trailers(&mut self, _tag: u64, _raw: &[u8]) {}
//!     fn end(&mut self, tag: u64) {
//!         self.0.push(format!("{tag} is complete"));
//!     }
//!     fn failed(&mut self, _tag: u64, _error: StreamError) {}
//! }
//!
//! let mut connection = Connection::new(&Options::default());
//! connection.open(b"GET /todos HTTP/1.1\r\nHost: x\r\n\r\n", b"", true, 7)?;
//! assert!(connection.output().starts_with(b"PRI * HTTP/2.0"));
//! connection.wrote(connection.output().len());
//!
//! let mut responses = Responses::default();
//! for from_socket in [
//!     &b"\0\0\0\x04\0\0\0\0\0"[..],           // SETTINGS
//!     b"\0\0\x01\x01\x04\0\0\0\x01\x88",         // HEADERS: status 200
//!     b"\0\0\x02\0\x01\0\0\0\x01[", b"]",        // DATA in two pieces
//! ] {
//!     connection.input(from_socket, &Limits::default(), &mut responses)?;
//! }
//! assert_eq!(responses.0, ["7: HTTP/2 200\r\n\r\n", "7: [", "7: ]", "7 is complete"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod connection;
mod error;
mod events;
mod frame;
mod hpack;
mod options;
mod request;
mod response;
mod stream;

pub use connection::{Connection, StreamId};
pub use error::{Code, ConnectionError, HpackError, OpenError, StreamError};
pub use events::Events;
pub use options::Options;
