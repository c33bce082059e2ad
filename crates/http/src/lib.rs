//! HTTP/1.1 for a client, without sockets and without a clock: encodes requests, decodes responses.
//!
//! # Layout
//!
//! - `request`: [`Headers`], checked and encoded once; [`Request::encode`] appends a request head to a buffer.
//! - `parts`: [`Parts`], the framing of a body that is sent in parts.
//! - `decoder`: [`Decoder`] reads response bytes as they arrive and passes their parts to a [`Sink`].
//! - `sink`: the receiver of those parts. `limits`: how much of a response is accepted.
//! - `chunked`: the chunked transfer coding, a part of the decoder.
//! - `heads`: [`Heads`], the limits and the heads parsed last, for the decoders of many connections.
//! - `framing`: from a response head to the length of its body, and to whether the connection is kept.
//! - `head`: finds headers and the reason in the raw bytes of a response head.
//! - `content`: content codings (gzip, deflate, br, zstd), decoded on request; `content::decoding`: for a body in
//!   pieces; `content::steps`: in steps. `work`: [`Work`], how much is done before others have their turn.
//! - `error`: all errors of the above.
//! - `events`: finds server-sent events, or lines, in a body in pieces.
//!
//! # Example
//!
//! ```
//! use plimsoll_http::{Decoder, Head, Headers, Heads, Limits, Request, Sink};
//!
//! #[derive(Default)]
//! struct Response {
//!     status: u16,
//!     body: Vec<u8>,
//! }
//!
//! impl Sink for Response {
//!     fn head(&mut self, head: &Head<'_>) {
//!         self.status = head.status;
//!     }
//!
//!     fn body(&mut self, chunk: &[u8]) {
//!         self.body.extend_from_slice(chunk);
//!     }
//! }
//!
//! let headers = Headers::new([(b"Accept".as_slice(), b"*/*".as_slice())])?;
//! let request = Request {
//!     method: "GET",
//!     target: "/todos?limit=1",
//!     authority: "127.0.0.1:8000",
//!     headers: &headers,
//!     extra: &[],
//!     body_length: None,
//!     content_type: None,
//! };
//! let mut to_socket = Vec::new();
//! request.encode(&mut to_socket)?;
//! assert_eq!(to_socket, b"GET /todos?limit=1 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\n\r\n");
//!
//! let mut heads = Heads::new(Limits::default());
//! let mut decoder = Decoder::new();
//! let mut response = Response::default();
//! decoder.begin(request.method == "HEAD");
//! for from_socket in ["HTTP/1.1 200 OK\r\nContent-Le", "ngth: 2\r\n\r\n[", "]"] {
//!     let fed = decoder.feed(&mut heads, from_socket.as_bytes(), &mut response)?;
//!     assert_eq!(fed.done.is_some(), from_socket == "]");
//! }
//! assert_eq!((response.status, response.body.as_slice()), (200, b"[]".as_slice()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunked;
mod content;
mod decoder;
mod error;
mod events;
mod form;
mod framing;
mod head;
mod heads;
mod limits;
mod mend;
mod parts;
mod request;
mod rest;
mod sink;
mod work;

pub use content::{Decoding, StepDecoder, decode, decoded_length};
pub use decoder::{Decoder, Done, Fed};
pub use error::{DecodeError, ProtocolError, RequestError};
pub use events::{Event, EventFormat, EventSplitter, EventTooLong};
pub use form::Form;
pub use head::{header, headers, list, reason, trailers, values};
pub use heads::Heads;
pub use limits::{Limits, LimitsError};
pub use parts::Parts;
pub use request::{Encoded, Headers, Request};
pub use rest::Rest;
pub use sink::{Head, Notes, Sink};
pub use work::Work;
