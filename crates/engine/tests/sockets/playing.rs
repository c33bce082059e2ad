//! Scenarios: a step depends on the responses to earlier steps.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

use plimsoll_engine::Rules;
use plimsoll_record::Outcome;

use crate::peer::{Conn, Peer, ok};
use crate::shift::{Shift, definition, flow, get};

/// A peer that answers each path with `answer`, and the paths that were requested.
fn library(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (Peer, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let peer = Peer::new({
        let asked = Arc::clone(&asked);
        move |_, mut conn: Conn| {
            while let Some(head) = conn.head() {
                let response = answer(head.split(' ').nth(1).unwrap());
                asked.lock().unwrap().push(head);
                conn.write(response);
            }
        }
    });
    (peer, asked)
}

fn paths(heads: &Mutex<Vec<String>>) -> Vec<String> {
    heads.lock().unwrap().iter().map(|head| head.split(' ').nth(1).unwrap().to_owned()).collect()
}

fn iterations(count: u64) -> Rules {
    Rules { iterations: Some(count), ..Rules::default() }
}

const TOKEN: &str = r#", "extract": [{"into": "token", "from": "json", "what": "/token"}]"#;

#[test]
fn a_later_step_is_made_of_what_an_earlier_one_got() {
    let (peer, asked) = library(|path| match path {
        "/login" => ok(r#"{"token": "a b"}"#).into(),
        _ => ok("done").into(),
    });
    let steps = [get("/login", TOKEN), get("/items/${token}", r#", "expect": {"contains": ["done"]}"#)].join(",");
    let mut shift = Shift::with(&flow(&peer.url(), &steps), iterations(2));
    shift.resize(1);
    shift.work();
    assert_eq!(paths(&asked), ["/login", "/items/a%20b", "/login", "/items/a%20b"]);
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, 4)]));
    assert_eq!(account.count("/items/${token}", Outcome::Success), 2, "an endpoint is named after its step");
}

/// `{"token": "zipped"}`
const ZIPPED: [u8; 39] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 201, 207, 78, 205, 83, 178, 82, 80, 170, 202, 44, 40, 72, 77, 81,
    170, 5, 0, 118, 78, 238, 86, 19, 0, 0, 0,
];

fn zipped(body: &[u8]) -> Vec<u8> {
    let mut head = String::new();
    write!(head, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
    [head.as_bytes(), body].concat()
}

#[test]
fn content_codings_are_undone_where_the_body_is_needed() {
    let (peer, asked) = library(|_| zipped(&ZIPPED));
    let steps = [get("/login", TOKEN), get("/${token}", "")].join(",");
    let mut shift = Shift::with(&flow(&peer.url(), &steps), iterations(1));
    shift.resize(1);
    shift.work();
    assert_eq!(paths(&asked), ["/login", "/zipped"]);
    let account = shift.account();
    let size = |name| account.of(name, Outcome::Success).map(|cell| cell.bytes_body).sum::<u64>();
    assert_eq!((size("/login"), size("/${token}")), (19, ZIPPED.len() as u64));
}

#[test]
fn a_body_that_cannot_be_decoded_is_a_fault_of_the_protocol() {
    let (peer, _) = library(|_| zipped(&ZIPPED[..ZIPPED.len() - 12]));
    let mut shift = Shift::with(&flow(&peer.url(), &get("/login", TOKEN)), iterations(1));
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Protocol, 1)]));
    assert!(account.messages()[0].0.starts_with("content coding: "), "{:?}", account.messages());

    let small = Rules { max_decoded: 18, ..iterations(1) };
    let (peer, _) = library(|_| zipped(&ZIPPED));
    let mut shift = Shift::with(&flow(&peer.url(), &get("/login", TOKEN)), small);
    shift.resize(1);
    shift.work();
    assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Protocol, 1)]));
}

#[test]
fn what_is_not_as_expected_fails_by_its_own_name() {
    let (peer, _) = library(|path| match path {
        "/gone" => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".into(),
        _ => ok("sorry").into(),
    });
    let steps = [
        get("/gone", r#", "expect": {"status": [[404, 404]]}"#),
        get("/sorry", r#", "expect": {"lacks": ["sorry"]}"#),
        get("/sorry/too", r#", "expect": {"status": [[500, 599]]}"#),
        get("/slow", r#", "expect": {"max_time": 1e-9}"#),
        get("/none", TOKEN),
    ];
    let mut shift = Shift::with(&flow(&peer.url(), &steps.join(",")), iterations(3));
    shift.resize(1);
    shift.work();
    let account = shift.account();
    let count = |name, outcome| account.count(name, outcome);
    assert_eq!(count("/gone", Outcome::Success), 3);
    assert_eq!(count("/sorry", Outcome::Assertion), 3);
    assert_eq!(count("/sorry/too", Outcome::Http), 3);
    assert_eq!(count("/slow", Outcome::Assertion), 3);
    assert_eq!(count("/none", Outcome::Assertion), 3);
    assert_eq!(account.messages().iter().map(|(_, count)| count).sum::<u64>(), 12);
}

/// A value with a line break is invalid in a header. Such a user does not block the others.
#[test]
fn a_request_that_cannot_be_made_is_counted_and_the_user_continues() {
    let (peer, asked) = library(|_| ok(r#"{"token": "a\r\nX-Evil: 1"}"#).into());
    let steps = [get("/login", TOKEN), get("/evil", r#", "headers": [["X-Token", "${token}"]]"#), get("/last", "")];
    let mut shift = Shift::with(&flow(&peer.url(), &steps.join(",")), iterations(4));
    shift.resize(2);
    shift.work();
    let account = shift.account();
    assert_eq!(account.count("/evil", Outcome::Protocol), 4);
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, 8), (Outcome::Protocol, 4)]));
    assert_eq!((account.messages().len(), paths(&asked).len()), (1, 8));
    let rows = shift.rows();
    assert!(rows.iter().all(|row| row.due <= row.sent && row.sent <= row.arrival && row.arrival <= row.read));
}

#[test]
fn a_flow_of_nothing_but_such_requests_lets_a_turn_end() {
    let feeder = r#"[{"name": "f", "columns": ["v"], "rows": [["a\r\nb"]]}]"#;
    let step = get("/", r#", "headers": [["X", "${f.v}"]]"#);
    let mut shift = Shift::new(&definition("http://127.0.0.1:9", feeder, &step));
    shift.resize(2);
    let turns = std::cell::Cell::new(0);
    shift.until(|_| {
        turns.set(turns.get() + 1);
        turns.get() > 10
    });
    shift.stop();
    shift.work();
    let counts = shift.account().counts();
    assert_eq!(counts.keys().collect::<Vec<_>>(), [&Outcome::Protocol]);
    assert!((2..=40).contains(&counts[&Outcome::Protocol]), "{counts:?}");
}

#[test]
fn rows_are_handed_out_until_there_are_no_more() {
    for (at_end, failure) in [("stop", None), ("fail", Some(r#"feeder "ids" has run out of rows"#))] {
        let (peer, asked) = library(|_| ok("").into());
        let feeder =
            format!(r#"[{{"name": "ids", "columns": ["id"], "rows": [["1"], ["2"], ["3"]], "at_end": "{at_end}"}}]"#);
        let mut shift = Shift::new(&definition(&peer.url(), &feeder, &get("/${ids.id}", "")));
        shift.resize(2);
        shift.work();
        let mut paths = paths(&asked);
        paths.sort();
        assert_eq!(paths, ["/1", "/2", "/3"]);
        assert_eq!((shift.users.failure(), shift.users.ended_feeder()), (failure, Some("ids")));
        assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Success, 3)]));
    }
}

#[test]
fn steps_go_to_their_targets_by_their_methods() {
    let (first, asked_first) = library(|_| ok("").into());
    let (second, asked_second) = library(|_| ok("").into());
    let definition = format!(
        r#"{{"targets": [{{"url": "{}"}}, {{"url": "{}", "headers": [["X-Second", "yes"]]}}], "flows": [{{"name": "f", "steps": [
            {{"name": "a", "method": "GET", "path": "/a"}},
            {{"name": "b", "method": "HEAD", "path": "/b", "target": 1}},
            {{"name": "c", "method": "DELETE", "path": "/c", "target": 1}}]}}]}}"#,
        first.url(),
        second.url()
    );
    let mut shift = Shift::with(&definition, iterations(2));
    shift.resize(1);
    shift.work();
    assert_eq!(paths(&asked_first), ["/a", "/a"]);
    assert_eq!(paths(&asked_second), ["/b", "/c", "/b", "/c"]);
    let heads = asked_second.lock().unwrap();
    assert!(heads[0].starts_with("HEAD /b ") && heads[1].starts_with("DELETE /c "));
    assert!(heads.iter().all(|head| head.contains("X-Second: yes\r\n")));
    let endpoints: Vec<_> = shift.recorder.endpoints().collect();
    assert_eq!(endpoints, [("GET", "a"), ("HEAD", "b"), ("DELETE", "c")]);
    assert_eq!((first.connections(), second.connections()), (1, 1));
}
