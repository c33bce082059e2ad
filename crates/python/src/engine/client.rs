//! `Client` for Python: the connections of one user.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use plimsoll_engine::{Call, ClientId, ExchangeId, Failure, Keep, Wire};
use plimsoll_http as http;
use plimsoll_record::Outcome;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyDictMethods};

use super::stream::Stream;
use super::turn::Waiter;
use super::{Engine, Gone, Left, Near, leave};
use crate::errors::refused;
use crate::origin::{Headers, Origin, Text};
use crate::reply::Reply;
use crate::timeouts::Timeouts;

#[pyclass(frozen, module = "plimsoll._engine")]
pub(crate) struct Client {
    pub(crate) engine: Py<Engine>,
    /// The `ClientId`: another one after `close`.
    id: AtomicUsize,
    gone: Gone,
}

/// When a request is due, and its limits. The default: now, and none.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms<'a> {
    pub(crate) due: u64,
    pub(crate) free: u64,
    pub(crate) stream: bool,
    pub(crate) timeouts: Option<&'a Timeouts>,
    pub(crate) since: u64,
    /// Of the user, for the time when the reply has arrived.
    pub(crate) near: Near,
    /// Its user may be resumed by another one.
    pub(crate) direct: bool,
}

impl Client {
    pub(super) fn new(engine: Py<Engine>, id: ClientId, gone: Gone) -> Self {
        Self { engine, id: AtomicUsize::new(id.0), gone }
    }

    fn id(&self) -> ClientId {
        ClientId(self.id.load(Relaxed))
    }

    /// Sends a request by its engine; the reply comes out of that with `waiter`. The exchange and its token.
    pub(crate) fn start(
        &self,
        engine: &mut Engine,
        waiter: Py<PyAny>,
        origin: &Origin,
        wire: Wire,
        terms: Terms<'_>,
    ) -> (ExchangeId, u64) {
        let Engine { inner, waiters, near, turn, .. } = engine;
        let place = waiters.vacant_entry();
        let token = place.key() as u64;
        let call = Call {
            token,
            wire,
            due: terms.due,
            free: terms.free,
            timeout: terms.timeouts.map_or(0, |limits| limits.total),
            since: terms.since,
            connect_timeout: terms.timeouts.map_or(0, |limits| limits.connect),
            read_timeout: terms.timeouts.map_or(0, |limits| limits.idle),
            keep: if terms.stream { Keep::Stream } else { Keep::All },
        };
        // What is due at a time is not late for the sake of others.
        let id = if terms.direct && terms.due == 0 && turn.is_quick {
            inner.send_in_batch(self.id(), &origin.inner, call)
        } else {
            inner.send(self.id(), &origin.inner, call)
        };
        near.note(place.key(), terms.near);
        place.insert(Waiter { object: waiter, direct: terms.direct });
        (id, token)
    }

    /// Gives up an exchange. Returns the stamps at which it was due and sent; None if nothing was sent for it, as it waits
    /// for the end of a backoff.
    pub(crate) fn give_up(&self, py: Python<'_>, id: ExchangeId) -> Option<(u64, u64)> {
        let mut engine = self.engine.borrow_mut(py);
        let is_held = engine.inner.is_held(id);
        let given_up = engine.inner.cancel(id).or_else(|| engine.take_back(id))?;
        drop(engine.waiters.remove(given_up.token as usize));
        (!is_held).then_some((given_up.exchange.due, given_up.exchange.sent))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        leave(&self.gone, Left::Client(self.id()));
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
                        due = 0, free = 0, stream = false, timeouts = None, since = 0, continues = false))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // one positional call per request is the fastest
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
        free: u64,
        stream: bool,
        timeouts: Option<&Timeouts>,
        since: u64,
        continues: bool,
    ) -> PyResult<u64> {
        let body = body.map(PyBytesMethods::as_bytes);
        let mut wire = encode(origin, method, target, headers, extra, body, content_type)?;
        if continues {
            wire = wire.in_parts();
        } else if stream {
            wire.continues = http::header(&wire.bytes.as_slice()[..wire.head], "upgrade").is_some();
        }
        let terms = Terms { due, free, stream, timeouts, since, ..Terms::default() };
        Ok(self.start(&mut self.engine.borrow_mut(py), waiter, origin, wire, terms).0.0)
    }

    fn stream(&self, py: Python<'_>, reply: &Reply) -> Option<Stream> {
        let open = reply.open();
        open.then(|| Stream::new(self.engine.clone_ref(py), reply.finished.id, Arc::clone(&self.gone)))
    }

    fn write(&self, py: Python<'_>, id: u64, bytes: &Bound<'_, PyBytes>) -> bool {
        self.engine.borrow_mut(py).inner.write(ExchangeId(id), bytes.as_bytes())
    }

    fn finish_writing(&self, py: Python<'_>, id: u64) {
        self.engine.borrow_mut(py).inner.finish_writing(ExchangeId(id));
    }

    fn wait_until_written(&self, hub: &Bound<'_, PyAny>, id: u64) -> PyResult<()> {
        let engine = self.engine.bind(hub.py());
        while !engine.borrow_mut().inner.is_written(ExchangeId(id)) {
            Engine::wait_until_written(engine, hub, ExchangeId(id))?;
        }
        Ok(())
    }

    fn abort(&self, py: Python<'_>, id: u64, message: String) -> Option<Reply> {
        let mut engine = self.engine.borrow_mut(py);
        let failure = Failure { outcome: Outcome::Reset, message, errno: None };
        let finished = engine.inner.abort(ExchangeId(id), failure)?;
        drop(engine.waiters.remove(finished.token as usize));
        Some(Reply::new(finished, engine.max_decoded))
    }

    fn cancel(&self, py: Python<'_>, id: u64) -> Option<(u64, u64)> {
        self.give_up(py, ExchangeId(id))
    }

    fn close(&self, py: Python<'_>) {
        let mut engine = self.engine.borrow_mut(py);
        let source = engine.inner.source(self.id());
        engine.forget(self.id());
        self.id.store(engine.inner.client_from(source).0, Relaxed);
    }
}
