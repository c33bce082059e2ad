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
        self.note_sendable(index);
    }

    /// Notes whether the stream can send a part of what waits, as far as its own window is concerned.
    pub(super) fn note_sendable(&mut self, index: usize) {
        let stream = &self.streams[index];
        let (id, has_unsent) = (stream.id, stream.has_unsent());
        let is_sendable = stream.is_waiting() && (stream.allowance.room() > 0 || !has_unsent);
        self.forget_sendable(id);
        if is_sendable {
            self.sendable.insert((has_unsent, id));
        }
    }

    /// Sends what waits: ends without bytes, and then bodies in the order in which the streams were opened.
    #[cold]
    pub(super) fn send_waiting(&mut self) {
        while let Some((needs_window, id)) = self.sendable.first().copied()
            && self.output.len() - self.written < OUTPUT_MARK
        {
            let Some(index) = self.find(id).filter(|_| !needs_window || self.allowance.room() > 0) else { return };
            let stream = &mut self.streams[index];
            let body = std::mem::take(&mut stream.body);
            let start = stream.sent;
            let sent = start + self.push_data(index, &body[start..]);
            self.sent_late += (sent - start) as u64;
            let stream = &mut self.streams[index];
            (stream.body, stream.sent) = (body, sent);
            stream.forget_sent();
            self.waiting -= usize::from(!stream.is_waiting());
            self.note_sendable(index);
        }
    }

    /// Appends DATA frames with as many of these bytes as may be sent now, and the end of the stream if it follows them.
    /// Returns the number of bytes.
    fn push_data(&mut self, index: usize, bytes: &[u8]) -> usize {
        #[cfg(test)]
        {
            self.looks += 1;
        }
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

#[cfg(test)]
mod tests {
    use plimsoll_http::{Head, Limits};

    use crate::frame::{self, SETTINGS};
    use crate::{Connection, Events, Options, StreamError};

    const STREAMS: usize = 1000;

    struct Nothing;

    impl Events for Nothing {
        fn interim(&mut self, _: u64, _: u16) {}
        fn head(&mut self, _: u64, _: &Head<'_>) {}
        fn body(&mut self, _: u64, _: &[u8]) {}
        fn trailers(&mut self, _: u64, _: &[u8]) {}
        fn end(&mut self, _: u64) {}
        fn failed(&mut self, _: u64, _: StreamError) {}
    }

    /// Uploads of 100 bytes whose windows are empty.
    fn uploads() -> Connection {
        let mut connection = Connection::new(&Options::default());
        input(&mut connection, &window_sizes(&[0]));
        for tag in 0..STREAMS as u64 {
            connection.open(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", &[7; 100], true, tag).expect("there is room");
        }
        connection.wrote(connection.output().len());
        assert_eq!(connection.waiting, STREAMS);
        connection.looks = 0;
        connection
    }

    /// A SETTINGS frame with these first windows of streams, one after another.
    fn window_sizes(sizes: &[u32]) -> Vec<u8> {
        let settings: Vec<u8> = sizes.iter().flat_map(|size| [&[0, 4][..], &size.to_be_bytes()].concat()).collect();
        let mut bytes = Vec::new();
        frame::push(&mut bytes, SETTINGS, 0, 0, &settings);
        bytes
    }

    fn window_updates(stream: u32, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..count {
            frame::push_window_update(&mut bytes, stream, 1);
        }
        bytes
    }

    fn input(connection: &mut Connection, bytes: &[u8]) {
        connection.input(bytes, &Limits::default(), &mut Nothing).expect("the peer may send this");
    }

    #[test]
    fn a_frame_about_windows_looks_only_at_streams_that_can_send() {
        let mut connection = uploads();
        input(&mut connection, &window_updates(0, 10_000));
        assert_eq!(connection.looks, 0, "no stream has a window");
        input(&mut connection, &window_updates(2 * STREAMS as u32 - 1, 50));
        assert_eq!(connection.looks, 50, "one stream has");
        connection.wrote(connection.output().len());
        assert_eq!((connection.looks, connection.sent_late), (50, 50));
    }

    #[test]
    fn streams_wait_for_the_window_of_the_connection_without_being_looked_at() {
        let mut connection = uploads();
        connection.allowance.take(65_535);
        input(&mut connection, &window_sizes(&[1000]));
        for stream in [1, 3, 5] {
            input(&mut connection, &window_updates(stream, 10_000));
        }
        assert_eq!((connection.looks, connection.sendable.len()), (0, STREAMS));
        input(&mut connection, &window_updates(0, 250));
        assert_eq!((connection.looks, connection.sent_late), (250, 250), "one byte each time");
        assert_eq!(connection.waiting, STREAMS - 2);
    }

    #[test]
    fn the_windows_of_a_settings_frame_are_applied_once() {
        let mut connection = uploads();
        let sizes: Vec<u32> = (0..2000).map(|number| number % 2).collect();
        input(&mut connection, &window_sizes(&sizes));
        assert_eq!((connection.looks, connection.sent_late), (STREAMS, STREAMS as u64), "one byte of each stream");
        assert_eq!(connection.sendable.len(), 0);
    }

    #[test]
    fn nothing_waits_of_streams_that_are_closed() {
        let mut connection = uploads();
        input(&mut connection, &window_sizes(&[1]));
        connection.allowance.take(65_535);
        input(&mut connection, &window_sizes(&[3]));
        assert_eq!(connection.sendable.len(), STREAMS);
        let mut away = Vec::new();
        frame::push(&mut away, frame::GOAWAY, 0, 0, &[0, 0, 0, 9, 0, 0, 0, 0]);
        input(&mut connection, &away);
        assert_eq!((connection.open_streams(), connection.waiting, connection.sendable.len()), (5, 5, 5));
    }
}
