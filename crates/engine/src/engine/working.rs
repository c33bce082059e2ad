//! Work that takes longer than a turn: bodies that grow when they are decoded, and many messages of one read.
//!
//! A turn has a budget of decoded bytes and messages, so that deadlines and other users are looked at after some
//! milliseconds, whatever the peers send. A user [borrows](Engine::lend_work) a share of it, gives the rest of the share
//! back, and goes on [later](Engine::go_on_later) with what it has not done. While others wait for their share, a user that
//! begins gets none: it joins the queue.

use std::collections::VecDeque;

use mio::Token;
use plimsoll_http::Work;

use super::{Engine, Event, Ready, WakeId};
use crate::call::{pack, unpack};
use crate::connection::{READABLE, Readiness};

/// The work of a turn: some milliseconds of decompression.
const TURN: u64 = 8 << 20;

/// The work that a user does before others have their turn.
const SHARE: u64 = 1 << 20;

/// The work that is left in this turn, and who waits for it.
#[derive(Debug)]
pub(super) struct Working {
    left: Work,
    /// Wakes of those that have more to do.
    queue: VecDeque<u64>,
    /// How many of them have not had their share in this turn.
    due: usize,
    /// The first one of them may borrow now.
    is_granted: bool,
}

impl Default for Working {
    fn default() -> Working {
        Working { left: Work::of(TURN), queue: VecDeque::new(), due: 0, is_granted: false }
    }
}

impl Working {
    /// A turn begins.
    #[inline]
    pub(super) fn begin_turn(&mut self) {
        (self.left, self.due) = (Work::of(TURN), self.queue.len());
    }

    /// Whether anybody waits for a share.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Those that wait for their share in this turn.
    #[inline]
    pub(super) fn pending(&self) -> usize {
        self.queue.len()
    }
}

impl Engine {
    /// A share of the work of this turn; it may be none. Give back what is left of it.
    pub fn lend_work(&mut self) -> Work {
        let Working { left, queue, is_granted, .. } = &mut self.working;
        if !std::mem::take(is_granted) && !queue.is_empty() {
            return Work::of(0);
        }
        let share = Work::of(left.left().min(SHARE));
        left.spend(share.left());
        share
    }

    /// Takes back what is left of a share.
    pub fn give_back(&mut self, rest: Work) {
        let left = &mut self.working.left;
        *left = Work::of(left.left() + rest.left());
    }

    /// Requests [`Event::Woken`] with `token` when there is work to lend for what is left to do. `is_first`: before all others,
    /// because something is half done that takes memory.
    pub fn go_on_later(&mut self, token: u64, is_first: bool) -> WakeId {
        let id = self.new_wake(token);
        if is_first {
            self.working.queue.push_front(id);
        } else {
            self.working.queue.push_back(id);
        }
        if !self.in_turn() {
            self.ring();
        }
        WakeId(id)
    }

    /// The caller leaves a turn before its end: makes the descriptor readable.
    pub fn come_back(&mut self) {
        self.ring();
    }

    /// Reads a connection again in the next turn.
    pub(super) fn read_later(&mut self, place: usize, ended: bool) {
        let connection = &mut self.connections[place];
        let token = Token(pack(place, connection.generation) as usize);
        if std::mem::replace(&mut connection.is_unread, true) {
            // Its last event came meanwhile: without that word the end of the stream would never be read.
            if let Some(known) = self.unread.iter_mut().find(|known| ended && known.token == token) {
                known.readiness.ended = true;
            }
            return;
        }
        self.unread.push(Ready { token, readiness: Readiness { ended, ..READABLE } });
        self.ring();
    }

    /// Makes connections ready that have more than the last turn has read.
    #[cold]
    pub(super) fn take_unread(&mut self) {
        for ready in self.unread.drain(..) {
            let (place, generation) = unpack(ready.token.0 as u64);
            if let Some(connection) = self.connections.get_mut(place).filter(|known| known.generation == generation) {
                connection.is_unread = false;
                self.ready.push(ready);
            }
        }
    }

    /// The next one that waits for its share, if there is work left.
    #[cold]
    pub(super) fn next_working(&mut self) -> Option<Event> {
        while self.working.due > 0 && self.working.left.is_left() {
            self.working.due -= 1;
            let id = self.working.queue.pop_front()?;
            if let Some(token) = self.cancel_wake(WakeId(id)) {
                self.working.is_granted = true;
                return Some(Event::Woken(token));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_http::Work;

    use super::{SHARE, TURN};
    use crate::engine::tests::{get, origin};
    use crate::engine::{Engine, Event, Limits};

    /// The tokens that are woken in a turn; each does so much work then.
    fn turn(engine: &mut Engine, work: u64) -> Vec<u64> {
        engine.poll(Some(Duration::ZERO)).unwrap();
        let mut tokens = Vec::new();
        while let Some(event) = engine.next_event() {
            let Event::Woken(token) = event else { panic!("there are no exchanges") };
            let mut share = engine.lend_work();
            assert_eq!(share.left(), SHARE, "who is woken has a share");
            share.spend(work);
            engine.give_back(share);
            tokens.push(token);
        }
        tokens
    }

    #[test]
    fn a_turn_has_so_much_work_and_those_without_a_share_are_the_first_in_the_next() {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let users = TURN / SHARE + 3;
        for token in 0..users {
            engine.go_on_later(token, false);
        }
        assert_eq!(turn(&mut engine, SHARE), (0..users - 3).collect::<Vec<_>>());
        engine.go_on_later(0, false);
        engine.go_on_later(100, true);
        assert_eq!(turn(&mut engine, SHARE), [100, users - 3, users - 2, users - 1, 0]);
        assert!(turn(&mut engine, SHARE).is_empty());
    }

    #[test]
    fn what_is_given_back_is_lent_again_and_who_begins_does_not_pass_those_who_wait() {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let mut share = engine.lend_work();
        share.spend(10);
        engine.give_back(share);
        assert_eq!((engine.lend_work(), engine.working.left), (Work::of(SHARE), Work::of(TURN - 10 - SHARE)));
        let cancelled = engine.go_on_later(7, false);
        assert_eq!(engine.lend_work(), Work::of(0), "another one waits");
        engine.cancel_wake(cancelled);
        assert!(turn(&mut engine, 0).is_empty());
        assert_eq!(engine.lend_work(), Work::of(SHARE));
    }
    #[test]
    fn a_connection_that_is_read_again_once_keeps_the_word_that_its_stream_has_ended() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = origin(&format!("http://{}", listener.local_addr().unwrap()));
        let mut engine = Engine::new(Limits::default()).unwrap();
        let client = engine.client();
        engine.send(client, &origin, get(&origin));
        let place = engine.connections.iter().next().unwrap().0;
        for ended in [false, true, false] {
            engine.read_later(place, ended);
        }
        engine.take_unread();
        assert_eq!(engine.ready.iter().map(|ready| ready.readiness.ended).collect::<Vec<_>>(), [true]);
    }
}
