//! The benchmark of the hot path: N users repeat one GET, or a message, over the engine, without Python.
//!
//! `native URL USERS SECONDS` prints one line of JSON: the counts, and the CPU time of this process. `native URL USERS
//! 0 COUNT` stops after COUNT exchanges instead, so that instructions can be counted. A further argument is the number
//! of users of each connection: then the requests are HTTP/2. COUNT may be `-`. With ws://, each user sends a message of
//! 100 bytes and waits for the next one, again and again; the response of a path /events is read as server-sent events.
//! Then the count is that of round trips or of events.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Duration;

use plimsoll_engine::{Engine, Event, Limits, NativeUsers, Rules, Script, now};
use plimsoll_record::{Durations, Outcome, Recorder};
use plimsoll_scenario::Scenario;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, url, users, seconds, rest @ ..] = arguments.as_slice() else {
        panic!("usage: native URL USERS SECONDS [COUNT [USERS_PER_CONNECTION]]");
    };
    let (users, seconds): (usize, f64) = (users.parse().unwrap(), seconds.parse().unwrap());
    let count: u64 = rest.first().filter(|count| *count != "-").map_or(u64::MAX, |count| count.parse().unwrap());
    let streams: Option<usize> = rest.get(1).map(|streams| streams.parse().unwrap());
    let until = if count == u64::MAX { now() + (seconds * 1e9) as u64 } else { u64::MAX };

    let script = Script::new(Scenario::new(&definition(url, streams.is_some()), 0, 1, 0).unwrap()).unwrap();
    let mut engine = Engine::new(Limits::default()).unwrap();
    let start = now();
    let mut recorder = Recorder::new(start);
    let rules = Rules { users_per_connection: streams.unwrap_or(1), ..Rules::default() };
    let mut natives = NativeUsers::new(&script, &mut recorder, rules, 1 << 63);

    natives.resize(&mut engine, &mut recorder, users).unwrap();
    let mut done = 0;
    while !natives.done() {
        engine.poll(Some(Duration::from_secs(1))).unwrap();
        while let Some(event) = engine.next_event() {
            match event {
                Event::Finished(mut finished) => natives.finished(&mut engine, &mut recorder, &mut finished),
                Event::Woken(token) => natives.woken(&mut engine, &mut recorder, token),
            }
            done += 1;
        }
        if done >= count || now() >= until {
            natives.stop(&mut engine, &mut recorder);
        }
    }
    report(&mut recorder, now() - start);
}

/// One GET or one message, repeated.
fn definition(url: &str, http2: bool) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (scheme, steps) = match (scheme, path) {
        ("ws", _) => ("http", socket_steps(path)),
        (_, "events") => (scheme, get(path, r#", "stream": "sse""#)),
        _ => (scheme, get(path, "")),
    };
    format!(
        r#"{{"targets": [{{"url": "{scheme}://{authority}", "headers": [["User-Agent", "plimsoll"], ["Accept", "*/*"]], "http2": {http2}}}],
            "accept_encoding": false, "flows": [{{"name": "bench", "steps": [{steps}]}}]}}"#
    )
}

fn get(path: &str, more: &str) -> String {
    format!(r#"{{"name": "/{path}", "method": "GET", "path": "/{path}", "timeout": 60.0{more}}}"#)
}

/// The steps of `plimsoll run ws://… --message TEXT`.
fn socket_steps(path: &str) -> String {
    let message = "x".repeat(100);
    format!(
        r#"{{"name": "/{path}", "path": "/{path}", "websocket": {{"connect": {{}}}}}},
           {{"name": "/{path}", "body": {{"text": "{message}"}}, "websocket": {{"send": {{}}}}}},
           {{"name": "/{path}", "websocket": {{"receive": {{"reply": true}}}}}}"#
    )
}

fn report(recorder: &mut Recorder, elapsed: u64) {
    let taken = recorder.take(None);
    // Requests, or what stands in their place.
    let methods = taken.cells.iter().filter_map(|(_, id, ..)| recorder.name(*id)).map(|(method, _)| method);
    let method =
        methods.max_by_key(|method| ["GET", "WS receive", "each event"].iter().position(|each| each == method));
    let is_counted = |id| recorder.name(id).map(|(method, _)| method) == method;
    let count = |wanted: fn(Outcome) -> bool| -> u64 {
        let counted = taken.cells.iter().filter(|(_, id, outcome, _)| is_counted(*id) && wanted(*outcome));
        counted.map(|(.., cell)| cell.count).sum()
    };
    let (requests, errors) = (count(|_| true), count(Outcome::is_failure));
    let sum = |pick: &dyn Fn(&mut Durations)| {
        let mut sum = Durations::default();
        pick(&mut sum);
        sum
    };
    let response = sum(&|sum| taken.cells.iter().for_each(|(.., cell)| sum.add(&cell.response)));
    let lag = sum(&|sum| taken.health.iter().for_each(|(_, health)| sum.add(&health.lag)));
    let delay = sum(&|sum| taken.health.iter().for_each(|(_, health)| sum.add(&health.delay)));
    let cpu = cpu_seconds();
    let user_stamps: u64 = taken.health.iter().map(|(_, health)| health.user_stamps).sum();
    println!(
        "{{\"requests\": {requests}, \"errors\": {errors}, \"seconds\": {:.3}, \"requests_per_second\": {:.0}, \
         \"cpu_us_per_request\": {:.3}, \"response_p50_us\": {}, \"response_p99_us\": {}, \"lag_p99_us\": {}, \
         \"delay_p99_us\": {}, \"user_stamps\": {user_stamps}}}",
        elapsed as f64 / 1e9,
        requests as f64 / (elapsed as f64 / 1e9),
        cpu * 1e6 / requests as f64,
        response.value_at(0.5),
        response.value_at(0.99),
        lag.value_at(0.99),
        delay.value_at(0.99),
    );
}

/// User and system time of this process.
#[allow(unsafe_code)]
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
