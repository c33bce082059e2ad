//! Everything recorded is returned, in the right second and under the right name.

use proptest::prelude::*;

use super::Recorder;
use crate::cell::LARGEST;
use crate::endpoints::TOKEN;
use crate::failures::{MOST_MESSAGES, OTHER_MESSAGES};
use crate::{Durations, Exchange, Outcome, StampSource, Tokens};

const SECOND: u64 = 1_000_000_000;

fn arrived(at: u64, response: u64) -> Exchange {
    Exchange {
        due: at - response,
        sent: at - response,
        arrival: at,
        read: at,
        source: StampSource::Kernel,
        ..Exchange::default()
    }
}

#[test]
fn a_sample_belongs_to_the_second_of_its_arrival() {
    let mut recorder = Recorder::new(5 * SECOND);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(6 * SECOND - 1, 3000), Outcome::Success, 10);
    recorder.exchange(endpoint, &arrived(6 * SECOND, 5000), Outcome::Success, 10);
    let taken = recorder.take(None);
    let seconds: Vec<_> =
        taken.cells.iter().map(|(second, _, _, cell)| (*second, cell.count, cell.response_max)).collect();
    assert_eq!(seconds, [(0, 1, 3000), (1, 1, 5000)]);
}

#[test]
fn only_closed_seconds_are_taken_and_a_late_sample_opens_its_second_again() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(SECOND / 2, 10), Outcome::Success, 0);
    recorder.exchange(endpoint, &arrived(SECOND + 1, 10), Outcome::Success, 0);
    assert_eq!(recorder.take(Some(1)).cells.len(), 1);
    recorder.exchange(endpoint, &arrived(SECOND / 2 + 1, 10), Outcome::Success, 0);
    let rest: Vec<_> = recorder.take(None).cells.iter().map(|(second, ..)| *second).collect();
    assert_eq!(rest, [0, 1]);
    assert!(recorder.take(None).cells.is_empty());
}

#[test]
fn an_unanswered_exchange_has_the_time_that_it_waited_and_is_no_request() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(100, 10), Outcome::Unanswered, 0);
    let taken = recorder.take(None);
    let (_, _, outcome, cell) = &taken.cells[0];
    assert_eq!((*outcome, cell.count, cell.untimed, cell.response_max), (Outcome::Unanswered, 1, 0, 10));
    assert_eq!((taken.health[0].1.lag.count(), taken.health[0].1.delay.count()), (1, 0));
    assert_eq!(recorder.total(None).requests, 0);
}

#[test]
fn exchanges_that_open_a_connection_are_counted_with_what_it_took() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    let kept = arrived(10_000, 500);
    recorder.exchange(endpoint, &Exchange { dns: 1, connect: 20, tls: 300, ..kept }, Outcome::Success, 0);
    recorder.exchange(endpoint, &kept, Outcome::Success, 0);
    let cell = &recorder.take(None).cells[0].3;
    assert_eq!((cell.count, cell.connected, cell.connect_sum), (2, 1, 321));
}

#[test]
fn an_untimed_custom_sample_does_not_disturb_the_extremes() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("WS", "send");
    recorder.custom(endpoint, 9000, None, 3, Outcome::Success);
    recorder.custom(endpoint, 9000, Some(4000), 3, Outcome::Success);
    let taken = recorder.take(None);
    let cell = &taken.cells[0].3;
    assert_eq!((cell.count, cell.untimed, cell.bytes_body), (2, 1, 6));
    assert_eq!((cell.response_min, cell.response_max, cell.response_sum), (4000, 4000, 4000));
}

#[test]
fn times_of_a_generator_on_time_are_kept_from_the_first_that_is_not_the_service_time() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    let late = Exchange { due: 10_000, sent: 40_000, arrival: 90_000, read: 90_000, ..Exchange::default() };
    let waited = Exchange { free: 30_000, ..late };
    recorder.exchange(endpoint, &late, Outcome::Success, 0);
    recorder.exchange(endpoint, &Exchange { arrival: SECOND, ..late }, Outcome::Success, 0);
    recorder.exchange(endpoint, &waited, Outcome::Success, 0);
    recorder.exchange(endpoint, &late, Outcome::Success, 0);
    let taken = recorder.take(None);
    let (first, second) = (&taken.cells[0].3, &taken.cells[1].3);
    let on_time = first.on_time.as_ref().expect("one of them waited for a user");
    assert_eq!(on_time.buckets().collect::<Vec<_>>(), [(50, 2), (70, 1)]);
    assert_eq!(first.service.buckets().collect::<Vec<_>>(), [(50, 3)]);
    assert!(second.on_time.is_none(), "where nothing waited, they are the service times");
}

#[test]
fn stamps_are_judged_per_second() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for source in [StampSource::Kernel, StampSource::User, StampSource::Rejected] {
        recorder.exchange(endpoint, &Exchange { source, ..arrived(50, 10) }, Outcome::Success, 0);
    }
    // A refusal has no arrival to stamp.
    recorder.exchange(endpoint, &Exchange { source: StampSource::User, ..arrived(50, 10) }, Outcome::Connect, 0);
    let health = &recorder.take(None).health[0].1;
    assert_eq!((health.user_stamps, health.rejected_stamps), (2, 1));
    assert_eq!((health.delay.count(), health.lag.count()), (3, 4));
}

#[test]
fn failures_are_counted_by_message_and_never_lost() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for n in 0..MOST_MESSAGES as u64 + 5 {
        recorder.failure(endpoint, Outcome::Http, &format!("error {}", words(n)), n);
    }
    recorder.failure(endpoint, Outcome::Http, "error aaad", 99_999);
    let failures = recorder.take(None).failures;
    assert_eq!(failures.iter().map(|(.., failure)| failure.count).sum::<u64>(), MOST_MESSAGES as u64 + 6);
    let other = failures.iter().find(|(_, _, message, _)| message.group == OTHER_MESSAGES).unwrap();
    assert_eq!(other.3.count, 5);
    let third = failures.iter().find(|(_, _, message, _)| message.group == "error aaad").unwrap();
    assert_eq!((third.3.count, third.3.first, third.3.last), (2, 3, 99_999));
    assert!(recorder.take(None).failures.is_empty());
}

#[test]
fn a_message_is_cut_between_characters() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.failure(endpoint, Outcome::Http, &"é".repeat(2000), 1);
    assert_eq!(recorder.take(None).failures[0].2.group.len(), 2000);
}

/// Four letters for a number.
fn words(number: u64) -> String {
    (0..4).rev().map(|place| char::from(b'a' + (number / 26_u64.pow(place) % 26) as u8)).collect()
}

#[test]
fn messages_that_differ_in_what_changes_are_one_kind_with_the_first_as_an_example() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for port in 50_000..50_000 + 2 * MOST_MESSAGES as u64 {
        recorder.failure(endpoint, Outcome::Reset, &format!("lost 127.0.0.1:{port}"), port);
    }
    for status in [500, 503] {
        recorder.failure(endpoint, Outcome::Http, &format!("HTTP {status}"), 1);
    }
    let mut failures = recorder.take(None).failures;
    failures.sort_by_key(|(_, _, message, _)| message.group.clone());
    let found: Vec<_> = failures
        .iter()
        .map(|(_, _, message, failure)| (&*message.group, &*message.example, message.is_varied, failure.count))
        .collect();
    let lost = ("lost [address]", "lost 127.0.0.1:50000", true, 2 * MOST_MESSAGES as u64);
    assert_eq!(found, [("HTTP 500", "", false, 1), ("HTTP 503", "", false, 1), lost]);
}

#[test]
fn a_message_that_never_changes_is_its_own_example_until_it_does() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    let texts = |recorder: &Recorder| {
        recorder.filed().into_iter().map(|(_, _, m, f)| (m.example, m.is_varied, f.count)).collect::<Vec<_>>()
    };
    for _ in 0..3 {
        recorder.failure(endpoint, Outcome::Assertion, "expected 1500 items", 1);
        recorder.take(None);
    }
    assert_eq!(texts(&recorder), [("expected 1500 items".to_owned(), false, 3)]);
    recorder.failure(endpoint, Outcome::Assertion, "expected 1501 items", 1);
    assert_eq!(texts(&recorder), [("expected 1500 items".to_owned(), true, 4)]);
}

#[test]
fn the_end_of_a_long_message_does_not_move_with_what_changes_in_it() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for seconds in ["1.234", "12.345", "123.456"] {
        let text = format!("after {seconds} s: {}", "word ".repeat(1000));
        recorder.failure(endpoint, Outcome::Http, &text, 1);
    }
    let failures = recorder.take(None).failures;
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].2.group.len(), failures[0].2.example.len()), (2000, 2000));
}

#[test]
fn an_endpoint_keeps_its_id() {
    let mut recorder = Recorder::new(0);
    let first = recorder.endpoint("GET", "/a");
    let second = recorder.endpoint("POST", "/a");
    assert_ne!(first, second);
    assert_eq!(recorder.endpoint("GET", "/a"), first);
    assert_eq!(recorder.name(second), Some(("POST", "/a")));
    assert_eq!(recorder.endpoints().collect::<Vec<_>>(), [("GET", "/a"), ("POST", "/a")]);
}

#[test]
fn arrivals_are_counted_in_the_second_of_their_due_time() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for due in [0, SECOND - 1, SECOND, SECOND, 3 * SECOND] {
        recorder.offered(due);
    }
    recorder.dropped(endpoint, SECOND);
    recorder.dropped(endpoint, 3 * SECOND);
    let taken = recorder.take(None);
    let health: Vec<_> = taken.health.iter().map(|(second, h)| (*second, h.offered, h.dropped)).collect();
    assert_eq!(health, [(0, 2, 0), (1, 2, 1), (3, 1, 1)]);
    let cells: Vec<_> = taken.cells.iter().map(|(at, _, outcome, c)| (*at, *outcome, c.count, c.untimed)).collect();
    assert_eq!(cells, [(1, Outcome::Dropped, 1, 1), (3, Outcome::Dropped, 1, 1)]);
    assert_eq!(taken.health[1].1.lag.count(), 0, "what was never sent has no lag");
}

#[test]
fn a_generator_that_runs_out_of_something_is_not_a_target_that_refuses() {
    let mut recorder = Recorder::new(0);
    let (ours, theirs) =
        ([libc::EMFILE, libc::ENFILE, libc::EADDRNOTAVAIL, libc::ENOBUFS, libc::ENOMEM], [libc::ECONNREFUSED, 0]);
    for errno in ours.into_iter().chain(theirs) {
        recorder.errno(errno, SECOND);
    }
    let health = recorder.take(None).health;
    assert_eq!(health.iter().map(|(second, h)| (*second, h.exhausted)).collect::<Vec<_>>(), [(1, 5)]);
}

#[test]
fn failures_of_the_warm_up_are_counted_but_not_filed() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.warm_until(SECOND);
    for at in [SECOND - 1, SECOND] {
        recorder.exchange(endpoint, &arrived(at, 10), Outcome::Http, 0);
        recorder.failure(endpoint, Outcome::Http, "500", at);
    }
    let taken = recorder.take(None);
    assert_eq!(taken.cells.iter().map(|(.., cell)| cell.count).sum::<u64>(), 2);
    let (_, _, _, failure) = &taken.failures[0];
    assert_eq!((taken.failures.len(), failure.count, failure.first), (1, 1, SECOND));
}

#[test]
fn arrivals_that_were_due_in_the_warm_up_stay_there_when_they_are_answered_later() {
    let answers = |is_open: bool| {
        let mut recorder = Recorder::new(0);
        let endpoint = recorder.endpoint("GET", "/");
        recorder.warm_until(2 * SECOND);
        for due in [SECOND, 2 * SECOND - 1, 2 * SECOND] {
            if is_open {
                recorder.offered(due);
            }
            let exchange = Exchange { due, ..arrived(4 * SECOND, SECOND) };
            recorder.failure(endpoint, Outcome::Http, "500", recorder.counted_at(&exchange));
            recorder.exchange(endpoint, &exchange, Outcome::Http, 0);
        }
        let taken = recorder.take(None);
        let cells: Vec<_> = taken.cells.iter().map(|(second, .., cell)| (*second, cell.count)).collect();
        (cells, taken.failures.iter().map(|(.., failure)| failure.count).sum::<u64>())
    };
    assert_eq!(answers(true), (vec![(1, 2), (4, 1)], 1));
    assert_eq!(answers(false), (vec![(4, 3)], 3), "users have no due times that a schedule knows");
}

#[test]
fn the_log_has_a_row_for_whatever_is_recorded_while_it_is_on() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(10, 1), Outcome::Success, 0);
    recorder.log(true);
    recorder.exchange(endpoint, &arrived(20, 1), Outcome::Success, 0);
    recorder.custom(endpoint, 30, Some(1), 0, Outcome::Success);
    recorder.dropped(endpoint, 40);
    recorder.log(false);
    recorder.exchange(endpoint, &arrived(50, 1), Outcome::Success, 0);
    let rows = recorder.take_log(|packed| crate::log::columns::columns(packed, 0)).unwrap();
    let arrivals = rows.columns.iter().find(|(name, _)| *name == "arrival").unwrap();
    let arrivals: Vec<u8> = arrivals.1.chunks(8).map(|arrival| arrival[0]).collect();
    assert_eq!((arrivals, rows.rows), (vec![20, 30, 40], 3));
    assert!(recorder.take_log(<[u8]>::is_empty));
}

#[test]
fn a_restart_forgets_all_but_the_names() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.log(true);
    recorder.exchange(endpoint, &arrived(20, 1), Outcome::Http, 0);
    recorder.failure(endpoint, Outcome::Http, "500", 20);
    recorder.offered(20);
    recorder.restart(SECOND);
    let taken = recorder.take(None);
    assert!(taken.cells.is_empty() && taken.health.is_empty() && taken.failures.is_empty());
    assert!(recorder.take_log(<[u8]>::is_empty));
    assert_eq!(recorder.endpoint("GET", "/"), endpoint);
}

proptest! {
    /// For any sequence of takes, the parts add up to the whole.
    #[test]
    fn nothing_is_lost_between_takes(
        samples in prop::collection::vec((0..10 * SECOND, 0..3u32, 0..SECOND, any::<bool>()), 0..300),
        cut in 0..300usize,
    ) {
        let mut recorder = Recorder::new(0);
        let endpoints: Vec<_> = ["/a", "/b", "/c"].iter().map(|name| recorder.endpoint("GET", name)).collect();
        let mut parts = Vec::new();
        for (place, &(at, endpoint, response, failed)) in samples.iter().enumerate() {
            let outcome = if failed { Outcome::Http } else { Outcome::Success };
            recorder.exchange(endpoints[endpoint as usize], &arrived(at + response, response), outcome, 1);
            if place == cut {
                parts.extend(recorder.take(Some(5)).cells);
            }
        }
        parts.extend(recorder.take(None).cells);
        prop_assert_eq!(parts.iter().map(|(.., cell)| cell.count).sum::<u64>(), samples.len() as u64);
        prop_assert_eq!(parts.iter().map(|(.., cell)| cell.response.count()).sum::<u64>(), samples.len() as u64);
        let sum: u64 = samples.iter().map(|(_, _, response, _)| response).sum();
        prop_assert_eq!(parts.iter().map(|(.., cell)| cell.response_sum).sum::<u64>(), sum);
    }
}

#[test]
fn sums_beyond_the_largest_number_stay_at_it() {
    let mut recorder = Recorder::new(0);
    let request = recorder.endpoint("POST", "chat");
    let rows = recorder.token_rows(request).unwrap();
    for _ in 0..3 {
        recorder.tokens(&rows, &Tokens { count: u64::MAX, is_by_chunk: false, first: 10, last: 20 });
    }
    let token = recorder.find(TOKEN, "chat");
    assert_eq!(recorder.total(token).requests, LARGEST);
    let taken = recorder.take(None);
    let (.., cell) = &taken.cells[0];
    assert!(cell.numbers().all(|number| number <= LARGEST));
    assert_eq!(cell.numbers().next(), Some(LARGEST));
    let sums = recorder.total(token);
    recorder.absorb(token.unwrap(), &sums, &Durations::default(), None);
    assert_eq!((recorder.total(token).requests, recorder.total(token).untimed), (LARGEST, LARGEST));
}
