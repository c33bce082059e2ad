//! What becomes of an arrival of the open model.

use plimsoll_record::Recorder;

use super::{ARRIVAL, NativeUsers};
use crate::clock::now;
use crate::engine::Engine;

/// Arrivals that are begun before the loop looks at its sockets again. After a pause of the whole machine many are due,
/// and the users for most of them are those whose responses have come meanwhile: without a bound each would need a new
/// user, with a new connection.
const AT_ONCE: usize = 32;

/// The loop does not go to sleep for less than this, ns: what is due in between is begun that much late, as its lag says.
/// To be woken by a timer costs as much as some requests, most of all in a virtual machine.
const SHORTEST_SLEEP: u64 = 50_000;

impl NativeUsers {
    /// The time of the earliest arrival has come: begins what is due, and waits for the next.
    pub(super) fn arrivals_due(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.wake = None;
        self.take_due(engine, recorder, AT_ONCE);
        self.watch(engine);
    }

    /// Takes arrivals that are due by now, `most` of them at most.
    pub(super) fn take_due(&mut self, engine: &mut Engine, recorder: &mut Recorder, most: usize) {
        let now = now();
        for _ in 0..most {
            let Some(due) = self.streams.take(now) else { return };
            self.arrival(engine, recorder, due);
        }
    }

    /// Makes sure that the next arrival wakes us, and none that is not to come.
    pub(super) fn watch(&mut self, engine: &mut Engine) {
        if let Some(wake) = self.wake.take() {
            engine.cancel_wake(wake);
        }
        let now = now();
        let sleep_until = |due| if due > now { now.saturating_add(SHORTEST_SLEEP).max(due) } else { due };
        self.wake = self.streams.next().map(|due| engine.wake(self.mark | ARRIVAL, sleep_until(due)));
    }

    /// The user that was busy last begins an iteration, or a new one. When all are busy, the arrival waits, or is dropped.
    fn arrival(&mut self, engine: &mut Engine, recorder: &mut Recorder, due: u64) {
        if !self.budget.allows_iteration(self.waiting.len()) {
            return self.finish(engine);
        }
        let free = self.idle.pop().or_else(|| (self.users.len() < self.rules.max_users).then(|| self.add_user(engine)));
        if let Some(place) = free {
            if self.begin(engine, place) {
                recorder.offered(due);
                self.send(engine, recorder, place, due, 0);
            } else {
                // There is no row for it: the streams have ended before this arrival.
                self.end(engine, place);
            }
            return;
        }
        recorder.offered(due);
        if self.rules.drop {
            self.dropped(recorder, due);
        } else {
            self.waiting.push_back(due);
        }
    }

    /// A user has ended an iteration and is free: the arrival that has waited longest begins the next one, or the user is idle.
    pub(super) fn release(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, free: u64) {
        if let Some(due) = self.waiting.pop_front() {
            if self.begin(engine, place) {
                return self.send(engine, recorder, place, due, free);
            }
            // No rows for those that wait either.
            self.dropped(recorder, due);
            self.drop_waiting(recorder);
        }
        if self.over {
            self.end(engine, place);
        } else {
            self.rest(place);
        }
    }

    /// Drops every arrival that waits, or is due by now.
    pub(super) fn drop_due(&mut self, recorder: &mut Recorder) {
        let now = now();
        while self.budget.allows_iteration(self.waiting.len())
            && let Some(due) = self.streams.take(now)
        {
            recorder.offered(due);
            self.waiting.push_back(due);
        }
        self.drop_waiting(recorder);
    }

    fn drop_waiting(&mut self, recorder: &mut Recorder) {
        while let Some(due) = self.waiting.pop_front() {
            self.dropped(recorder, due);
        }
    }

    /// It is recorded under the step that it would have begun with.
    fn dropped(&mut self, recorder: &mut Recorder, due: u64) {
        let step = self.player.skip();
        recorder.dropped(self.steps[step.index()].endpoint, due);
    }
}
