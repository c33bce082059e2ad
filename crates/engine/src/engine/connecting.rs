//! From a call without a kept connection to a connecting socket.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use mio::Token;
use plimsoll_record::Outcome;

use super::{ClientId, Engine, make_room};
use crate::backoff;
use crate::call::{Call, ExchangeId, Failure, pack, unpack};
use crate::clock::now;
use crate::connection::{Connection, Step};
use crate::dial::{Dial, Opening, nothing_to_try, open, ordered};
use crate::origin::Origin;
use crate::resolve::{Place, unresolved};
use crate::socket::Socket;

impl Engine {
    /// Whether an exchange is in backoff: nothing was sent for it.
    pub fn is_held(&self, id: ExchangeId) -> bool {
        let (place, serial) = unpack(id.0);
        self.connections.get(place).is_some_and(|known| known.serial == serial && known.is_held())
    }

    /// Continues connections whose addresses were resolved.
    pub(super) fn resolved(&mut self) {
        for (asked, answer) in self.resolver.answers(now()) {
            for (place, serial) in self.waiting.remove(&asked).unwrap_or_default() {
                let Some(connection) = self.connections.get_mut(place) else { continue };
                if connection.serial != serial || !connection.is_resolving() {
                    continue;
                }
                let step = match &answer {
                    Ok(addresses) => {
                        self.connections[place].resolved();
                        self.found(place, &asked, addresses.clone())
                    }
                    Err(error) => Step::Failed(Failure::new(Outcome::Connect, unresolved(&asked.0, error))),
                };
                if let Some(finished) = self.settle(place, step) {
                    self.finish_now(finished);
                }
            }
        }
    }

    /// Makes a connection for a call, at once or after the client's backoff.
    pub(super) fn dial(&mut self, client: ClientId, origin: &Arc<Origin>, call: Call, sent: u64) -> (usize, Step) {
        let place = self.insert(Connection::new(client.0, Arc::clone(origin), call, sent));
        if self.hold(place, sent) {
            return (place, Step::Wait);
        }
        (place, self.open(place))
    }

    /// Adds a connection of a client.
    pub(super) fn insert(&mut self, connection: Connection) -> usize {
        make_room(&mut self.connections);
        let client = connection.client;
        let place = self.connections.insert(connection);
        self.connections[place].serial = self.serial;
        self.clients[client].places.push(place);
        place
    }

    /// Delays an exchange if its client is in backoff at `sent` (monotonic ns).
    pub(super) fn hold(&mut self, place: usize, sent: u64) -> bool {
        let connection = &mut self.connections[place];
        let refusals = &self.clients[connection.client].refusals;
        let Some(until) = backoff::until(refusals, &connection.origin, sent) else { return false };
        connection.hold(until);
        self.backoff.held += 1;
        true
    }

    /// Starts to open the connection in this slot.
    pub(super) fn open(&mut self, place: usize) -> Step {
        let origin = &self.connections[place].origin;
        if let Some(refusal) = self.allowed.refuses(origin) {
            return Step::Failed(Failure::new(Outcome::Connect, refusal));
        }
        if let Some((host, port)) = self.connections[place].asks_for_target() {
            let question = (host.to_owned(), port);
            return match self.resolver.lookup(host, port, now()) {
                Some(addresses) => self.found(place, &question, addresses),
                None => self.ask(place, &question),
            };
        }
        self.approach(place)
    }

    /// Continues with the addresses of a host: of the target that a proxy shall connect to, else of what is dialled.
    fn found(&mut self, place: usize, asked: &Place, addresses: Vec<SocketAddr>) -> Step {
        let turn = self.generation as usize;
        let connection = &mut self.connections[place];
        if connection.asks_for_target().is_none_or(|(host, port)| (host, port) != (asked.0.as_str(), asked.1)) {
            return self.dial_addresses(place, addresses);
        }
        match self.allowed.admit_target(&asked.0, addresses) {
            Err(refusal) => Step::Failed(Failure::new(Outcome::Connect, refusal)),
            Ok(admitted) if admitted.is_empty() => Step::Failed(Failure::io(Outcome::Connect, &nothing_to_try())),
            Ok(admitted) => {
                connection.aim(ordered(admitted, turn));
                self.approach(place)
            }
        }
    }

    /// Connects to what is dialled: the target, or its proxy.
    fn approach(&mut self, place: usize) -> Step {
        match open(&self.connections[place].origin, &self.resolver, now()) {
            Ok(Opening::Unix(socket)) => self.adopt(place, socket),
            Ok(Opening::Tcp(addresses)) => self.dial_addresses(place, addresses),
            Ok(Opening::Ask(host, port)) => self.ask(place, &(host, port)),
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }

    /// The chosen local address: the client's, else the origin's.
    fn source_of(&self, connection: &Connection) -> Option<IpAddr> {
        self.source(ClientId(connection.client)).or(connection.origin.source)
    }

    /// Sends one query for all connections that wait for the same answer.
    fn ask(&mut self, place: usize, question: &Place) -> Step {
        let waiting = self.waiting.entry(question.clone()).or_default();
        waiting.push((place, self.connections[place].serial));
        if waiting.len() > 1 {
            return Step::Wait;
        }
        match self.resolver.ask(question.clone()) {
            Ok(()) => Step::Wait,
            Err(error) => {
                // The next connection queries again.
                self.waiting.remove(question);
                Step::Failed(Failure::io(Outcome::Connect, &error))
            }
        }
    }

    /// Starts with the first allowed address.
    fn dial_addresses(&mut self, place: usize, addresses: Vec<SocketAddr>) -> Step {
        let connection = &self.connections[place];
        let admitted = match self.allowed.admit(&connection.origin, addresses) {
            Ok(admitted) => admitted,
            Err(refusal) => return Step::Failed(Failure::new(Outcome::Connect, refusal)),
        };
        let dial = Dial::new(admitted, self.source_of(connection), self.generation as usize);
        self.connections[place].dial = Some(Box::new(dial));
        self.connect(place, nothing_to_try())
    }

    /// Tries the next address. `last`: the error of the previous one.
    pub(super) fn connect(&mut self, place: usize, last: io::Error) -> Step {
        let open = self.connections.len();
        let socket = match &mut self.connections[place].dial {
            Some(dial) => dial.next(&mut self.sources, open, last),
            None => Err(last),
        };
        match socket {
            Ok(socket) => self.adopt(place, socket),
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }

    fn adopt(&mut self, place: usize, socket: Socket) -> Step {
        self.generation = self.generation.wrapping_add(1);
        let token = Token(pack(place, self.generation) as usize);
        let connection = &mut self.connections[place];
        connection.generation = self.generation;
        match connection.connecting(socket).register(self.poll.registry(), token) {
            // On loopback the peer has accepted by now. Waiting for the event would add our own delay to the service
            // time.
            Ok(()) if connection.is_through() => connection.connected(&mut self.io),
            Ok(()) => Step::Wait,
            Err(error) => Step::Failed(Failure::io(Outcome::Connect, &error)),
        }
    }
}
