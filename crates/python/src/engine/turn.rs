//! A turn: the replies that one look at the kernel has found, and who gets them.
//!
//! Replies to common calls are read some at a time, then their users run, and then their next requests are written: a user
//! runs much code, and the kernel too, so changing between them for each reply would cost more than the switches.
//!
//! The hub resumes the first user. Each user that then waits for the reply to a common call, or sleeps, resumes the next
//! one itself, so a reply costs one switch instead of two, by way of the hub. Who waits for something else is resumed by
//! the hub.

use std::collections::VecDeque;

use plimsoll_engine::{Event, ExchangeId, Finished, now};
use pyo3::ffi::PyThreadState_Get;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Engine, ahead, groups, unpacking};
use crate::decoding::SHARE;
use crate::greenlets::{LastClass, current, switch};
use crate::reply::Reply;

/// Most replies that are read before their users run.
const REPLIES: usize = 16;

/// A step of a user that takes longer, ns, lets no request of another one wait.
const LONG_STEP: u64 = 50_000;

/// A turn that has lasted longer, ns, ends before all replies are handed out.
const LONG_TURN: u64 = 50_000_000;

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
    /// Replies to common calls that were read, and wait for their users. Their waiters are still in `Engine::waiters`.
    read: VecDeque<Finished>,
    /// When the last waiter was taken, monotonic ns.
    resumed: u64,
    /// Whether the last step was short, so that requests may be written together.
    pub(super) is_quick: bool,
    /// The next waiter, which only the hub may resume.
    held: Option<Ready>,
    /// A reply, and the token of its call, until its user takes it. It is not passed as an argument of the switch, because
    /// a greenlet that switches keeps the arguments until it is resumed.
    handed: Option<(u64, Reply)>,
    class: LastClass,
}

impl Turn {
    /// Number of replies that were read and wait for their users.
    pub(super) fn read_ahead(&self) -> usize {
        self.read.len()
    }
}

impl Engine {
    /// The next waiter; None: there is none until the next look at the kernel.
    pub(super) fn next_ready(&mut self, py: Python<'_>) -> Option<Ready> {
        if let Some(held) = self.turn.held.take() {
            return Some(held);
        }
        self.end_step();
        while let Some(mut finished) = self.turn.read.pop_front() {
            // Until now it has waited for its user.
            finished.exchange.read = self.turn.resumed;
            self.inner.resumes(finished.id);
            if let Some(ready) = self.ready(finished) {
                return Some(ready);
            }
        }
        self.next_read(py)
    }

    /// Ends the step of the user that ran last.
    fn end_step(&mut self) {
        let now = now();
        self.turn.is_quick = now - self.turn.resumed < LONG_STEP;
        self.turn.resumed = now;
        if !self.turn.is_quick {
            self.inner.write_batch();
        }
    }

    /// The waiter for a reply. None: the reply is decoded first.
    fn ready(&mut self, finished: Finished) -> Option<Ready> {
        let reply = self.unpacked(finished)?;
        Some(self.with_waiter(reply))
    }

    fn with_waiter(&mut self, reply: Reply) -> Ready {
        let token = reply.finished.token;
        Ready { token, waiter: self.waiters.remove(token as usize), reply: Some(reply) }
    }

    /// Reads until there is a waiter, and the replies to common calls that follow.
    fn next_read(&mut self, py: Python<'_>) -> Option<Ready> {
        loop {
            match self.inner.next_event()? {
                Event::Finished(mut finished) if groups::is_native(finished.token) => {
                    self.groups.finished(py, &mut self.inner, &mut finished);
                }
                Event::Woken(token) if groups::is_native(token) => self.groups.woken(py, &mut self.inner, token),
                Event::Finished(mut finished) => {
                    if self.is_common(finished.token) {
                        self.read_more(finished.token);
                        self.turn.resumed = now();
                        finished.exchange.read = self.turn.resumed;
                        self.inner.resumes(finished.id);
                    }
                    if let Some(ready) = self.ready(finished) {
                        return Some(ready);
                    }
                }
                Event::Woken(token) if unpacking::is_unpacking(token) => {
                    if let Some(reply) = self.unpack() {
                        return Some(self.with_waiter(reply));
                    }
                }
                Event::Woken(token) => {
                    return Some(Ready { token, waiter: self.waiters.remove(token as usize), reply: None });
                }
            }
        }
    }

    /// Reads the replies that come next, as long as they are those to common calls. first: the token of the one before.
    fn read_more(&mut self, first: u64) {
        let many = self.inner.in_flight() >= ahead::MANY;
        let mut last = first;
        for _ in 1..REPLIES {
            let Some(token) = self.inner.upcoming(0).filter(|token| self.is_common(*token)) else { break };
            if many {
                self.near.fetch(last);
                self.near.fetch_place(token);
                last = token;
            }
            if let Some(finished) = self.inner.next_reply() {
                self.turn.read.push_back(finished);
            }
        }
        if many {
            self.near.fetch(last);
        }
    }

    /// Whether a common call waits with this token.
    fn is_common(&self, token: u64) -> bool {
        !groups::is_native(token) && self.waiters.get(token as usize).is_some_and(|waiter| waiter.direct)
    }

    /// Takes back a reply that was read, if its user does not want it any more.
    pub(super) fn take_back(&mut self, id: ExchangeId) -> Option<Finished> {
        match self.turn.read.iter().position(|finished| finished.id == id) {
            Some(place) => self.turn.read.remove(place),
            None => self.take_packed(id),
        }
    }

    /// Hands out the replies of this turn. Those that are left when it has become long come with the next one, so that
    /// deadlines and messages to this process are looked at, whatever the users' code does.
    pub(super) fn hand_out(engine: &Bound<'_, Self>) -> PyResult<()> {
        let began = now();
        engine.borrow_mut().turn.thread = this_thread();
        let result = loop {
            match Self::resume_next(engine) {
                Ok(true) if engine.borrow().turn.resumed.saturating_sub(began) > LONG_TURN => {
                    engine.borrow_mut().inner.come_back();
                    break Ok(());
                }
                Ok(true) => {}
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let mut this = engine.borrow_mut();
        this.turn.thread = 0;
        this.turn.handed = None;
        this.turn.is_quick = false;
        this.inner.write_batch();
        result
    }

    /// Resumes the next waiter. False: there was none.
    fn resume_next(engine: &Bound<'_, Self>) -> PyResult<bool> {
        let py = engine.py();
        let next = engine.borrow_mut().next_direct(py);
        if let Some(next) = next {
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
    fn next_direct<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let ready = self.next_ready(py)?;
        if !ready.waiter.direct || self.turn.class.has_greenlets_switch(&ready.waiter.object) != Some(true) {
            self.turn.held = Some(ready);
            return None;
        }
        if let Some(reply) = ready.reply {
            self.turn.handed = Some((ready.token, reply));
        }
        Some(ready.waiter.object.into_bound(py))
    }

    /// What runs while a user waits: the next user in this turn, or else the hub.
    pub(crate) fn successor<'py>(&mut self, hub: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        // Another thread has its own hub, and cannot run the greenlets of this one.
        let next = if self.turn.thread == this_thread() { self.next_direct(hub.py()) } else { None };
        next.unwrap_or_else(|| hub.clone())
    }

    /// Lets others run until the monotonic clock reaches `due`, ns.
    pub(super) fn sleep(engine: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, due: u64) -> PyResult<()> {
        Self::wait_for_wake(engine, hub, |this, waiter| this.wake_up(waiter, due))
    }

    /// Lets others run until there is work to lend; its share counts as done. `is_first`: something is half done that
    /// takes memory.
    pub(super) fn work_later(engine: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, is_first: bool) -> PyResult<()> {
        Self::wait_for_wake(engine, hub, |this, waiter| {
            let place = this.waiters.insert(waiter);
            this.inner.go_on_later(place as u64, is_first).0
        })?;
        let inner = &mut engine.borrow_mut().inner;
        let mut share = inner.lend_work();
        share.spend(SHARE);
        inner.give_back(share);
        Ok(())
    }

    /// Lets others run until the socket may have taken all parts of a request.
    pub(super) fn wait_until_written(engine: &Bound<'_, Self>, hub: &Bound<'_, PyAny>, id: ExchangeId) -> PyResult<()> {
        Self::wait_for_wake(engine, hub, |this, waiter| {
            let place = this.waiters.insert(waiter);
            this.inner.wake_when_written(id, place as u64).0
        })
    }

    /// Runs others until the wake that `ask` asks for.
    fn wait_for_wake(
        engine: &Bound<'_, Self>,
        hub: &Bound<'_, PyAny>,
        ask: impl FnOnce(&mut Self, Waiter) -> u64,
    ) -> PyResult<()> {
        let waiter = Waiter { object: current(engine.py())?.greenlet.unbind(), direct: true };
        let mut this = engine.borrow_mut();
        let (wake, next) = (ask(&mut this, waiter), this.successor(hub));
        drop(this);
        let resumed = switch(&next, None);
        if resumed.is_err() {
            engine.borrow_mut().cancel_wake(wake);
        }
        resumed.map(drop)
    }

    /// The reply to the call with this token, if it has been handed out.
    pub(crate) fn handed(&mut self, token: u64) -> Option<Reply> {
        self.turn.handed.take_if(|handed| handed.0 == token).map(|handed| handed.1)
    }
}

#[allow(unsafe_code)]
fn this_thread() -> usize {
    // SAFETY: the callers have a `Bound`, so this thread is attached to the interpreter.
    unsafe { PyThreadState_Get() }.addr()
}
