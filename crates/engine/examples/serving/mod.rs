//! The loop of the examples that are targets: one thread, which ends when its standard input is closed.

use std::io::{ErrorKind, stdin};
use std::os::fd::AsRawFd;

use mio::net::{TcpListener, TcpStream};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use slab::Slab;

const LISTENER: Token = Token(usize::MAX - 1);
const INPUT: Token = Token(usize::MAX - 2);

/// Prints the listener's address, and accepts connections. `open` makes the state of each one, with readiness for
/// `interest`, edge-triggered. `serve` is called with it whenever it is ready, and says whether it is still there. A
/// line of the input is answered by what `report` makes of the number of connections.
pub(crate) fn run<C>(
    mut listener: TcpListener,
    interest: Interest,
    open: impl Fn(TcpStream) -> C,
    mut serve: impl FnMut(&mut C) -> bool,
    report: impl Fn(usize) -> String,
) {
    println!("listening on {}", listener.local_addr().unwrap());
    let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(1024));
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
    poll.registry().register(&mut SourceFd(&stdin().as_raw_fd()), INPUT, Interest::READABLE).unwrap();
    let mut connections: Slab<C> = Slab::new();
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            done => done.unwrap(),
        }
        for event in &events {
            match event.token() {
                INPUT => {
                    if stdin().read_line(&mut String::new()).unwrap() == 0 {
                        return;
                    }
                    println!("{}", report(connections.len()));
                }
                LISTENER => {
                    while let Ok((mut stream, _)) = listener.accept() {
                        let entry = connections.vacant_entry();
                        stream.set_nodelay(true).unwrap();
                        poll.registry().register(&mut stream, Token(entry.key()), interest).unwrap();
                        entry.insert(open(stream));
                    }
                }
                Token(place) => {
                    if !serve(&mut connections[place]) {
                        connections.remove(place);
                    }
                }
            }
        }
    }
}
