//! Native users whose responses are streams: their events are counted and stamped as they arrive.

use std::collections::HashMap;
use std::thread;
use std::time::Duration;

use plimsoll_record::{Cell, Outcome};

use crate::lab::SECOND;
use crate::peer::{Conn, Peer, gate};
use crate::shift::{Account, Shift, flow, get};

const SSE: &str = r#", "stream": "sse""#;
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// Exchanges per outcome.
fn ends(shift: &Shift, account: &Account) -> HashMap<Outcome, u64> {
    let mut counts = HashMap::new();
    for (_, id, outcome, cell) in &account.taken.cells {
        if shift.recorder.name(*id) == Some(("GET", "/events")) {
            *counts.entry(*outcome).or_default() += cell.count;
        }
    }
    counts
}

/// The sum of the cells of (method, /events).
fn row(shift: &Shift, account: &Account, method: &str) -> Cell {
    let mut sum = Cell::default();
    for (_, id, _, cell) in &account.taken.cells {
        if shift.recorder.name(*id) == Some((method, "/events")) {
            sum.count += cell.count;
            sum.untimed += cell.untimed;
            sum.bytes_body += cell.bytes_body;
            sum.response_sum += cell.response_sum;
            sum.response_max = sum.response_max.max(cell.response_max);
            sum.service_sum += cell.service_sum;
        }
    }
    sum
}

/// Users that play GET /events, with these further fields.
fn users(peer: &Peer, fields: &str, iterations: u64) -> Shift {
    let rules = plimsoll_engine::Rules { iterations: Some(iterations), ..plimsoll_engine::Rules::default() };
    Shift::with(&flow(&peer.url(), &get("/events", fields)), rules)
}

#[test]
fn every_event_is_counted_in_its_row_and_the_exchange_ends_with_the_body() {
    let peer = Peer::new(|_, mut conn: Conn| {
        while conn.head().is_some() {
            conn.write(HEAD);
            for event in ["data: one\n\n", ": still here\n\n", "data: tw", "o\r\n\r\ndata: three\n\ndata: cut off"] {
                conn.write(chunk(event));
                thread::sleep(Duration::from_millis(3));
            }
            conn.write("0\r\n\r\n");
        }
    });
    let mut shift = users(&peer, SSE, 20);
    shift.resize(4);
    shift.work();
    let (rows, account) = (shift.rows(), shift.account());
    assert_eq!(ends(&shift, &account), HashMap::from([(Outcome::Success, 20)]));
    let (first, events) = (row(&shift, &account, "first event"), row(&shift, &account, "each event"));
    assert_eq!((first.count, first.untimed, first.bytes_body), (20, 0, 60));
    assert_eq!((events.count, events.untimed, events.bytes_body), (60, 20, 20 * 11));
    assert_eq!((peer.requests(), peer.connections()), (20, 4), "connections are kept");
    assert_eq!(rows.len(), 20, "events are not in the log of exchanges");
    let whole = row(&shift, &account, "GET");
    assert!(whole.response_sum >= first.response_sum + events.response_sum, "the body ends after its last event");
    assert!(first.response_sum >= first.service_sum && first.service_sum > 0);
}

#[test]
fn lines_and_bodies_that_came_with_the_head_or_end_with_the_connection_have_events_too() {
    let body = "{\"n\": 1}\n\n{\"n\": 2}\r\n{\"n\": 3}";
    for response in [
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        format!("HTTP/1.1 200 OK\r\n\r\n{body}"),
    ] {
        let peer = Peer::new(move |_, mut conn: Conn| {
            conn.head();
            conn.write(&response);
        });
        let mut shift = users(&peer, r#", "stream": "lines""#, 5);
        shift.resize(1);
        shift.work();
        let account = shift.account();
        assert_eq!(ends(&shift, &account), HashMap::from([(Outcome::Success, 5)]));
        assert_eq!([row(&shift, &account, "first event").count, row(&shift, &account, "each event").count], [5, 15]);
        assert_eq!(row(&shift, &account, "GET").bytes_body, 5 * body.len() as u64);
    }
}

#[test]
fn events_are_recorded_while_the_stream_goes_on() {
    let (go, wait) = gate();
    let mut peer = Peer::new(move |_, mut conn: Conn| {
        conn.head();
        conn.write(HEAD);
        while wait.wait() {
            conn.write(chunk("data: x\n\n"));
        }
        conn.rest();
    });
    let mut shift = users(&peer, SSE, 1);
    shift.resize(1);
    let event = shift.recorder.endpoint("each event", "/events");
    for count in 1..=3 {
        go.send(true).unwrap();
        shift.until(|shift| shift.recorder.total(Some(event)).requests == count);
    }
    go.send(false).unwrap();
    assert_eq!((shift.recorder.total(None).requests, shift.users.streaming()), (0, 1), "the exchange has not ended");
    shift.cut();
    assert_eq!((shift.engine.connections(), shift.users.streaming()), (0, 0));
    peer.stop();
    let account = shift.account();
    assert_eq!(ends(&shift, &account), HashMap::from([(Outcome::Unanswered, 1)]));
    assert_eq!(row(&shift, &account, "each event").count, 3);
}

#[test]
fn a_stream_that_breaks_off_fails_and_its_events_stay() {
    let peer = Peer::new(|_, mut conn: Conn| {
        conn.head();
        conn.write(HEAD);
        conn.write(chunk("data: x\n\n"));
    });
    let mut shift = users(&peer, SSE, 3);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(ends(&shift, &account), HashMap::from([(Outcome::Reset, 3)]));
    assert_eq!([row(&shift, &account, "first event").count, row(&shift, &account, "each event").count], [3, 3]);
}

#[test]
fn the_limits_of_time_hold_until_the_end_of_the_body() {
    for (fields, message) in [
        (r#", "idle_timeout": 0.2"#, "no data within 0.2 s"),
        (r#", "timeout": 0.2"#, "no complete response within 0.2 s"),
    ] {
        let mut peer = Peer::new(|_, mut conn: Conn| {
            conn.head();
            conn.write(HEAD);
            conn.write(chunk("data: x\n\n"));
            conn.rest();
        });
        let step = get("/events", &format!("{SSE}{fields}"));
        let step = if fields.contains("\"timeout\"") { step.replacen("\"timeout\": 60.0, ", "", 1) } else { step };
        let rules = plimsoll_engine::Rules { iterations: Some(1), ..plimsoll_engine::Rules::default() };
        let mut shift = Shift::with(&flow(&peer.url(), &step), rules);
        shift.resize(1);
        shift.work();
        peer.stop();
        let account = shift.account();
        assert_eq!(account.messages(), [(message.to_owned(), 1)]);
        let whole = row(&shift, &account, "GET");
        assert!(whole.response_sum >= SECOND / 5, "a timeout is kept at its limit: {whole:?}");
        assert_eq!(row(&shift, &account, "each event").count, 1);
    }
}

#[test]
fn a_response_that_is_no_stream_is_a_failure_without_events() {
    let body = "data: x\n\n";
    for (head, outcome, message) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8",
            Outcome::Assertion,
            "the Content-Type is text/html and not text/event-stream",
        ),
        ("HTTP/1.1 200 OK", Outcome::Assertion, "the Content-Type is missing and not text/event-stream"),
        ("HTTP/1.1 503 Busy\r\nContent-Type: text/event-stream", Outcome::Http, "status 503"),
    ] {
        let response = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let peer = Peer::answering(response);
        let mut shift = users(&peer, SSE, 2);
        shift.resize(1);
        shift.work();
        let account = shift.account();
        assert_eq!(ends(&shift, &account), HashMap::from([(outcome, 2)]));
        assert_eq!(account.messages(), [(message.to_owned(), 2)]);
        assert_eq!(row(&shift, &account, "each event").count, 0);
    }
}

#[test]
fn a_fast_stream_lets_other_users_run() {
    const EVENTS: usize = 20_000;
    let peer = Peer::new(|_, mut conn: Conn| {
        while conn.head().is_some() {
            conn.write(HEAD);
            conn.write(chunk(&"data: 0123456789012345678901234567890123456789\n\n".repeat(EVENTS)));
            conn.write("0\r\n\r\n");
        }
    });
    let mut shift = users(&peer, SSE, 6);
    shift.resize(3);
    shift.work();
    let account = shift.account();
    assert_eq!(ends(&shift, &account), HashMap::from([(Outcome::Success, 6)]));
    assert_eq!(row(&shift, &account, "each event").count, 6 * EVENTS as u64);
}
