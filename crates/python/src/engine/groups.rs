//! The native users of one engine, in groups. Each group has its own scenario and recorder.

use plimsoll_engine::{self as engine, Finished};
use pyo3::prelude::*;

use crate::recorder::Recorder;

/// Marks tokens of native users. The bits from 32 up to this one are the slot of their group.
const NATIVE: u64 = 1 << 63;

/// A group of native users, and its recorder.
pub(crate) struct Group {
    pub(crate) users: engine::NativeUsers,
    pub(crate) recorder: Py<Recorder>,
}

/// The native users of one engine.
#[derive(Default)]
pub(crate) struct Groups(Vec<Group>);

/// Whether an event with this token belongs to native users.
pub(super) fn is_native(token: u64) -> bool {
    token & NATIVE != 0
}

impl Groups {
    /// Adds a group and returns its slot. `make` gets the mark for the tokens of its users.
    pub(crate) fn add(
        &mut self,
        recorder: Py<Recorder>,
        make: impl FnOnce(&Py<Recorder>, u64) -> engine::NativeUsers,
    ) -> usize {
        let place = self.0.len();
        let users = make(&recorder, NATIVE | (place as u64) << 32);
        self.0.push(Group { users, recorder });
        place
    }

    /// The users of the group in this slot.
    pub(crate) fn users(&self, place: usize) -> &engine::NativeUsers {
        &self.0[place].users
    }

    /// Streams that native users read.
    pub(super) fn streaming(&self) -> usize {
        self.0.iter().map(|group| group.users.streaming()).sum()
    }

    /// The group in this slot.
    pub(crate) fn at(&mut self, place: usize) -> &mut Group {
        &mut self.0[place]
    }

    fn of(&mut self, token: u64) -> &mut Group {
        &mut self.0[((token & !NATIVE) >> 32) as usize]
    }

    /// Records a native user's exchange and continues the user.
    pub(super) fn finished(&mut self, py: Python<'_>, engine: &mut engine::Engine, finished: &mut Finished) {
        let Group { users, recorder } = self.of(finished.token);
        users.finished(engine, &mut recorder.borrow_mut(py).inner, finished);
    }

    /// Handles a wake of native users.
    pub(super) fn woken(&mut self, py: Python<'_>, engine: &mut engine::Engine, token: u64) {
        let Group { users, recorder } = self.of(token);
        users.woken(engine, &mut recorder.borrow_mut(py).inner, token);
    }
}
