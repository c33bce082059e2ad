//! Shared connections (HTTP/2): one of a client carries all its exchanges with an origin.
//!
//! Such a connection has a slot of its own, and so has each exchange. An exchange waits in the queue of the connection
//! until that is made and the peer allows one more stream. What the exchanges of one event have to send is written
//! together, before the next one of such a connection, or at the end of the turn. `bodies`: bodies in pieces.

mod bodies;

use std::sync::Arc;

use plimsoll_http2::OpenError;
use plimsoll_record::Outcome;

use super::{ClientId, Engine};
use crate::call::{Call, ExchangeId, Failure, Finished, unpack};
use crate::clock::now;
use crate::connection::{Connection, Flight, READABLE, Readiness, Session, Step};
use crate::origin::Origin;
use crate::protocol::asks_to_upgrade;

impl Engine {
    /// Begins an exchange. `trace`: of the request; 0 = none. `sent`: monotonic ns.
    #[inline(never)]
    pub(super) fn begin_shared(
        &mut self,
        client: ClientId,
        origin: &Arc<Origin>,
        call: Call,
        trace: u64,
        sent: u64,
    ) -> ExchangeId {
        let upgrades = call.wire.continues && asks_to_upgrade(&call.wire);
        let session = self.session_of(client, origin, sent);
        let place = self.take_slot(session, client, origin, call, sent);
        let connection = &mut self.connections[place];
        connection.serial = self.serial;
        if trace != 0
            && let Some(flight) = &mut connection.flight
        {
            flight.carries(trace);
        }
        if upgrades {
            self.fail(place, Failure::new(Outcome::Protocol, "a WebSocket needs HTTP/1.1; leave out --http2"));
        } else if let Some(session) = session {
            self.enqueue(session, place, false);
            self.open_streams(session, sent, false);
        } else {
            self.dial_shared(place, sent);
        }
        if !self.in_turn() {
            self.flush();
        }
        ExchangeId::new(place, self.serial)
    }

    /// The client's connection to this origin that takes new exchanges, made or not.
    fn session_of(&mut self, client: ClientId, origin: &Arc<Origin>, now: u64) -> Option<usize> {
        let mut index = 0;
        while let Some(&place) = self.clients[client.0].places.get(index) {
            index += 1;
            let connection = &self.connections[place];
            let Some(session) = &connection.session else { continue };
            if !Arc::ptr_eq(&connection.origin, origin) || !session.http2.accepts_streams() {
                continue;
            }
            if !session.may_be_stale(now) {
                return Some(place);
            }
            self.read_session(place, Readiness { ended: true, ..READABLE });
            let session = self.connections.get(place).and_then(|known| known.session.as_ref());
            if session.is_some_and(|session| session.http2.accepts_streams()) {
                return Some(place);
            }
            // It is gone, or takes nothing more: look again.
            index = 0;
        }
        None
    }

    /// A slot for an exchange: one that an earlier exchange of this session has left, or a new one.
    fn take_slot(
        &mut self,
        session: Option<usize>,
        client: ClientId,
        origin: &Arc<Origin>,
        call: Call,
        sent: u64,
    ) -> usize {
        let session = session.and_then(|place| self.connections[place].session.as_mut());
        if let Some(place) = session.and_then(|session| session.spare.pop()) {
            self.connections[place].take_up(call, sent);
            return place;
        }
        self.sharing += 1;
        self.insert(Connection::new(client.0, Arc::clone(origin), call, sent))
    }

    /// Finds a connection for an exchange, or makes one. `first`: it takes the next stream.
    pub(super) fn join(&mut self, place: usize, now: u64, first: bool) {
        let connection = &self.connections[place];
        let (client, origin) = (ClientId(connection.client), Arc::clone(&connection.origin));
        match self.session_of(client, &origin, now) {
            Some(session) => {
                self.enqueue(session, place, first);
                self.open_waiting(session);
            }
            None => self.dial_shared(place, now),
        }
    }

    /// Makes a shared connection for an exchange, at once or after the client's backoff.
    fn dial_shared(&mut self, place: usize, now: u64) {
        if self.hold(place, now) {
            return self.watch(place);
        }
        let connection = &self.connections[place];
        let began = connection.flight.as_ref().map_or(now, Flight::sent);
        let shared = Connection::shared(connection.client, Arc::clone(&connection.origin), began);
        let session = self.insert(shared);
        self.enqueue(session, place, false);
        let step = self.open(session);
        self.settle(session, step);
    }

    fn enqueue(&mut self, session: usize, place: usize, first: bool) {
        let Some(queue) = self.connections[session].session.as_mut().map(|session| &mut session.queue) else { return };
        if first {
            queue.push_front(place);
        } else {
            queue.push_back(place);
        }
        self.connections[place].queue(session);
        self.watch(place);
    }

    /// Opens streams for exchanges that wait, as many as the peer allows. `waited`: they were sent earlier.
    fn open_streams(&mut self, place: usize, now: u64, waited: bool) {
        let mut refused = Vec::new();
        let Some(mut session) = self.connections.get_mut(place).and_then(|known| known.session.take()) else { return };
        while session.is_made() && session.http2.room() > 0 {
            let Some(next) = session.queue.pop_front() else { break };
            let connection = &mut self.connections[next];
            let id = ExchangeId::new(next, connection.serial);
            match connection.open_stream(&mut session, id, now, waited) {
                Ok(()) => self.watch(next),
                Err(OpenError::NoRoom) => {
                    session.queue.push_front(next);
                    break;
                }
                Err(error) => refused.push((next, error)),
            }
        }
        self.connections[place].session = Some(session);
        for (next, error) in refused {
            self.fail(next, Failure::new(Outcome::Protocol, error.to_string()));
        }
        self.list(place);
    }

    /// Opens streams for exchanges that have waited.
    fn open_waiting(&mut self, place: usize) {
        if self.session(place).is_some_and(|session| !session.queue.is_empty()) {
            self.open_streams(place, now(), true);
        } else {
            self.list(place);
        }
    }

    /// Remembers that a shared connection has output.
    fn list(&mut self, place: usize) {
        if let Some(session) = self.session(place)
            && !session.is_listed
            && session.has_output()
        {
            session.is_listed = true;
            self.unwritten.push(place);
        }
    }

    fn session(&mut self, place: usize) -> Option<&mut Session> {
        self.connections.get_mut(place)?.session.as_deref_mut()
    }

    /// Writes the output of shared connections.
    #[inline]
    pub(super) fn flush(&mut self) {
        if !self.unwritten.is_empty() {
            self.write_sessions();
        }
    }

    #[inline(never)]
    fn write_sessions(&mut self) {
        while let Some(place) = self.unwritten.pop() {
            self.write_session(place);
        }
    }

    fn write_session(&mut self, place: usize) {
        let Some(session) = self.session(place).filter(|session| session.is_listed) else { return };
        session.is_listed = false;
        let mut unstamped = std::mem::take(&mut session.unstamped);
        if !unstamped.is_empty() {
            let now = now();
            for (place, serial) in unstamped.drain(..).map(|id| unpack(id.0)) {
                if let Some(connection) = self.connections.get_mut(place).filter(|known| known.serial == serial) {
                    connection.stamp_sent(now);
                }
            }
        }
        let Some(session) = self.session(place) else { return };
        // Only its memory is kept.
        session.unstamped = unstamped;
        match session.write() {
            Ok(()) => self.close_drained(place),
            Err(error) => {
                // The peer may have responded before it closed.
                self.read_session(place, Readiness { ended: true, ..READABLE });
                if self.session(place).is_some() {
                    self.lose(place, &Failure::io(Outcome::Reset, &error));
                }
            }
        }
        self.wake_writers();
    }

    /// Performs a step that only shared connections and their exchanges have.
    #[inline(never)]
    pub(super) fn settle_shared(&mut self, place: usize, step: &Step) -> Option<Finished> {
        match *step {
            Step::Made => {
                self.open_waiting(place);
                // The event that reported the connection may have reported the peer's first bytes, too.
                self.read_session(place, READABLE);
            }
            Step::Shared(ready) => self.read_session(place, ready),
            Step::Continue => self.with_session(place, Connection::send_held),
            _ => {
                self.connections[place].leave_stream();
                self.join(place, now(), true);
            }
        }
        None
    }

    /// Calls `act` with an exchange and its session.
    fn with_session(&mut self, place: usize, act: impl FnOnce(&mut Connection, &mut Session)) {
        let Some(share) = self.connections[place].share else { return };
        let Some(mut session) = self.connections.get_mut(share.session()).and_then(|known| known.session.take()) else {
            return;
        };
        let connection = &mut self.connections[place];
        let before = session.http2.output().len();
        act(connection, &mut session);
        connection.count_sent(session.http2.output().len() - before);
        if let Some(stream) = share.stream {
            session.note_partial(ExchangeId::new(place, connection.serial), stream);
        }
        self.connections[share.session()].session = Some(session);
        self.list(share.session());
    }

    /// Handles a readiness event of a shared connection.
    #[inline(never)]
    fn read_session(&mut self, place: usize, ready: Readiness) {
        // What earlier events have caused need not wait for what this one causes.
        self.flush();
        let Some(mut session) = self.connections.get_mut(place).and_then(|known| known.session.take()) else { return };
        let mut steps = std::mem::take(&mut self.steps);
        let read = if ready.readable {
            session.read(&mut self.io, ready.ended, &mut self.connections, &mut steps)
        } else {
            Ok(false)
        };
        self.connections[place].session = Some(session);
        let mut again = Vec::new();
        for (id, step) in steps.drain(..) {
            if let Some(finished) = self.settle_stream(id, step, &mut again) {
                self.report(finished);
            }
        }
        self.steps = steps;
        for &exchange in &again {
            self.connections[exchange].leave_stream();
        }
        if matches!(read, Ok(true)) {
            self.read_later(place, ready.ended);
        }
        match read {
            Ok(_) if self.session(place).is_some_and(|session| session.http2.accepts_streams()) => {
                for exchange in again.into_iter().rev() {
                    self.enqueue(place, exchange, true);
                }
                self.open_waiting(place);
            }
            Ok(_) => self.drain(place, again),
            Err(failure) => {
                self.lose(place, &failure);
                self.join_all(again);
            }
        }
        self.wake_writers();
    }

    /// Performs the step of an exchange, which may have ended with an earlier one. `again`: those to send again.
    #[inline]
    fn settle_stream(&mut self, id: ExchangeId, step: Step, again: &mut Vec<usize>) -> Option<Finished> {
        let (place, serial) = unpack(id.0);
        let connection = self.connections.get_mut(place).filter(|known| known.serial == serial)?;
        connection.flight.as_ref()?;
        match step {
            Step::Again => again.push(place),
            Step::Streamed if !connection.is_complete() => return self.settle(place, step),
            Step::Done { .. } | Step::Streamed => {
                self.in_flight -= 1;
                let flight = connection.flight.take()?;
                self.vacate(place);
                return Some(flight.finish(id, None));
            }
            step => return self.settle(place, step),
        }
        None
    }

    /// The slot has no exchange any longer: the next one of the session takes it.
    pub(super) fn vacate(&mut self, place: usize) {
        let share = self.connections[place].vacate();
        match share.and_then(|share| self.session(share.session())) {
            Some(session) => {
                session.has_answered = true;
                session.spare.push(place);
            }
            None => drop(self.remove(place)),
        }
    }

    /// The peer closes the connection after the exchanges that it has taken. Others need a new connection.
    fn drain(&mut self, place: usize, mut again: Vec<usize>) {
        let Some(session) = self.session(place) else { return };
        let waiting = std::mem::take(&mut session.queue);
        let goes_on = session.has_answered;
        let reason = session.went_away();
        for place in waiting {
            self.connections[place].share = None;
            if goes_on {
                again.push(place);
            } else {
                self.fail(place, reason.clone());
            }
        }
        self.join_all(again);
        self.close_drained(place);
        self.list(place);
    }

    fn join_all(&mut self, places: Vec<usize>) {
        let now = now();
        for place in places {
            if self.connections.contains(place) {
                self.join(place, now, false);
            }
        }
    }

    /// Closes a connection that takes no exchanges and has none.
    fn close_drained(&mut self, place: usize) {
        if let Some(session) = self.session(place)
            && !session.http2.accepts_streams()
            && session.http2.open_streams() == 0
        {
            self.remove_session(place);
        }
    }

    /// Removes a shared connection and its free slots.
    fn remove_session(&mut self, place: usize) -> Connection {
        let mut connection = self.remove(place);
        if let Some(session) = &mut connection.session {
            for place in std::mem::take(&mut session.spare) {
                self.remove(place);
            }
        }
        connection
    }

    /// Ends a shared connection that is broken, or could not be made. Its exchanges fail, unless they can be sent again.
    pub(super) fn lose(&mut self, place: usize, failure: &Failure) {
        let connection = self.remove_session(place);
        if !connection.is_made() && failure.outcome != Outcome::Unanswered {
            self.refused(&connection);
        }
        let Some(session) = &connection.session else { return };
        let failure = session.explain(failure, &connection.origin);
        let active: Vec<usize> = session.http2.tags().map(|tag| unpack(tag).0).collect();
        let mut again = Vec::new();
        for place in active.into_iter().chain(session.queue.iter().copied()) {
            let Some(connection) = self.connections.get_mut(place) else { continue };
            let is_queued = connection.is_queued();
            connection.share = None;
            if is_queued && session.has_answered {
                again.push(place);
            } else if !is_queued && session.has_answered && connection.can_be_repeated_after(session.heard) {
                connection.leave_stream();
                again.push(place);
            } else {
                self.fail(place, failure.clone());
            }
        }
        self.join_all(again);
    }

    /// Ends an exchange with a failure.
    fn fail(&mut self, place: usize, failure: Failure) {
        let step = self.connections[place].break_off(failure);
        if let Some(finished) = self.settle(place, step) {
            self.finish_later(finished);
        }
    }

    /// Takes a slot that is removed out of its session.
    pub(super) fn leave(&mut self, place: usize, connection: &mut Connection) {
        if let Some(session) = &mut connection.session {
            // The peer need not read that this end closes.
            let _ = session.end();
            return;
        }
        self.sharing -= 1;
        let Some(share) = connection.share else { return };
        let Some(session) = self.session(share.session()) else { return };
        if let Some(stream) = share.stream {
            connection.count_sent(session.cancel(ExchangeId::new(place, connection.serial), stream));
            return self.list(share.session());
        }
        session.queue.retain(|&queued| queued != place);
        if session.queue.is_empty() && !session.is_made() {
            // Nobody waits for this connection any longer.
            self.remove_session(share.session());
        }
    }

    /// Returns a result in this turn, or in the next one.
    fn report(&mut self, finished: Finished) {
        if self.in_turn() {
            self.finish_now(finished);
        } else {
            self.finish_later(finished);
        }
    }
}
