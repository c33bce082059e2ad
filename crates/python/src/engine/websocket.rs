//! `WebSocket` for Python: an open connection, its messages and its end.

use std::sync::Arc;

use plimsoll_engine::call::Bytes;
use plimsoll_engine::{ExchangeId, Failure, Finished, Held, Response, Then, Wire, no_room, now};
use plimsoll_http::Work;
use plimsoll_record::{Exchange, Outcome, StampSource};
use plimsoll_websocket::{self as websocket, ABNORMAL, Client, Close, Message, Offer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use super::{Engine, Gone, Left, leave};
use crate::decoding::SHARE;
use crate::errors::refused;
use crate::recorder::{Recorder, SocketRows};
use crate::reply::Reply;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct WebSocket {
    engine: Py<Engine>,
    id: ExchangeId,
    gone: Gone,
    client: Client,
    protocol: Option<String>,
    /// The stamps of the last bytes.
    last: Exchange,
    /// Arrival of the last message.
    previous: Option<u64>,
    /// The outcome for who waits for a message, that of the end itself, the message, and the code.
    end: Option<(Outcome, Outcome, String, u16)>,
    /// This end closed first.
    has_closed: bool,
    /// Bytes that came with the response, until they are read.
    first: Option<Vec<u8>>,
    /// The memory of the message whose end has not arrived.
    held: Held,
    /// The memory of the messages that its user has not read.
    unread: Held,
    /// What follows the bytes that the client has.
    then: Then,
}

/// A message with the stamps of its arrival and of its read, and whether the kernel has stamped the arrival.
type Received = (Py<PyAny>, u64, u64, bool);

impl WebSocket {
    /// Takes over a streamed exchange whose response opens a WebSocket.
    pub(super) fn new(
        engine: Py<Engine>,
        id: ExchangeId,
        gone: &Gone,
        reply: &Reply,
        offer: &Offer,
        limit: u64,
    ) -> PyResult<Self> {
        let Finished { wire, exchange, result, .. } = &reply.finished;
        let response = result.as_ref().map_err(|failure| refused(&failure.message))?;
        let accepted = accepted(offer, wire, response)?;
        Ok(Self {
            engine,
            id,
            gone: Arc::clone(gone),
            client: Client::new(limit, accepted.deflate, websocket::random()),
            protocol: accepted.protocol,
            last: *exchange,
            previous: None,
            end: None,
            has_closed: false,
            first: Some(response.body().to_vec()),
            held: Held::default(),
            unread: Held::default(),
            then: Then::More,
        })
    }

    /// Writes what the client has to send.
    fn flush(&mut self, py: Python<'_>) {
        let output = self.client.output();
        if !output.is_empty() {
            self.engine.borrow_mut(py).inner.write(self.id, output);
            output.clear();
        }
        if *self.client.pongs() > 0 && self.engine.borrow_mut(py).inner.is_written(self.id) {
            *self.client.pongs() = 0;
        }
    }

    /// The connection is of no more use.
    fn finish(&mut self, py: Python<'_>, outcome: Outcome, message: String, code: u16) {
        self.flush(py);
        self.engine.borrow_mut(py).hang_up(self.id);
        self.end = Some((outcome, outcome, message, code));
    }

    /// The server has closed the connection.
    fn closes(&mut self, py: Python<'_>, close: &Close) {
        self.finish(py, Outcome::Reset, close.to_string(), close.code);
        if let Some((_, end, ..)) = self.end.as_mut().filter(|_| close.is_clean(self.has_closed)) {
            *end = Outcome::Success;
        }
    }

    /// Takes bytes, and appends the messages that end in them.
    fn take(
        &mut self,
        py: Python<'_>,
        bytes: &[u8],
        mut recorder: Option<(PyRefMut<'_, Recorder>, &SocketRows)>,
        found: &mut Vec<Received>,
    ) {
        let WebSocket { client, last, previous, .. } = self;
        let fed = client.feed(bytes, &mut Work::of(SHARE), &mut |message| {
            if let Some((recorder, rows)) = &mut recorder {
                recorder.inner.message_in(rows.inner, last, *previous, message.as_bytes().len() as u64);
            }
            *previous = Some(last.arrival);
            let message = match message {
                Message::Text(text) => PyString::new(py, text).into_any(),
                Message::Binary(bytes) => PyBytes::new(py, bytes).into_any(),
            };
            found.push((message.unbind(), last.arrival, last.read, last.source == StampSource::Kernel));
        });
        self.flush(py);
        if let Err(error) = fed {
            self.finish(py, Outcome::Protocol, error.to_string(), error.close_code());
        } else if let Some(close) = self.client.closed().cloned() {
            self.closes(py, &close);
        } else if !self.held.follow(self.client.unfinished()) {
            self.finish(py, Outcome::Protocol, no_room(), ABNORMAL);
        }
    }
}

fn accepted(offer: &Offer, wire: &Wire, response: &Response) -> PyResult<websocket::Accepted> {
    let key = plimsoll_http::header(&wire.bytes.as_slice()[..wire.head], "sec-websocket-key");
    let key = key.and_then(|key| key.try_into().ok()).map(websocket::Key::from_bytes);
    let key = key.ok_or_else(|| refused("the request has no key"))?;
    offer.check(&key, response.status, response.head()).map_err(refused)
}

impl Drop for WebSocket {
    fn drop(&mut self) {
        if self.end.is_none() {
            leave(&self.gone, Left::Stream(self.id));
        }
    }
}

#[pymethods]
impl WebSocket {
    fn send(&mut self, py: Python<'_>, message: &Bound<'_, PyAny>) -> PyResult<u64> {
        if let Ok(text) = message.cast::<PyString>() {
            self.client.send(Message::Text(text.to_str()?));
        } else {
            self.client.send(Message::Binary(message.extract::<&[u8]>()?));
        }
        let sent = now();
        self.flush(py);
        Ok(sent)
    }

    #[getter]
    fn is_written(&self, py: Python<'_>) -> bool {
        self.engine.borrow_mut(py).inner.is_written(self.id)
    }

    #[pyo3(signature = (waiter, recorder = None, rows = None))]
    fn receive(
        &mut self,
        py: Python<'_>,
        waiter: Py<PyAny>,
        recorder: Option<PyRefMut<'_, Recorder>>,
        rows: Option<&SocketRows>,
    ) -> Option<Vec<Received>> {
        let mut found = Vec::new();
        if self.end.is_some() {
            return Some(found);
        }
        let recorder = recorder.zip(rows);
        if let Some(first) = self.first.take().filter(|first| !first.is_empty()) {
            self.take(py, &first, recorder, &mut found);
            return Some(found);
        }
        if self.client.is_pending() {
            self.take(py, &[], recorder, &mut found);
        } else {
            let piece = self.engine.borrow_mut(py).read(self.id, waiter)?;
            (self.last, self.then) = (piece.exchange, piece.then);
            self.take(py, &piece.bytes, recorder, &mut found);
        }
        if self.client.is_pending() || self.end.is_some() {
            return Some(found);
        }
        match std::mem::take(&mut self.then) {
            Then::More => {}
            Then::End => self.closes(py, &Close::missing()),
            Then::Failed(failure) => self.finish(py, failure.outcome, failure.message, ABNORMAL),
        }
        Some(found)
    }

    fn hold(&mut self, py: Python<'_>, bytes: usize) {
        if !self.unread.follow(bytes) && self.end.is_none() {
            self.finish(py, Outcome::Protocol, no_room(), ABNORMAL);
        }
    }

    #[getter]
    fn is_pending(&self) -> bool {
        self.end.is_none() && self.client.is_pending()
    }

    fn close(&mut self, py: Python<'_>, code: u16, reason: &str) -> PyResult<()> {
        if !websocket::may_be_sent(code) {
            return Err(refused(format!("{code} is no code that can be sent; the usual one is 1000")));
        }
        self.client.close(code, reason);
        self.has_closed = true;
        self.flush(py);
        Ok(())
    }

    fn hang_up(&mut self, py: Python<'_>) {
        if self.end.is_none() {
            self.finish(py, Outcome::Unanswered, "given up".to_owned(), ABNORMAL);
        }
    }

    /// `due`, `free`, `sent`: of the message that is answered; `arrival`, `read`: of the answer; stamps, ns.
    #[staticmethod]
    #[pyo3(signature = (due, free, sent, arrival, read, size, kernel, outcome = None, message = ""))]
    #[allow(clippy::too_many_arguments)] // the fields of an exchange
    fn reply(
        due: u64,
        free: u64,
        sent: u64,
        arrival: u64,
        read: u64,
        size: u64,
        kernel: bool,
        outcome: Option<&str>,
        message: &str,
    ) -> PyResult<Reply> {
        let arrival = arrival.max(sent);
        let due = if due == 0 { sent } else { due.min(sent) };
        let (read, bytes_in) = (read.max(arrival), size);
        let source = if kernel { StampSource::Kernel } else { StampSource::User };
        let exchange =
            Exchange { due, free, sent, first_byte: arrival, arrival, read, bytes_in, source, ..Exchange::default() };
        let result = match outcome {
            None => Ok(Response { status: 101, body_length: size, ..Response::default() }),
            Some(name) => {
                let outcome = Outcome::from_name(name).ok_or_else(|| refused(format!("{name:?} is no outcome")))?;
                Err(Failure { outcome, message: message.to_owned(), errno: None })
            }
        };
        let wire = Wire {
            bytes: Bytes::Owned(Vec::new()),
            head: 0,
            expect_continue: false,
            head_request: false,
            continues: false,
            idempotent: false,
        };
        let finished = Finished { id: ExchangeId(0), token: 0, exchange, result, wire };
        Ok(Reply::new(finished, 0))
    }

    #[getter]
    fn protocol(&self) -> Option<&str> {
        self.protocol.as_deref()
    }

    #[getter]
    fn end(&self) -> Option<(&'static str, &'static str, &str, u16)> {
        let (outcome, end, message, code) = self.end.as_ref()?;
        Some((outcome.name(), end.name(), message, *code))
    }
}
