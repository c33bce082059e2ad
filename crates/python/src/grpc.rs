//! gRPC for Python: schemas, messages and statuses.

use std::path::PathBuf;

use plimsoll_engine::{Held, ReplyReader, no_room, now};
use plimsoll_grpc::{Code, Method, Schema, Status};
use plimsoll_http::{self as http, Work};
use plimsoll_record::{self as record, Exchange};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::decoding::SHARE;
use crate::errors::refused;
use crate::json_value::value;
use crate::recorder::Recorder;
use crate::reply::Reply;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct GrpcSchema {
    schema: Schema,
}

#[pymethods]
impl GrpcSchema {
    #[new]
    fn new(descriptor_set: &[u8]) -> PyResult<Self> {
        Ok(Self { schema: Schema::from_bytes(descriptor_set).map_err(refused)? })
    }

    #[staticmethod]
    fn from_text(text: &str) -> PyResult<Self> {
        Ok(Self { schema: Schema::from_text(text).map_err(refused)? })
    }

    #[staticmethod]
    fn read(py: Python<'_>, files: Vec<PathBuf>, roots: Vec<PathBuf>) -> PyResult<Self> {
        Ok(Self { schema: py.detach(move || Schema::read(&files, &roots)).map_err(refused)? })
    }

    #[getter]
    fn descriptor_set<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.schema.as_bytes())
    }

    fn pruned(&self, services: Vec<String>) -> Self {
        Self { schema: self.schema.pruned(services) }
    }

    fn methods(&self) -> Vec<String> {
        self.schema.methods()
    }

    fn method(&self, name: &str) -> PyResult<GrpcMethod> {
        Ok(GrpcMethod { method: self.schema.method(name).map_err(refused)? })
    }
}

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct GrpcMethod {
    method: Method,
}

#[pymethods]
impl GrpcMethod {
    #[getter]
    fn name(&self) -> &str {
        self.method.name()
    }

    #[getter]
    fn client_streams(&self) -> bool {
        self.method.client_streams
    }

    #[getter]
    fn server_streams(&self) -> bool {
        self.method.server_streams
    }

    fn encode<'py>(&self, py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut message = Vec::new();
        self.method.encode(json, &mut message).map_err(refused)?;
        Ok(PyBytes::new(py, &message))
    }

    fn decode<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let mut held = Held::default();
        let json = self.method.decode(message, &mut |bytes| held.reserve(bytes)).map_err(refused)?;
        match value(py, json.as_bytes()) {
            Some(value) => Ok(value),
            None => py.import("json")?.call_method1("loads", (json,)),
        }
    }
}

/// The body of a call.
#[pyfunction]
pub(crate) fn grpc_body(py: Python<'_>, messages: Vec<Vec<u8>>, gzip: bool) -> Bound<'_, PyBytes> {
    let mut body = Vec::new();
    for message in messages {
        plimsoll_grpc::push_message(&message, gzip, &mut body);
    }
    PyBytes::new(py, &body)
}

/// `grpc-timeout` for seconds.
#[pyfunction]
pub(crate) fn grpc_timeout(seconds: f64) -> String {
    plimsoll_grpc::timeout_header((seconds * 1e9) as u64)
}

/// The code, the message and the replies of a complete response with the HTTP status 200. An error: it is none of
/// gRPC, or its replies have more than `most` bytes together.
#[pyfunction]
#[pyo3(signature = (reply, most = None))]
pub(crate) fn grpc_read<'py>(
    py: Python<'py>,
    reply: &Reply,
    most: Option<usize>,
) -> PyResult<(u8, String, Vec<Bound<'py, PyBytes>>)> {
    let Ok(response) = &reply.finished.result else { return Err(refused("there is no response")) };
    let status = Status::read(response.head(), &response.trailers).map_err(refused)?;
    let (mut messages, mut held, mut bytes, mut has_room) = (Vec::new(), Held::default(), 0, true);
    let most = most.unwrap_or(usize::MAX);
    let each = &mut |message: &[u8]| {
        bytes += message.len();
        has_room = has_room && bytes <= most && held.follow(bytes);
        if has_room {
            messages.push(PyBytes::new(py, message));
        }
    };
    let encoding = http::header(response.head(), "grpc-encoding");
    plimsoll_grpc::split(encoding, response.body(), reply.max_decoded, each).map_err(refused)?;
    match has_room {
        true => Ok((status.code as u8, status.message, messages)),
        false if bytes > most => Err(refused(format!("its replies have more than {most} bytes together"))),
        false => Err(refused(no_room())),
    }
}

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct GrpcReader {
    inner: ReplyReader,
    /// The stamps of the request, with the arrival of the last bytes.
    exchange: Exchange,
    recorder: Option<Py<Recorder>>,
    /// The memory of the reply whose end has not arrived.
    held: Held,
    /// There may be more replies in the bytes that it has.
    is_pending: bool,
}

#[pymethods]
impl GrpcReader {
    #[new]
    #[pyo3(signature = (reply, recorder = None, endpoint = 0))]
    fn new(py: Python<'_>, reply: &Reply, recorder: Option<Py<Recorder>>, endpoint: u32) -> PyResult<Self> {
        let rows = match &recorder {
            Some(recorder) => {
                let mut recorder = recorder.borrow_mut(py);
                let endpoint = recorder.check(endpoint)?;
                recorder.inner.stream_rows(endpoint)
            }
            None => None,
        };
        let inner = ReplyReader::new(reply.head(), rows, false, reply.max_decoded);
        Ok(Self { inner, exchange: *reply.exchange(), recorder, held: Held::default(), is_pending: false })
    }

    fn feed<'py>(&mut self, py: Python<'py>, bytes: &[u8], arrival: u64) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let Self { inner, exchange, recorder, held, is_pending } = self;
        (exchange.arrival, exchange.read) = (arrival, now().max(arrival));
        let mut found = Vec::new();
        let mut each = |reply: &[u8]| found.push(PyBytes::new(py, reply));
        let mut work = Work::of(SHARE);
        let fed = match recorder {
            Some(recorder) => inner.feed(&mut recorder.borrow_mut(py).inner, exchange, bytes, &mut work, &mut each),
            // Without rows, nothing is recorded in it.
            None => inner.feed(&mut record::Recorder::new(0), exchange, bytes, &mut work, &mut each),
        };
        *is_pending = !work.is_left();
        fed.map_err(refused)?;
        if held.follow(inner.unfinished()) { Ok(found) } else { Err(refused(no_room())) }
    }

    #[getter]
    fn is_pending(&self) -> bool {
        self.is_pending
    }

    #[getter]
    fn is_in_message(&self) -> bool {
        self.inner.is_in_message()
    }

    /// Gives the reply the stamps, the size and the trailers of the end; then its status.
    fn end(&self, reply: &mut Reply, arrival: u64, trailers: &[u8]) -> PyResult<(u8, String)> {
        let exchange = &mut reply.finished.exchange;
        exchange.arrival = arrival.max(exchange.arrival);
        exchange.read = now().max(exchange.arrival);
        let Ok(response) = &mut reply.finished.result else { return Err(refused("there is no response")) };
        response.streamed = false;
        response.body_length = self.inner.body();
        response.trailers.extend_from_slice(trailers);
        let status = Status::read(response.head(), &response.trailers).map_err(refused)?;
        self.inner.end().map_err(refused)?;
        Ok((status.code as u8, status.message))
    }
}

/// The names of all status codes, by number.
#[pyfunction]
pub(crate) fn grpc_codes() -> Vec<&'static str> {
    Code::ALL.iter().map(|(_, name)| *name).collect()
}

/// The headers of every call.
#[pyfunction]
pub(crate) fn grpc_headers() -> [(&'static str, &'static str); plimsoll_grpc::HEADERS.len()] {
    plimsoll_grpc::HEADERS
}
