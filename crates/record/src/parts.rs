//! The target's own timings: the metrics in the `Server-Timing` header of responses
//! (<https://www.w3.org/TR/server-timing/>).

use std::collections::HashMap;

use crate::cell::sum_of;
use crate::{Durations, EndpointId};

/// Maximum metrics per response.
const MOST_OF_ONE: usize = 20;
/// Maximum metrics of all endpoints together. Further ones are ignored.
const MOST: usize = 500;
/// Maximum length of a name, bytes.
const LONGEST_NAME: usize = 64;

/// Maximum duration, ns: a day. What is longer is no time that a server takes.
const LONGEST: f64 = 86_400e9;

/// All values of one metric of one endpoint.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Sum of its durations, ns.
    pub sum: u64,
    /// Its durations.
    pub durations: Durations,
}

/// Metrics by endpoint and name since the last take.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// By name, per endpoint.
    by_endpoint: HashMap<EndpointId, Vec<(Box<str>, Part)>>,
    count: usize,
}

impl Parts {
    /// Adds the metrics of one response. A metric without a duration is ignored; a repeated one adds up.
    pub(crate) fn add(&mut self, endpoint: EndpointId, header: &[u8]) {
        let Ok(text) = std::str::from_utf8(header) else { return };
        let own = self.by_endpoint.entry(endpoint).or_default();
        for (name, nanos) in metrics(text).take(MOST_OF_ONE) {
            let place = own.iter().position(|(known, _)| **known == *name).or_else(|| {
                (self.count < MOST).then(|| {
                    self.count += 1;
                    own.push((name.into(), Part::default()));
                    own.len() - 1
                })
            });
            if let Some(place) = place {
                let part = &mut own[place].1;
                part.sum = sum_of(part.sum, nanos);
                part.durations.record_ns(nanos);
            }
        }
    }

    /// Takes everything.
    pub(crate) fn take(&mut self) -> Vec<(EndpointId, Box<str>, Part)> {
        self.count = 0;
        let mut taken: Vec<_> = self
            .by_endpoint
            .drain()
            .flat_map(|(endpoint, parts)| parts.into_iter().map(move |(name, part)| (endpoint, name, part)))
            .collect();
        taken.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        taken
    }
}

/// (name, ns) of each metric that has a duration: `db;dur=53.2, cache;desc="a, b";dur=1` has two.
fn metrics(text: &str) -> impl Iterator<Item = (&str, u64)> {
    unquoted(text, ',').filter_map(|metric| {
        let mut words = unquoted(metric, ';');
        let name = words.next()?.trim();
        let nanos = words.find_map(|word| {
            let (key, value) = word.split_once('=')?;
            key.trim().eq_ignore_ascii_case("dur").then(|| nanos(value.trim().trim_matches('"')))
        })??;
        let is_name =
            !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_graphic());
        is_name.then_some((name, nanos))
    })
}

/// Converts milliseconds; None if it is not a duration.
fn nanos(text: &str) -> Option<u64> {
    let nanos = text.parse::<f64>().ok()? * 1e6;
    (0.0..=LONGEST).contains(&nanos).then_some(nanos as u64)
}

/// Splits at separators outside of quotes.
fn unquoted(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let mut is_escaped = false;
    text.split(move |each| {
        let is_literal = is_escaped;
        is_escaped = is_quoted && each == '\\' && !is_literal;
        is_quoted ^= each == '"' && !is_literal;
        each == separator && !is_quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, u64)> {
        metrics(text).collect()
    }

    #[test]
    fn metrics_have_their_names_and_durations() {
        assert_eq!(found("db;dur=53.2, app;dur=47"), [("db", 53_200_000), ("app", 47_000_000)]);
        assert_eq!(
            found(r#"cache;desc="a, b; dur=9";dur=0.5,total;DUR="2""#),
            [("cache", 500_000), ("total", 2_000_000)]
        );
        assert_eq!(found(r#"a;desc="x\"y,z";dur=1, b ; dur = 2 "#), [("a", 1_000_000), ("b", 2_000_000)]);
    }

    #[test]
    fn invalid_durations_are_ignored() {
        for text in [
            "",
            "miss",
            "db;desc=x",
            ";dur=1",
            "db;dur=",
            "db;dur=-1",
            "db;dur=NaN",
            "db;dur=inf",
            "db;dur=1e308",
            "db;dur=86400001",
            "db;dur=18446744073709",
            "a b;dur=1",
            "é;dur=1",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
        assert_eq!(found(&format!("{};dur=1", "x".repeat(65))), []);
    }

    #[test]
    fn responses_add_up_by_endpoint_and_part() {
        let mut parts = Parts::default();
        parts.add(EndpointId(1), b"db;dur=1, app;dur=2");
        parts.add(EndpointId(1), b"db;dur=3");
        parts.add(EndpointId(0), b"db;dur=5");
        parts.add(EndpointId(0), b"\xff;dur=5");
        let taken = parts.take();
        let shown: Vec<_> =
            taken.iter().map(|(id, name, part)| (id.0, &**name, part.sum, part.durations.count())).collect();
        assert_eq!(shown, [(0, "db", 5_000_000, 1), (1, "app", 2_000_000, 1), (1, "db", 4_000_000, 2)]);
        assert!(parts.take().is_empty());
    }

    #[test]
    fn there_is_an_end_to_their_number() {
        let mut parts = Parts::default();
        for number in 0..MOST + 100 {
            parts.add(EndpointId((number / 10) as u32), format!("p{number};dur=1").as_bytes());
        }
        assert_eq!(parts.take().len(), MOST);
        let many: Vec<_> = (0..50).map(|number| format!("p{number};dur=1")).collect();
        parts.add(EndpointId(0), many.join(",").as_bytes());
        assert_eq!(parts.take().len(), MOST_OF_ONE);
    }
}
