//! HTTP/2: many exchanges on one connection. `served` is a peer made of the crate `h2`; `frames` is one by hand, for
//! what a sound peer does not do.

mod frames;
mod served;

mod bodies;
mod exchanges;
mod faults;
mod limits;
mod users;

use std::sync::Arc;

use plimsoll_engine::{Origin, OriginOptions};
use plimsoll_record::Exchange;

use crate::lab::origin_with;
use crate::peer::Peer;

/// An origin with HTTP/2 and the default options.
fn at(url: &str) -> Arc<Origin> {
    origin_with(url, &OriginOptions { http2: true, ..OriginOptions::default() })
}

/// The peer as an origin, with prior knowledge.
fn over_http2(peer: &Peer) -> Arc<Origin> {
    at(&peer.url())
}

/// The stamps of a complete response are in order.
fn assert_ordered(exchange: &Exchange) {
    let stamps = [exchange.due, exchange.sent, exchange.first_byte, exchange.arrival, exchange.read];
    assert!(stamps.is_sorted() && exchange.due > 0, "{exchange:?}");
}
