//! Resolves names without blocking the loop. One helper thread queries the system; answers are cached.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use mio::Waker;

/// Lifetime of a cached answer, ns. The system's resolver does not return a name's TTL.
const LIFETIME: u64 = 60_000_000_000;

/// Answers in the cache. Redirects of a target may name any number of hosts.
const MOST_KNOWN: usize = 4096;

/// Host and port.
pub(crate) type Place = (String, u16);

/// One answer of the system's resolver.
pub(crate) type Answer = (Place, io::Result<Vec<SocketAddr>>);

/// The system's resolver behind a cache.
#[derive(Debug)]
pub(crate) struct Resolver {
    known: HashMap<Place, (Vec<SocketAddr>, u64)>,
    answers: Arc<Mutex<Vec<Answer>>>,
    waker: Arc<Waker>,
    /// The thread starts with the first query. Most runs need none.
    questions: Option<Sender<Place>>,
}

impl Resolver {
    pub(crate) fn new(waker: Arc<Waker>) -> Resolver {
        Resolver { known: HashMap::new(), answers: Arc::default(), waker, questions: None }
    }

    /// The addresses of a place, if they are known now. Literal addresses always are.
    pub(crate) fn lookup(&self, host: &str, port: u16, now: u64) -> Option<Vec<SocketAddr>> {
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Some(vec![SocketAddr::new(ip, port)]);
        }
        let (addresses, until) = self.known.get(&(host.to_owned(), port))?;
        (now < *until).then(|| addresses.clone())
    }

    /// Sends a query. The loop wakes when the answer is there.
    pub(crate) fn ask(&mut self, place: Place) -> io::Result<()> {
        if self.questions.is_none() {
            self.questions = Some(start(Arc::clone(&self.answers), Arc::clone(&self.waker))?);
        }
        let sender = self.questions.as_ref().expect("set above");
        sender.send(place).map_err(|_| io::Error::other("the resolver thread has ended"))
    }

    /// Takes the new answers and caches the successful ones.
    pub(crate) fn answers(&mut self, now: u64) -> Vec<Answer> {
        let answers = std::mem::take(&mut *self.answers.lock().expect("the resolver thread does not panic"));
        for (place, answer) in &answers {
            if let Ok(addresses) = answer {
                self.remember(place.clone(), addresses.clone(), now);
            }
        }
        answers
    }

    /// Caches the addresses of `place` from `now` on.
    pub(crate) fn remember(&mut self, place: Place, addresses: Vec<SocketAddr>, now: u64) {
        if self.known.len() >= MOST_KNOWN && !self.known.contains_key(&place) {
            self.known.retain(|_, (_, until)| now < *until);
            if self.known.len() >= MOST_KNOWN {
                // Names that are still in use are asked for once more.
                self.known.clear();
            }
        }
        self.known.insert(place, (addresses, now + LIFETIME));
    }
}

/// The error message: the host, and the text of the system's resolver.
pub(crate) fn unresolved(host: &str, error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit(": ").next().unwrap_or_default();
    format!("cannot resolve {host}: {reason}")
}

fn start(answers: Arc<Mutex<Vec<Answer>>>, waker: Arc<Waker>) -> io::Result<Sender<Place>> {
    let (sender, receiver) = channel();
    thread::Builder::new().name("plimsoll-resolve".into()).spawn(move || serve(&receiver, &answers, &waker))?;
    Ok(sender)
}

/// Runs until the engine is dropped.
fn serve(questions: &Receiver<Place>, answers: &Mutex<Vec<Answer>>, waker: &Waker) {
    for place in questions {
        let answer = (place.0.as_str(), place.1).to_socket_addrs().map(Iterator::collect);
        answers.lock().expect("the loop does not panic with the lock held").push((place, answer));
        if waker.wake().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;

    use mio::{Events, Poll, Token, Waker};

    use super::{LIFETIME, MOST_KNOWN, Resolver, unresolved};

    #[test]
    fn literal_addresses_need_no_query() {
        let poll = Poll::new().unwrap();
        let resolver = Resolver::new(Arc::new(Waker::new(poll.registry(), Token(0)).unwrap()));
        assert_eq!(resolver.lookup("127.0.0.1", 80, 0).unwrap(), ["127.0.0.1:80".parse().unwrap()]);
        assert_eq!(resolver.lookup("::1", 80, 0).unwrap(), ["[::1]:80".parse().unwrap()]);
        assert_eq!(resolver.lookup("localhost", 80, 0), None);
    }

    #[test]
    fn the_cache_has_a_limit_and_keeps_the_latest() {
        let poll = Poll::new().unwrap();
        let mut resolver = Resolver::new(Arc::new(Waker::new(poll.registry(), Token(0)).unwrap()));
        let address = "127.0.0.1:80".parse().unwrap();
        for number in 0..3 * MOST_KNOWN {
            resolver.remember((format!("{number}.test"), 80), vec![address], 0);
            assert!(resolver.known.len() <= MOST_KNOWN);
            assert!(resolver.lookup(&format!("{number}.test"), 80, 1).is_some());
        }
        resolver.remember(("new.test".into(), 80), vec![address], LIFETIME);
        assert!(resolver.known.len() <= MOST_KNOWN);
    }

    #[test]
    fn a_host_without_an_address_is_named() {
        let error = io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(unresolved("x.invalid", &error), "cannot resolve x.invalid: Name or service not known");
    }

    #[test]
    fn an_answer_wakes_the_loop_and_is_known_until_it_expires() {
        let mut poll = Poll::new().unwrap();
        let mut resolver = Resolver::new(Arc::new(Waker::new(poll.registry(), Token(0)).unwrap()));
        resolver.ask(("localhost".into(), 80)).unwrap();
        let mut events = Events::with_capacity(4);
        poll.poll(&mut events, Some(Duration::from_secs(30))).unwrap();
        let answers = resolver.answers(1000);
        assert!(answers[0].1.as_ref().unwrap().iter().all(|address| address.ip().is_loopback()));
        assert!(resolver.lookup("localhost", 80, 1000 + LIFETIME - 1).is_some());
        assert_eq!(resolver.lookup("localhost", 80, 1000 + LIFETIME), None);
    }
}
