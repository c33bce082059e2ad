//! The one loop: sends requests, stamps them, and hands back what became of each.
//!
//! # Layout
//!
//! - [`engine`]: [`Engine`], the reactor: `send`, then `poll`, then `next_event` until there is nothing more.
//! - [`call`]: what goes in ([`Call`]) and what comes out ([`Finished`]).
//! - `allow`: which hosts connections may be made to.
//! - `bodies`: how much memory the bodies of responses may take together.
//! - `connection`: one connection as a state machine over readiness; **latency is stamped here** (`Connection::receive`).
//!   `connection::setup`: proxy and TLS, before the request; `connection::flight`: the exchange it is busy with;
//!   `connection::streaming`: a body that is read as it comes.
//! - `protocol`: the seam to what a connection speaks; `protocol::http1`: HTTP/1.1 behind it.
//! - `transport`: a socket, and TLS on top of it.
//! - `backoff`: how long who could not connect waits before it tries again.
//! - `dial`: from an origin to a socket that is being connected, address after address.
//! - `source`: which local address a connection comes from.
//! - `socket`: one socket, and the read that brings the kernel's receive stamp where there is one.
//! - `platform`: what Linux does better than other systems: timers, stamps. `platform/portable.rs` is for the others, and for
//!   Linux with the feature `portable`.
//! - `clock`: the monotonic clock, and the kernel's real-time stamps on it.
//! - `timer`: deadlines, many of them cheap, one descriptor.
//! - `resolve`: names to addresses without blocking the loop.
//! - [`origin`]: where exchanges go, and how it is reached.
//! - `tls`: configurations for rustls.
//! - [`native`]: users in Rust who play a scenario.
//!
//! The engine belongs to one thread, knows no Python, writes no files and starts one helper thread at most, for names
//! (a second one keeps the time where timers are no descriptors).

mod allow;
mod backoff;
mod bodies;
pub mod call;
mod clock;
mod connection;
mod dial;
pub mod engine;
pub mod native;
pub mod origin;
#[cfg_attr(all(target_os = "linux", not(feature = "portable")), path = "platform/linux.rs")]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), path = "platform/portable.rs")]
mod platform;
mod protocol;
mod resolve;
mod socket;
mod source;
mod timer;
mod tls;
mod trace;
mod transport;

pub use allow::{AllowList, AllowedHosts};
pub use bodies::{BODY_MEMORY, Held, held_bodies, limit_bodies};
pub use call::{Call, ExchangeId, Failure, Finished, Keep, Piece, Response, Then, Wire};
pub use clock::now;
pub use engine::{ClientId, Engine, Event, Limits, WakeId};
pub use native::{MixedModels, NativeUsers, Rules, Script, ScriptError};
pub use origin::{Origin, OriginError, OriginOptions};
