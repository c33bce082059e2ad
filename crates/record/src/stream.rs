//! The rows that streams add to those of their requests.
//!
//! The row of a request is its whole exchange. Events of its stream are in two more rows, which are no requests: they are
//! in no sum over all endpoints.

use crate::endpoints::EVENT_ROWS;
use crate::{EndpointId, Exchange, Recorder};

/// The rows of the streams of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRows {
    pub(crate) first: EndpointId,
    pub(crate) event: EndpointId,
}

impl Recorder {
    /// The rows for streams of this request, with its name. None for names over the limit of names.
    pub fn stream_rows(&mut self, request: EndpointId) -> Option<StreamRows> {
        let name = self.stream_name(request)?;
        let [first, event] = EVENT_ROWS.map(|method| self.endpoint(method, &name));
        Some(StreamRows { first, event })
    }

    /// The name of the rows that a request adds. None for names over the limit of names.
    pub(crate) fn stream_name(&self, request: EndpointId) -> Option<String> {
        let (_, name) = self.name(request).filter(|_| Some(request) != self.others())?;
        Some(name.to_owned())
    }

    /// Records an event of `body` bytes. `exchange`: the stamps of the request, with the arrival of this event;
    /// `previous`: the arrival of the event before it.
    pub fn event(&mut self, rows: StreamRows, exchange: &Exchange, previous: Option<u64>, body: u64) {
        let Exchange { arrival, read, .. } = *exchange;
        let Some(previous) = previous else {
            let first = exchange.stamps();
            self.add_event(rows.first, &first, body, true);
            return self.add_event(rows.event, &first, body, false);
        };
        let start = previous.min(arrival);
        let gap = Exchange { due: start, sent: start, arrival, read, ..Exchange::default() };
        self.add_event(rows.event, &gap, body, true);
    }
}

#[cfg(test)]
mod tests {
    use crate::endpoints::{EVENT, FIRST_EVENT};
    use crate::{Exchange, OTHERS, Outcome, Recorder};

    const MS: u64 = 1_000_000;

    fn at(arrival: u64) -> Exchange {
        Exchange { due: 0, sent: 10 * MS, arrival, read: arrival + MS, bytes_in: 99, ..Exchange::default() }
    }

    #[test]
    fn a_stream_adds_the_time_to_its_first_event_and_the_gaps_between_events() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("GET", "/events");
        let rows = recorder.stream_rows(request).unwrap();
        recorder.event(rows, &at(50 * MS), None, 3);
        recorder.event(rows, &at(80 * MS), Some(50 * MS), 4);
        recorder.event(rows, &at(80 * MS), Some(80 * MS), 5);
        recorder.exchange(request, &at(1_500 * MS), Outcome::Success, 12);
        let taken = recorder.take(None);
        let found: Vec<_> = (taken.cells.iter())
            .map(|(second, id, _, cell)| {
                let (method, name) = recorder.name(*id).unwrap();
                let times = [cell.response_sum, cell.response_max, cell.service_sum].map(|time| time / MS);
                (*second, method, name, cell.count, cell.untimed, times, cell.bytes_body)
            })
            .collect();
        assert_eq!(
            found,
            [
                (0, FIRST_EVENT, "/events", 1, 0, [50, 50, 40], 3),
                (0, EVENT, "/events", 3, 1, [30, 30, 30], 12),
                (1, "GET", "/events", 1, 0, [1500, 1500, 1490], 12),
            ]
        );
        let (lag, delay) = taken
            .health
            .iter()
            .fold((0, 0), |sum, (_, health)| (sum.0 + health.lag.count(), sum.1 + health.delay.count()));
        assert_eq!((lag, delay), (1, 1), "only exchanges tell how late the generator is");
    }

    #[test]
    fn events_are_in_no_sum_of_requests() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("GET", "/events");
        let rows = recorder.stream_rows(request).unwrap();
        let event = recorder.endpoint(EVENT, "/events");
        let record = |recorder: &mut Recorder, arrival: u64| {
            recorder.event(rows, &at(arrival), None, 3);
            recorder.event(rows, &at(arrival + MS), Some(arrival), 3);
            recorder.exchange(request, &at(arrival + 2 * MS), Outcome::Success, 6);
        };
        record(&mut recorder, 50 * MS);
        for taken in [false, true] {
            if taken {
                recorder.take(None);
            }
            assert_eq!((recorder.total(None).requests, recorder.total(Some(event)).requests), (1, 2));
            assert_eq!((recorder.latency(None).count(), recorder.recent_latency(None, 0).count()), (1, 1));
            assert_eq!(recorder.recent(None), [(0, 1, 0)]);
        }
    }

    #[test]
    fn names_over_the_limit_have_no_rows_for_their_streams() {
        let mut recorder = Recorder::new(0);
        recorder.limit_names(1);
        let [own, other] = ["/a", "/b"].map(|name| recorder.endpoint("GET", name));
        assert!(recorder.stream_rows(own).is_some());
        assert_eq!(recorder.stream_rows(other), None);
        assert_eq!(recorder.name(other), Some(OTHERS));
    }

    #[test]
    fn events_are_not_in_the_log_of_exchanges() {
        let mut recorder = Recorder::new(0);
        recorder.log(true);
        let request = recorder.endpoint("GET", "/events");
        let rows = recorder.stream_rows(request).unwrap();
        recorder.event(rows, &at(50 * MS), None, 3);
        assert!(recorder.take_log(<[u8]>::is_empty));
    }
}
