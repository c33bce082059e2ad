//! `Stream` for Python: the body of a streamed exchange.

use plimsoll_engine::{ExchangeId, Failure, Then};
use plimsoll_record::Outcome;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use plimsoll_websocket::Offer;

use super::websocket::WebSocket;
use super::{Engine, Gone, Left, leave};
use crate::reply::Reply;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Stream {
    engine: Py<Engine>,
    id: ExchangeId,
    gone: Gone,
    /// Arrival of the last piece; 0 before the first one.
    arrival: u64,
    /// Raw lines.
    trailers: Vec<u8>,
    ended: bool,
    failure: Option<Failure>,
}

impl Stream {
    pub(super) fn new(engine: Py<Engine>, id: ExchangeId, gone: Gone) -> Self {
        Self { engine, id, gone, arrival: 0, trailers: Vec::new(), ended: false, failure: None }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.ended {
            leave(&self.gone, Left::Stream(self.id));
        }
    }
}

#[pymethods]
impl Stream {
    fn read<'py>(&mut self, py: Python<'py>, waiter: Py<PyAny>) -> Option<Bound<'py, PyBytes>> {
        if self.ended {
            return Some(PyBytes::new(py, b""));
        }
        let piece = self.engine.borrow_mut(py).read(self.id, waiter)?;
        self.arrival = piece.exchange.arrival;
        self.trailers = piece.trailers;
        match piece.then {
            Then::More => {}
            Then::End => self.ended = true,
            Then::Failed(failure) => {
                self.ended = true;
                self.failure = Some(failure);
            }
        }
        Some(PyBytes::new(py, &piece.bytes))
    }

    #[pyo3(signature = (reply, protocols, compression))]
    fn websocket(
        &mut self,
        py: Python<'_>,
        reply: &Reply,
        protocols: Vec<String>,
        compression: bool,
    ) -> PyResult<WebSocket> {
        let limit = self.engine.borrow(py).max_decoded;
        let offer = Offer { protocols, deflate: compression };
        let socket = WebSocket::new(self.engine.clone_ref(py), self.id, &self.gone, reply, &offer, limit)?;
        self.ended = true;
        Ok(socket)
    }

    fn end_by(&self, py: Python<'_>, deadline: u64) {
        self.engine.borrow_mut(py).inner.end_by(self.id, deadline);
    }

    fn stop_reading(&self, py: Python<'_>) {
        self.engine.borrow_mut(py).stop_reading(self.id);
    }

    fn close(&mut self, py: Python<'_>) {
        if !self.ended {
            self.ended = true;
            self.engine.borrow_mut(py).hang_up(self.id);
        }
    }

    #[getter]
    fn arrival(&self) -> u64 {
        self.arrival
    }

    #[getter]
    fn trailers<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.trailers)
    }

    #[getter]
    fn ended(&self) -> bool {
        self.ended
    }

    #[getter]
    fn outcome(&self) -> &'static str {
        self.failure.as_ref().map_or(Outcome::Success, |failure| failure.outcome).name()
    }

    #[getter]
    fn error(&self) -> Option<&str> {
        self.failure.as_ref().map(|failure| failure.message.as_str())
    }

    #[getter]
    fn errno(&self) -> Option<i32> {
        self.failure.as_ref().and_then(|failure| failure.errno)
    }
}
