//! The event loop: sends requests, stamps them, and returns the result of each.
//!
//! # Layout
//!
//! - [`engine`]: [`Engine`], the reactor: `send`, then `poll`, then `next_event` until it returns None.
//! - [`call`]: the input ([`Call`]) and the output ([`Finished`]).
//! - `allow`: the hosts that connections may be made to.
//! - `connection`: one connection as a state machine over readiness. `connection::setup`: TLS, before the
//!   request; `connection::tunnel`: the way through a proxy, before that; `connection::flight`: the exchange it is busy with; `connection::input`: the response, **latency is stamped
//!   here**; `connection::streaming`: a body that is read in pieces; `connection::uploading`: one that is sent in parts.
//! - `connection::session`: a connection that carries many exchanges (HTTP/2); `connection::sharing`: an exchange on one;
//!   `connection::answers`: what its streams bring, **latency is stamped here**, too.
//! - `protocol`: the interface to the protocol of a connection; `protocol::http1`: HTTP/1.1.
//! - `transport`: a socket, with optional TLS.
//! - `backoff`: the wait before a client connects again after a failure.
//! - `dial`: from an origin to a connecting socket, address after address.
//! - `socks5`: what a client and a SOCKS proxy say to each other.
//! - `source`: the local address of a connection.
//! - `socket`: one socket, and the read with the kernel's receive stamp where available.
//! - `platform`: timers and stamps of Linux. `platform/portable.rs` is for other systems, and for
//!   Linux with the feature `portable`.
//! - `clock`: the monotonic clock, and the conversion of the kernel's stamps to it.
//! - `timer`: many cheap deadlines with one descriptor.
//! - `resolve`: resolves names without blocking the loop.
//! - [`origin`]: the destination of exchanges, and how to reach it.
//! - `tls`: configurations for rustls.
//! - [`event_reader`]: the events of a stream, and how they are recorded; `text`: those of a language model;
//!   `reply_reader`: the replies of gRPC.
//! - [`native`]: users in Rust that play a scenario.
//!
//! The engine belongs to one thread, does not use Python and writes no files. It starts at most one helper thread, for
//! names (on systems whose timers are not descriptors, a second one for timers).

mod allow;
mod backoff;
pub mod call;
mod clock;
mod connection;
mod dial;
pub mod engine;
pub mod event_reader;
pub mod native;
pub mod origin;
#[cfg_attr(all(target_os = "linux", not(feature = "portable")), path = "platform/linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), path = "platform/portable.rs")]
mod platform;
mod protocol;
mod reply_reader;
mod resolve;
mod socket;
mod socks5;
mod source;
mod text;
mod timer;
mod tls;
mod trace;
mod transport;

pub use allow::{AllowList, AllowedHosts};
pub use call::{Call, ExchangeId, Failure, Finished, Keep, Piece, Response, Then, Wire};
pub use clock::now;
pub use engine::{ClientId, Engine, Event, Limits, WakeId, fetch, fetch_all};
pub use event_reader::{EventReader, EventRows};
pub use native::{MixedModels, NativeUsers, Rules, Script, ScriptError};
pub use origin::{Origin, OriginError, OriginOptions};
pub use plimsoll_scenario::bodies::{BODY_MEMORY, Held, held_bodies, limit_bodies, no_room};
pub use reply_reader::ReplyReader;
pub use trace::parent_of;
