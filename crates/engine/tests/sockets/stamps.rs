//! The stamps of an exchange: their order, their clock, and which time contains which delay.

use std::thread::sleep;
use std::time::Duration;

use plimsoll_engine::{Call, now};
use plimsoll_record::{Exchange, StampSource};

use crate::lab::{Lab, SECOND, STAMPS, get, origin, post};
use crate::peer::{Conn, Peer, gate, ok};

const MILLISECOND: u64 = SECOND / 1000;

/// Maximum error of a kernel stamp, ns: the two clocks drift less between two measurements of their offset.
const TOLERANCE: u64 = MILLISECOND / 2;

fn assert_ordered(exchange: &Exchange) {
    let stamps = [exchange.due, exchange.sent, exchange.first_byte, exchange.arrival, exchange.read];
    assert!(stamps.is_sorted() && exchange.due > 0, "{exchange:?}");
}

#[test]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), ignore = "needs stamps of the kernel")]
fn stamps_are_the_kernels_and_in_order() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    assert!(lab.engine.kernel_stamps(), "this kernel gives no software receive stamps");
    let start = now();
    for _ in 0..50 {
        let exchange = lab.fetch(&origin, get(&origin)).exchange;
        assert_ordered(&exchange);
        assert_eq!(exchange.source, STAMPS);
        assert!(start <= exchange.due && exchange.read <= now());
        let times = exchange.times();
        assert_eq!(times.response, times.lag + times.service);
    }
}

/// The response has arrived; the caller does not read it for 50 ms.
#[test]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), ignore = "needs stamps of the kernel")]
fn a_caller_that_is_busy_sees_it_in_delay_and_not_in_service() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    assert!(lab.engine.kernel_stamps());
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    lab.wait_readable();
    let there = now();
    sleep(Duration::from_millis(50));
    let exchange = lab.finish().exchange;
    assert_ordered(&exchange);
    assert!(exchange.arrival <= there + TOLERANCE, "{exchange:?}");
    assert!(exchange.times().delay >= 50 * MILLISECOND - TOLERANCE, "{exchange:?}");
}

/// Two responses have arrived in one turn; the caller is slow with the first one.
#[test]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), ignore = "needs stamps of the kernel")]
fn a_caller_that_is_busy_with_one_exchange_delays_the_next_one() {
    let (written, wait_written) = gate();
    let peer = Peer::new(move |_, mut conn| {
        while conn.head().is_some() {
            conn.write(ok("hello"));
            written.send(()).unwrap();
        }
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    // The first round connects. In the others it is likely, but not certain, that one poll finds both.
    for round in 0..100 {
        for _ in 0..2 {
            lab.send(&origin, get(&origin));
        }
        if round > 0 {
            (0..2).for_each(|_| wait_written.wait());
        }
        let found = lab.engine.poll(None).unwrap();
        lab.finish();
        let handed_over = now();
        sleep(Duration::from_millis(20));
        let second = lab.finish().exchange;
        if round == 0 {
            (0..2).for_each(|_| wait_written.wait());
        } else if found == 2 {
            assert!(second.read >= handed_over + 20 * MILLISECOND, "{second:?}");
            assert!(second.arrival <= handed_over + TOLERANCE, "{second:?}");
            return;
        }
    }
    panic!("two responses were never found by one poll");
}

#[test]
fn what_was_due_earlier_has_lag() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let due = now() - 30 * MILLISECOND;
    let exchange = lab.fetch(&origin, Call { due, ..get(&origin) }).exchange;
    assert_eq!(exchange.due, due);
    assert!(exchange.times().lag >= 30 * MILLISECOND);
    assert_ordered(&exchange);
}

#[test]
fn what_is_sent_before_it_is_due_has_no_lag() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let exchange = lab.fetch(&origin, Call { due: now() + 60 * SECOND, ..get(&origin) }).exchange;
    assert_eq!((exchange.due, exchange.times().lag), (exchange.sent, 0));
    assert_ordered(&exchange);
}

/// The peer delays the end of the body until the head has been read.
#[test]
#[cfg_attr(not(all(target_os = "linux", not(feature = "portable"))), ignore = "needs stamps of the kernel")]
fn the_first_byte_is_stamped_when_the_head_is_there_and_arrival_when_the_body_is() {
    let (go, wait_go) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        conn.write(ok("kept"));
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
        wait_go.wait();
        conn.write("b");
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    assert!(lab.engine.kernel_stamps());
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    lab.wait_readable();
    lab.turn(Duration::ZERO);
    let head_was_read = now();
    go.send(()).unwrap();
    let exchange = lab.finish().exchange;
    assert_ordered(&exchange);
    assert!(exchange.first_byte <= head_was_read, "{exchange:?}");
    assert!(exchange.arrival + TOLERANCE >= head_was_read, "{exchange:?}");
}

#[test]
fn the_set_up_of_a_connection_is_in_service_and_kept_apart() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, named) = (Lab::new(), origin(&format!("http://localhost:{}", peer.address.port())));
    let first = lab.fetch(&named, get(&named)).exchange;
    assert!(first.dns > 0 && first.connect > 0 && first.tls == 0);
    assert!(first.dns + first.connect <= first.times().service);
    let second = lab.fetch(&named, get(&named)).exchange;
    assert_eq!((second.dns, second.connect, second.tls), (0, 0, 0));
}

/// The end of a connection has no stamp, so the arrival of such a body is the time of the read.
#[test]
fn a_body_that_ends_with_the_connection_has_a_stamp_of_ours() {
    let peer = Peer::new(|_, mut conn| {
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\n\r\nbody");
    });
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    let exchange = lab.fetch(&origin, post(&origin, b"x")).exchange;
    assert_ordered(&exchange);
    assert_eq!((exchange.source, exchange.times().delay), (StampSource::User, 0));
}
