//! A turn: the replies that one look at the kernel has found, and who gets them.
//!
//! The hub resumes the first user. Each user that then waits for the reply to a common call, or sleeps, resumes the next
//! one itself, so a reply costs one switch instead of two, by way of the hub. Who waits for something else is resumed by
//! the hub.

use pyo3::ffi::PyThreadState_Get;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Engine, groups};
use crate::greenlets::{LastClass, current, switch};
use crate::reply::Reply;
use plimsoll_engine::Event;

/// Who is resumed with the outcome of an exchange, or when a time is reached.
pub(super) struct Waiter {
    pub(super) object: Py<PyAny>,
    /// Another user may resume it: it takes its reply from `Turn::handed`, and needs no argument.
    pub(super) direct: bool,
}

impl From<Py<PyAny>> for Waiter {
    fn from(object: Py<PyAny>) -> Self {
        Self { object, direct: false }
    }
}

/// A waiter to be resumed, with the token that it had, and what it waited for.
pub(super) struct Ready {
    token: u64,
    pub(super) waiter: Waiter,
    pub(super) reply: Option<Reply>,
}

#[derive(Default)]
pub(super) struct Turn {
    /// The thread whose hub hands out replies just now, as the address of its state; 0: none.
    thread: usize,
    /// The next waiter, which only the hub may resume.
    held: Option<Ready>,
    /// A reply, and the token of its call, until its user takes it. It is not passed as an argument of the switch, because
    /// a greenlet that switches keeps the arguments until it is resumed.
    handed: Option<(u64, Py<Reply>)>,
    class: LastClass,
}

impl Engine {
    /// The next waiter; None: there is none until the next look at the kernel.
    pub(super) fn next_ready(&mut self, py: Python<'_>) -> Option<Ready> {
        if let Some(held) = self.turn.held.take() {
            return Some(held);
        }
        loop {
            match self.inner.next_event()? {
                Event::Finished(mut finished) if groups::is_native(finished.token) => {
                    self.groups.finished(py, &mut self.inner, &mut finished);
                }
                Event::Woken(token) if groups::is_native(token) => self.groups.woken(py, &mut self.inner, token),
                Event::Finished(finished) => {
                    let (token, waiter) = (finished.token, self.waiters.remove(finished.token as usize));
                    return Some(Ready { token, waiter, reply: Some(Reply::new(finished, self.max_decoded)) });
                }
                Event::Woken(token) => {
                    return Some(Ready { token, waiter: self.waiters.remove(token as usize), reply: None });
                }
            }
        }
    }

    /// Hands out the replies of this turn.
    pub(super) fn hand_out(engine: &Bound<'_, Self>) -> PyResult<()> {
        engine.borrow_mut().turn.thread = this_thread();
        let result = loop {
            match Self::resume_next(engine) {
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let mut this = engine.borrow_mut();
        this.turn.thread = 0;
        this.turn.handed = None;
        result
    }

    /// Resumes the next waiter. False: there was none.
    fn resume_next(engine: &Bound<'_, Self>) -> PyResult<bool> {
        let py = engine.py();
        if let Some(next) = Self::next_direct(engine)? {
            switch(&next, None)?;
            return Ok(true);
        }
        let Some(ready) = engine.borrow_mut().turn.held.take() else { return Ok(false) };
        let waiter = ready.waiter.object.into_bound(py);
        let reply = match ready.reply {
            Some(reply) => Bound::new(py, reply)?.into_any(),
            None => py.None().into_bound(py),
        };
        let known = engine.borrow().turn.class.has_greenlets_switch(waiter.as_unbound());
        if known == Some(true) {
            switch(&waiter, Some(&PyTuple::new(py, [reply])?))?;
            return Ok(true);
        }
        if known.is_none() {
            let class = LastClass::of(&waiter);
            engine.borrow_mut().turn.class = class;
        }
        waiter.call_method1(intern!(py, "switch"), (reply,))?;
        Ok(true)
    }

    /// The next waiter, if another user may resume it. Its reply is put where its call will find it. None: the hub has to
    /// resume the next waiter, which is held for it, or there is none.
    fn next_direct<'py>(engine: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = engine.py();
        let mut this = engine.borrow_mut();
        this.look_ahead();
        let Some(ready) = this.next_ready(py) else { return Ok(None) };
        if !ready.waiter.direct || this.turn.class.has_greenlets_switch(&ready.waiter.object) != Some(true) {
            this.turn.held = Some(ready);
            return Ok(None);
        }
        drop(this);
        if let Some(reply) = ready.reply {
            let reply = Bound::new(py, reply)?.unbind();
            engine.borrow_mut().turn.handed = Some((ready.token, reply));
        }
        Ok(Some(ready.waiter.object.into_bound(py)))
    }

    /// What runs while a user waits: the next user in this turn, or else the hub.
    pub(crate) fn successor<'py>(engine: &Bound<'py, Self>, hub: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // Another thread has its own hub, and cannot run the greenlets of this one.
        let is_in_turn = engine.borrow().turn.thread == this_thread();
        let next = if is_in_turn { Self::next_direct(engine)? } else { None };
        Ok(next.unwrap_or_else(|| hub.clone()))
    }

    /// Lets others run until the monotonic clock reaches `due`, ns.
    pub(super) fn sleep(engine: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, due: u64) -> PyResult<()> {
        let waiter = Waiter { object: current(engine.py())?.unbind(), direct: true };
        let wake = engine.borrow_mut().wake_up(waiter, due);
        let resumed = Self::successor(engine, hub).and_then(|next| switch(&next, None));
        if resumed.is_err() {
            engine.borrow_mut().cancel_wake(wake);
        }
        resumed.map(drop)
    }

    /// The reply to the call with this token, if it has been handed out.
    pub(crate) fn handed(&mut self, token: u64) -> Option<Py<Reply>> {
        self.turn.handed.take_if(|handed| handed.0 == token).map(|handed| handed.1)
    }
}

#[allow(unsafe_code)]
fn this_thread() -> usize {
    // SAFETY: the callers have a `Bound`, so this thread is attached to the interpreter.
    unsafe { PyThreadState_Get() }.addr()
}
