//! What the JSON of a body costs. No other test runs in this process: the limit of bodies is one of the process.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]
#![allow(unsafe_code, reason = "an allocator is unsafe to write; this one only counts what it hands on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use plimsoll_scenario::bodies::{BODY_MEMORY, held_bodies, limit_bodies};
use plimsoll_scenario::{Player, Scenario, Session, Verdict};
use serde_json::{Value, json};

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
