//! The rows that WebSockets add: their messages and their ends.
//!
//! To open a connection, and to wait for a message, are requests with rows of their own. Messages and ends are none: they
//! are in no sum over all endpoints.

use crate::endpoints::{CLOSE, MESSAGE_IN, MESSAGE_OUT};
use crate::{EndpointId, Exchange, Outcome, Recorder};

/// The rows of the connections of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketRows {
    message_in: EndpointId,
    close: EndpointId,
}

impl Recorder {
    /// The rows for connections of this request, with its name. None for names over the limit of names.
    pub fn socket_rows(&mut self, request: EndpointId) -> Option<SocketRows> {
        let name = self.stream_name(request)?;
        let [message_in, close] = [MESSAGE_IN, CLOSE].map(|method| self.endpoint(method, &name));
        Some(SocketRows { message_in, close })
    }

    /// The row of the messages that are sent under the name of this request. None for names over the limit of names.
    pub fn message_row(&mut self, request: EndpointId) -> Option<EndpointId> {
        let name = self.stream_name(request)?;
        Some(self.endpoint(MESSAGE_OUT, &name))
    }

    /// Counts a message of `body` bytes that was written at `sent`; it has no time.
    pub fn message_out(&mut self, row: EndpointId, sent: u64, body: u64) {
        let exchange = Exchange { due: sent, sent, arrival: sent, read: sent, bytes_out: body, ..Exchange::default() };
        self.add_event(row, &exchange, body, false);
    }

    /// Records a message of `body` bytes. `exchange`: with its arrival; `previous`: the arrival of the message before it
    /// on its connection. The time is the gap between the two.
    pub fn message_in(&mut self, rows: SocketRows, exchange: &Exchange, previous: Option<u64>, body: u64) {
        let Exchange { arrival, read, .. } = *exchange;
        let start = previous.unwrap_or(arrival).min(arrival);
        let gap = Exchange { due: start, sent: start, arrival, read, bytes_in: body, ..Exchange::default() };
        self.add_event(rows.message_in, &gap, body, previous.is_some());
    }

    /// Records the end of a connection. `exchange`: from the close frame of this end to the peer's, or only the arrival of
    /// an end that the peer began. `message`: why it is a failure.
    pub fn socket_closed(&mut self, rows: SocketRows, exchange: &Exchange, outcome: Outcome, message: &str) {
        if outcome.is_failure() {
            self.failure(rows.close, outcome, message, self.counted_at(exchange));
        }
        let times = (exchange.sent < exchange.arrival).then(|| exchange.times());
        self.add_outcome(rows.close, exchange, outcome, 0, times);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exchange, Outcome, Recorder};

    const MS: u64 = 1_000_000;

    fn at(arrival: u64) -> Exchange {
        Exchange { due: arrival, sent: arrival, arrival, read: arrival, ..Exchange::default() }
    }

    #[test]
    fn messages_and_ends_have_rows_and_are_no_requests() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("WS", "/chat");
        let rows = recorder.socket_rows(request).unwrap();
        let out = recorder.message_row(request).unwrap();
        recorder.exchange(request, &Exchange { due: 0, ..at(5 * MS) }, Outcome::Success, 0);
        recorder.message_out(out, 10 * MS, 4);
        recorder.message_in(rows, &at(20 * MS), None, 7);
        recorder.message_in(rows, &at(50 * MS), Some(20 * MS), 8);
        recorder.socket_closed(rows, &Exchange { due: 60 * MS, sent: 60 * MS, ..at(62 * MS) }, Outcome::Success, "");
        recorder.socket_closed(rows, &at(70 * MS), Outcome::Reset, "closed with code 1011");
        assert_eq!((recorder.total(None).requests, recorder.total(None).failures), (1, 0));
        let taken = recorder.take(None);
        let mut found: Vec<_> = (taken.cells.iter())
            .map(|(_, id, outcome, cell)| {
                let (method, _) = recorder.name(*id).unwrap();
                (method, outcome.name(), cell.count, cell.untimed, cell.response_sum / MS, cell.bytes_body)
            })
            .collect();
        found.sort_unstable();
        assert_eq!(
            found,
            [
                ("WS", "success", 1, 0, 5, 0),
                ("WS close", "reset", 1, 1, 0, 0),
                ("WS close", "success", 1, 0, 2, 0),
                ("message in", "success", 2, 1, 30, 15),
                ("message out", "success", 1, 1, 0, 4),
            ]
        );
    }
}
