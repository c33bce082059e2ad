//! Tests of the program over real sockets.

#![allow(clippy::unwrap_used)] // these are tests

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

struct Target {
    process: Child,
    leash: Option<ChildStdin>,
    address: SocketAddr,
}

impl Target {
    fn start() -> Target {
        let mut process = Command::new(env!("CARGO_BIN_EXE_plimsoll-truth"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().parse().unwrap();
        Target { leash: process.stdin.take(), process, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream
    }

    /// Sends one request on a new connection, and returns the whole response.
    fn ask(&self, method: &str, target: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "{method} {target} HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        String::from_utf8(reply).unwrap()
    }

    fn truth(&self) -> Value {
        let reply = self.ask("GET", "/truth");
        serde_json::from_str(reply.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// The record of a path, when `done` is true for it.
    fn path_when(&self, target: &str, done: impl Fn(&Value) -> bool) -> Value {
        loop {
            let path = self.truth()["paths"][target].clone();
            if done(&path) {
                return path;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        drop(self.leash.take());
        self.process.wait().unwrap();
    }
}

fn get(stream: &mut TcpStream, target: &str) {
    write!(stream, "GET {target} HTTP/1.1\r\n\r\n").unwrap();
}

/// Reads until the reply ends with this.
fn read_to(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut reply = Vec::new();
    let mut byte = [0];
    while !reply.ends_with(end) {
        stream.read_exact(&mut byte).unwrap();
        reply.push(byte[0]);
    }
    reply
}

#[test]
fn its_account_of_a_time_is_within_that_of_the_client_and_never_below_what_was_asked() {
    let target = Target::start();
    let mut stream = target.connect();
    for _ in 0..20 {
        let began = Instant::now();
        get(&mut stream, "/fixed?ms=3");
        read_to(&mut stream, b"ok\n");
        let took = began.elapsed().as_nanos() as u64;
        let path =
            target.path_when("/fixed?ms=3", |path| path["times_ns"].as_array().is_some_and(|times| !times.is_empty()));
        let time = path["times_ns"].as_array().unwrap().last().unwrap().as_u64().unwrap();
        assert!(3_000_000 - 1_000 <= time && time <= took, "{time} ns of {took} ns");
    }
    let truth = target.truth();
    assert_eq!((&truth["stamps"]["user"], &truth["stamps"]["kernel"]), (&json!(0), &json!(20)));
    assert_eq!(truth["connections"], json!([20]));
}

#[test]
fn requests_are_counted_when_they_come_together_and_when_they_come_byte_by_byte() {
    let target = Target::start();
    let mut stream = target.connect();
    stream.write_all(b"GET /fixed?ms=0 HTTP/1.1\r\n\r\nGET /fixed?ms=0 HTTP/1.1\r\n\r\n").unwrap();
    read_to(&mut stream, b"ok\n");
    read_to(&mut stream, b"ok\n");
    for byte in b"POST /fixed?ms=0 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello" {
        stream.write_all(&[*byte]).unwrap();
    }
    read_to(&mut stream, b"ok\n");
    let path = target.path_when("/fixed?ms=0", |path| path["replied"] == 3);
    assert_eq!(path["received"], 3);
}

#[test]
fn a_client_that_leaves_is_counted_for_what_it_had_asked() {
    let target = Target::start();
    let mut stream = target.connect();
    get(&mut stream, "/never");
    drop(stream);
    let path = target.path_when("/never", |path| path["cut"] == 1);
    assert_eq!((&path["received"], &path["replied"], &path["times_ns"]), (&json!(1), &json!(0), &json!([null])));
    let mut stream = target.connect();
    stream.write_all(b"GET /fixed HT").unwrap();
    drop(stream);
    while target.truth()["partial"] != 1 {
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn nothing_is_served_within_a_freeze_and_what_came_meanwhile_has_waited_for_its_end() {
    let target = Target::start();
    assert!(target.ask("POST", "/freeze?every=0.4&for=0.2").starts_with("HTTP/1.1 204"));
    let mut stream = target.connect();
    let began = Instant::now();
    while began.elapsed() < Duration::from_millis(1500) {
        get(&mut stream, "/fixed?ms=0");
        read_to(&mut stream, b"ok\n");
    }
    target.ask("POST", "/freeze?for=0");
    let truth = target.truth();
    let list = |value: &Value| value.as_array().unwrap().iter().map(|each| each.as_u64().unwrap()).collect::<Vec<_>>();
    let path = &truth["paths"]["/fixed?ms=0"];
    let (arrivals, times) = (list(&path["arrivals_ns"]), list(&path["times_ns"]));
    let freezes: Vec<Vec<u64>> = truth["freezes_ns"].as_array().unwrap().iter().map(list).collect();
    assert!(freezes.len() >= 3, "{freezes:?}");
    let mut waited = 0;
    for freeze in &freezes {
        for (arrival, time) in arrivals.iter().zip(&times) {
            let handed = arrival + time;
            assert!(handed <= freeze[0] || freeze[1] <= handed, "{handed} is within {freeze:?}");
            waited += u32::from((freeze[0]..freeze[1]).contains(arrival) && handed >= freeze[1]);
        }
    }
    assert!(waited >= 1, "no request came within {freezes:?}");
}

#[test]
fn while_accepting_stalls_connections_wait_and_their_requests_keep_their_arrival() {
    let target = Target::start();
    let mut before = target.connect();
    get(&mut before, "/fixed?ms=0");
    read_to(&mut before, b"ok\n");
    target.ask("POST", "/accept-stall?for=0.3");
    let mut stream = target.connect();
    get(&mut stream, "/fixed?ms=1");
    get(&mut before, "/fixed?ms=0");
    read_to(&mut before, b"ok\n");
    read_to(&mut stream, b"ok\n");
    let truth = target.truth();
    let number = |value: &Value| value.as_u64().unwrap();
    let path = &truth["paths"]["/fixed?ms=1"];
    let (arrival, time) = (number(&path["arrivals_ns"][0]), number(&path["times_ns"][0]));
    let end = number(&truth["stalls_ns"][0][1]);
    assert!(arrival < end && end <= arrival + time, "{arrival} + {time}, stalled until {end}");
}

#[test]
fn a_reset_begins_a_new_record_and_the_seeds_again() {
    let target = Target::start();
    // Tests whether a seed's first response is slow: 200 ms are more than a machine adds to a fast one.
    let path = "/bimodal?fast_ms=0&slow_ms=200&share=0.5&seed=SEED";
    let slow = |seed: u32| {
        let path = path.replace("SEED", &seed.to_string());
        target.ask("GET", &path);
        let record = target.path_when(&path, |path| path["replied"] == 1);
        record["times_ns"][0].as_u64().unwrap() >= 199_999_000
    };
    let first: Vec<bool> = (0..8).map(slow).collect();
    assert!(target.ask("POST", "/truth/reset").starts_with("HTTP/1.1 204"));
    assert_eq!(target.truth()["paths"], json!({}));
    assert_eq!((0..8).map(slow).collect::<Vec<_>>(), first);
    assert!(first.contains(&true) && first.contains(&false), "{first:?}");
}

#[test]
fn faults_reach_the_client_as_they_are_asked_for() {
    let target = Target::start();
    let mut stream = target.connect();
    get(&mut stream, "/reset?at=body");
    let error = stream.read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert_eq!(target.path_when("/reset?at=body", |path| path["reset"] == 1)["replied"], 0);
    let mut stream = target.connect();
    get(&mut stream, "/endless-header");
    let mut much = vec![0; 200_000];
    stream.read_exact(&mut much).unwrap();
    drop(stream);
    target.path_when("/endless-header", |path| path["cut"] == 1);
    assert!(target.ask("GET", "/wrong-length?by=10").contains("Content-Length: 1010\r\n"));
}

#[test]
fn a_hundred_megabytes_arrive() {
    let target = Target::start();
    let mut stream = target.connect();
    get(&mut stream, "/bytes?n=100000000");
    read_to(&mut stream, b"\r\n\r\n");
    let copied = std::io::copy(&mut (&stream).take(100_000_000), &mut std::io::sink()).unwrap();
    assert_eq!(copied, 100_000_000);
    get(&mut stream, "/bytes?n=3");
    read_to(&mut stream, b"\r\n\r\nabc");
}

#[test]
fn connections_are_kept_by_the_rules_of_each_version() {
    let target = Target::start();
    let mut stream = target.connect();
    for _ in 0..2 {
        stream.write_all(b"GET /fixed?ms=0 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").unwrap();
        let reply = String::from_utf8(read_to(&mut stream, b"ok\n")).unwrap();
        assert!(reply.contains("Connection: keep-alive\r\n"), "{reply}");
    }
    stream.write_all(b"GET /fixed?ms=0 HTTP/1.0\r\n\r\n").unwrap();
    assert!(stream.read_to_end(&mut Vec::new()).unwrap() > 0);
    let mut thrice = target.connect();
    for end in [b"ok\n".as_slice(), b"ok\n", b"last\n"] {
        get(&mut thrice, "/keep-alive?requests=3");
        read_to(&mut thrice, end);
    }
    assert_eq!(thrice.read(&mut [0]).unwrap(), 0);
    let mut waiting = target.connect();
    waiting.write_all(b"POST /fixed?ms=0 HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n").unwrap();
    read_to(&mut waiting, b"HTTP/1.1 100 Continue\r\n\r\n");
    waiting.write_all(b"hi").unwrap();
    read_to(&mut waiting, b"ok\n");
}

#[test]
fn it_ends_when_its_standard_input_is_closed_and_on_a_signal() {
    let mut target = Target::start();
    drop(target.leash.take());
    assert!(target.process.wait().unwrap().success());
    let mut target = Target::start();
    target.process.kill().unwrap();
    assert!(!target.process.wait().unwrap().success());
}

#[test]
fn what_is_not_a_request_is_refused_and_counted_apart() {
    let target = Target::start();
    let mut stream = target.connect();
    stream.write_all(b"\x16\x03\x01\x02\x00").unwrap();
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 400 "), "{reply}");
    assert_eq!(target.truth()["refused"], 1);
    let usage = Command::new(env!("CARGO_BIN_EXE_plimsoll-truth")).arg("eighty").output().unwrap();
    assert_eq!(usage.status.code(), Some(2));
}
