//! Segments that the kernel sends again are counted: when a connection closes, and in turn while it is open.

use crate::lab::{Lab, get, origin};
use crate::peer::{Peer, ok};

#[cfg(all(target_os = "linux", not(feature = "portable")))]
mod lossy {
    use std::net::TcpStream;
    use std::os::fd::AsRawFd;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use plimsoll_engine::Origin;
    use socket2::{SockFilter, SockRef};

    use crate::lab::{Lab, get, origin};
    use crate::peer::{Gate, LIMIT, Peer, gate, ok};

    /// A peer that answers every request, and the sockets that it has accepted.
    fn peer() -> (Peer, Gate<TcpStream>) {
        let (accepted, sockets) = gate();
        let peer = Peer::new(move |_, mut conn| {
            accepted.send(conn.stream.try_clone().unwrap()).unwrap();
            conn.serve(ok("hello").as_bytes());
        });
        (peer, sockets)
    }

    /// Segments that this socket has dropped: what the peer knows of the losses.
    #[allow(unsafe_code)]
    fn dropped(socket: &TcpStream) -> u64 {
        const DROPS: usize = 8; // SK_MEMINFO_DROPS
        let mut values = [0u32; DROPS + 1];
        let mut size = size_of_val(&values) as libc::socklen_t;
        let (fd, place) = (socket.as_raw_fd(), (&raw mut values).cast());
        // SAFETY: `place` is valid for writing `size` bytes.
        let result = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, place, &raw mut size) };
        assert_eq!((result, size as usize), (0, size_of_val(&values)));
        u64::from(values[DROPS])
    }

    /// Sends a request on a kept connection whose other end drops all segments until two were sent again. Returns how
    /// many were sent again at least: all that were dropped but the first, and the one that arrived at last.
    fn lose_request(lab: &mut Lab, origin: &Arc<Origin>, socket: &TcpStream) -> u64 {
        const RETURN: u16 = 0x06; // BPF_RET | BPF_K: how many bytes of a segment are kept
        SockRef::from(socket).attach_filter(&[SockFilter::new(RETURN, 0, 0, 0)]).unwrap();
        let before = dropped(socket);
        lab.send(origin, get(origin));
        let end = Instant::now() + LIMIT;
        while dropped(socket) < before + 3 {
            assert!(Instant::now() < end, "nothing was sent again");
            lab.engine.poll(Some(Duration::from_millis(10))).unwrap();
            assert!(lab.engine.next_event().is_none(), "no request has arrived");
        }
        SockRef::from(socket).detach_filter().unwrap();
        lab.finish().result.unwrap();
        dropped(socket) - before
    }

    #[test]
    fn open_connections_are_asked_in_turn() {
        let (peer, sockets) = peer();
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        assert_eq!(lab.engine.take_retransmissions(usize::MAX), None, "there is no connection yet");
        for _ in 0..3 {
            lab.client = lab.engine.client();
            lab.fetch(&origin, get(&origin));
            sockets.wait();
        }
        lab.client = lab.engine.client();
        lab.fetch(&origin, get(&origin));
        let sent_again = lose_request(&mut lab, &origin, &sockets.wait());
        assert_eq!(lab.engine.take_retransmissions(0), None, "no connection was asked");
        let counts: Vec<_> = (0..3).map(|_| lab.engine.take_retransmissions(1).unwrap()).collect();
        assert!(
            lab.engine.take_retransmissions(1).unwrap() >= sent_again,
            "the fourth is the one; before it: {counts:?}"
        );
        assert!(
            lab.engine.take_retransmissions(usize::MAX).unwrap() < sent_again,
            "what was counted is not counted again"
        );
    }

    #[test]
    fn a_connection_is_asked_when_it_closes() {
        let (peer, sockets) = peer();
        let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
        lab.fetch(&origin, get(&origin));
        let sent_again = lose_request(&mut lab, &origin, &sockets.wait());
        assert_eq!(lab.engine.take_retransmissions(0), None, "no connection was asked");
        lab.engine.close(lab.client);
        assert!(lab.engine.take_retransmissions(0).unwrap() >= sent_again);
    }
}

#[test]
#[cfg_attr(all(target_os = "linux", not(feature = "portable")), ignore = "Linux tells")]
fn other_systems_do_not_tell() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    lab.fetch(&origin, get(&origin));
    assert_eq!(lab.engine.take_retransmissions(usize::MAX), None);
}
