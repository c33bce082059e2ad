//! The next address after a failure (only a unit test can give a name several addresses), and the connection that the
//! next request takes. Tests of other modules use `origin`, `get` and `next`, too.

mod socks;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_http as http;
use plimsoll_record::Outcome;

use super::{Engine, Event, Limits};
use crate::call::{Call, Finished, Keep, Wire};
use crate::clock::now;
use crate::origin::{Origin, OriginOptions};

const NAME: &str = "several.test";

/// Sends a request to a name with these addresses, and returns the result.
fn fetch(engine: &mut Engine, port: u16, addresses: &[&str]) -> Finished {
    let addresses = addresses.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), port)).collect();
    engine.resolver.remember((NAME.into(), port), addresses, now());
    let origin = origin(&format!("http://{NAME}:{port}"));
    let client = engine.client();
    engine.send(client, &origin, get(&origin));
    next(engine)
}

pub(super) fn origin(url: &str) -> Arc<Origin> {
    Arc::new(Origin::new(url, &OriginOptions::default()).unwrap())
}

pub(super) fn get(origin: &Origin) -> Call {
    let request = http::Request {
        method: "GET",
        target: "/",
        authority: origin.authority(),
        headers: &http::Headers::default(),
        extra: &[],
        body_length: None,
        content_type: None,
    };
    let wire = Wire::encode(&request, &[]).unwrap();
    Call { token: 1, wire, due: 0, free: 0, timeout: 0, since: 0, connect_timeout: 0, read_timeout: 0, keep: Keep::All }
}

/// The next result.
pub(super) fn next(engine: &mut Engine) -> Finished {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        assert!(Instant::now() < end, "nothing happened");
        engine.poll(Some(Duration::from_millis(100))).unwrap();
        if let Some(Event::Finished(finished)) = engine.next_event() {
            return finished;
        }
    }
}

/// A peer on 127.0.0.1 that closes each connection.
fn peer() -> (u16, std::thread::JoinHandle<SocketAddr>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (port, std::thread::spawn(move || listener.accept().unwrap().0.local_addr().unwrap()))
}

#[test]
fn when_an_address_refuses_the_next_one_is_tried() {
    for refusing in [&["::1", "127.0.0.1"][..], &["127.0.0.2", "127.0.0.3", "127.0.0.1"], &["127.0.0.1", "127.0.0.2"]] {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let (port, accepted) = peer();
        let finished = fetch(&mut engine, port, refusing);
        assert_eq!(accepted.join().unwrap(), SocketAddr::from(([127, 0, 0, 1], port)));
        assert_eq!(finished.result.unwrap_err().outcome, Outcome::Reset, "it connected, and was hung up on");
        assert_eq!((engine.in_flight(), engine.connections()), (0, 0));
    }
}

#[test]
fn when_all_addresses_refuse_the_last_reason_is_reported() {
    let mut engine = Engine::new(Limits::default()).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let failure = fetch(&mut engine, port, &["127.0.0.2", "127.0.0.1"]).result.unwrap_err();
    assert_eq!((failure.outcome, failure.errno), (Outcome::Connect, Some(libc::ECONNREFUSED)));
    let failure = fetch(&mut engine, port, &[]).result.unwrap_err();
    assert_eq!(failure.message, "no address of this host can be used");
    assert_eq!((engine.in_flight(), engine.connections()), (0, 0));
}

/// Reads a request and responds to it.
fn respond(socket: &mut TcpStream) {
    assert_ne!(socket.read(&mut [0; 4096]).unwrap(), 0);
    socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
}

#[test]
fn the_next_request_of_a_client_takes_the_connection_of_its_last_response() {
    let mut engine = Engine::new(Limits::default()).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = origin(&format!("http://{}", listener.local_addr().unwrap()));
    let (client, other) = (engine.client(), engine.client());
    let accept = |engine: &mut Engine, client| {
        engine.send(client, &origin, get(&origin));
        let socket = listener.accept().unwrap().0;
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        socket
    };
    let (mut first, mut second) = (accept(&mut engine, client), accept(&mut engine, client));
    for socket in [&mut first, &mut second] {
        respond(socket);
        next(&mut engine).result.unwrap();
    }
    engine.send(client, &origin, get(&origin));
    respond(&mut second);
    next(&mut engine).result.unwrap();
    let _third = accept(&mut engine, other);
    assert_eq!(engine.connections(), 3, "a connection belongs to one client");
}
