//! A text that a model generates while its user reads: a chat completion, chunk by chunk.

use plimsoll_record::{Exchange, Recorder, TokenRows, Tokens};
use plimsoll_scenario::{Chunk, Objectives};

/// What has arrived of a text.
#[derive(Debug)]
pub(crate) struct Text {
    rows: Option<TokenRows>,
    objectives: Option<Objectives>,
    /// An event has arrived.
    has_begun: bool,
    /// Chunks with content.
    chunks: u64,
    /// Arrivals of the first and of the last one.
    first: Option<u64>,
    last: Option<u64>,
    /// Output tokens, as the target says.
    usage: Option<u64>,
    /// The first mistake of the target.
    wrong: Option<String>,
}

impl Text {
    pub(crate) fn new(rows: Option<TokenRows>, objectives: Option<Objectives>) -> Text {
        Text { rows, objectives, has_begun: false, chunks: 0, first: None, last: None, usage: None, wrong: None }
    }

    /// Takes the data of an event. `exchange`: with the arrival of this event.
    pub(crate) fn event(&mut self, recorder: &mut Recorder, exchange: &Exchange, data: &[u8]) {
        let size = data.len() as u64;
        if let Some(rows) = self.rows.as_ref().filter(|_| !self.has_begun) {
            recorder.first_event(rows, exchange, size);
        }
        self.has_begun = true;
        let chunk = match Chunk::read(data) {
            Ok(chunk) => chunk,
            Err(wrong) => return self.mistake(wrong),
        };
        if let Some(error) = chunk.error {
            self.mistake(format!("the stream reports an error: {error}"));
        }
        self.usage = chunk.tokens.or(self.usage);
        if chunk.has_content {
            if let Some(rows) = &self.rows {
                recorder.event(rows.content, exchange, self.last, size);
            }
            self.first = self.first.or(Some(exchange.arrival));
            self.last = Some(exchange.arrival);
            self.chunks += 1;
        }
    }

    /// Why the complete stream is no text.
    pub(crate) fn wrong(&self) -> Option<String> {
        let empty = || self.first.is_none().then(|| "no event has content: the model generated nothing".to_owned());
        self.wrong.clone().or_else(empty)
    }

    /// Records a complete text. `exchange`: of the whole response, with `body` bytes.
    pub(crate) fn end(&self, recorder: &mut Recorder, exchange: &Exchange, body: u64) {
        let (Some(rows), Some(first), Some(last)) = (&self.rows, self.first, self.last) else { return };
        let usage = self.usage.filter(|count| *count > 0);
        let tokens = Tokens { count: usage.unwrap_or(self.chunks), is_by_chunk: usage.is_none(), first, last };
        recorder.tokens(rows, &tokens);
        let first_token = first.saturating_sub(exchange.due);
        let is_good = self.objectives.is_some_and(|objectives| {
            objectives.are_met(first_token, tokens.time_per_token(), exchange.times().response)
        });
        if is_good {
            recorder.good(rows, exchange, body);
        }
    }

    #[cold]
    fn mistake(&mut self, text: String) {
        self.wrong.get_or_insert(text);
    }
}
