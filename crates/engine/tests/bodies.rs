//! The memory limit for response bodies. No other test runs in this process.

#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use plimsoll_engine::{
    Call, Engine, Event, Finished, Held, Keep, Limits, Origin, OriginOptions, Wire, held_bodies, limit_bodies,
};
use plimsoll_http as http;
use plimsoll_record::Outcome;

const BODY: usize = 2 << 20;

/// Responds once per connection with a body of this size: of known length, or until the connection ends.
fn peer(size: usize, announced: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = if announced { format!("Content-Length: {size}\r\n") } else { String::new() };
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nConnection: close\r\n{length}\r\n");
            let _ = stream.write_all(&vec![b'x'; size]);
        }
    });
    address
}

fn fetch(engine: &mut Engine, address: SocketAddr, keep: Keep) -> Finished {
    let origin = Arc::new(Origin::new(&format!("http://{address}"), &OriginOptions::default()).unwrap());
    let request = http::Request {
        method: "GET",
        target: "/",
        authority: origin.authority(),
        headers: &http::Headers::default(),
        extra: &[],
        body_length: None,
        content_type: None,
    };
    let wire = Wire::encode(&request, b"").unwrap();
    let call =
        Call { token: 0, wire, due: 0, free: 0, timeout: 0, since: 0, connect_timeout: 0, read_timeout: 0, keep };
    let client = engine.client();
    engine.send(client, &origin, call);
    loop {
        engine.poll(Some(Duration::from_secs(30))).unwrap();
        while let Some(event) = engine.next_event() {
            if let Event::Finished(finished) = event {
                return finished;
            }
        }
    }
}

#[test]
fn all_bodies_together_have_one_limit_and_what_is_over_it_is_a_failure() {
    let mut engine = Engine::new(Limits::default()).unwrap();
    limit_bodies(3 * BODY as u64 / 2);
    for announced in [true, false] {
        let (large, small) = (peer(BODY, announced), peer(8 << 10, announced));
        let first = fetch(&mut engine, large, Keep::All);
        assert_eq!(first.result.as_ref().unwrap().body().len(), BODY);
        assert!(held_bodies() >= BODY as u64);

        let second = fetch(&mut engine, large, Keep::All);
        let failure = second.result.as_ref().unwrap_err();
        assert_eq!((failure.outcome, failure.errno), (Outcome::Protocol, Some(libc::ENOMEM)));
        let message = "the bodies in memory are over the limit of 3145728 bytes for all users of a worker";
        assert_eq!(failure.message, message);

        // Unkept and small bodies are not counted.
        assert_eq!(fetch(&mut engine, large, Keep::Nothing).result.unwrap().body_length, BODY as u64);
        assert_eq!(fetch(&mut engine, small, Keep::All).result.unwrap().body().len(), 8 << 10);

        drop((first, second));
        assert_eq!(held_bodies(), 0, "announced: {announced}");
        assert!(fetch(&mut engine, large, Keep::All).result.is_ok());
    }
    assert!(Held::new(3 * BODY as u64).is_err());
    let copy = Held::copy(3 * BODY as u64);
    assert_eq!(held_bodies(), 3 * BODY as u64);
    assert!(Held::new(20 << 10).is_err(), "a copy is never refused, but it counts");
    drop(copy);
    let mut buffer = Held::default();
    for (bytes, is_held) in [(BODY, true), (2 * BODY, false), (BODY / 2, true), (BODY, true), (0, true)] {
        assert_eq!(buffer.follow(bytes), is_held);
        assert_eq!(held_bodies(), if is_held { bytes as u64 } else { BODY as u64 });
    }
}
