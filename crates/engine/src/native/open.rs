//! Arrivals of the open model.

use plimsoll_record::Recorder;

use super::{ARRIVAL, NativeUsers};
use crate::clock::now;
use crate::engine::Engine;

/// Maximum number of arrivals to start before the loop checks its sockets again. After a pause of the whole machine
/// many arrivals are due, and responses for many busy users have come in meanwhile. Without this limit each arrival
/// would need a new user with a new connection.
const AT_ONCE: usize = 32;

/// Shortest sleep of the loop, ns. Arrivals due within this time start up to this much late, and their lag shows it. A
/// timer wake-up costs as much as several requests, especially in a virtual machine.
const SHORTEST_SLEEP: u64 = 50_000;

impl NativeUsers {
    /// Starts the arrivals that are due, and sets the wake for the next.
    pub(super) fn arrivals_due(&mut self, engine: &mut Engine, recorder: &mut Recorder) {
        self.wake = None;
        self.take_due(engine, recorder, AT_ONCE);
        self.watch(engine);
    }

    /// Takes up to `most` due arrivals.
    pub(super) fn take_due(&mut self, engine: &mut Engine, recorder: &mut Recorder, most: usize) {
        let now = now();
        for _ in 0..most {
            let Some(due) = self.streams.take(now) else { return };
            self.arrival(engine, recorder, due);
        }
    }

    /// Sets the wake for the next arrival, and cancels an outdated one.
    pub(super) fn watch(&mut self, engine: &mut Engine) {
        if let Some(wake) = self.wake.take() {
            engine.cancel_wake(wake);
        }
        let now = now();
        let sleep_until = |due| if due > now { now.saturating_add(SHORTEST_SLEEP).max(due) } else { due };
        self.wake = self.streams.next().map(|due| engine.wake(self.mark | ARRIVAL, sleep_until(due)));
    }

    /// Starts an iteration for the user that became idle last, or a new user. If all are busy, the arrival waits or is
    /// dropped.
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
                // The feeder has no row for it, so the streams ended before this arrival.
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

    /// Frees a user after its iteration: it takes the longest waiting arrival, or becomes idle.
    pub(super) fn release(&mut self, engine: &mut Engine, recorder: &mut Recorder, place: usize, free: u64) {
        if let Some(due) = self.waiting.pop_front() {
            if self.begin(engine, place) {
                return self.send(engine, recorder, place, due, free);
            }
            // There are no rows for the waiting arrivals either.
            self.dropped(recorder, due);
            self.drop_waiting(recorder);
        }
        if self.over {
            self.end(engine, place);
        } else {
            self.rest(place);
        }
    }

    /// Drops all arrivals that wait or are due.
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

    /// Records a drop under the first step of its iteration.
    fn dropped(&mut self, recorder: &mut Recorder, due: u64) {
        let step = self.player.skip();
        recorder.dropped(self.steps[step.index()].endpoint, due);
    }
}
