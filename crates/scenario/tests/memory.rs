//! What the JSON and the messages of a body cost. No other test runs in this process: the limit of bodies is one of the process.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write; this one only counts what it hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_scenario::bodies::{BODY_MEMORY, held_bodies, limit_bodies};
use plimsoll_scenario::{Player, Reply, Scenario, Session, Verdict};
use serde_json::{Value, json};

const HEAD: &[u8] = b"HTTP/2 200\r\ncontent-type: application/grpc\r\n\r\n";

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The largest number of bytes that are taken during `body` beside those that were taken before.
fn peak<T>(body: impl FnOnce() -> T) -> (usize, T) {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let result = body();
    (PEAK.load(Ordering::Relaxed) - before, result)
}

fn player(expect: &Value, extract: &Value) -> (Player, Session) {
    let step = json!({"name": "s", "method": "GET", "path": "/", "expect": expect, "extract": extract});
    let definition = json!({"targets": [{"url": "http://h"}], "flows": [{"name": "f", "steps": [step]}]});
    let scenario = Arc::new(Scenario::new(&definition.to_string(), 0, 1, 1).unwrap());
    let mut player = Player::new(scenario, &["h"], || 0).unwrap();
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    (player, session)
}

/// A list of this item, about as long as that.
fn list(item: &str, bytes: usize) -> String {
    format!("[{}]", vec![item; bytes / (item.len() + 1)].join(","))
}

const SHAPES: [&str; 6] =
    [r#"{"a":1}"#, "1", "[]", r#""""#, r#"{"a":{"b":[1,2,3],"c":"some text"},"d":null}"#, "[[1]]"];
const MIB: usize = 1 << 20;

#[test]
fn what_a_body_becomes_is_bounded() {
    messages_count_before_they_are_decoded();
    pointers_cost_nothing_however_long_the_body();
    trees_count_before_they_are_made();
    long_values_count_as_long_as_they_are_kept();
}

fn pointers_cost_nothing_however_long_the_body() {
    for item in SHAPES {
        let body = list(item, 2 * MIB);
        let expect = json!({"json": [["/3", serde_json::from_str::<Value>(item).unwrap()]]});
        let (mut player, mut session) = player(&expect, &json!([{"into": "v", "from": "json", "what": "/7"}]));
        let (bytes, verdict) = peak(|| player.judge(&mut session, 200, b"", body.as_bytes(), 1));
        assert_eq!(verdict, Verdict::Success, "{item}");
        assert!(bytes < 4096, "{item}: {bytes} bytes for a body of {}", body.len());
    }
    let body = list(r#"{"a":1}"#, 2 * MIB);
    let (mut player, mut session) = player(&json!({"json": [["", 1]]}), &json!([]));
    let (bytes, _) = peak(|| player.judge(&mut session, 200, b"", body.as_bytes(), 1));
    assert!(bytes < 4096, "{bytes} bytes to say what the body is");
}

fn trees_count_before_they_are_made() {
    for item in SHAPES {
        let body = list(item, MIB / 4);
        let (mut player, mut session) = player(&json!({}), &json!([{"into": "v", "from": "jsonpath", "what": "$[3]"}]));
        let mut judge = |limit| {
            limit_bodies(limit);
            peak(|| player.judge(&mut session, 200, b"", body.as_bytes(), 1))
        };
        let (tree, verdict) = judge(BODY_MEMORY);
        assert_eq!((verdict, held_bodies()), (Verdict::Success, 0), "{item}");
        let (bytes, verdict) = judge(tree as u64);
        let Verdict::Assertion(why) = verdict else { panic!("{item}: a tree of {tree} bytes is within {tree} bytes") };
        assert!(
            why.starts_with("no value of jsonpath $[3]: its tree is too large: the bodies in memory are over"),
            "{why}"
        );
        assert!(bytes < 4096, "{item}: {bytes} bytes of a tree that is refused");
        assert_eq!(
            judge(12 * tree as u64).1,
            Verdict::Success,
            "{item}: a tree of {tree} bytes is counted as far more"
        );
    }
    limit_bodies(BODY_MEMORY);
}

fn long_values_count_as_long_as_they_are_kept() {
    let body = format!("{:?}", "x".repeat(MIB));
    let (mut player, mut session) = player(&json!({}), &json!([{"into": "v", "from": "json", "what": ""}]));
    assert_eq!(player.judge(&mut session, 200, b"", body.as_bytes(), 1), Verdict::Success);
    assert_eq!(held_bodies(), MIB as u64);
    player.begin(&mut session).unwrap();
    assert_eq!(held_bodies(), 0);
    limit_bodies(MIB as u64 / 2);
    let Verdict::Assertion(why) = player.judge(&mut session, 200, b"", body.as_bytes(), 1) else { panic!("no room") };
    assert!(why.starts_with("the bodies in memory are over the limit"), "{why}");
    limit_bodies(BODY_MEMORY);
}

const SCHEMA: &str = r#"syntax = "proto3"; package t;
    message Small { string text = 1; int64 n = 2; }
    message Wide { int64 first_of_many = 1; int64 second_of_many = 2; int64 third_of_many = 3; int64 fourth_of_many = 4; }
    message Deep { repeated Deep below = 1; }
    message Asked {}
    message All { repeated Small items = 1; repeated int32 numbers = 2; map<string, Small> named = 3;
        repeated Wide wide = 4; repeated Deep deep = 5; repeated string texts = 6; repeated double exact = 7; }
    service S { rpc One(Asked) returns (All); rpc Many(Asked) returns (stream All); }"#;

/// Messages `All`, each made of one of its fields again and again.
fn messages() -> [(&'static str, Vec<u8>); 8] {
    [
        ("items with a number", b"\x0a\x02\x10\x01".repeat(MIB / 160)),
        ("items with a text", b"\x0a\x06\x0a\x04text".repeat(MIB / 160)),
        ("packed numbers", [&b"\x12\x80\x80\x01"[..], &[1; 1 << 14]].concat()),
        (
            "entries of a map",
            (0..5_000).flat_map(|n: u32| format!("\x1a\x0a\x0a\x04{n:04x}\x12\x02\x10\x01").into_bytes()).collect(),
        ),
        ("empty ones of a wide type", b"\x22\0".repeat(MIB / 80)),
        ("messages in messages", b"\x2a\x06\x0a\x04\x0a\x02\x0a\0".repeat(MIB / 160)),
        ("empty texts", b"\x32\0".repeat(MIB / 80)),
        ("fields that the type does not have", b"\x78\x01\x82\x01\0".repeat(MIB / 160)),
    ]
}

fn framed(message: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    plimsoll_grpc::push_message(message, false, &mut body);
    body
}

fn messages_count_before_they_are_decoded() {
    use base64::Engine as _;
    let schema = plimsoll_grpc::Schema::from_text(SCHEMA).unwrap();
    let schema = base64::prelude::BASE64_STANDARD.encode(schema.as_bytes());
    for (method, count) in [("One", 1), ("Many", 3)] {
        let step =
            json!({"name": "s", "grpc": {"method": format!("t.S/{method}")}, "expect": {"json": [["/nothing", 1]]}});
        let definition =
            json!({"targets": [{"url": "http://h"}], "schema": schema, "flows": [{"name": "f", "steps": [step]}]});
        let scenario = Arc::new(Scenario::new(&definition.to_string(), 0, 1, 1).unwrap());
        let mut player = Player::new(scenario, &["h"], || 0).unwrap();
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        for (shape, message) in messages() {
            let body = framed(&message).repeat(count);
            let reply = Reply { status: 200, head: HEAD, body: &body, trailers: b"grpc-status: 0\r\n" };
            let mut judge = |limit| {
                limit_bodies(limit);
                peak(|| player.judge_call(&mut session, &reply, 1 << 30, 7))
            };
            let (needed, verdict) = judge(BODY_MEMORY);
            // It is decoded: only then is it known what is not in it.
            assert!(matches!(verdict, Verdict::Assertion(_)), "{method}, {shape}: {verdict:?}");
            assert_eq!(held_bodies(), 0);
            let (taken, verdict) = judge(needed as u64 * 9 / 10);
            let Verdict::Protocol(why) = verdict else { panic!("{method}, {shape}: {needed} bytes fit into fewer") };
            assert!(why.contains("the bodies in memory are over the limit"), "{why}");
            assert!(taken < needed, "{method}, {shape}: {taken} bytes of what is refused, {needed} of what is not");
            let (_, verdict) = judge(needed as u64 * 8);
            assert!(matches!(verdict, Verdict::Assertion(_)), "{method}, {shape}: counted as far more than {needed}");
        }
    }
    limit_bodies(BODY_MEMORY);
}
