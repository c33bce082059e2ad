//! The next address after a failure. Only a unit test can give a name several addresses.

use std::net::{SocketAddr, TcpListener};
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
    let origin = Arc::new(Origin::new(&format!("http://{NAME}:{port}"), &OriginOptions::default()).unwrap());
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
    let call = Call {
        token: 1,
        wire,
        due: 0,
        free: 0,
        timeout: 0,
        since: 0,
        connect_timeout: 0,
        read_timeout: 0,
        keep: Keep::All,
    };
    let client = engine.client();
    engine.send(client, &origin, call);
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
