//! The engine against real sockets on loopback, one subject per file.
//!
//! `peer` is the other end, `lab` drives the engine, `shift` drives native users, `certificates` makes the files for
//! TLS. Every wait panics after `peer::LIMIT`, so that a lost wake-up fails a test instead of hanging it. A process
//! that runs ten times as long is ended. Messages between the two ends set the order of events, never sleeping times.

#![allow(clippy::print_stderr, clippy::unwrap_used)] // allowed in tests

mod certificates;
mod lab;
mod peer;
mod shift;

mod allowing;
mod arrivals;
mod authorizing;
mod cancelling;
mod continuing;
mod events;
mod exchanges;
mod failures;
mod forwarding;
mod http2;
mod inflated;
mod keeping;
mod natives;
mod playing;
mod reach;
mod refused;
mod retransmissions;
mod socks;
mod stamps;
mod streaming;
mod texts;
mod tls;
mod uploading;
mod wakes;
mod websockets;
