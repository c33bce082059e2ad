//! Sends the message of a common call, waits for its reply, and records it.

use plimsoll_engine::{ExchangeId, now};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::QuickCalls;
use super::arguments::{Arguments, Verb, given};
use super::message::Message;
use super::settings::QuickSettings;
use crate::engine::{Near, Terms};
use crate::greenlets::{current, switch};
use crate::reply::Reply;

/// A call that was sent.
pub(super) struct Begun<'py> {
    id: ExchangeId,
    token: u64,
    /// Who runs until its reply is there.
    next: Bound<'py, PyAny>,
    /// Method and name.
    pub(super) endpoint: Bound<'py, PyTuple>,
    /// The call or its session gave the name.
    pub(super) is_named: bool,
    /// The response may be used in a with-block, which decides about success.
    pub(super) catches: bool,
}

impl QuickSettings {
    /// Sends a call; None: `request` has to make it.
    #[inline(never)]
    pub(super) fn begin<'py>(
        &self,
        session: &Bound<'py, QuickCalls>,
        verb: Verb,
        arguments: &Arguments<'_, 'py>,
    ) -> PyResult<Option<Begun<'py>>> {
        let py = session.py();
        let Some(Message { wire, endpoint, is_named }) = self.compose(session, verb, arguments)? else {
            return Ok(None);
        };
        let catches = given(arguments.catch_response.as_ref()).map_or(Ok(false), PyAnyMethods::is_truthy)?;
        let running = current(py)?;
        let mut terms = self.terms(self.pacer.bind(py))?;
        let greenlet = running.greenlet.as_ptr().addr();
        let objects = [greenlet, session.as_ptr().addr(), self.pacer.as_ptr().addr(), self.client.as_ptr().addr()];
        terms.near = Near {
            objects,
            settings: std::ptr::from_ref(self).addr(),
            greenlet: running.state,
            request: wire.bytes.as_slice().as_ptr().addr(),
            arguments: arguments.at,
        };
        terms.direct = true;
        let client = self.client.get();
        let mut engine = client.engine.borrow_mut(py);
        let (id, token) = client.start(&mut engine, running.greenlet.unbind(), self.origin.get(), wire, terms);
        let next = engine.successor(self.hub.bind(py));
        Ok(Some(Begun { id, token, next, endpoint, is_named, catches }))
    }

    /// The reply, after other users have run. Nothing stays borrowed in here: other greenlets of the user may send.
    pub(super) fn wait<'py>(&self, session: &Bound<'py, PyAny>, begun: &Begun<'py>) -> PyResult<Bound<'py, Reply>> {
        match switch(&begun.next, None) {
            Ok(with) => self.received(begun, with),
            Err(error) => Err(self.give_up(session, begun, error)),
        }
    }

    /// The reply that was handed to this call; else what it was resumed with.
    #[inline(never)]
    fn received<'py>(&self, begun: &Begun<'py>, with: Bound<'py, PyAny>) -> PyResult<Bound<'py, Reply>> {
        let py = with.py();
        self.pacer.bind(py).setattr(intern!(py, "_yielded"), true)?;
        let handed = self.client.get().engine.borrow_mut(py).handed(begun.token);
        handed.map_or_else(|| Ok(with.cast_into()?), |reply| Bound::new(py, reply))
    }

    /// Ends a call whose user does not wait any longer.
    #[cold]
    #[inline(never)]
    fn give_up(&self, session: &Bound<'_, PyAny>, begun: &Begun<'_>, error: PyErr) -> PyErr {
        let py = session.py();
        if let Some((due, sent)) = self.client.get().give_up(py, begun.id)
            && let Err(other) = session.call_method1(intern!(py, "_report_unanswered"), (&begun.endpoint, due, sent))
        {
            return other;
        }
        error
    }

    /// When the request is due. Only the first one after a wait or an arrival is due because of it.
    fn terms(&self, pacer: &Bound<'_, PyAny>) -> PyResult<Terms<'_>> {
        let py = pacer.py();
        let mut terms = Terms { timeouts: self.timeouts.as_ref().map(Py::get), ..Terms::default() };
        let due = pacer.getattr(intern!(py, "_due"))?.extract()?;
        if due != 0 {
            let late: Option<u64> = pacer.getattr(intern!(py, "_late"))?.extract()?;
            // Only the wake-up can be late; how long user code then took to get here does not count.
            terms.due = late.map_or(due, |late| now() - late);
            terms.free = pacer.getattr(intern!(py, "_free"))?.extract()?;
            for name in [intern!(py, "_due"), intern!(py, "_late"), intern!(py, "_free")] {
                pacer.setattr(name, 0)?;
            }
        }
        Ok(terms)
    }

    /// Records a success if nothing else listens. False: it is not recorded.
    pub(crate) fn record(&self, endpoint: &Bound<'_, PyTuple>, reply: &Reply) -> PyResult<bool> {
        let py = endpoint.py();
        let Some(recording) = self.sole_recording(py)? else { return Ok(false) };
        let mut recorder = recording.recorder.borrow_mut(py);
        if let Some(number) = recorder.known.number(endpoint) {
            recorder.success(number, reply)?;
            return Ok(true);
        }
        drop(recorder);
        let number = recording.endpoints.bind(py).get_item(endpoint)?.extract()?;
        let mut recorder = recording.recorder.borrow_mut(py);
        recorder.success(number, reply)?;
        // Names above the recorder's limit are not kept, as in `endpoints`.
        if recorder.inner.others().is_none_or(|others| others.0 != number) {
            recorder.known.keep(endpoint, number);
        }
        Ok(true)
    }

    /// Method and name of an exchange, for reports.
    pub(super) fn endpoint<'py>(
        &self,
        method: &Bound<'py, PyAny>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = name.py();
        let known = self.recording(py).and_then(|recording| recording.recorder.borrow(py).known.get(method, name));
        known.map_or_else(|| PyTuple::new(py, [method, name]), Ok)
    }
}
