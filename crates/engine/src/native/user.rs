//! One user, and what it is doing.

use plimsoll_scenario::Session;

use crate::call::ExchangeId;
use crate::engine::{ClientId, WakeId};

/// A simulated client with its own connections.
#[derive(Debug)]
pub(super) struct User {
    pub(super) client: ClientId,
    pub(super) session: Session,
    pub(super) state: State,
}

/// What a user is doing.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Waiting for an arrival.
    Idle,
    /// Waiting for what becomes of this exchange.
    Sending(ExchangeId),
    /// Waiting for a time to come.
    Pausing {
        wake: WakeId,
        /// That time, monotonic ns.
        due: u64,
        then: Then,
    },
}

/// What comes after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The request of the session's step.
    Send,
    /// What comes after the session's step, whose request could not be sent.
    Advance,
    /// The next iteration.
    Begin,
}

#[cfg(test)]
mod tests {
    use super::User;

    #[test]
    fn a_user_is_small() {
        assert!(size_of::<User>() <= 80, "{} bytes", size_of::<User>());
    }
}
