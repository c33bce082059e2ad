//! The engine against real sockets on loopback, one subject per file.
//!
//! `peer` is the other end, `lab` drives the engine, `shift` native users, `certificates` makes what TLS needs. Every wait in them ends in a
//! panic after `peer::LIMIT`, so that a lost wake-up fails a test instead of hanging it, and a process that runs for ten
//! times as long is ended. What has to happen before something else is ordered by messages between the two ends, never
//! by how long it ought to take.

#![allow(clippy::print_stderr, clippy::unwrap_used)] // a test is allowed to, and so are its helpers

mod certificates;
mod lab;
mod peer;
mod shift;

mod allowing;
mod arrivals;
mod cancelling;
mod continuing;
mod exchanges;
mod failures;
mod keeping;
mod natives;
mod playing;
mod reach;
mod stamps;
mod streaming;
mod tls;
mod wakes;
