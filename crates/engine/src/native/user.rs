//! One user and its state.

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

/// The state of a user.
#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    /// Waiting for an arrival.
    Idle,
    /// Waiting for the result of this exchange.
    Sending(ExchangeId),
    /// Reading a stream.
    Streaming,
    /// Waiting for the token of its step.
    Authorizing,
    /// Waiting for a time.
    Pausing {
        wake: WakeId,
        /// The time, monotonic ns.
        due: u64,
        then: Then,
    },
}

/// The action after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// Send the request of the session's step.
    Send,
    /// Leave the session's step, whose request could not be sent.
    Advance,
    /// Start the next iteration.
    Begin,
    /// Ask for a WebSocket, after a backoff.
    Connect,
}

#[cfg(test)]
mod tests {
    use super::User;

    #[test]
    fn a_user_is_small() {
        assert!(size_of::<User>() <= 80, "{} bytes", size_of::<User>());
    }
}
