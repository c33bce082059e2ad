//! Closed-loop users in Rust: each repeats one request, the next one when the last has finished.

use std::sync::Arc;

use plimsoll_http as http;
use plimsoll_record::{EndpointId, Outcome, Recorder};

use crate::call::{Call, Finished, Keep, Wire};
use crate::engine::{ClientId, Engine};
use crate::origin::Origin;

/// N users that share one request, and nothing else.
#[derive(Debug)]
pub struct NativeUsers {
    origin: Arc<Origin>,
    wire: Wire,
    endpoint: EndpointId,
    /// Limit of connecting and of each wait for bytes, ns; 0 = none.
    timeout: u64,
    /// Set in every token, so that the owner of the engine can tell its exchanges apart.
    mark: u64,
    clients: Vec<ClientId>,
    running: bool,
    active: usize,
}

impl NativeUsers {
    /// No users yet. Tokens of their exchanges are `mark | user`, with users below 2^32.
    pub fn new(origin: Arc<Origin>, wire: Wire, endpoint: EndpointId, timeout: u64, mark: u64) -> NativeUsers {
        let wire = wire.shared();
        NativeUsers { origin, wire, endpoint, timeout, mark, clients: Vec::new(), running: true, active: 0 }
    }

    /// Adds users; each sends its first request now.
    pub fn spawn(&mut self, engine: &mut Engine, count: usize) {
        for _ in 0..count {
            self.clients.push(engine.client());
            self.active += 1;
            self.send(engine, self.clients.len() - 1, 0);
        }
    }

    /// Users with a request in flight.
    pub fn active(&self) -> usize {
        self.active
    }

    /// No further requests; those in flight finish.
    pub fn stop(&mut self) {
        self.running = false;
    }

    /// Records one of their exchanges and sends that user's next request, due the moment the last one was read.
    #[inline]
    pub fn finished(&mut self, engine: &mut Engine, recorder: &mut Recorder, finished: &Finished) {
        self.record(recorder, finished);
        let user = (finished.token & !self.mark) as usize;
        if self.running {
            self.send(engine, user, finished.exchange.read);
        } else {
            self.active -= 1;
            engine.close(self.clients[user]);
        }
    }

    #[inline]
    fn send(&self, engine: &mut Engine, user: usize, due: u64) {
        let call = Call {
            token: self.mark | user as u64,
            wire: self.wire.clone(),
            due,
            connect_timeout: self.timeout,
            read_timeout: self.timeout,
            keep: Keep::Nothing,
        };
        engine.send(self.clients[user], &self.origin, call);
    }

    #[inline]
    fn record(&self, recorder: &mut Recorder, finished: &Finished) {
        let at = finished.exchange.arrival;
        let (outcome, body) = match &finished.result {
            Ok(response) if response.status < 400 => (Outcome::Success, response.body_length),
            Ok(response) => {
                recorder.failure(self.endpoint, Outcome::Http, &format!("status {}", response.status), at);
                (Outcome::Http, response.body_length)
            }
            Err(failure) => {
                recorder.failure(self.endpoint, failure.outcome, &failure.message, at);
                (failure.outcome, 0)
            }
        };
        recorder.exchange(self.endpoint, &finished.exchange, outcome, body);
    }
}

/// The request of a plain GET user: what is needed to be served, and nothing else.
pub fn plain_get(origin: &Origin, target: &str, agent: &str) -> Result<Wire, http::RequestError> {
    let headers = http::Headers::new([(&b"User-Agent"[..], agent.as_bytes()), (&b"Accept"[..], &b"*/*"[..])])?;
    let request = http::Request {
        method: "GET",
        target,
        authority: origin.authority(),
        headers: &headers,
        extra: &[],
        body_length: None,
        content_type: None,
    };
    Wire::encode(&request, &[])
}
