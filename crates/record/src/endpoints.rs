//! Endpoints by method and name, up to a limit.

use std::collections::HashMap;

use crate::EndpointId;

/// (method, name) of the endpoint that counts all names over the limit.
pub const OTHERS: (&str, &str) = ("", "(others)");
/// The method of the row with the times to the first event of a stream: `response` from due, `service` from sent.
pub const FIRST_EVENT: &str = "first event";
/// The method of the row that counts events of streams. Its times are those from one event of a stream to the next, so
/// that the first event of each stream has none.
pub const EVENT: &str = "each event";
/// The method of the row with the times to the first chunk of a generated text that has content.
pub const FIRST_TOKEN: &str = "first token";
/// The method of the row that counts such chunks, with the times from one to the next.
pub const CHUNK: &str = "each chunk";
/// The method of the row that counts the tokens of generated texts, as the target counts them. Each text has one time:
/// that per token after the first one.
pub const TOKEN: &str = "each token";
/// The same for texts of which the target does not say how many tokens they have: each chunk is one.
pub const TOKEN_BY_CHUNK: &str = "token by chunk";
/// The method of the row that counts requests that met all their objectives, with their response times.
pub const GOOD: &str = "good request";
/// The method of the row that counts messages of WebSockets that were sent; they have no times.
pub const MESSAGE_OUT: &str = "message out";
/// The method of the row that counts messages that arrived, with the times from one to the next on a connection.
pub const MESSAGE_IN: &str = "message in";
/// The method of the row that counts ends of WebSockets, with the times of closing handshakes.
pub const CLOSE: &str = "WS close";
/// The method of the row that counts requests for tokens of OAuth 2.0, with their response times.
pub const AUTH_TOKEN: &str = "auth token";
/// The method of the row that counts responses with a challenge that the next request answers, with their times.
pub const AUTH_CHALLENGE: &str = "auth challenge";
/// The methods of rows that are no requests of a scenario. Methods of HTTP have no blanks.
pub const STREAM_ROWS: [&str; 12] = [
    FIRST_EVENT,
    EVENT,
    FIRST_TOKEN,
    CHUNK,
    TOKEN,
    TOKEN_BY_CHUNK,
    GOOD,
    MESSAGE_OUT,
    MESSAGE_IN,
    CLOSE,
    AUTH_TOKEN,
    AUTH_CHALLENGE,
];
/// Those of them that have the name of any stream.
pub(crate) const EVENT_ROWS: [&str; 2] = [FIRST_EVENT, EVENT];

/// Bytes of a name that are kept. Longer names are one endpoint if they begin alike.
const LONGEST_NAME: usize = 2000;

/// Assigns numbers to endpoints.
#[derive(Debug)]
pub(crate) struct Endpoints {
    ids: HashMap<String, HashMap<String, EndpointId>>,
    names: Vec<(String, String)>,
    /// Maximum endpoints besides [`OTHERS`].
    most: usize,
    others: Option<EndpointId>,
}

impl Endpoints {
    pub(crate) fn new() -> Endpoints {
        Endpoints { ids: HashMap::new(), names: Vec::new(), most: usize::MAX, others: None }
    }

    /// Sets the maximum number of names. Existing names stay.
    pub(crate) fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// The number of (method, name), the same for every call. A new name over the limit gets the number of [`OTHERS`],
    /// unless it is a row of streams: these belong to a name that has its own.
    ///
    /// It does not allocate for a known name or for [`OTHERS`].
    pub(crate) fn number(&mut self, method: &str, name: &str) -> EndpointId {
        let name = kept(name);
        if let Some(id) = self.find(method, name) {
            return id;
        }
        let own = self.names.len() - usize::from(self.others.is_some());
        let is_over = own >= self.most && !STREAM_ROWS.contains(&method);
        if is_over || (method, name) == OTHERS {
            return self.others();
        }
        self.add(method, name)
    }

    /// The number of (method, name), if it has its own.
    pub(crate) fn find(&self, method: &str, name: &str) -> Option<EndpointId> {
        self.ids.get(method).and_then(|names| names.get(kept(name))).copied()
    }

    /// The number of [`OTHERS`], if it exists.
    pub(crate) fn known_others(&self) -> Option<EndpointId> {
        self.others
    }

    pub(crate) fn name(&self, id: EndpointId) -> Option<(&str, &str)> {
        self.names.get(id.0 as usize).map(|(method, name)| (method.as_str(), name.as_str()))
    }

    /// Whether it counts requests: it is not one of [`STREAM_ROWS`].
    pub(crate) fn counts_requests(&self, id: EndpointId) -> bool {
        self.name(id).is_none_or(|(method, _)| !STREAM_ROWS.contains(&method))
    }

    /// (method, name) by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(method, name)| (method.as_str(), name.as_str()))
    }

    fn others(&mut self) -> EndpointId {
        if let Some(id) = self.others {
            return id;
        }
        let id = self.add(OTHERS.0, OTHERS.1);
        self.others = Some(id);
        id
    }

    fn add(&mut self, method: &str, name: &str) -> EndpointId {
        let id = EndpointId(u32::try_from(self.names.len()).expect("fewer than 2^32 endpoints"));
        self.names.push((method.to_owned(), name.to_owned()));
        self.ids.entry(method.to_owned()).or_default().insert(name.to_owned(), id);
        id
    }
}

/// The part of a name that is kept.
#[inline]
fn kept(name: &str) -> &str {
    if name.len() <= LONGEST_NAME { name } else { &name[..name.floor_char_boundary(LONGEST_NAME)] }
}

#[cfg(test)]
mod tests {
    use super::{Endpoints, LONGEST_NAME, OTHERS};

    #[test]
    fn the_end_of_a_long_name_is_not_kept() {
        let mut endpoints = Endpoints::new();
        let long = format!("x{}", "é".repeat(LONGEST_NAME));
        let id = endpoints.number("GET", &long);
        assert_eq!(endpoints.name(id), Some(("GET", &long[..LONGEST_NAME - 1])));
        assert_eq!(endpoints.number("GET", &format!("{long}1")), id);
        assert_eq!(endpoints.find("GET", &format!("{long}2")), Some(id));
        let longest = "x".repeat(LONGEST_NAME);
        let whole = endpoints.number("GET", &longest);
        assert_eq!(endpoints.name(whole), Some(("GET", longest.as_str())));
    }

    #[test]
    fn names_beyond_the_limit_are_one_endpoint_whatever_their_method() {
        let mut endpoints = Endpoints::new();
        endpoints.limit(2);
        let kept = [endpoints.number("GET", "/1"), endpoints.number("GET", "/2")];
        let others = endpoints.number("GET", "/3");
        assert_eq!(endpoints.name(others), Some(OTHERS));
        assert_eq!([endpoints.number("POST", "/1"), endpoints.number("X", "/4")], [others, others]);
        assert_eq!([endpoints.number("GET", "/1"), endpoints.number("GET", "/2")], kept, "known names stay");
        assert_eq!(endpoints.iter().count(), 3);
        assert_eq!(endpoints.known_others(), Some(others));
    }

    #[test]
    fn the_others_take_no_place_of_a_name() {
        let mut endpoints = Endpoints::new();
        endpoints.limit(2);
        let others = endpoints.number(OTHERS.0, OTHERS.1);
        assert_eq!(endpoints.known_others(), Some(others));
        assert_ne!(endpoints.number("GET", "/1"), others);
        assert_ne!(endpoints.number("GET", "/2"), others);
        assert_eq!(endpoints.number("GET", "/3"), others);
    }

    #[test]
    fn a_lookup_adds_no_name() {
        let mut endpoints = Endpoints::new();
        assert_eq!(endpoints.find("GET", "/1"), None);
        assert_eq!(endpoints.iter().count(), 0);
        let id = endpoints.number("GET", "/1");
        assert_eq!(endpoints.find("GET", "/1"), Some(id));
        assert_eq!(endpoints.known_others(), None);
    }
}
