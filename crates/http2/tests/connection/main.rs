//! The client's end of a connection against frames that are written by hand.

#![allow(clippy::unwrap_used)]

mod requests;
mod responses;
mod support;
