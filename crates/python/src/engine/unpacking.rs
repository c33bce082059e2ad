//! Replies whose bodies grow to more than fits into a turn when they are decoded: they are decoded in shares, one after
//! another, before their users get them. Only the length is kept; the users' code decodes what it reads.

use plimsoll_engine::{ExchangeId, Finished};
use plimsoll_http::{StepDecoder, list};

use super::Engine;
use crate::reply::Reply;

/// The token of the wake for these replies.
const UNPACKING: u64 = 1 << 62;

/// A reply that is being decoded.
pub(super) struct Packed {
    finished: Finished,
    decoder: StepDecoder,
}

/// Whether a wake with this token is for these replies.
pub(super) fn is_unpacking(token: u64) -> bool {
    token == UNPACKING
}

impl Engine {
    /// The reply of an exchange. None: it is decoded first, and comes later.
    pub(super) fn unpacked(&mut self, finished: Finished) -> Option<Reply> {
        let response = finished
            .result
            .as_ref()
            .ok()
            .filter(|response| response.notes.coding && response.body_length > 0 && !response.streamed);
        let coding = response.and_then(|response| list(response.head(), "content-encoding"));
        let Some(coding) = coding else { return Some(Reply::new(finished, self.max_decoded)) };
        let decoder = StepDecoder::new(&coding, self.max_decoded, false);
        self.packed.push_back(Packed { finished, decoder });
        if self.packed.len() == 1 { self.unpack() } else { None }
    }

    /// Goes on with the first of them, as far as there is work for it.
    pub(super) fn unpack(&mut self) -> Option<Reply> {
        let Packed { finished, decoder } = self.packed.front_mut()?;
        let body = finished.result.as_ref().map_or(&[][..], |response| response.body());
        let mut work = self.inner.lend_work();
        let decoded = decoder.go_on(body, &mut work);
        self.inner.give_back(work);
        let reply = if matches!(decoded, Ok(false)) {
            None
        } else {
            let Packed { finished, decoder } = self.packed.pop_front()?;
            let length = decoded.map(|_| decoder.length()).map_err(|error| error.to_string());
            Some(Reply::decoded_to(finished, self.max_decoded, length))
        };
        if !self.packed.is_empty() {
            self.inner.go_on_later(UNPACKING, false);
        }
        reply
    }

    /// Takes back a reply that is being decoded.
    pub(super) fn take_packed(&mut self, id: ExchangeId) -> Option<Finished> {
        let place = self.packed.iter().position(|packed| packed.finished.id == id)?;
        self.packed.remove(place).map(|packed| packed.finished)
    }
}
