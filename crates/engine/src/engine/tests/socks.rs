//! SOCKS 5 proxies of targets whose names have several addresses here, and what allowed hosts mean for them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use plimsoll_record::Outcome;

use super::{Engine, Limits, get, next, now};
use crate::allow::{AllowList, AllowedHosts};
use crate::call::Finished;
use crate::origin::{Origin, OriginOptions};

/// Sends a request to two.test, with these addresses, by way of the proxy.
fn fetch(engine: &mut Engine, addresses: &[&str], scheme: &str, proxy: &TcpListener) -> Finished {
    let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
    engine.resolver.remember(("two.test".into(), 80), addresses, now());
    let proxy = Some(format!("{scheme}://{}", proxy.local_addr().unwrap()));
    let origin = Origin::new("http://two.test", &OriginOptions { proxy, ..OriginOptions::default() }).unwrap();
    let (client, origin) = (engine.client(), Arc::new(origin));
    engine.send(client, &origin, get(&origin));
    next(engine)
}

/// Takes a request for an IPv4 address, and answers with this code. Returns the last byte of the address.
fn asked(socket: &mut TcpStream, code: u8) -> u8 {
    socket.read_exact(&mut [0; 3]).unwrap();
    socket.write_all(&[5, 0]).unwrap();
    let mut request = [0; 10];
    socket.read_exact(&mut request).unwrap();
    socket.write_all(&[5, code, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
    request[7]
}

#[test]
fn each_address_of_a_name_is_tried_as_without_a_proxy() {
    let mut engine = Engine::new(Limits::default()).unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = thread::spawn({
        let proxy = proxy.try_clone().unwrap();
        move || {
            let mut codes = [5, 4, 0].into_iter();
            let mut asked_for = || asked(&mut proxy.accept().unwrap().0, codes.next().unwrap());
            [asked_for(), asked_for(), asked_for()]
        }
    });
    let finished = fetch(&mut engine, &["192.0.2.1:80", "192.0.2.2:80", "192.0.2.3:80"], "socks5", &proxy);
    assert_eq!(finished.result.unwrap_err().outcome, Outcome::Reset, "a tunnel was open, and closed");
    let mut addresses = peer.join().unwrap();
    addresses.sort_unstable();
    assert_eq!(addresses, [1, 2, 3]);
    assert_eq!((engine.in_flight(), engine.connections()), (0, 0));
}

#[test]
fn the_last_refusal_is_reported_and_one_by_the_rules_of_the_proxy_ends_it() {
    for (codes, message) in [
        (&[4, 5][..], "the proxy refused with code 5: connection refused"),
        (&[2], "the proxy refused with code 2: its rules do not allow the connection"),
    ] {
        let mut engine = Engine::new(Limits::default()).unwrap();
        let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = thread::spawn({
            let proxy = proxy.try_clone().unwrap();
            move || {
                for &code in codes {
                    asked(&mut proxy.accept().unwrap().0, code);
                }
            }
        });
        let failure = fetch(&mut engine, &["192.0.2.1:80", "192.0.2.2:80"], "socks5", &proxy).result.unwrap_err();
        assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Connect, message));
        peer.join().unwrap();
        assert_eq!((engine.in_flight(), engine.connections()), (0, 0));
    }
}

#[test]
fn what_is_resolved_here_must_be_allowed_by_its_address() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    for (scheme, pattern, refusal) in [
        ("socks5", "192.0.2.0/24", "the proxy 127.0.0.1"),
        ("socks5", "127.0.0.0/8", "192.0.2.7 (two.test)"),
        ("socks5h", "127.0.0.0/8", "two.test (behind a proxy, so by name only)"),
    ] {
        let mut engine = Engine::new(Limits::default()).unwrap();
        engine.allow(AllowedHosts::new(vec![AllowList::new([pattern], "the list").unwrap()]));
        let failure = fetch(&mut engine, &["192.0.2.7:80"], scheme, &proxy).result.unwrap_err();
        assert_eq!(failure.message, format!("not allowed: {refusal} is not in the list"), "{scheme} {pattern}");
    }
    assert_eq!(proxy.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody has connected");
}
