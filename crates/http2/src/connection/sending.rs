//! Request bodies, as far as the peer's windows allow them.

use super::{Connection, OUTPUT_MARK};
use crate::frame::{self, DATA, END_STREAM};

impl Connection {
    /// Sends these bytes of a stream, after those that wait. What may not be sent now waits. The stream is not counted as
    /// waiting when this is called.
    pub(super) fn send_from(&mut self, index: usize, bytes: &[u8]) {
        let sent = if self.streams[index].has_unsent() { 0 } else { self.push_data(index, bytes) };
        let stream = &mut self.streams[index];
        stream.body.extend(&bytes[sent..]);
        self.waiting += usize::from(stream.is_waiting());
    }

    /// Sends what waits, in the order in which the streams were opened.
    #[cold]
    pub(super) fn send_waiting(&mut self) {
        for index in 0..self.streams.len() {
            if self.waiting == 0 || self.output.len() - self.written >= OUTPUT_MARK {
                break;
            }
            let stream = &mut self.streams[index];
            if !stream.is_waiting() {
                continue;
            }
            let body = std::mem::take(&mut stream.body);
            let start = stream.sent;
            let sent = start + self.push_data(index, &body[start..]);
            let stream = &mut self.streams[index];
            (stream.body, stream.sent) = (body, sent);
            stream.forget_sent();
            self.waiting -= usize::from(!stream.is_waiting());
        }
    }

    /// Appends DATA frames with as many of these bytes as may be sent now, and the end of the stream if it follows them.
    /// Returns the number of bytes.
    fn push_data(&mut self, index: usize, bytes: &[u8]) -> usize {
        let stream = &mut self.streams[index];
        let mut sent = 0;
        loop {
            let rest = &bytes[sent..];
            let room = self.allowance.room().min(stream.allowance.room()).min(self.peer.max_frame as usize);
            let length = rest.len().min(room);
            let is_end = stream.ends && length == rest.len();
            let is_full = self.output.len() - self.written >= OUTPUT_MARK;
            if length == 0 && !is_end || is_full {
                return sent;
            }
            frame::push(&mut self.output, DATA, if is_end { END_STREAM } else { 0 }, stream.id, &rest[..length]);
            self.allowance.take(length);
            stream.allowance.take(length);
            stream.has_ended = is_end;
            sent += length;
            if is_end {
                return sent;
            }
        }
    }
}
