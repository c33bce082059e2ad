//! Failures filed under their messages, of which there are only so many.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::{EndpointId, Outcome};

/// Most different failure messages kept apart in one place; what comes after is filed under [`OTHER_MESSAGES`].
/// This bounds the memory for a target that puts a random id into every error.
pub(crate) const MOST_MESSAGES: usize = 10_000;
pub(crate) const OTHER_MESSAGES: &str = "(other messages)";

/// Longest failure message kept, bytes.
const LONGEST_MESSAGE: usize = 2_000;

/// How often one endpoint failed in one way. Stamps in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Occurrences.
    pub count: u64,
    /// Stamp of the first.
    pub first: u64,
    /// Stamp of the last.
    pub last: u64,
}

/// A kind of failure with its endpoint, outcome and message.
pub type Filed = (EndpointId, Outcome, String, Failure);

#[derive(Debug, Default)]
pub(crate) struct Failures {
    kinds: HashMap<(EndpointId, Outcome, String), Failure>,
}

impl Failures {
    /// Adds failures of one kind to those that are there.
    pub(crate) fn add(&mut self, endpoint: EndpointId, outcome: Outcome, message: &str, more: Failure) {
        let full = self.kinds.len() >= MOST_MESSAGES;
        let key = (endpoint, outcome, clip(message).to_owned());
        let none = Failure { count: 0, ..more };
        let failure = match self.kinds.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if !full => new.insert(none),
            Entry::Vacant(_) => self.kinds.entry((endpoint, outcome, OTHER_MESSAGES.to_owned())).or_insert(none),
        };
        failure.count += more.count;
        failure.first = failure.first.min(more.first);
        failure.last = failure.last.max(more.last);
    }

    /// Adds all that `other` has.
    pub(crate) fn add_all(&mut self, other: &Failures) {
        for ((endpoint, outcome, message), failure) in &other.kinds {
            self.add(*endpoint, *outcome, message, *failure);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Filed> + '_ {
        self.kinds.drain().map(|((endpoint, outcome, message), failure)| (endpoint, outcome, message, failure))
    }

    pub(crate) fn clear(&mut self) {
        self.kinds.clear();
    }
}

/// The part of `message` that is kept: whole characters up to [`LONGEST_MESSAGE`] bytes.
fn clip(message: &str) -> &str {
    &message[..message.floor_char_boundary(LONGEST_MESSAGE)]
}
