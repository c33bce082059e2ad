//! What the users whose replies come next will need, fetched while this one runs.
//!
//! A user's turn reads objects all over the memory, each by way of another one. With thousands of users none of them is
//! near. Their addresses are noted when the request is sent, and a turn reads some replies before their users run.

use plimsoll_engine::{fetch, fetch_all};

/// With fewer exchanges in flight, the caches still have everything.
pub(super) const MANY: usize = 400;

/// What comes before the address of an object belongs to it, too: the links of the garbage collector, and its dict.
const BEFORE: usize = 32;

/// The addresses of what a waiting user needs, as numbers: they may be out of date. 0: none.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Near {
    /// Of each, the cache lines before and after its address are fetched.
    pub(crate) objects: [usize; 4],
    /// All of its settings.
    pub(crate) settings: usize,
    /// The state of its greenlet.
    pub(crate) greenlet: usize,
    /// What was sent, which is freed with the reply.
    pub(crate) request: usize,
    /// The arguments of its call. The frames of its code end there.
    pub(crate) arguments: usize,
}

/// Bytes of the innermost frames.
const FRAMES: usize = 640;

/// Bytes of a greenlet's state that a switch reads.
const GREENLET: usize = 256;

/// By token.
#[derive(Default)]
pub(super) struct Addresses(Vec<Near>);

impl Addresses {
    #[inline]
    pub(super) fn note(&mut self, token: usize, near: Near) {
        match self.0.get_mut(token) {
            Some(place) => *place = near,
            None => self.0.resize(token + 1, near),
        }
    }

    /// Has the place of the next ones to [`fetch`](Addresses::fetch) fetched.
    #[inline]
    pub(super) fn fetch_place(&self, token: u64) {
        if let Some(near) = self.0.get(token as usize) {
            fetch(std::ptr::from_ref(near).addr());
        }
    }

    /// Has what the user with this token needs fetched.
    #[inline]
    pub(super) fn fetch(&self, token: u64) {
        if let Some(near) = self.0.get(token as usize) {
            near.fetch();
        }
    }
}

impl Near {
    /// Bytes of the settings of calls.
    pub(crate) const SETTINGS: usize = 256;

    fn fetch(&self) {
        for object in self.objects {
            fetch(object.wrapping_sub(BEFORE));
            fetch(object.wrapping_add(BEFORE));
        }
        fetch_all(self.settings, Near::SETTINGS);
        fetch_all(self.greenlet, GREENLET);
        fetch(self.request.wrapping_sub(BEFORE / 2));
        fetch_all(self.arguments.wrapping_sub(FRAMES), FRAMES + BEFORE);
    }
}
