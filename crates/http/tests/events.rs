//! Events in bodies: the rules of the HTML standard, and the same events however the body is cut.

#![allow(clippy::unwrap_used)]

use plimsoll_http::{EventFormat, EventSplitter, EventTooLong};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// (name, data, id, retry)
type Found = (String, String, String, Option<u64>);

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The events of a body in these pieces, and whether one was too long.
fn split(format: EventFormat, limit: u64, pieces: &[&[u8]]) -> (Vec<Found>, Option<EventTooLong>) {
    let mut splitter = EventSplitter::new(format, limit);
    let mut found = Vec::new();
    let mut each = |event: plimsoll_http::Event<'_>| {
        found.push((text(event.name), text(event.data), text(event.id), event.retry));
    };
    for piece in pieces {
        if let Err(error) = splitter.feed(piece, &mut each) {
            return (found, Some(error));
        }
    }
    splitter.end(&mut each);
    (found, None)
}

/// The data of the events of a whole body.
fn data(body: &str) -> Vec<String> {
    split(EventFormat::Sse, 1000, &[body.as_bytes()]).0.into_iter().map(|(_, data, ..)| data).collect()
}

fn lines(body: &str) -> Vec<String> {
    split(EventFormat::Lines, 1000, &[body.as_bytes()]).0.into_iter().map(|(_, data, ..)| data).collect()
}

#[test]
fn a_line_ends_with_cr_lf_or_both() {
    for end in ["\n", "\r", "\r\n"] {
        let body = ["data: one", "", "data: two", "data: lines", "", ""].join(end);
        assert_eq!(data(&body), ["one", "two\nlines"], "{end:?}");
    }
    assert_eq!(data("data: a\r\n\ndata: b\r\r\n"), ["a", "b"], "mixed");
}

/// The examples of the HTML standard, section 9.2.6.
#[test]
fn the_examples_of_the_standard_mean_what_it_says() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    let body = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n";
    let (found, _) = split(EventFormat::Sse, 1000, &[body.as_bytes()]);
    let found: Vec<_> = found.iter().map(|(_, data, id, _)| (data.as_str(), id.as_str())).collect();
    assert_eq!(found, [("first event", "1"), ("second event", "")], "the third has no end");
    assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
    assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn an_event_has_its_name_and_the_newest_id_and_retry() {
    let body = "\u{feff}event: add\nid: 7\nretry: 250\ndata: x\n\nid: a\0b\nretry: 1s\ndata: y\n\nevent: gone\n\n\
                data: \u{feff}z\n\n";
    let (found, _) = split(EventFormat::Sse, 1000, &[body.as_bytes()]);
    let event = |name: &str, data: &str| (name.to_owned(), data.to_owned(), "7".to_owned(), Some(250));
    assert_eq!(found, [event("add", "x"), event("", "y"), event("", "\u{feff}z")], "an event without data is none");
}

#[test]
fn fields_that_the_standard_does_not_know_are_ignored() {
    assert_eq!(data("Data: a\ndat: b\n data: c\nid : d\n:data: e\ndata : f\n\n"), [""; 0]);
}

#[test]
fn a_line_that_is_not_empty_is_an_event() {
    assert_eq!(lines("{\"a\": 1}\n\n{\"b\": 2}\r\n\r\nlast"), ["{\"a\": 1}", "{\"b\": 2}", "last"]);
    assert_eq!(lines("a\rb\n"), ["a\rb"], "a CR within a line is part of it");
    assert_eq!(lines("\n\r\n"), [""; 0]);
}

#[test]
fn an_event_over_the_limit_is_an_error_after_the_events_before_it() {
    let found = |format, body: &str| {
        let (found, error) = split(format, 10, &[body.as_bytes()]);
        (found.len(), error.map(|error| error.to_string()))
    };
    let message = Some("an event is longer than the limit of 10 bytes".to_owned());
    assert_eq!(found(EventFormat::Sse, "data: 1234\n\n"), (1, None));
    assert_eq!(found(EventFormat::Sse, "data: 1\n\ndata: 12345\n\n"), (1, message.clone()), "a line");
    assert_eq!(found(EventFormat::Sse, "data:12345\ndata:12345\n\n"), (0, message.clone()), "its lines together");
    assert_eq!(found(EventFormat::Lines, "1234567890\n12345678901"), (1, message), "without an end");
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    const WORDS: [&str; 14] =
        ["\n", "\r", "\r\n", "data", "event", "id", "retry", ":", ": ", "12", "x", "\u{feff}", "\0", "\n\n"];
    vec(select(&WORDS[..]), 0..60).prop_map(|words| words.concat().into_bytes())
}

proptest! {
    #[test]
    fn how_a_body_is_cut_makes_no_difference(
        body in body(),
        cuts in vec(0_usize..400, 0..20),
        limit in select(vec![5_u64, 20, 1000]),
        format in select(vec![EventFormat::Sse, EventFormat::Lines]),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([body.len()]);
        let starts = [0].into_iter().chain(cuts.iter().copied());
        let pieces: Vec<_> = starts.zip(ends).map(|(start, end)| &body[start..end]).collect();
        let single: Vec<_> = body.chunks(1).collect();
        let whole = split(format, limit, &[&body]);
        prop_assert_eq!(&split(format, limit, &pieces), &whole);
        prop_assert_eq!(&split(format, limit, &single), &whole);
    }

    /// The standard's own words, on a whole text.
    #[test]
    fn the_events_are_those_of_a_plain_reading_of_the_standard(body in body()) {
        prop_assert_eq!(split(EventFormat::Sse, 1000, &[&body]).0, plainly(&text(&body)));
    }
}

fn plainly(body: &str) -> Vec<Found> {
    let body = body.strip_prefix('\u{feff}').unwrap_or(body).replace("\r\n", "\n").replace('\r', "\n");
    let (mut found, mut name, mut data, mut id, mut retry) =
        (vec![], String::new(), String::new(), String::new(), None);
    let Some((complete, _)) = body.rsplit_once('\n') else { return found };
    for line in complete.split('\n') {
        if line.is_empty() {
            if !data.is_empty() {
                data.pop();
                found.push((name.clone(), data.clone(), id.clone(), retry));
            }
            name.clear();
            data.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = value.into(),
            "data" => data.extend([value, "\n"]),
            "id" if !value.contains('\0') => id = value.into(),
            "retry" if value.chars().all(|each| each.is_ascii_digit()) => retry = value.parse().ok().or(retry),
            _ => {}
        }
    }
    found
}
