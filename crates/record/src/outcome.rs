//! How an exchange ends. The list is closed: reports, stores and tests iterate over [`Outcome::ALL`].

/// How one exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// A complete response that meets all expectations.
    Success,
    /// A complete response with a status that counts as a failure.
    Http,
    /// No connection: name resolution, refusal, no route, proxy refusal.
    Connect,
    /// The TLS handshake or a TLS record failed.
    Tls,
    /// A timeout. The response time is censored: at least the limit.
    Timeout,
    /// The connection ended before the response was complete.
    Reset,
    /// The peer sent something that is not HTTP, or is over a limit.
    Protocol,
    /// A complete response that the user's own check rejected.
    Assertion,
    /// Sent, and given up without a response because the run or the user stopped. Its times are those of the wait: they
    /// are censored, at least so long. Whether that is a fault of the target depends on the whole run.
    Unanswered,
    /// Due, but never sent: a limit of the generator, not a fault of the target.
    Dropped,
}

impl Outcome {
    /// Every outcome, in the order of their discriminants.
    pub const ALL: [Outcome; 10] = [
        Outcome::Success,
        Outcome::Http,
        Outcome::Connect,
        Outcome::Tls,
        Outcome::Timeout,
        Outcome::Reset,
        Outcome::Protocol,
        Outcome::Assertion,
        Outcome::Unanswered,
        Outcome::Dropped,
    ];

    /// The name used in stores, files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Success => "success",
            Outcome::Http => "http",
            Outcome::Connect => "connect",
            Outcome::Tls => "tls",
            Outcome::Timeout => "timeout",
            Outcome::Reset => "reset",
            Outcome::Protocol => "protocol",
            Outcome::Assertion => "assertion",
            Outcome::Unanswered => "unanswered",
            Outcome::Dropped => "dropped",
        }
    }

    /// The inverse of [`Outcome::name`].
    pub fn from_name(name: &str) -> Option<Outcome> {
        Outcome::ALL.into_iter().find(|outcome| outcome.name() == name)
    }

    /// Whether it counts as a failure by itself.
    pub const fn is_failure(self) -> bool {
        self.is_request() && !matches!(self, Outcome::Success)
    }

    /// Whether the exchange ended by itself, well or badly.
    pub const fn is_request(self) -> bool {
        !matches!(self, Outcome::Unanswered | Outcome::Dropped)
    }

    /// Whether its response time counts in the latency percentiles: it has an arrival, or it waited for the full limit.
    /// The times of refusals and resets do not count: they do not show how long a response takes.
    pub const fn is_timed(self) -> bool {
        matches!(self, Outcome::Success | Outcome::Http | Outcome::Timeout | Outcome::Assertion)
    }

    /// Whether a complete response arrived. Only then the arrival has a stamp, and the delay is meaningful.
    pub const fn has_response(self) -> bool {
        matches!(self, Outcome::Success | Outcome::Http | Outcome::Assertion)
    }

    /// Whether the exchange has a time. One that was never sent has none.
    pub const fn has_duration(self) -> bool {
        !matches!(self, Outcome::Dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn every_outcome_is_listed_at_its_own_place_and_found_by_its_name() {
        for (index, outcome) in Outcome::ALL.into_iter().enumerate() {
            assert_eq!(outcome as usize, index);
            assert_eq!(Outcome::from_name(outcome.name()), Some(outcome));
        }
        assert_eq!(Outcome::from_name("nonsense"), None);
    }

    #[test]
    fn what_the_target_never_finished_or_never_saw_is_no_failure_of_it() {
        for outcome in Outcome::ALL {
            let is_innocent = [Outcome::Success, Outcome::Unanswered, Outcome::Dropped].contains(&outcome);
            assert_eq!(outcome.is_failure(), !is_innocent, "{outcome:?}");
            assert!(outcome.is_request() || is_innocent, "{outcome:?}");
        }
    }

    #[test]
    fn what_is_timed_has_a_duration() {
        for outcome in Outcome::ALL {
            assert!(!outcome.is_timed() || outcome.has_duration(), "{outcome:?}");
        }
    }
}
