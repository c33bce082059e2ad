//! Failures grouped by message, with a maximum number of groups.

use std::collections::HashMap;

use crate::cell::sum_of;
use crate::grouping::group;
use crate::{EndpointId, Outcome};

/// Maximum kinds of failures. Further ones are counted under [`OTHER_MESSAGES`]. It limits the memory for a target that
/// puts random text into every error.
pub(crate) const MOST_MESSAGES: usize = 10_000;
pub(crate) const OTHER_MESSAGES: &str = "(other messages)";

/// Maximum length of a stored failure message, bytes.
const LONGEST_MESSAGE: usize = 2_000;
/// Maximum bytes of a message to read. Placeholders make it shorter.
const LONGEST_READ: usize = 2 * LONGEST_MESSAGE;

/// The count of one failure of one endpoint. Stamps in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Occurrences.
    pub count: u64,
    /// Stamp of the first.
    pub first: u64,
    /// Stamp of the last.
    pub last: u64,
}

/// The messages of one kind of failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The common text, with placeholders for the variable parts. It identifies the kind.
    pub group: String,
    /// The first message; empty if it equals the group.
    pub example: String,
    /// Whether the messages differ.
    pub is_varied: bool,
}

/// A kind of failure with its endpoint, outcome and message.
pub type Filed = (EndpointId, Outcome, Message, Failure);

/// The same, borrowed.
struct Known<'a> {
    group: &'a str,
    example: &'a str,
    is_varied: bool,
}

#[derive(Debug)]
struct Kind {
    failure: Failure,
    example: String,
    is_varied: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Failures {
    kinds: HashMap<(EndpointId, Outcome), HashMap<String, Kind>>,
    /// Number of kinds, without those for [`OTHER_MESSAGES`].
    count: usize,
    last: Last,
}

/// The last message and its group. The next message is often the same.
#[derive(Debug, Default)]
struct Last {
    text: String,
    group: String,
    /// Whether the text has variable parts; otherwise `group` is empty.
    is_grouped: bool,
}

impl Last {
    fn read(&mut self, text: &str) {
        if text != self.text {
            self.text.clear();
            self.text.push_str(text);
            self.group.clear();
            self.is_grouped = group(text, &mut self.group);
        }
    }
}

impl Failures {
    /// Adds failures with one message. Only a new kind allocates.
    pub(crate) fn add(&mut self, endpoint: EndpointId, outcome: Outcome, text: &str, more: Failure) {
        let mut last = std::mem::take(&mut self.last);
        last.read(clip(text, LONGEST_READ));
        let text = clip(text, LONGEST_MESSAGE);
        let group = if last.is_grouped { clip(&last.group, LONGEST_MESSAGE) } else { text };
        let example = if group == text { "" } else { text };
        self.file(endpoint, outcome, &Known { group, example, is_varied: false }, more);
        self.last = last;
    }

    /// Adds failures of one kind to the existing ones.
    pub(crate) fn add_kind(&mut self, endpoint: EndpointId, outcome: Outcome, message: &Message, more: Failure) {
        let Message { group, example, is_varied } = message;
        self.file(endpoint, outcome, &Known { group, example, is_varied: *is_varied }, more);
    }

    /// Adds all failures of `other`.
    pub(crate) fn add_all(&mut self, other: &Failures) {
        for ((endpoint, outcome), kinds) in &other.kinds {
            for (group, more) in kinds {
                let message = Known { group, example: &more.example, is_varied: more.is_varied };
                self.file(*endpoint, *outcome, &message, more.failure);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Filed> + '_ {
        self.count = 0;
        self.kinds.drain().flat_map(|((endpoint, outcome), kinds)| {
            kinds.into_iter().map(move |(group, kind)| {
                let Kind { failure, example, is_varied } = kind;
                (endpoint, outcome, Message { group, example, is_varied }, failure)
            })
        })
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
        self.kinds.clear();
    }

    /// `message` is borrowed, so that a known kind does not allocate.
    fn file(&mut self, endpoint: EndpointId, outcome: Outcome, message: &Known<'_>, more: Failure) {
        let kinds = self.kinds.entry((endpoint, outcome)).or_default();
        if let Some(kind) = kinds.get_mut(message.group) {
            kind.add(message.example, message.is_varied, more);
        } else if self.count < MOST_MESSAGES {
            self.count += 1;
            let Known { group, example, is_varied } = *message;
            kinds.insert(group.to_owned(), Kind { failure: more, example: example.to_owned(), is_varied });
        } else if let Some(kind) = kinds.get_mut(OTHER_MESSAGES) {
            kind.add("", false, more);
        } else {
            let kind = Kind { failure: more, example: String::new(), is_varied: false };
            kinds.insert(OTHER_MESSAGES.to_owned(), kind);
        }
    }
}

impl Kind {
    fn add(&mut self, example: &str, is_varied: bool, more: Failure) {
        self.failure.count = sum_of(self.failure.count, more.count);
        self.failure.first = self.failure.first.min(more.first);
        self.failure.last = self.failure.last.max(more.last);
        self.is_varied |= is_varied || self.example != example;
    }
}

/// The start of a text: whole characters, at most `bytes` bytes.
fn clip(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
