//! Native users whose target sends little that grows to very much: deadlines and the end of the load hold, because a turn has
//! a budget of decoded bytes and messages. The targets send without end, so no pace of this machine makes them harmless.

use std::cell::Cell;
use std::collections::HashMap;
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use flate2::write::GzEncoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use plimsoll_engine::Rules;
use plimsoll_record::Outcome;
use tungstenite::handshake::derive_accept_key;

use crate::lab::SECOND;
use crate::peer::{Conn, Peer};
use crate::shift::{Shift, flow, get};

const MIB: u64 = 1 << 20;
/// What a turn decodes at most: its budget, with what a share may exceed it by.
const TURN: u64 = 9 * MIB;
const USERS: usize = 8;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// 8 MiB of comments of server-sent events; 40 KiB or so when they are compressed.
fn comments() -> Vec<u8> {
    let line = [&b":"[..], &vec![b'x'; 65_534], b"\n"].concat();
    gzip(&line.repeat(128))
}

/// A frame of a binary message, compressed, with so many zeros.
fn compressed_message(length: usize) -> Vec<u8> {
    let mut payload = Vec::with_capacity(length);
    // The room is more than enough, so one call writes everything, up to the mark of the flush.
    let status =
        Compress::new(Compression::fast(), false).compress_vec(&vec![0; length], &mut payload, FlushCompress::Sync);
    assert_eq!(status.unwrap(), Status::Ok);
    let payload = payload.strip_suffix(&[0, 0, 0xff, 0xff]).expect("it ends with an empty block");
    [&[0xc2, 127][..], &(payload.len() as u64).to_be_bytes(), payload].concat()
}

/// Answers with this head, and with these bytes again and again.
fn endless(head: &'static str, bytes: Vec<u8>) -> Peer {
    Peer::new(move |_, mut conn: Conn| {
        conn.request();
        conn.write(head);
        while conn.stream.write_all(&bytes).is_ok() {}
    })
}

fn endless_events() -> Peer {
    endless("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n", comments())
}

/// Begins with messages so long after the handshake.
fn endless_messages(pause: Duration) -> Peer {
    let message = compressed_message(8 << 20);
    Peer::new(move |_, mut conn: Conn| {
        let request = conn.request();
        let key = request.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).unwrap();
        let accept = derive_accept_key(key.as_bytes());
        conn.write(format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        ));
        sleep(pause);
        while conn.stream.write_all(&message).is_ok() {}
    })
}

fn users(peer: &Peer, steps: &str, iterations: u64) -> Shift {
    Shift::with(&flow(&peer.url(), steps), Rules { iterations: Some(iterations), ..Rules::default() })
}

const EVENTS: &str = r#"{"name": "/events", "method": "GET", "path": "/events", "timeout": 0.5, "stream": "sse"}"#;
/// Waits for a message that never comes.
const MESSAGES: &str = r#"{"name": "/chat", "path": "/chat", "timeout": 30.0, "websocket": {"connect": {"deflate": true}}},
    {"name": "/chat", "timeout": 0.5, "websocket": {"receive": {"reply": false}}, "expect": {"contains": ["never"]}}"#;

/// The outcomes of exchanges with this method.
fn outcomes(shift: &mut Shift, method: &str) -> (HashMap<Outcome, u64>, u64) {
    let account = shift.account();
    let (mut counts, mut longest) = (HashMap::new(), 0);
    for (_, id, outcome, cell) in &account.taken.cells {
        if shift.recorder.name(*id).is_some_and(|name| name.0 == method) {
            *counts.entry(*outcome).or_default() += cell.count;
            longest = longest.max(cell.response_max);
        }
    }
    (counts, longest)
}

#[test]
fn a_deadline_holds_while_a_body_grows_without_end() {
    let peer = endless_events();
    let mut shift = users(&peer, EVENTS, USERS as u64);
    shift.resize(USERS);
    shift.work();
    let (counts, longest) = outcomes(&mut shift, "GET");
    assert_eq!(counts, HashMap::from([(Outcome::Timeout, USERS as u64)]));
    assert_eq!(longest / SECOND, 0, "the time ends at the limit of 0.5 s");
}

#[test]
fn a_deadline_holds_while_messages_grow_without_end() {
    let peer = endless_messages(Duration::ZERO);
    let mut shift = users(&peer, MESSAGES, USERS as u64);
    shift.resize(USERS);
    shift.work();
    let (counts, longest) = outcomes(&mut shift, "WS receive");
    assert_eq!(counts, HashMap::from([(Outcome::Timeout, USERS as u64)]));
    assert_eq!(longest / SECOND, 0, "the time ends at the limit of 0.5 s");
}

/// Users have read nothing yet and wait for a share, and this machine does something else until their time is over.
#[test]
fn a_deadline_that_passes_between_two_turns_is_the_end_of_the_wait() {
    let peer = endless_messages(Duration::from_millis(100));
    // Long enough that on any machine most of them wait at the same time.
    let mut shift = users(&peer, &MESSAGES.replace("0.5", "4.0"), 40);
    shift.resize(40);
    // Each has an alarm at its deadline. A turn has shares for eight of them.
    shift.until(|shift| format!("{:?}", shift.users).matches("alarm: Some").count() >= 20);
    sleep(Duration::from_millis(4100));
    shift.work();
    let (counts, longest) = outcomes(&mut shift, "WS receive");
    assert_eq!(counts, HashMap::from([(Outcome::Timeout, 40)]));
    assert_eq!(longest / SECOND, 4, "the time ends at the limit of 4 s");
}

/// Runs so many turns from the time on when all users read.
fn turns(shift: &mut Shift, count: u64) {
    let started = Cell::new(0);
    shift.until(|shift| {
        let reads = shift.users.streaming() == USERS;
        started.set(started.get() + u64::from(reads));
        started.get() > count
    });
}

#[test]
fn a_turn_decodes_no_more_than_its_budget_and_the_end_of_the_load_is_the_next() {
    let peer = endless_events();
    let patient = get("/events", r#", "stream": "sse""#);
    let mut shift = users(&peer, &patient, USERS as u64);
    shift.resize(USERS);
    turns(&mut shift, 5);
    shift.cut();
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Unanswered, USERS as u64)]));
    let decoded: u64 = account.of("/events", Outcome::Unanswered).map(|cell| cell.bytes_body).sum();
    // There are some turns before all of them read.
    assert!(decoded > 0 && decoded <= 40 * TURN, "{} MiB in 5 turns", decoded / MIB);
}

#[test]
fn messages_of_one_read_are_taken_in_many_turns() {
    let peer = endless_messages(Duration::ZERO);
    let mut shift = users(&peer, &MESSAGES.replace("0.5", "30.0"), USERS as u64);
    shift.resize(USERS);
    turns(&mut shift, 5);
    shift.cut();
    let (counts, _) = outcomes(&mut shift, "message in");
    let messages = counts.values().sum::<u64>();
    assert!(messages * 8 * MIB <= 40 * TURN, "{messages} messages of 8 MiB in 5 turns");
}

fn answering(coding: &str, body: &[u8]) -> Peer {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
    Peer::answering([head.as_bytes(), body].concat())
}

#[test]
fn whole_bodies_are_decoded_one_after_another() {
    let peer = answering("gzip", &gzip(&vec![b'x'; 16 << 20]));
    let step = get("/", r#", "expect": {"contains": ["x"]}"#);
    let mut shift = users(&peer, &step, USERS as u64);
    shift.resize(USERS);
    let turns = Cell::new(0);
    shift.until(|shift| {
        turns.set(turns.get() + u64::from(shift.users.streaming() > 0));
        shift.users.done()
    });
    assert!(turns.get() >= (USERS as u64 * 16 * MIB).div_ceil(TURN), "{} turns", turns.get());
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Success, USERS as u64)]));
    assert_eq!(account.of("/", Outcome::Success).map(|cell| cell.bytes_body).sum::<u64>(), USERS as u64 * 16 * MIB);
}

/// Users that wait for a body of a gibibyte.
fn patient(peer: &Peer, timeout: f64) -> Shift {
    let step = format!(
        r#"{{"name": "/", "method": "GET", "path": "/", "timeout": {timeout}, "expect": {{"contains": ["never"]}}}}"#
    );
    let rules = Rules { iterations: Some(USERS as u64), max_decoded: 8 << 30, ..Rules::default() };
    let mut shift = Shift::with(&flow(&peer.url(), &step), rules);
    shift.resize(USERS);
    shift
}

#[test]
fn a_body_that_is_not_decoded_at_its_deadline_is_too_late_and_the_end_of_the_load_cancels_it() {
    let peer = answering("gzip, gzip", &gzip(&gzip(&vec![b'x'; 16 << 20]).repeat(64)));
    let mut shift = patient(&peer, 0.3);
    shift.work();
    let account = shift.account();
    assert_eq!(account.counts(), HashMap::from([(Outcome::Timeout, USERS as u64)]), "{:?}", account.messages());
    assert_eq!(account.of("/", Outcome::Timeout).map(|cell| cell.response_max).max().unwrap() / SECOND, 0);

    let mut shift = patient(&peer, 60.0);
    shift.until(|shift| shift.users.streaming() > 0);
    shift.cut();
    assert_eq!(shift.account().counts(), HashMap::from([(Outcome::Unanswered, USERS as u64)]));
}

/// A turn reads no more than so much of a connection, so others have their turn, too.
#[test]
fn a_body_that_never_pauses_is_read_in_turns() {
    let peer = endless("HTTP/1.1 200 OK\r\n\r\n", vec![b'x'; 1 << 20]);
    let step = r#"{"name": "/", "method": "GET", "path": "/", "timeout": 0.5}"#;
    let mut shift = users(&peer, step, 2);
    shift.resize(2);
    shift.work();
    let counts = shift.account().counts();
    let ends = [Outcome::Timeout, Outcome::Protocol].map(|outcome| counts.get(&outcome).copied().unwrap_or(0));
    assert_eq!(ends.iter().sum::<u64>(), 2, "over the time, or over the limit of a body: {counts:?}");
}
