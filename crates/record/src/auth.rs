//! The rows of exchanges that only say who sends the others: requests for tokens, and challenges.
//!
//! They are no requests of the scenario, and in no sum over all endpoints.

use crate::endpoints::{AUTH_CHALLENGE, AUTH_TOKEN};
use crate::{EndpointId, Exchange, Outcome, Recorder};

impl Recorder {
    /// The row of the requests for tokens to a service with this name.
    pub fn token_row(&mut self, service: &str) -> EndpointId {
        self.endpoint(AUTH_TOKEN, service)
    }

    /// The row of the challenges to this request, with its name. None for names over the limit of names.
    pub fn challenge_row(&mut self, request: EndpointId) -> Option<EndpointId> {
        let name = self.stream_name(request)?;
        Some(self.endpoint(AUTH_CHALLENGE, &name))
    }

    /// Records an exchange of such a row. `message`: why it is a failure.
    pub fn auth_exchange(&mut self, row: EndpointId, exchange: &Exchange, outcome: Outcome, body: u64, message: &str) {
        if outcome.is_failure() {
            self.failure(row, outcome, message, self.counted_at(exchange));
        }
        let times = outcome.has_duration().then(|| exchange.times());
        self.add_outcome(row, exchange, outcome, body, times);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Exchange, Outcome, Recorder};

    const MS: u64 = 1_000_000;

    #[test]
    fn tokens_and_challenges_have_rows_and_are_no_requests() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("GET", "/a");
        let token = recorder.token_row("http://h/token");
        let challenge = recorder.challenge_row(request).unwrap();
        let exchange = Exchange { due: MS, sent: MS, arrival: 5 * MS, read: 5 * MS, ..Exchange::default() };
        recorder.exchange(request, &exchange, Outcome::Success, 0);
        recorder.auth_exchange(token, &exchange, Outcome::Success, 7, "");
        recorder.auth_exchange(token, &exchange, Outcome::Http, 0, "status 400, invalid_client");
        recorder.auth_exchange(challenge, &exchange, Outcome::Success, 0, "");
        assert_eq!((recorder.total(None).requests, recorder.total(None).failures), (1, 0));
        let taken = recorder.take(None);
        let rows: Vec<_> = (taken.cells.iter())
            .map(|(_, id, outcome, cell)| {
                let (method, name) = recorder.name(*id).unwrap();
                (method, name, outcome.name(), cell.count, cell.response_sum / MS)
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("GET", "/a", "success", 1, 4),
                ("auth token", "http://h/token", "success", 1, 4),
                ("auth token", "http://h/token", "http", 1, 4),
                ("auth challenge", "/a", "success", 1, 4),
            ]
        );
        assert_eq!(taken.failures.len(), 1);
        assert_eq!(taken.health[0].1.offered, 0);
    }
}
