//! Native users over HTTP/2: each with a connection of its own, or several with one.

use h2::server::Builder;
use plimsoll_engine::Rules;
use plimsoll_record::Outcome;

use super::served::{echoing, serving};
use crate::peer::Peer;
use crate::shift::{Shift, arrivals};

fn plain(url: &str) -> String {
    format!(
        r#"{{"targets": [{{"url": "{url}", "http2": true}}],
            "flows": [{{"name": "get", "steps": [{{"name": "/", "method": "GET", "path": "/", "timeout": 60.0}}]}}]}}"#
    )
}

fn rules(users_per_connection: usize) -> Rules {
    Rules { users_per_connection, ..Rules::default() }
}

#[test]
fn users_own_a_connection_each_or_share_one_and_every_request_is_counted_once() {
    for (shared, connections) in [(1, 12), (5, 3), (100, 1)] {
        let served = echoing(&Builder::new());
        let mut shift = Shift::with(&plain(&served.peer.url()), rules(shared));
        shift.resize(12);
        shift.work_for(500);
        assert_eq!(served.peer.connections(), connections, "{shared}");
        let account = shift.account();
        assert_eq!(account.counts()[&Outcome::Success], shift.finished);
        assert_eq!(served.requests() as u64, shift.finished, "sent and received");
        assert!(shift.rows().iter().all(|row| [row.due, row.sent, row.arrival, row.read].is_sorted()));
    }
}

#[test]
fn users_that_end_leave_the_connection_to_those_that_stay() {
    let served = echoing(&Builder::new());
    let mut shift = Shift::with(&plain(&served.peer.url()), rules(4));
    shift.resize(8);
    shift.until(|shift| shift.finished > 50);
    shift.resize(3);
    shift.until(|shift| shift.users.users() == 3);
    let connections = shift.engine.connections();
    assert!((1..=2).contains(&connections), "{connections}");
    shift.resize(8);
    shift.until(|shift| shift.finished > 200);
    shift.stop();
    shift.work();
    assert_eq!(shift.account().counts().len(), 1, "nothing has failed");
}

#[test]
fn arrivals_share_connections_and_none_is_lost() {
    let served = echoing(&Builder::new());
    let mut shift = Shift::with(&plain(&served.peer.url()), Rules { max_users: 40, ..rules(10) });
    let start = plimsoll_engine::now();
    shift.arrive(arrivals((0..1000).map(|number| number * 100_000)), start);
    shift.work();
    let account = shift.account();
    assert_eq!((account.counts()[&Outcome::Success], served.requests()), (1000, 1000));
    assert_eq!(account.arrivals(), (1000, 0));
    assert!((1..=4).contains(&served.peer.connections()));
}

#[test]
fn a_cut_cancels_the_requests_of_all_users_of_a_connection() {
    let served = serving(&Builder::new(), async |_, _, respond| {
        std::future::pending::<()>().await;
        drop(respond);
    });
    let mut shift = Shift::with(&plain(&served.peer.url()), rules(3));
    shift.resize(9);
    shift.until(|_| served.requests() == 9);
    shift.cut();
    assert_eq!((shift.engine.in_flight(), shift.engine.connections()), (0, 0));
    assert_eq!(shift.account().counts()[&Outcome::Unanswered], 9);
}

/// After each 20 streams the peer closes its connection, as servers with a limit of requests do.
#[test]
fn connections_that_the_peer_closes_again_and_again_lose_no_request() {
    let peer = Peer::new(|_, mut conn| {
        conn.greet(&[]);
        let mut last = 0;
        for _ in 0..20 {
            let Some(stream) = conn.request_or_end() else { return };
            conn.respond(stream, b"hello");
            last = stream;
        }
        conn.go_away(last, 0);
        conn.rest();
    });
    let mut shift = Shift::with(&plain(&peer.url()), rules(10));
    shift.resize(20);
    shift.work_for(600);
    let account = shift.account();
    assert_eq!(account.counts().into_iter().collect::<Vec<_>>(), [(Outcome::Success, shift.finished)]);
    assert!(account.retries() > 0 && peer.connections() > 20);
}
