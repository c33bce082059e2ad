//! Deadlines of exchanges whose responses have arrived, at least in part, and wait for their decoding.

use plimsoll_record::{Exchange, Outcome, StampSource};

use crate::call::Failure;
use crate::clock::now;

/// Whether a deadline has passed; 0 = never.
pub(super) fn is_over(deadline: u64) -> bool {
    deadline != 0 && deadline <= now()
}

/// The failure at a deadline. The exchange ends there: a censored time. `limit`: ns.
pub(super) fn too_late(exchange: &mut Exchange, deadline: u64, limit: u64) -> Failure {
    exchange.arrival = deadline.max(exchange.sent);
    exchange.source = StampSource::User;
    exchange.read = now().max(exchange.arrival);
    Failure::new(Outcome::Timeout, format!("no decoded response within {} s", limit as f64 / 1e9))
}
