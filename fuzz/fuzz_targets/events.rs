//! Any bytes as a body with events: the same events in one piece, in pieces and byte by byte, and none over the limit.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_http::{Event, EventFormat, EventSplitter, EventTooLong};

type Found = (Vec<u8>, Vec<u8>, Vec<u8>, Option<u64>);

fuzz_target!(|input: &[u8]| {
    // fuzz/README.md describes this layout.
    let [setting, length, body @ ..] = input else { return };
    let format = if setting & 1 == 0 { EventFormat::Sse } else { EventFormat::Lines };
    let limit = 1_u64 << (setting >> 1 & 15);

    let whole = split(format, limit, body, body.len().max(1));
    assert_eq!(split(format, limit, body, 1), whole);
    assert_eq!(split(format, limit, body, usize::from(*length).max(1)), whole);
    assert!(whole.0.iter().all(|(_, data, ..)| data.len() as u64 <= limit));
});

fn split(format: EventFormat, limit: u64, body: &[u8], length: usize) -> (Vec<Found>, Option<EventTooLong>) {
    let mut splitter = EventSplitter::new(format, limit);
    let mut found = Vec::new();
    let mut each = |event: Event<'_>| {
        found.push((event.name.to_vec(), event.data.to_vec(), event.id.to_vec(), event.retry));
    };
    for piece in body.chunks(length) {
        if let Err(error) = splitter.feed(piece, &mut each) {
            return (found, Some(error));
        }
    }
    splitter.end(&mut each);
    (found, None)
}
