//! Replies of one turn that are read together, and requests that are written together.
//!
//! A caller that runs much code of its own for each reply, as Python users do, loses the processor's caches to the
//! kernel and back with each system call. So it reads some replies first, has its users run, and their requests are
//! written one after another. `sent` of each is stamped when it is written; the wait until then is lag.

use std::sync::Arc;

use super::{ClientId, Engine, TIMER, WAKER};
use crate::call::{Call, ExchangeId, Finished, unpack};
use crate::clock::now;
use crate::origin::Origin;

/// Most requests that wait for each other.
const MOST: usize = 16;

/// Fewest exchanges in flight: twice [`MOST`]. So the target has work while requests wait.
const IN_FLIGHT: usize = 2 * MOST;

impl Engine {
    /// Like [`send`](Engine::send), but if many exchanges are in flight the request is written with others: at the latest
    /// when this turn ends. Until then the caller can have it written by [`write_batch`](Engine::write_batch).
    #[inline]
    pub fn send_in_batch(&mut self, client: ClientId, origin: &Arc<Origin>, call: Call) -> ExchangeId {
        let later = self.in_turn() && self.in_flight() >= IN_FLIGHT;
        let id = self.begin(client, origin, call, later);
        if self.batch.len() >= MOST {
            self.write_batch();
        }
        id
    }

    /// Writes the requests that wait.
    #[inline]
    pub fn write_batch(&mut self) {
        if !self.batch.is_empty() {
            self.write_all();
        }
    }

    #[inline(never)]
    fn write_all(&mut self) {
        for index in 0..self.batch.len() {
            let (place, serial) = self.batch[index];
            // An exchange that was cancelled has left its slot.
            let Some(connection) = self.connections.get_mut(place).filter(|known| known.serial == serial) else {
                continue;
            };
            let step = connection.transmit_late(now(), &mut self.io);
            if let Some(finished) = self.settle(place, step) {
                self.finish_later(finished);
            }
        }
        self.batch.clear();
    }

    /// The next event, if it is the reply to an exchange on an own connection, and the next in line: reads its socket.
    /// None: it is something else, or not complete yet. [`next_event`](Engine::next_event) returns what comes then.
    #[inline]
    pub fn next_reply(&mut self) -> Option<Finished> {
        let ready = *self.ready.get(self.next_ready)?;
        if self.turn > 0 || !self.woken.is_empty() || matches!(ready.token, TIMER | WAKER) {
            return None;
        }
        self.next_ready += 1;
        self.fetch_ahead();
        self.advance(ready.token, ready)
    }

    /// Says that the user of this exchange runs now, which was returned before: its next request probably takes the same
    /// connection.
    #[inline]
    pub fn resumes(&mut self, id: ExchangeId) {
        self.answered = unpack(id.0).0;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::Duration;

    use super::super::tests::{get, next, origin};
    use super::super::{ClientId, Engine, Limits};
    use super::{IN_FLIGHT, MOST};
    use crate::call::{Call, ExchangeId, Finished};
    use crate::clock::now;
    use crate::origin::Origin;

    const REPLY: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";

    /// Clients whose first requests have reached the peer, and the peer's ends of their connections.
    struct Lab {
        engine: Engine,
        origin: Arc<Origin>,
        clients: Vec<ClientId>,
        peers: Vec<TcpStream>,
    }

    impl Lab {
        /// The token of each client's calls is its place.
        fn new(clients: usize) -> Lab {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let origin = origin(&format!("http://{}", listener.local_addr().unwrap()));
            let mut engine = Engine::new(Limits::default()).unwrap();
            let clients: Vec<_> = (0..clients).map(|_| engine.client()).collect();
            let mut peers = Vec::new();
            for (token, client) in clients.iter().enumerate() {
                engine.send(*client, &origin, Call { token: token as u64, ..get(&origin) });
                let mut peer = listener.accept().unwrap().0;
                while peer.set_nonblocking(true).is_ok() && peer.read(&mut [0; 100]).is_err() {
                    engine.poll(Some(Duration::from_millis(1))).unwrap();
                    assert!(engine.next_event().is_none(), "nobody has replied");
                }
                peers.push(peer);
            }
            Lab { engine, origin, clients, peers }
        }

        /// Replies to all, and begins the turn with the first reply.
        fn first(&mut self) -> Finished {
            for peer in &mut self.peers {
                peer.write_all(REPLY).unwrap();
            }
            next(&mut self.engine)
        }

        /// Replies to this one, and takes its reply.
        fn reply_to(&mut self, token: u64) -> Finished {
            self.peers[token as usize].write_all(REPLY).unwrap();
            next(&mut self.engine)
        }

        fn send(&mut self, token: u64) -> ExchangeId {
            let call = Call { token, ..get(&self.origin) };
            self.engine.send_in_batch(self.clients[token as usize], &self.origin, call)
        }

        /// How many requests have reached the peer. On loopback a written one is there at once.
        fn arrived(&self) -> usize {
            self.peers.iter().filter(|peer| peer.peek(&mut [0]).is_ok_and(|length| length > 0)).count()
        }
    }

    /// The next replies of the turn that has begun.
    fn replies(lab: &mut Lab, count: usize) -> Vec<u64> {
        (0..count).map(|_| lab.engine.next_reply().expect("all replies were there").token).collect()
    }

    #[test]
    fn requests_of_a_turn_are_written_together() {
        let mut lab = Lab::new(IN_FLIGHT + MOST);
        let first = lab.first();
        let mut tokens = replies(&mut lab, 3);
        tokens.push(first.token);
        let ids: Vec<_> = tokens.iter().map(|token| lab.send(*token)).collect();
        assert_eq!(lab.arrived(), 0);
        lab.engine.cancel(ids[0]).unwrap();
        lab.engine.write_batch();
        assert_eq!(lab.arrived(), 3, "one was cancelled");
        for token in replies(&mut lab, 2) {
            lab.send(token);
        }
        assert_eq!(lab.arrived(), 3);
        while lab.engine.next_event().is_some() {}
        assert_eq!(lab.arrived(), 5, "the turn has ended");
    }

    #[test]
    fn the_last_one_that_may_wait_has_all_written() {
        let mut lab = Lab::new(IN_FLIGHT + 2 * MOST);
        let first = lab.first();
        let tokens = replies(&mut lab, MOST - 1);
        lab.send(first.token);
        for (before, token) in tokens.into_iter().enumerate() {
            assert_eq!(lab.arrived(), 0, "after {} requests", before + 1);
            lab.send(token);
        }
        assert_eq!(lab.arrived(), MOST);
    }

    #[test]
    fn a_request_that_waited_was_sent_when_it_was_written() {
        let mut lab = Lab::new(IN_FLIGHT + 1);
        let token = lab.first().token;
        lab.send(token);
        let before = now();
        lab.engine.write_batch();
        while lab.engine.next_event().is_some() {}
        let peer = &mut lab.peers[token as usize];
        assert!(peer.read(&mut [0; 100]).is_ok());
        let exchange = lab.reply_to(token).exchange;
        assert!(exchange.due < before && before <= exchange.sent, "{exchange:?}");
    }

    #[test]
    fn with_few_in_flight_a_request_is_written_at_once() {
        let mut lab = Lab::new(2);
        let token = lab.first().token;
        lab.send(token);
        assert_eq!(lab.arrived(), 1);
    }
}
