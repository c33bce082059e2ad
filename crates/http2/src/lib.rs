//! HTTP/2 (RFC 9113) for a client, without sockets and without a clock.
//!
//! A request comes in as the text of HTTP/1.1, and a response goes out as such a text: `HTTP/2 200`, the header lines
//! and a blank line. Between them are the frames of one connection.
//!
//! # Layout
//!
//! - `connection`: [`Connection`], the client's end: streams, flow control, and the answers to SETTINGS and PING.
//! - `options`: [`Options`], what this end announces. `events`: [`Events`], the receiver of responses.
//! - `error`: all errors of the above.

mod connection;
mod error;
mod events;
mod options;

pub use connection::{Connection, StreamId};
pub use error::{Code, ConnectionError, OpenError, StreamError};
pub use events::Events;
pub use options::Options;
