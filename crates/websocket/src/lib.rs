//! WebSocket (RFC 6455) for a client, without sockets and without a clock: messages to bytes, bytes to messages.
//!
//! # Layout
//!
//! - `handshake`: [`Key`] and [`Offer`], the headers of the request and the check of the response.
//! - `client`: [`Client`], an open connection. It answers pings and close frames.
//! - `decoder`: [`Decoder`], from bytes to messages and control frames. `frame`: headers of frames, and the encoder.
//! - `deflate`: permessage-deflate (RFC 7692). The server may compress; this end does not.
//! - `error`: all errors of the above.
//!
//! # Example
//!
//! ```
//! use plimsoll_http::Work;
//! use plimsoll_websocket::{Client, Message};
//!
//! let mut client = Client::new(1 << 20, None, 1);
//! client.send(Message::Text("Hello"));
//! assert_eq!(client.output().len(), 2 + 4 + 5, "a header, a masking key, and the text");
//! client.output().clear();
//!
//! let mut got = Vec::new();
//! for from_socket in [&b"\x81\x05Hel"[..], b"lo\x89\x00"] {
//!     client.feed(from_socket, &mut Work::all(), &mut |message| got.push(message.as_bytes().to_vec()))?;
//! }
//! assert_eq!(got, [b"Hello"]);
//! assert_eq!(client.output().len(), 2 + 4, "the answer to the ping");
//! # Ok::<(), plimsoll_websocket::ProtocolError>(())
//! ```

mod client;
mod decoder;
mod deflate;
mod error;
mod frame;
mod handshake;

pub use client::{ABNORMAL, Client, Close, Message, NO_CODE};
pub use decoder::{Decoder, Incoming, may_be_sent};
pub use deflate::Parameters;
pub use error::{HandshakeError, ProtocolError};
pub use handshake::{Accepted, Key, Offer, random};
