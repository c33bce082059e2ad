//! The sums contain every exchange once, for any order of takes.

use proptest::prelude::*;

use super::super::Recorder;
use crate::totals::RECENT;
use crate::{Durations, Exchange, Failure, Message, Outcome, Sums};

const SECOND: u64 = 1_000_000_000;

fn arrived(at: u64, response: u64) -> Exchange {
    let due = at - response;
    Exchange { due, sent: due, arrival: at, read: at, ..Exchange::default() }
}

#[test]
fn a_total_has_what_was_taken_and_what_was_not() {
    let mut recorder = Recorder::new(0);
    let (a, b) = (recorder.endpoint("GET", "/a"), recorder.endpoint("GET", "/b"));
    recorder.exchange(a, &arrived(SECOND, 4000), Outcome::Success, 10);
    recorder.exchange(a, &arrived(SECOND + 5, 2000), Outcome::Http, 20);
    recorder.take(None);
    recorder.exchange(a, &arrived(2 * SECOND, 9000), Outcome::Success, 1);
    recorder.exchange(b, &arrived(SECOND - 1, 500), Outcome::Success, 2);
    let expected = Sums {
        requests: 3,
        failures: 1,
        timed: 3,
        bytes_body: 31,
        response_sum: 15_000,
        response_min: 2000,
        response_max: 9000,
        first: SECOND,
        last: 2 * SECOND,
        untimed: 0,
    };
    assert_eq!(recorder.total(Some(a)), expected);
    let whole = recorder.total(None);
    assert_eq!((whole.requests, whole.response_min, whole.first, whole.last), (4, 500, SECOND - 1, 2 * SECOND));
    assert_eq!(recorder.latency(Some(a)).buckets().collect::<Vec<_>>(), [(2, 1), (4, 1), (9, 1)]);
    assert_eq!(recorder.latency(None).count(), 4);
}

#[test]
fn what_says_nothing_about_the_target_is_no_request_and_a_refusal_has_no_time() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    for outcome in Outcome::ALL {
        recorder.exchange(endpoint, &arrived(100_000, 10_000), outcome, 0);
    }
    recorder.custom(endpoint, 100_000, None, 0, Outcome::Success);
    for taken in [false, true] {
        let sums = recorder.total(Some(endpoint));
        assert_eq!((sums.requests, sums.failures, sums.timed, sums.response_sum), (9, 7, 4, 40_000), "{taken}");
        assert_eq!(sums.untimed, 1, "{taken}");
        assert_eq!(recorder.latency(None).count(), 4);
        assert_eq!(recorder.recent(None), [(0, 9, 7)]);
        recorder.take(None);
    }
}

#[test]
fn recent_seconds_are_kept_apart_and_forgotten() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    let other = recorder.endpoint("GET", "/other");
    for second in 0..90 {
        recorder.exchange(endpoint, &arrived(second * SECOND + 20_000_000, 1_000_000 * (second + 1)), Outcome::Http, 0);
        if second < 88 {
            recorder.take(Some(second as u32 + 1));
        }
    }
    recorder.exchange(endpoint, &arrived(89 * SECOND + 1, 1), Outcome::Success, 0);
    recorder.exchange(other, &arrived(89 * SECOND + 1, 1), Outcome::Success, 0);
    let recent = recorder.recent(Some(endpoint));
    assert_eq!(recent.len(), RECENT as usize);
    assert_eq!((recent[0], recent[59]), ((30, 1, 1), (89, 2, 1)));
    assert_eq!(recorder.recent(None)[59], (89, 3, 1));
    assert_eq!(recorder.recent_latency(Some(endpoint), 87).count(), 4);
    assert_eq!(recorder.recent_latency(None, 89).count(), 3);
    assert_eq!(recorder.recent_latency(Some(endpoint), 0).count(), 63, "what is older was forgotten when it was taken");
    assert_eq!(recorder.recent_latency(Some(endpoint), 88).max(), 90_047, "to three digits");
}

#[test]
fn failures_are_there_before_and_after_they_are_taken() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    let counts = |recorder: &Recorder| recorder.filed().into_iter().map(|(_, _, _, f)| f).collect::<Vec<_>>();
    recorder.failure(endpoint, Outcome::Http, "500", 5);
    assert_eq!(counts(&recorder), [Failure { count: 1, first: 5, last: 5 }]);
    recorder.take(None);
    recorder.failure(endpoint, Outcome::Http, "500", 7);
    assert_eq!(counts(&recorder), [Failure { count: 2, first: 5, last: 7 }]);
}

#[test]
fn a_reset_restarts_the_sums_and_the_taken_data_stays_complete() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(10_000, 5000), Outcome::Http, 3);
    recorder.failure(endpoint, Outcome::Http, "500", 10);
    recorder.offered(10);
    recorder.reset_totals(20);
    assert_eq!((recorder.since(), recorder.total(None)), (20, Sums::default()));
    assert!(recorder.recent(None).is_empty() && recorder.filed().is_empty());
    recorder.exchange(endpoint, &arrived(30_000, 7000), Outcome::Http, 4);
    recorder.failure(endpoint, Outcome::Http, "500", 30);
    recorder.reset_totals(40);
    recorder.failure(endpoint, Outcome::Http, "500", 50);
    recorder.exchange(endpoint, &arrived(50_000, 1000), Outcome::Http, 5);
    let sums = recorder.total(Some(endpoint));
    assert_eq!((sums.requests, sums.response_min, sums.response_max, sums.bytes_body), (1, 1000, 1000, 5));
    assert_eq!(recorder.latency(None).count(), 1);

    let taken = recorder.take(None);
    assert_eq!(taken.cells.iter().map(|(.., cell)| (cell.count, cell.bytes_body)).sum_pairs(), (3, 12));
    assert_eq!((taken.health.len(), taken.health[0].1.lag.count(), taken.health[0].1.offered), (1, 3, 1));
    assert_eq!(taken.failures.iter().map(|(.., f)| (f.count, f.first)).collect::<Vec<_>>(), [(3, 10)]);
    assert_eq!(recorder.total(None).requests, 1, "a take counts nothing twice");
    assert_eq!(recorder.filed()[0].3.count, 1);
}

trait SumPairs {
    fn sum_pairs(self) -> (u64, u64);
}

impl<I: Iterator<Item = (u64, u64)>> SumPairs for I {
    fn sum_pairs(self) -> (u64, u64) {
        self.fold((0, 0), |sum, each| (sum.0 + each.0, sum.1 + each.1))
    }
}

#[test]
fn one_total_is_reset_and_the_others_continue() {
    let mut recorder = Recorder::new(0);
    let (a, b) = (recorder.endpoint("GET", "/a"), recorder.endpoint("GET", "/b"));
    let requests = |recorder: &Recorder| [Some(a), Some(b), None].map(|each| recorder.total(each).requests);
    recorder.exchange(a, &arrived(10_000, 5000), Outcome::Success, 0);
    recorder.exchange(b, &arrived(10_000, 5000), Outcome::Success, 0);
    recorder.reset_total(Some(a));
    assert_eq!(requests(&recorder), [0, 1, 2]);
    recorder.exchange(a, &arrived(20_000, 5000), Outcome::Success, 0);
    recorder.reset_total(None);
    assert_eq!(requests(&recorder), [1, 1, 0]);
}

#[test]
fn what_was_recorded_elsewhere_adds_to_the_sums_and_to_nothing_that_is_handed_over() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(SECOND, 5_000_000), Outcome::Success, 1);
    let mut response = Durations::default();
    response.record(2000, 3);
    let sums = Sums {
        requests: 4,
        failures: 1,
        timed: 3,
        untimed: 1,
        response_sum: 6_000_000,
        response_min: 2_000_000,
        response_max: 2_000_000,
        first: 7,
        last: 3 * SECOND,
        ..Sums::default()
    };
    recorder.absorb(endpoint, &sums, &response, Some(2));
    let refused = Message { group: "refused".to_owned(), example: String::new(), is_varied: false };
    recorder.absorb_failure(endpoint, Outcome::Connect, &refused, Failure { count: 1, first: 8, last: 8 });
    let total = recorder.total(Some(endpoint));
    assert_eq!((total.requests, total.timed, total.untimed, total.response_sum), (5, 4, 1, 11_000_000));
    assert_eq!(
        (total.response_min, total.response_max, total.first, total.last),
        (2_000_000, 5_000_000, 7, 3 * SECOND)
    );
    assert_eq!(recorder.latency(None).buckets().collect::<Vec<_>>(), [(2000, 3), (5003, 1)]);
    assert_eq!(recorder.recent(None), [(1, 1, 0), (2, 4, 1)]);
    assert_eq!(recorder.filed().len(), 1);
    let taken = recorder.take(None);
    assert_eq!((taken.cells.len(), taken.failures.len()), (1, 0));
}

#[test]
fn a_restart_also_forgets_the_sums() {
    let mut recorder = Recorder::new(0);
    let endpoint = recorder.endpoint("GET", "/");
    recorder.exchange(endpoint, &arrived(10_000, 5000), Outcome::Http, 3);
    recorder.failure(endpoint, Outcome::Http, "500", 10);
    recorder.take(None);
    recorder.restart(SECOND);
    assert_eq!((recorder.epoch(), recorder.since(), recorder.total(Some(endpoint))), (SECOND, SECOND, Sums::default()));
    assert!(recorder.filed().is_empty() && recorder.recent(None).is_empty());
}

proptest! {
    /// The sums equal those of the plain list of samples, for any takes in between.
    #[test]
    fn sums_are_those_of_all_samples(
        samples in prop::collection::vec((0..8 * SECOND, 0..3u32, 0..SECOND, any::<bool>(), 0..8u8), 1..200),
    ) {
        let mut recorder = Recorder::new(0);
        let endpoints: Vec<_> = ["/a", "/b", "/c"].iter().map(|name| recorder.endpoint("GET", name)).collect();
        let mut plain = Durations::default();
        for &(at, endpoint, response, failed, action) in &samples {
            let outcome = if failed { Outcome::Http } else { Outcome::Success };
            recorder.exchange(endpoints[endpoint as usize], &arrived(at + response, response), outcome, 1);
            plain.record_ns(response);
            if action == 0 {
                recorder.take(Some(4));
            }
        }
        let whole = recorder.total(None);
        let mut parts = Sums::default();
        for endpoint in &endpoints {
            parts.add(&recorder.total(Some(*endpoint)));
        }
        prop_assert_eq!(whole, parts);
        prop_assert_eq!(whole.requests, samples.len() as u64);
        prop_assert_eq!(whole.failures, samples.iter().filter(|each| each.3).count() as u64);
        prop_assert_eq!(whole.response_sum, samples.iter().map(|each| each.2).sum::<u64>());
        prop_assert_eq!(Some(whole.response_min), samples.iter().map(|each| each.2).min());
        prop_assert_eq!(Some(whole.last), samples.iter().map(|each| each.0 + each.2).max());
        prop_assert_eq!(recorder.latency(None).buckets().collect::<Vec<_>>(), plain.buckets().collect::<Vec<_>>());
        let recent: u64 = recorder.recent(None).iter().map(|each| each.1).sum();
        prop_assert_eq!(recent, samples.len() as u64, "all within {} s", RECENT);
    }
}
