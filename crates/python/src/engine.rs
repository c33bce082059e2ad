//! `Engine` and `Client`: the reactor for Python.

use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_engine as engine;
use plimsoll_engine::{Call, ClientId, Event, ExchangeId, Keep, Limits, Piece, WakeId, Wire};
use plimsoll_http as http;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyDictMethods};
use slab::Slab;

use crate::errors::refused;
use crate::native::{Groups, is_native};
use crate::origin::{Headers, Origin, Text, address};
use crate::reply::Reply;
use crate::stream::Stream;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Engine {
    pub(crate) inner: engine::Engine,
    /// What to hand back with the reply of each exchange in flight; its place is the exchange's token.
    waiters: Slab<Py<PyAny>>,
    pub(crate) groups: Groups,
    gone: Gone,
    pub(crate) max_decoded: u64,
}

/// What Python has let go of. Its collector may run in any thread, and at any moment: the engine closes the connections
/// in its next turn.
pub(crate) type Gone = Arc<Mutex<Vec<Left>>>;

pub(crate) enum Left {
    Client(ClientId),
    Stream(ExchangeId),
}

pub(crate) fn leave(gone: &Gone, what: Left) {
    gone.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

impl Engine {
    /// Closes a client's connections and lets go of whoever waits for them.
    fn forget(&mut self, client: ClientId) {
        for token in self.inner.close(client) {
            self.waiters.try_remove(token as usize);
        }
    }

    /// The next piece of a streamed body; None: `waiter` comes back when it is worth asking again.
    pub(crate) fn read(&mut self, id: ExchangeId, waiter: Py<PyAny>) -> Option<Piece> {
        let place = self.waiters.vacant_entry();
        let piece = self.inner.read(id, place.key() as u64);
        if piece.is_none() {
            place.insert(waiter);
        }
        piece
    }

    /// Nobody waits for more of it.
    pub(crate) fn stop_reading(&mut self, id: ExchangeId) {
        if let Some(token) = self.inner.stop_reading(id) {
            self.waiters.try_remove(token as usize);
        }
    }

    pub(crate) fn hang_up(&mut self, id: ExchangeId) {
        if let Some(token) = self.inner.hang_up(id) {
            self.waiters.try_remove(token as usize);
        }
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, max_head = 65536, max_headers = 128, max_body = 1 << 30, max_decoded = 1 << 30))]
    fn new(max_head: usize, max_headers: usize, max_body: u64, max_decoded: u64) -> PyResult<Self> {
        let limits = Limits::new(max_head, max_headers, max_body).map_err(refused)?;
        let inner = engine::Engine::new(limits)?;
        Ok(Self { inner, waiters: Slab::new(), groups: Groups::default(), gone: Gone::default(), max_decoded })
    }

    fn fileno(&self) -> i32 {
        self.inner.as_raw_fd()
    }

    #[pyo3(signature = (timeout = Some(0.0)), text_signature = "($self, timeout=0.0)")]
    fn poll(&mut self, py: Python<'_>, timeout: Option<f64>) -> PyResult<usize> {
        let timeout = timeout.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(refused)).transpose()?;
        let gone = std::mem::take(&mut *self.gone.lock().unwrap_or_else(PoisonError::into_inner));
        for what in gone {
            match what {
                Left::Client(id) => self.forget(id),
                Left::Stream(id) => self.hang_up(id),
            }
        }
        if timeout == Some(Duration::ZERO) {
            return Ok(self.inner.poll(timeout)?);
        }
        Ok(py.detach(|| self.inner.poll(timeout))?)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> Option<(Py<PyAny>, Option<Reply>)> {
        loop {
            match self.inner.next_event()? {
                Event::Finished(finished) if is_native(finished.token) => {
                    self.groups.finished(py, &mut self.inner, &finished);
                }
                Event::Woken(token) if is_native(token) => self.groups.woken(py, &mut self.inner, token),
                Event::Finished(finished) => {
                    let waiter = self.waiters.remove(finished.token as usize);
                    return Some((waiter, Some(Reply::new(finished, self.max_decoded))));
                }
                Event::Woken(token) => return Some((self.waiters.remove(token as usize), None)),
            }
        }
    }

    fn set_sources(&mut self, addresses: &Bound<'_, PyAny>) -> PyResult<()> {
        let addresses = addresses.try_iter()?.map(|item| address(item?.extract()?)).collect::<PyResult<_>>()?;
        self.inner.set_addresses(addresses);
        Ok(())
    }

    fn wake(&mut self, waiter: Py<PyAny>, due: u64) -> u64 {
        let place = self.waiters.insert(waiter);
        self.inner.wake(place as u64, due).0
    }

    fn cancel_wake(&mut self, id: u64) {
        if let Some(token) = self.inner.cancel_wake(WakeId(id)) {
            self.waiters.remove(token as usize);
        }
    }

    #[pyo3(signature = (source = None))]
    fn client(slf: Bound<'_, Self>, source: Option<&str>) -> PyResult<Client> {
        let source = source.map(address).transpose()?;
        let mut engine = slf.borrow_mut();
        let inner = &mut engine.inner;
        let id = if source.is_some() { inner.client_from(source) } else { inner.client() };
        let gone = Arc::clone(&engine.gone);
        drop(engine);
        Ok(Client { engine: slf.unbind(), id, gone })
    }

    #[getter]
    fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    #[getter]
    fn connections(&self) -> usize {
        self.inner.connections()
    }

    #[getter]
    fn kernel_stamps(&self) -> bool {
        self.inner.kernel_stamps()
    }
}

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Client {
    engine: Py<Engine>,
    id: ClientId,
    gone: Gone,
}

/// Seconds as ns; 0 = no limit.
fn limit(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl Drop for Client {
    fn drop(&mut self) {
        leave(&self.gone, Left::Client(self.id));
    }
}

type Extra<'py> = Vec<(Text<'py>, Option<Text<'py>>)>;

fn extra_lines<'py>(extra: Option<&Bound<'py, PyAny>>) -> PyResult<Extra<'py>> {
    let Some(extra) = extra else { return Ok(Vec::new()) };
    if let Ok(dict) = extra.cast::<PyDict>() {
        return dict.iter().map(|(name, value)| Ok((name.extract()?, value.extract()?))).collect();
    }
    extra.call_method0("items")?.try_iter()?.map(|item| item?.extract()).collect()
}

fn encode(
    origin: &Origin,
    method: &str,
    target: &str,
    headers: &Headers,
    extra: Option<&Bound<'_, PyAny>>,
    body: Option<&[u8]>,
    content_type: Option<&str>,
) -> PyResult<Wire> {
    let lines = extra_lines(extra)?;
    let bytes = lines
        .iter()
        .map(|(name, value)| Ok((name.bytes()?, value.as_ref().map(Text::bytes).transpose()?)))
        .collect::<PyResult<Vec<_>>>()?;
    let extra: Vec<_> = bytes.iter().map(|(name, value)| (&**name, value.as_deref())).collect();
    let request = http::Request {
        method,
        target,
        authority: origin.inner.authority(),
        headers: &headers.inner,
        extra: &extra,
        body_length: body.map(|body| body.len() as u64),
        content_type,
    };
    Wire::encode(&request, body.unwrap_or_default()).map_err(refused)
}

#[pymethods]
impl Client {
    #[pyo3(signature = (waiter, origin, method, target, headers, extra = None, body = None, content_type = None,
                        due = 0, connect_timeout = 0.0, read_timeout = 0.0, free = 0, stream = false))]
    #[allow(clippy::too_many_arguments)] // one positional call per request is the cheapest way across
    fn send(
        &self,
        py: Python<'_>,
        waiter: Py<PyAny>,
        origin: &Origin,
        method: &str,
        target: &str,
        headers: &Headers,
        extra: Option<&Bound<'_, PyAny>>,
        body: Option<&Bound<'_, PyBytes>>,
        content_type: Option<&str>,
        due: u64,
        connect_timeout: f64,
        read_timeout: f64,
        free: u64,
        stream: bool,
    ) -> PyResult<u64> {
        let body = body.map(PyBytesMethods::as_bytes);
        let wire = encode(origin, method, target, headers, extra, body, content_type)?;
        let mut engine = self.engine.borrow_mut(py);
        let Engine { inner, waiters, .. } = &mut *engine;
        let place = waiters.vacant_entry();
        let call = Call {
            token: place.key() as u64,
            wire,
            due,
            free,
            connect_timeout: limit(connect_timeout),
            read_timeout: limit(read_timeout),
            keep: if stream { Keep::Stream } else { Keep::All },
        };
        let id = inner.send(self.id, &origin.inner, call);
        place.insert(waiter);
        Ok(id.0)
    }

    fn stream(&self, py: Python<'_>, reply: &Reply) -> Option<Stream> {
        let open = reply.open();
        open.then(|| Stream::new(self.engine.clone_ref(py), reply.finished.id, Arc::clone(&self.gone)))
    }

    fn cancel(&self, py: Python<'_>, id: u64) {
        let mut engine = self.engine.borrow_mut(py);
        if let Some(given_up) = engine.inner.cancel(ExchangeId(id)) {
            engine.waiters.remove(given_up.token as usize);
        }
    }

    fn close(&mut self, py: Python<'_>) {
        let mut engine = self.engine.borrow_mut(py);
        let source = engine.inner.source(self.id);
        engine.forget(self.id);
        self.id = engine.inner.client_from(source);
    }
}
