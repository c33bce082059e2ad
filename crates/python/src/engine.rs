//! `Engine`: the reactor for Python. `client`: sends requests; `stream`: a body read in pieces;
//! `websocket`: messages; `groups`: native users; `turn`: hands out replies; `ahead`: hints about the next ones;
//! `unpacking`: long bodies.

mod ahead;
mod client;
mod groups;
mod stream;
mod turn;
mod unpacking;
mod websocket;

use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_engine as engine;
use plimsoll_engine::{ClientId, ExchangeId, Limits, Piece, WakeId};
use plimsoll_record::Sampling;
use pyo3::prelude::*;
use slab::Slab;

pub(crate) use self::ahead::Near;
pub(crate) use self::client::{Client, Terms};
pub(crate) use self::groups::Group;
pub(crate) use self::stream::Stream;
pub(crate) use self::websocket::WebSocket;
use crate::allow::AllowedHosts;
use crate::errors::refused;
use crate::origin::address;
use crate::reply::Reply;

#[pyclass(module = "plimsoll._engine")]
pub(crate) struct Engine {
    pub(crate) inner: engine::Engine,
    /// The Python object to return with each exchange in flight. Its slot is the exchange's token.
    waiters: Slab<turn::Waiter>,
    near: ahead::Addresses,
    turn: turn::Turn,
    packed: VecDeque<unpacking::Packed>,
    pub(crate) groups: groups::Groups,
    gone: Gone,
    pub(crate) max_decoded: u64,
}

/// Objects that Python has dropped. Its garbage collector may run in any thread at any moment, so the engine closes the
/// connections in its next turn.
type Gone = Arc<Mutex<Vec<Left>>>;

enum Left {
    Client(ClientId),
    Stream(ExchangeId),
}

fn leave(gone: &Gone, what: Left) {
    gone.lock().unwrap_or_else(PoisonError::into_inner).push(what);
}

impl Engine {
    /// Closes a client's connections and drops their waiters.
    fn forget(&mut self, client: ClientId) {
        for token in self.inner.close(client) {
            self.waiters.try_remove(token as usize);
        }
    }

    fn wake_up(&mut self, waiter: turn::Waiter, due: u64) -> u64 {
        let place = self.waiters.insert(waiter);
        self.inner.wake(place as u64, due).0
    }

    /// The next piece of a streamed body; None: `waiter` is returned when there may be more.
    pub(crate) fn read(&mut self, id: ExchangeId, waiter: Py<PyAny>) -> Option<Piece> {
        let place = self.waiters.vacant_entry();
        let piece = self.inner.read(id, place.key() as u64);
        if piece.is_none() {
            place.insert(waiter.into());
        }
        piece
    }

    /// Removes the waiter of a `read`.
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
    #[pyo3(signature = (*, max_head = 65536, max_headers = 128, max_body = 1 << 30, max_decoded = 64 << 20))]
    fn new(max_head: usize, max_headers: usize, max_body: u64, max_decoded: u64) -> PyResult<Self> {
        let limits = Limits::new(max_head, max_headers, max_body).map_err(refused)?;
        let inner = engine::Engine::new(limits)?;
        Ok(Self {
            inner,
            waiters: Slab::new(),
            near: ahead::Addresses::default(),
            turn: turn::Turn::default(),
            packed: VecDeque::new(),
            groups: groups::Groups::default(),
            gone: Gone::default(),
            max_decoded,
        })
    }

    #[pyo3(signature = (*, max_body, max_decoded))]
    fn limit(&mut self, max_body: u64, max_decoded: u64) {
        self.inner.limit_body(max_body);
        self.max_decoded = max_decoded;
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
        let read = self.turn.read_ahead();
        if read > 0 || timeout == Some(Duration::ZERO) {
            return Ok(read + self.inner.poll(Some(Duration::ZERO))?);
        }
        Ok(py.detach(|| self.inner.poll(timeout))?)
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> Option<(Py<PyAny>, Option<Reply>)> {
        let ready = self.next_ready(py)?;
        Some((ready.waiter.object, ready.reply))
    }

    fn deliver(slf: &Bound<'_, Self>) -> PyResult<()> {
        slf.borrow_mut().poll(slf.py(), Some(0.0))?;
        Self::hand_out(slf)
    }

    fn set_sources(&mut self, addresses: &Bound<'_, PyAny>) -> PyResult<()> {
        let addresses = addresses.try_iter()?.map(|item| address(item?.extract()?)).collect::<PyResult<_>>()?;
        self.inner.set_addresses(addresses);
        Ok(())
    }

    fn allow(&mut self, allowed: &AllowedHosts) {
        self.inner.allow(allowed.inner.clone());
    }

    #[setter]
    fn set_trace(&mut self, traces: Option<(u64, f64)>) {
        self.inner.trace(traces.map(|(prefix, share)| (prefix, Sampling::of(share))));
    }

    #[setter]
    fn set_connect_backoff(&mut self, on: bool) {
        self.inner.set_connect_backoff(on);
    }

    #[getter]
    fn backed_off(&self) -> u64 {
        self.inner.backed_off()
    }

    #[getter]
    fn gathered(&self) -> u64 {
        self.inner.gathered()
    }

    #[pyo3(signature = (most = None))]
    fn take_retransmissions(&mut self, most: Option<usize>) -> Option<u64> {
        self.inner.take_retransmissions(most.unwrap_or(usize::MAX))
    }

    fn wake(&mut self, waiter: Py<PyAny>, due: u64) -> u64 {
        self.wake_up(waiter.into(), due)
    }

    fn sleep_until(slf: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, due: u64) -> PyResult<()> {
        Self::sleep(slf, hub, due)
    }

    #[pyo3(name = "work_later")]
    fn let_others_work(slf: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, is_first: bool) -> PyResult<()> {
        Self::work_later(slf, hub, is_first)
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
        Ok(Client::new(slf.unbind(), id, gone))
    }

    #[getter]
    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.groups.streaming()
    }

    #[getter]
    fn sent(&self) -> u64 {
        self.inner.sent()
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
