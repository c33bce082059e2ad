//! The rows that generated text adds to those of its request: the parts of a stream of tokens.

use crate::cell::EndpointId;
use crate::endpoints::{CHUNK, FIRST_EVENT, FIRST_TOKEN, GOOD, TOKEN, TOKEN_BY_CHUNK};
use crate::stream::StreamRows;
use crate::{Exchange, Recorder};

/// The rows of the generated texts of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenRows {
    first_event: EndpointId,
    /// The chunks with content: its first event is the first token.
    pub content: StreamRows,
    token: EndpointId,
    token_by_chunk: EndpointId,
    good: EndpointId,
}

/// The tokens of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// At least 1.
    pub count: u64,
    /// The target did not say how many: it is the number of chunks with content.
    pub is_by_chunk: bool,
    /// Arrival of the first chunk with content.
    pub first: u64,
    /// Arrival of the last one.
    pub last: u64,
}

impl Tokens {
    /// Time per token after the first one, ns. None for a text that came in one piece.
    pub fn time_per_token(&self) -> Option<u64> {
        (self.count > 1 && self.last > self.first).then(|| (self.last - self.first) / (self.count - 1))
    }
}

impl Recorder {
    /// The rows for the texts of this request, with its name. None for names over the limit of names.
    pub fn token_rows(&mut self, request: EndpointId) -> Option<TokenRows> {
        let name = self.stream_name(request)?;
        let mut row = |method| self.endpoint(method, &name);
        Some(TokenRows {
            first_event: row(FIRST_EVENT),
            content: StreamRows { first: row(FIRST_TOKEN), event: row(CHUNK) },
            token: row(TOKEN),
            token_by_chunk: row(TOKEN_BY_CHUNK),
            good: row(GOOD),
        })
    }

    /// Records the first event of a stream, whatever is in it.
    pub fn first_event(&mut self, rows: &TokenRows, exchange: &Exchange, body: u64) {
        self.add_event(rows.first_event, &exchange.stamps(), body, true);
    }

    /// Records the tokens of a complete text, in the second of its last chunk.
    pub fn tokens(&mut self, rows: &TokenRows, tokens: &Tokens) {
        let row = if tokens.is_by_chunk { rows.token_by_chunk } else { rows.token };
        let time = tokens.time_per_token();
        let start = tokens.last - time.unwrap_or(0);
        let each = Exchange { due: start, sent: start, arrival: tokens.last, read: tokens.last, ..Exchange::default() };
        self.add_event(row, &each, 0, time.is_some());
        self.add_untimed(row, tokens.last, tokens.count - 1);
    }

    /// Counts a request that met all its objectives.
    pub fn good(&mut self, rows: &TokenRows, exchange: &Exchange, body: u64) {
        self.add_event(rows.good, &exchange.stamps(), body, true);
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;
    use crate::endpoints::{CHUNK, FIRST_EVENT, FIRST_TOKEN, GOOD, TOKEN, TOKEN_BY_CHUNK};
    use crate::{Exchange, Recorder};

    const MS: u64 = 1_000_000;

    fn at(arrival: u64) -> Exchange {
        Exchange { due: 0, sent: 10 * MS, arrival, read: arrival + MS, bytes_in: 99, ..Exchange::default() }
    }

    #[test]
    fn a_text_has_rows_for_its_first_token_its_chunks_its_tokens_and_whether_it_is_good() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("POST", "chat");
        let rows = recorder.token_rows(request).unwrap();
        recorder.first_event(&rows, &at(20 * MS), 30);
        recorder.event(rows.content, &at(50 * MS), None, 40);
        recorder.event(rows.content, &at(90 * MS), Some(50 * MS), 40);
        let tokens = Tokens { count: 9, is_by_chunk: false, first: 50 * MS, last: 90 * MS };
        recorder.tokens(&rows, &tokens);
        recorder.tokens(&rows, &Tokens { count: 2, is_by_chunk: true, ..tokens });
        recorder.good(&rows, &at(95 * MS), 110);
        assert_eq!(recorder.total(None).requests, 0, "none of them is a request");
        let taken = recorder.take(None);
        let mut found: Vec<_> = (taken.cells.iter())
            .map(|(_, id, _, cell)| {
                let (method, name) = recorder.name(*id).unwrap();
                assert_eq!((name, cell.bytes_in), ("chat", 0));
                (method, cell.count, cell.untimed, cell.response_sum / MS, cell.bytes_body)
            })
            .collect();
        found.sort_unstable();
        let mut expected = [
            (FIRST_EVENT, 1, 0, 20, 30),
            (FIRST_TOKEN, 1, 0, 50, 40),
            (CHUNK, 2, 1, 40, 80),
            (TOKEN, 9, 8, 5, 0),
            (TOKEN_BY_CHUNK, 2, 1, 40, 0),
            (GOOD, 1, 0, 95, 110),
        ];
        expected.sort_unstable();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_text_in_one_piece_has_tokens_and_no_time_per_token() {
        let mut recorder = Recorder::new(0);
        let request = recorder.endpoint("POST", "chat");
        let rows = recorder.token_rows(request).unwrap();
        for (count, last) in [(1, 50), (7, 50)] {
            let tokens = Tokens { count, is_by_chunk: false, first: 50 * MS, last: last * MS };
            assert_eq!(tokens.time_per_token(), None);
            recorder.tokens(&rows, &tokens);
        }
        let taken = recorder.take(None);
        let (.., cell) = &taken.cells[0];
        assert_eq!((taken.cells.len(), cell.count, cell.untimed, cell.response.count()), (1, 8, 8, 0));
    }
}
