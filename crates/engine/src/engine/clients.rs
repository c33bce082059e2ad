//! Clients: groups of connections, and the end of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use slab::Slab;
use smallvec::SmallVec;

use super::{ClientId, Engine};
use crate::backoff::{Refusals, forget};
use crate::connection::Connection;
use crate::origin::Origin;

/// One client.
pub(super) struct Client {
    /// Slots of its connections. Most clients have one, and there are many clients.
    pub(super) places: SmallVec<[usize; 2]>,
    /// Its local address, if the caller has set one.
    pub(super) source: Option<IpAddr>,
    pub(super) refusals: Refusals,
}

impl Engine {
    /// Gives each new client one of these local addresses, in turn. Empty: the origin or the system chooses.
    pub fn set_addresses(&mut self, addresses: Vec<IpAddr>) {
        (self.addresses, self.assigned) = (addresses, 0);
    }

    /// A new client without connections.
    pub fn client(&mut self) -> ClientId {
        let turn = self.assigned.checked_rem(self.addresses.len());
        self.assigned += usize::from(turn.is_some());
        self.client_from(turn.map(|turn| self.addresses[turn]))
    }

    /// A new client whose connections come from this local address.
    pub fn client_from(&mut self, source: Option<IpAddr>) -> ClientId {
        make_room(&mut self.clients);
        ClientId(self.clients.insert(Client { places: SmallVec::new(), source, refusals: Refusals::new() }))
    }

    /// The local address of this client's connections, if it was set.
    pub fn source(&self, client: ClientId) -> Option<IpAddr> {
        self.clients.get(client.0)?.source
    }

    /// Closes the client's connections and removes it. Cancels its exchanges in flight and its readers of streamed
    /// bodies, and returns their tokens. A finished exchange that was not returned yet still comes.
    pub fn close(&mut self, client: ClientId) -> Vec<u64> {
        let places = self.clients.try_remove(client.0).map(|client| client.places).unwrap_or_default();
        places.into_iter().filter_map(|place| self.give_up(place)).collect()
    }

    /// Takes a connection out of its slot and away from its client.
    pub(super) fn remove(&mut self, place: usize) -> Connection {
        self.count_retransmissions(place);
        let mut connection = self.connections.remove(place);
        if connection.origin.http2 {
            self.leave(place, &mut connection);
        }
        self.backoff.held -= usize::from(connection.is_held());
        if let Some(client) = self.clients.get_mut(connection.client) {
            client.places.retain(|kept| *kept != place);
            if connection.is_made() {
                forget(&mut client.refusals, &connection.origin);
            }
        }
        connection
    }

    /// A kept connection of this client to this origin, and the time of the check. Removes closed connections on the
    /// way.
    #[inline]
    pub(super) fn idle_connection(&mut self, client: ClientId, origin: &Arc<Origin>, now: u64) -> Option<(usize, u64)> {
        // Most requests follow a response to the same user. That connection is in the processor's caches, its client
        // is not.
        if self.fits(self.answered, client, origin)
            && let Some(now) = self.connections[self.answered].usable_at(now)
        {
            return Some((self.answered, now));
        }
        let mut index = 0;
        while let Some(&place) = self.clients.get(client.0)?.places.get(index) {
            if !self.fits(place, client, origin) {
                index += 1;
            } else if let Some(now) = self.connections[place].usable_at(now) {
                return Some((place, now));
            } else {
                self.remove(place);
            }
        }
        None
    }

    /// Whether there is an idle connection of this client to this origin in the slot.
    #[inline]
    fn fits(&self, place: usize, client: ClientId, origin: &Arc<Origin>) -> bool {
        self.connections
            .get(place)
            .is_some_and(|known| known.client == client.0 && known.is_idle() && Arc::ptr_eq(&known.origin, origin))
    }
}

/// Reserves memory for a few more, if there is none left. Doubling would leave up to half of it unused.
pub(crate) fn make_room<T>(slab: &mut Slab<T>) {
    if slab.len() == slab.capacity() {
        slab.reserve_exact(slab.len() / 4 + 16);
    }
}
