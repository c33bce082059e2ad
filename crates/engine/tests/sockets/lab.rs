//! Drives the engine until a condition is met.

use std::os::fd::AsRawFd;
use std::sync::{Arc, Once};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_engine::{
    Call, ClientId, Engine, Event, ExchangeId, Failure, Finished, Keep, Limits, Origin, OriginOptions, Response, Wire,
};
use plimsoll_http as http;
use plimsoll_record::StampSource;

use crate::peer::LIMIT;

/// Token of the calls that [`get`] and [`post`] make.
pub(crate) const TOKEN: u64 = 7;

/// The expected source of arrival stamps. Tests that need kernel stamps are skipped where there are none.
pub(crate) const STAMPS: StampSource =
    if cfg!(all(target_os = "linux", not(feature = "portable"))) { StampSource::Kernel } else { StampSource::User };

/// One second in the engine's unit.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// An engine with one client.
pub(crate) struct Lab {
    pub(crate) engine: Engine,
    pub(crate) client: ClientId,
}

impl Lab {
    pub(crate) fn new() -> Lab {
        Lab::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Lab {
        watch();
        let mut engine = Engine::new(limits).unwrap();
        let client = engine.client();
        Lab { engine, client }
    }

    pub(crate) fn send(&mut self, origin: &Arc<Origin>, call: Call) -> ExchangeId {
        self.engine.send(self.client, origin, call)
    }

    /// Sends one call and returns its result.
    pub(crate) fn fetch(&mut self, origin: &Arc<Origin>, call: Call) -> Finished {
        let id = self.send(origin, call);
        let finished = self.finish();
        assert_eq!(finished.id, id);
        finished
    }

    /// Cancels an exchange and returns its token.
    pub(crate) fn cancel(&mut self, id: ExchangeId) -> Option<u64> {
        self.engine.cancel(id).map(|given_up| given_up.token)
    }

    /// The next exchange that finishes.
    pub(crate) fn finish(&mut self) -> Finished {
        match self.event() {
            Event::Finished(finished) => finished,
            Event::Woken(token) => panic!("wake {token} came instead of an exchange"),
        }
    }

    /// The next event of any kind.
    pub(crate) fn event(&mut self) -> Event {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(event) = self.engine.next_event() {
                return event;
            }
            let left = end.checked_duration_since(Instant::now()).expect("nothing happened");
            self.engine.poll(Some(left)).unwrap();
        }
    }

    /// Runs the loop until `done`. No exchange may finish.
    pub(crate) fn until(&mut self, done: impl Fn(&Engine) -> bool) {
        let end = Instant::now() + LIMIT;
        while !done(&self.engine) {
            assert!(Instant::now() < end, "it did not happen");
            self.turn(Duration::from_millis(1));
        }
    }

    /// One turn, in which no exchange may finish.
    pub(crate) fn turn(&mut self, timeout: Duration) {
        self.engine.poll(Some(timeout)).unwrap();
        if let Some(event) = self.engine.next_event() {
            panic!("unexpected: {event:?}");
        }
    }

    /// Asserts that no exchange, connection or event is left.
    pub(crate) fn assert_empty(&mut self) {
        self.turn(Duration::from_millis(5));
        assert_eq!((self.engine.in_flight(), self.engine.connections()), (0, 0));
    }

    /// Waits until the engine's descriptor is readable, without handling it.
    pub(crate) fn wait_readable(&self) {
        let end = Instant::now() + LIMIT;
        while !is_readable(self.engine.as_raw_fd()) {
            assert!(Instant::now() < end, "the descriptor did not become readable");
        }
    }
}

/// Ends the process if the engine never returns from a call.
fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        thread::spawn(|| {
            thread::sleep(10 * LIMIT);
            eprintln!("the tests take longer than {:?}", 10 * LIMIT);
            std::process::abort();
        });
    });
}

/// Waits for at most one millisecond.
#[allow(unsafe_code)]
fn is_readable(fd: i32) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd at `poll` is valid for reading and writing.
    unsafe { libc::poll(&raw mut poll, 1, 1) == 1 }
}

pub(crate) fn origin(url: &str) -> Arc<Origin> {
    origin_with(url, &OriginOptions::default())
}

pub(crate) fn origin_with(url: &str, options: &OriginOptions) -> Arc<Origin> {
    Arc::new(Origin::new(url, options).unwrap())
}

/// A call with timeouts that no working test reaches.
fn call(wire: Wire) -> Call {
    let limit = 2 * LIMIT.as_nanos() as u64;
    Call {
        token: TOKEN,
        wire,
        due: 0,
        free: 0,
        timeout: 0,
        since: 0,
        connect_timeout: limit,
        read_timeout: limit,
        keep: Keep::All,
    }
}

/// GET /
pub(crate) fn get(origin: &Origin) -> Call {
    request(origin, "GET", &[], None)
}

/// Any method with any headers and body.
pub(crate) fn request(origin: &Origin, method: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Call {
    let headers = http::Headers::new(headers.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))).unwrap();
    let request = http::Request {
        method,
        target: "/",
        authority: origin.authority(),
        headers: &headers,
        extra: &[],
        body_length: body.map(|body| body.len() as u64),
        content_type: None,
    };
    call(Wire::encode(&request, body.unwrap_or_default()).unwrap())
}

/// POST / with a body.
pub(crate) fn post(origin: &Origin, body: &[u8]) -> Call {
    request(origin, "POST", &[], Some(body))
}

/// The response of an exchange that must have one.
pub(crate) fn response(finished: &Finished) -> &Response {
    finished.result.as_ref().expect("a response")
}

/// The failure of an exchange that must have failed.
pub(crate) fn failure(finished: &Finished) -> &Failure {
    finished.result.as_ref().expect_err("a failure")
}
