//! gRPC for a client, without sockets and without a clock: what a call is made of, beside HTTP/2.
//!
//! A call is an HTTP/2 request `POST /package.Service/Method`. Its body and that of the response are messages with a
//! prefix of five bytes each. The trailers of the response have the status.
//!
//! # Layout
//!
//! - `schema`: [`Schema`], the services of .proto files or of a descriptor set. `sources` compiles .proto files.
//! - `method`: [`Method`], one call: JSON to the bytes of a message, and back. `mistakes`: fields that do not exist.
//!   `weight`: the memory that a message takes.
//! - `frame`: [`push_message`] and [`MessageSplitter`], messages in a body; gzip. [`HEADERS`] of calls.
//! - `status`: [`Status`] and [`Code`], how a call ended.
//! - `timeout`: [`timeout_header`], the deadline as it is sent to the server.
//! - `error`: all errors of the above.
//!
//! # Example
//!
//! ```
//! use plimsoll_grpc::{Code, MessageSplitter, Schema, Status, push_message};
//! use plimsoll_http::Work;
//!
//! let schema = Schema::from_text(
//!     r#"syntax = "proto3"; package hello; message Text { string text = 1; }
//!        service Echo { rpc Say(Text) returns (Text); }"#,
//! )?;
//! let method = schema.method("hello.Echo/Say")?;
//! assert_eq!(method.path(), "/hello.Echo/Say");
//!
//! let mut message = Vec::new();
//! method.encode(r#"{"text": "hi"}"#, &mut message)?;
//! let mut body = Vec::new();
//! push_message(&message, false, &mut body);
//! assert_eq!(body, b"\x00\x00\x00\x00\x04\x0a\x02hi");
//!
//! let mut replies = Vec::new();
//! let mut splitter = MessageSplitter::new(None, 1 << 20);
//! splitter.feed(&body, &mut Work::all(), &mut |message| replies.push(message.to_vec()))?;
//! splitter.end()?;
//! assert_eq!(method.decode(&replies[0], &mut |_| Ok(()))?, r#"{"text":"hi"}"#);
//!
//! let head = b"HTTP/2 200\r\ncontent-type: application/grpc\r\n\r\n";
//! let status = Status::read(head, b"grpc-status: 5\r\ngrpc-message: no%20such%20text\r\n")?;
//! assert_eq!((status.code, status.to_string()), (Code::NotFound, "grpc NOT_FOUND: no such text".into()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod frame;
mod method;
mod mistakes;
mod schema;
mod sources;
mod status;
mod timeout;
mod weight;

pub use error::{FrameError, MessageError, NoStatus, SchemaError};
pub use frame::{HEADERS, MessageSplitter, push_message, split};
pub use method::Method;
pub use mistakes::nearest;
pub use schema::Schema;
pub use status::{Code, Status};
pub use timeout::timeout_header;
