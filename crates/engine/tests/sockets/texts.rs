//! Native users whose responses are texts of a model: which chunk is the first token, and how tokens are counted.

use std::collections::BTreeMap;

use plimsoll_record::Outcome;

use crate::peer::{Conn, Peer};
use crate::shift::{Account, Shift, flow, get};

const LLM: &str = r#", "stream": "llm""#;
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const ROLE: &str = r#"{"choices": [{"delta": {"role": "assistant", "content": ""}}]}"#;
const WORD: &str = r#"{"choices": [{"delta": {"content": "word "}}]}"#;
const STOP: &str = r#"{"choices": [{"delta": {}, "finish_reason": "stop"}]}"#;
const USAGE: &str = r#"{"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 12}}"#;
const DONE: &str = "[DONE]";

/// A body of these events in one chunk each, and its end.
fn body(events: &[&str]) -> String {
    let chunk = |event: &&str| format!("{:x}\r\ndata: {event}\n\n\r\n", event.len() + 8);
    events.iter().map(chunk).collect::<String>() + "0\r\n\r\n"
}

/// The account of this many requests that are answered with these events.
fn account(fields: &str, count: u64, events: &[&str]) -> (Shift, Account) {
    let answer = format!("{HEAD}{}", body(events));
    let peer = Peer::new(move |_, mut conn: Conn| {
        while conn.head().is_some() {
            conn.write(&answer);
        }
    });
    let rules = plimsoll_engine::Rules { iterations: Some(count), ..plimsoll_engine::Rules::default() };
    let mut shift = Shift::with(&flow(&peer.url(), &get("/chat", fields)), rules);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    (shift, account)
}

/// (count, untimed) of each row, successes only.
fn rows(shift: &Shift, account: &Account) -> BTreeMap<String, (u64, u64)> {
    let mut rows = BTreeMap::new();
    for (_, id, outcome, cell) in &account.taken.cells {
        if *outcome == Outcome::Success {
            let row: &mut (u64, u64) = rows.entry(shift.recorder.name(*id).unwrap().0.to_owned()).or_default();
            *row = (row.0 + cell.count, row.1 + cell.untimed);
        }
    }
    rows
}

fn expected(rows: &[(&str, (u64, u64))]) -> BTreeMap<String, (u64, u64)> {
    rows.iter().map(|(method, counts)| ((*method).to_owned(), *counts)).collect()
}

#[test]
fn the_first_token_is_the_first_content_and_tokens_are_counted_as_the_target_counts_them() {
    let (shift, account) = account(LLM, 3, &[ROLE, WORD, WORD, WORD, STOP, USAGE, DONE]);
    let mut found = rows(&shift, &account);
    // The whole text came in one piece, so that its tokens have no time.
    assert_eq!(found.remove("each token"), Some((36, 36)));
    let rest = [("GET", (3, 0)), ("first event", (3, 0)), ("first token", (3, 0)), ("each chunk", (9, 3))];
    assert_eq!(found, expected(&rest));
    assert_eq!(shift.recorder.total(None).requests, 3);
}

#[test]
fn without_usage_each_chunk_is_a_token_and_its_row_says_so() {
    let (shift, account) = account(LLM, 2, &[ROLE, WORD, WORD, STOP, DONE]);
    let found = rows(&shift, &account);
    assert_eq!((found.get("token by chunk"), found.get("each token")), (Some(&(4, 4)), None));
}

#[test]
fn a_good_request_keeps_its_objectives() {
    let events = [ROLE, WORD, USAGE, DONE];
    for (slo, good) in [
        (r#"{"first_token": 60, "time_per_token": 60, "time": 60}"#, Some((2, 0))),
        (r#"{"first_token": 60, "time": 0}"#, None),
        (r#"{"first_token": 0}"#, None),
    ] {
        let (shift, account) = account(&format!("{LLM}, \"slo\": {slo}"), 2, &events);
        let found = rows(&shift, &account);
        assert_eq!(found.get("good request").copied(), good, "{slo}");
        assert_eq!(found["GET"], (2, 0));
    }
}

#[test]
fn what_is_no_text_is_a_failure_that_says_why() {
    let error = r#"{"error": {"message": "out of memory"}}"#;
    for (events, message) in [
        (&[ROLE, WORD, error, DONE][..], "the stream reports an error: out of memory"),
        (&[ROLE, STOP, DONE], "no event has content: the model generated nothing"),
        (&[], "no event has content: the model generated nothing"),
        (&["hello"], "an event is no chunk of a completion: expected value at line 1 column 1"),
    ] {
        let (shift, account) = account(LLM, 2, events);
        assert_eq!(account.messages(), [(message.to_owned(), 2)]);
        let found = rows(&shift, &account);
        assert!(!found.contains_key("GET") && !found.contains_key("each token"), "{found:?}");
    }
}

#[test]
fn a_response_in_one_json_document_says_what_the_request_lacks() {
    let peer = Peer::answering("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
    let rules = plimsoll_engine::Rules { iterations: Some(1), ..plimsoll_engine::Rules::default() };
    let mut shift = Shift::with(&flow(&peer.url(), &get("/chat", LLM)), rules);
    shift.resize(1);
    shift.work();
    let hint = "the Content-Type is application/json and not text/event-stream; does the request say \"stream\": true?";
    assert_eq!(shift.account().messages(), [(hint.to_owned(), 1)]);
}
