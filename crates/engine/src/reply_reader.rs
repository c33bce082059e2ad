//! The replies of a call of gRPC whose server streams: finds them in its body, and records them as events are. For native
//! users and for Python users.

use plimsoll_grpc::{MessageSplitter, push_message};
use plimsoll_http::{self as http, Work};
use plimsoll_record::{Exchange, Recorder, StreamRows};

/// A stream of replies that is being read.
#[derive(Debug)]
pub struct ReplyReader {
    splitter: MessageSplitter,
    rows: Option<StreamRows>,
    /// Arrival of the last reply.
    previous: Option<u64>,
    /// The replies, if they are kept: as a body whose messages are not compressed.
    kept: Option<Vec<u8>>,
    limit: u64,
    body: u64,
}

impl ReplyReader {
    /// `head`: of the response. `rows`: where it is recorded; None: nowhere, as for a name over the limit of names.
    /// `keeps`: the replies are kept. `limit`: maximum bytes of a reply, and of all that are kept.
    pub fn new(head: &[u8], rows: Option<StreamRows>, keeps: bool, limit: u64) -> ReplyReader {
        let splitter = MessageSplitter::new(http::header(head, "grpc-encoding"), limit);
        ReplyReader { splitter, rows, previous: None, kept: keeps.then(Vec::new), limit, body: 0 }
    }

    /// Records the replies that end in these bytes, and passes them to `each`. Without work, bytes are kept: then call it
    /// again without new ones. `exchange`: the stamps of the request, with the arrival of these bytes. The error says why
    /// nothing more can be read.
    pub fn feed(
        &mut self,
        recorder: &mut Recorder,
        exchange: &Exchange,
        bytes: &[u8],
        work: &mut Work,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(), String> {
        self.body += bytes.len() as u64;
        let ReplyReader { splitter, rows, previous, kept, limit, .. } = self;
        let fed = splitter.feed(bytes, work, &mut |reply| {
            if let Some(rows) = *rows {
                recorder.event(rows, exchange, *previous, reply.len() as u64);
            }
            *previous = Some(exchange.arrival);
            if let Some(kept) = kept.as_mut().filter(|kept| kept.len() as u64 <= *limit) {
                push_message(reply, false, kept);
            }
            each(reply);
        });
        fed.map_err(|error| error.to_string())?;
        if self.kept().len() as u64 > self.limit {
            return Err(format!(
                "all replies together are over the limit of {} bytes, and the step reads them",
                self.limit
            ));
        }
        Ok(())
    }

    /// Whether a reply is being decompressed that takes more than one share of work.
    pub fn is_in_message(&self) -> bool {
        self.splitter.is_in_message()
    }

    /// The body is complete. The error says why it is not.
    pub fn end(&self) -> Result<(), String> {
        self.splitter.end().map_err(|error| error.to_string())
    }

    /// The replies as a body, or nothing if they are not kept.
    pub fn kept(&self) -> &[u8] {
        self.kept.as_deref().unwrap_or_default()
    }

    /// Bytes in memory: of the reply whose end has not arrived, and of those that are kept.
    pub fn unfinished(&self) -> usize {
        self.splitter.unfinished() + self.kept().len()
    }

    /// Bytes of the body so far.
    pub fn body(&self) -> u64 {
        self.body
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{Exchange, Recorder};

    use super::{ReplyReader, Work};

    /// Two replies: one byte and none.
    const BODY: &[u8] = b"\0\0\0\0\x01a\0\0\0\0\0";

    fn at(arrival: u64) -> Exchange {
        Exchange { arrival, read: arrival, ..Exchange::default() }
    }

    #[test]
    fn replies_are_passed_and_counted_with_the_gaps_between_them() {
        let mut recorder = Recorder::new(0);
        let call = recorder.endpoint("gRPC", "a.B/C");
        let mut reader = ReplyReader::new(b"", recorder.stream_rows(call), true, 100);
        let mut passed = Vec::new();
        for (piece, arrival) in [(&BODY[..3], 10), (&BODY[3..8], 20), (&BODY[8..], 50)] {
            let mut each = |reply: &[u8]| passed.push((reply.to_vec(), arrival));
            reader.feed(&mut recorder, &at(arrival), piece, &mut Work::all(), &mut each).unwrap();
        }
        assert_eq!(passed, [(b"a".to_vec(), 20), (b"".to_vec(), 50)]);
        assert_eq!((reader.end(), reader.kept(), reader.body()), (Ok(()), BODY, 11));
        let cells = recorder.take(None).cells;
        let mut rows: Vec<_> =
            cells.iter().map(|(_, id, _, cell)| (recorder.name(*id).unwrap().0.to_owned(), cell.count)).collect();
        rows.sort_unstable();
        assert_eq!(rows, [("each event".to_owned(), 2), ("first event".to_owned(), 1)]);
    }

    #[test]
    fn a_body_that_is_cut_off_or_too_long_is_refused() {
        let mut recorder = Recorder::new(0);
        let mut feed = |keeps: bool, bytes: &[u8]| {
            let mut reader = ReplyReader::new(b"", None, keeps, 10);
            let fed = reader.feed(&mut recorder, &at(1), bytes, &mut Work::all(), &mut |_| {});
            (fed.err(), reader.end().err(), reader.kept().len())
        };
        assert_eq!(feed(false, BODY), (None, None, 0));
        assert_eq!(feed(false, &BODY[..8]).1, Some("the body ends inside a message, after 2 bytes of it".into()));
        assert!(feed(true, BODY).0.unwrap().starts_with("all replies together are over the limit of 10 bytes"));
        assert!(feed(false, b"\0\0\0\0\x0b").0.unwrap().starts_with("a message has 11 bytes"));
    }
}
