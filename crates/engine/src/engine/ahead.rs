//! Memory that is asked for some events before it is used.
//!
//! With thousands of users, the memory of one of them has left the processor's caches before its next reply comes. The
//! engine would wait for memory again and again while it handles one event. So it asks for a later event's connection
//! early, and a caller can do the same with what it needs. A hint changes nothing but the time, so it may be wrong.

use super::Engine;
use crate::call::unpack;
use crate::connection::Connection;

/// How many events early. With 2 and with 8 an exchange costs as much.
const AHEAD: usize = 4;

/// Bytes that the processor fetches at a time.
const LINE: usize = 64;

/// Has the processor fetch what is at an address of this process, if it can: any address will do. Stable Rust has this
/// for x86-64 only.
#[inline(always)]
#[allow(clippy::inline_always)] // one instruction
#[allow(unsafe_code)]
pub fn fetch(address: usize) {
    // SAFETY: the instruction reads nothing for the program. It ignores addresses that are not mapped.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The same for `length` bytes from an address.
#[inline]
pub fn fetch_all(address: usize, length: usize) {
    for offset in (0..length).step_by(LINE) {
        fetch(address.wrapping_add(offset));
    }
}

impl Engine {
    /// Has the connection of a later event fetched.
    #[inline]
    pub(super) fn fetch_ahead(&self) {
        if let Some(connection) = self.connection_of(AHEAD) {
            fetch_all(std::ptr::from_ref(connection).addr(), size_of_val(connection));
        }
    }

    /// The token of the exchange that a later event is about, if it is about one of an own connection; 0: the next one.
    /// That event may not finish it.
    #[inline]
    pub fn upcoming(&self, later: usize) -> Option<u64> {
        Some(self.connection_of(later)?.flight.as_ref()?.token())
    }

    #[inline]
    fn connection_of(&self, later: usize) -> Option<&Connection> {
        let ready = self.ready.get(self.next_ready.checked_add(later)?)?;
        self.connections.get(unpack(ready.token.0 as u64).0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use super::super::tests::{get, origin};
    use super::super::{Engine, Event, Limits};
    use super::{fetch, fetch_all};
    use crate::call::Call;

    #[test]
    fn any_address_may_be_fetched() {
        for address in [0, 1, usize::MAX, 1 << 47, (&raw const LIMIT).addr()] {
            fetch(address);
            fetch_all(address, 200);
        }
    }

    static LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn the_exchanges_of_later_events_are_known_before_they_finish() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = std::thread::spawn(move || {
            let mut streams: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
            for stream in &mut streams {
                assert!(stream.read(&mut [0; 100]).unwrap() > 0);
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
            }
            streams
        });
        let mut engine = Engine::new(Limits::default()).unwrap();
        let origin = origin(&format!("http://{address}"));
        for token in [7, 8, 9] {
            let client = engine.client();
            engine.send(client, &origin, Call { token, ..get(&origin) });
        }
        let (mut finished, end) = (Vec::new(), Instant::now() + LIMIT);
        while finished.len() < 3 {
            assert!(Instant::now() < end, "nothing happened");
            engine.poll(Some(Duration::from_millis(100))).unwrap();
            loop {
                let known: Vec<_> = (0..10).filter_map(|later| engine.upcoming(later)).collect();
                let Some(event) = engine.next_event() else { break };
                if let Event::Finished(done) = event {
                    assert!(known.contains(&done.token), "{} {known:?}", done.token);
                    finished.push(done.token);
                }
            }
            assert_eq!(engine.upcoming(0), None, "between two turns");
        }
        finished.sort_unstable();
        assert_eq!(finished, [7, 8, 9]);
        drop(peer.join());
    }
}
