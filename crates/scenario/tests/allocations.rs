//! The hot path must not allocate.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write; this one only counts what it hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use plimsoll_scenario::{Next, Player, Scenario, Session, Verdict};
use serde_json::{Value, json};

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        TAKEN.set(TAKEN.get() + 1);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Number of allocations during `body`, on this thread.
fn taken(body: impl FnOnce()) -> usize {
    let before = TAKEN.get();
    body();
    TAKEN.get() - before
}

fn player(definition: &Value) -> Player {
    Player::new(Arc::new(Scenario::new(&definition.to_string(), 0, 1, 1).unwrap()), &["h:1"], || 0).unwrap()
}

/// One iteration. Every response has the status 200 and this head and body.
fn iterate(player: &mut Player, session: &mut Session, buffer: &mut Vec<u8>, head: &[u8], body: &[u8]) {
    player.begin(session).unwrap();
    loop {
        buffer.clear();
        player.request(session, buffer).unwrap();
        assert_eq!(player.judge(session, 200, head, body, 1), Verdict::Success);
        if matches!(player.advance(session), Next::End { .. }) {
            return;
        }
    }
}

#[test]
fn memory_that_is_taken_is_counted() {
    assert_eq!(taken(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn a_constant_step_takes_none_from_the_first_iteration_on() {
    let step = json!({"name": "s", "method": "POST", "path": "/", "body": {"text": "abc"}, "expect": {"max_time": 1}});
    let mut player = player(&json!({"targets": [{"url": "http://h:1"}], "flows": [
        {"name": "a", "weight": 2, "steps": [step]}, {"name": "b", "steps": [step]},
    ]}));
    let mut buffer = Vec::new();
    let count = taken(|| {
        for _ in 0..100 {
            let mut session = player.session();
            iterate(&mut player, &mut session, &mut buffer, b"", b"");
        }
    });
    assert_eq!((count, buffer.capacity()), (0, 0));
}

#[test]
fn repetitions_and_conditions_take_none_once_their_buffers_have_grown() {
    let job = json!({"name": "job", "method": "GET", "path": "/${n}/${repetition}",
        "extract": [{"into": "n", "from": "regex", "what": "n=.", "default": ""}],
        "repeat": {"most": 3, "while": "${n} != n=2"}});
    let left_out = json!({"name": "out", "method": "GET", "path": "/out", "if": "${n} == n=2"});
    let mut player =
        player(&json!({"targets": [{"url": "http://h:1"}], "flows": [{"name": "f", "steps": [job, left_out]}]}));
    let (mut session, mut buffer) = (player.session(), Vec::with_capacity(4096));
    let mut iterate = || {
        player.begin(&mut session).unwrap();
        let mut requests = 1;
        loop {
            buffer.clear();
            player.request(&mut session, &mut buffer).unwrap();
            let body: &[u8] = if requests == 2 { b"n=2" } else { b"n=1" };
            assert_eq!(player.judge(&mut session, 200, b"", body, 1), Verdict::Success);
            if matches!(player.advance(&mut session), Next::End { .. }) {
                return requests;
            }
            requests += 1;
        }
    };
    assert_eq!(iterate(), 3);
    assert_eq!(taken(|| assert_eq!((0..100).map(|_| iterate()).sum::<i32>(), 300)), 0);
}

#[test]
fn steps_with_variables_and_cookies_take_none_once_their_buffers_have_grown() {
    let mut player = player(&json!({
        "targets": [{"url": "http://a.h.test:1", "headers": [["X-A", "${f.a}"], ["X-B", "${uuid}${text}"]]}],
        "feeders": [{"name": "f", "columns": ["a"], "rows": [["<1>"], ["\"2\""], ["3 3"]], "order": "random"}],
        "cookies": true,
        "flows": [{"name": "f", "steps": [
            {"name": "a", "method": "GET", "path": "/${f.a}?${random}&${now}", "expect": {"contains": ["token"], "lacks": ["x"]},
             "extract": [{"into": "t", "from": "regex", "what": "token=.."}], "think": {"exponential": 1}},
            {"name": "b", "method": "POST", "path": "/${t}/x", "body": {"json": "{\"a\": \"${t}${f.a}\", \"b\": ${iteration}}"}},
            {"name": "c", "method": "GET", "path": "/constant/without/its/cookies"},
        ]}],
    }));
    let (mut session, mut buffer) = (player.session(), Vec::with_capacity(4096));
    let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Path=/; Domain=h.test\r\n\r\n";
    iterate(&mut player, &mut session, &mut buffer, head, b"token=12");
    for _ in 0..3 {
        iterate(&mut player, &mut session, &mut buffer, b"", b"token=12");
    }
    let count = taken(|| {
        for _ in 0..100 {
            iterate(&mut player, &mut session, &mut buffer, b"", b"token=12");
        }
    });
    assert!(String::from_utf8(buffer).unwrap().contains("Cookie: sid=1\r\n"));
    assert_eq!(count, 0);
}
