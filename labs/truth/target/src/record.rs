//! The target's own record: every request, its arrival, and when its response was passed to the kernel.

use std::collections::HashMap;
use std::fmt::Write;

use crate::request::Request;

/// A string, or a list of numbers, as JSON.
macro_rules! text {
    ($value:expr) => {
        serde_json::to_string($value).expect("strings and lists of numbers have a form in JSON")
    };
}

/// Requests per path with individual times. Further ones are only counted.
const KEPT: usize = 1_000_000;

/// The clock of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The kernel, when the segment arrived.
    Kernel,
    /// Our own clock after the read, if there is no kernel stamp.
    User,
}

/// The entry of one request. It has no effect after a reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    epoch: u32,
    target: usize,
    /// Index in the path's times.
    place: usize,
}

/// The entry of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    epoch: u32,
    index: usize,
}

/// How a reply ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// All of it was passed to the kernel, the last part at this time, monotonic ns.
    Replied(u64),
    /// We reset the connection on request.
    Reset,
    /// The peer had closed the connection.
    Cut,
}

#[derive(Debug, Default)]
struct Target {
    received: u64,
    replied: u64,
    reset: u64,
    cut: u64,
    /// Requests with a cookie.
    cookies: u64,
    /// Monotonic ns, in the order of receipt; the first `KEPT`.
    arrivals: Vec<u64>,
    /// From arrival to the time before the response's last write, ns; of the same requests; None without a response.
    times: Vec<Option<u64>>,
}

/// The record since the last reset.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Distinguishes entries of this record from earlier ones; from 1.
    epoch: u32,
    index: HashMap<String, usize>,
    targets: Vec<(String, Target)>,
    /// Requests on each connection with at least one.
    connections: Vec<u64>,
    kernel_stamps: u64,
    user_stamps: u64,
    /// Connections that ended in the middle of a request.
    partial: u64,
    /// Requests that could not be parsed.
    refused: u64,
    /// [begin, end) of each freeze, monotonic ns.
    freezes: Vec<[u64; 2]>,
    /// [begin, end) of each accept stall, monotonic ns.
    stalls: Vec<[u64; 2]>,
}

impl Record {
    pub(crate) fn new() -> Record {
        Record { epoch: 1, ..Record::default() }
    }

    /// Clears everything. The ends of current requests will not be recorded.
    pub(crate) fn reset(&mut self) {
        *self = Record { epoch: self.epoch + 1, ..Record::default() };
    }

    /// Records a whole request. `place` is its connection's entry, which is new after a reset.
    pub(crate) fn received(&mut self, request: &Request, arrival: u64, source: Source, place: &mut Place) -> Entry {
        if place.epoch != self.epoch {
            *place = Place { epoch: self.epoch, index: self.connections.len() };
            self.connections.push(0);
        }
        self.connections[place.index] += 1;
        match source {
            Source::Kernel => self.kernel_stamps += 1,
            Source::User => self.user_stamps += 1,
        }
        let index = self.index_of(&request.target);
        let known = &mut self.targets[index].1;
        known.received += 1;
        known.cookies += u64::from(request.cookie.is_some());
        if known.arrivals.len() < KEPT {
            known.arrivals.push(arrival);
            known.times.push(None);
            return Entry { epoch: self.epoch, target: index, place: known.arrivals.len() - 1 };
        }
        Entry { epoch: self.epoch, target: index, place: KEPT }
    }

    pub(crate) fn ended(&mut self, entry: Entry, fate: Fate) {
        if entry.epoch != self.epoch {
            return;
        }
        let target = &mut self.targets[entry.target].1;
        match fate {
            Fate::Replied(handed) => {
                target.replied += 1;
                if let Some(time) = target.times.get_mut(entry.place) {
                    *time = Some(handed.saturating_sub(target.arrivals[entry.place]));
                }
            }
            Fate::Reset => target.reset += 1,
            Fate::Cut => target.cut += 1,
        }
    }

    pub(crate) fn partial(&mut self) {
        self.partial += 1;
    }

    pub(crate) fn refused(&mut self) {
        self.refused += 1;
    }

    pub(crate) fn froze(&mut self, begin: u64, end: u64) {
        self.freezes.push([begin, end]);
    }

    pub(crate) fn stalled(&mut self, begin: u64, end: u64) {
        self.stalls.push([begin, end]);
    }

    /// The record as JSON. `stamp_error`: how wrong a kernel stamp can be on the monotonic clock, ns.
    pub(crate) fn json(&self, stamp_error: u64) -> String {
        let targets: Vec<String> =
            self.targets.iter().map(|(name, target)| format!("{}:{}", text!(name), target.json())).collect();
        format!(
            "{{\"paths\":{{{}}},\"connections\":{},\"stamps\":{{\"kernel\":{},\"user\":{},\"error_ns\":{stamp_error}}},\
             \"partial\":{},\"refused\":{},\"freezes_ns\":{},\"stalls_ns\":{}}}\n",
            targets.join(","),
            text!(&self.connections),
            self.kernel_stamps,
            self.user_stamps,
            self.partial,
            self.refused,
            text!(&self.freezes),
            text!(&self.stalls),
        )
    }

    fn index_of(&mut self, target: &str) -> usize {
        if let Some(index) = self.index.get(target) {
            return *index;
        }
        self.targets.push((target.to_owned(), Target::default()));
        self.index.insert(target.to_owned(), self.targets.len() - 1);
        self.targets.len() - 1
    }
}

impl Target {
    fn json(&self) -> String {
        let mut text = String::new();
        let counts = [
            ("received", self.received),
            ("replied", self.replied),
            ("reset", self.reset),
            ("cut", self.cut),
            ("cookies", self.cookies),
            ("not_kept", self.received - self.arrivals.len() as u64),
        ];
        for (name, count) in counts {
            let _ = write!(text, "\"{name}\":{count},");
        }
        format!("{{{text}\"arrivals_ns\":{},\"times_ns\":{}}}", text!(&self.arrivals), text!(&self.times))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Fate, KEPT, Place, Record, Source};
    use crate::request::{Request, get};

    fn read(record: &Record) -> Value {
        serde_json::from_str(&record.json(7)).unwrap()
    }

    #[test]
    fn every_request_is_under_its_target_with_its_times_and_its_fate() {
        let (mut record, mut place) = (Record::new(), Place::default());
        let cookie = Request { cookie: Some("a=b".to_owned()), ..get("/a?x=1") };
        let first = record.received(&get("/a?x=1"), 100, Source::Kernel, &mut place);
        let second = record.received(&cookie, 200, Source::User, &mut place);
        let third = record.received(&get("/b"), 300, Source::Kernel, &mut Place::default());
        record.ended(second, Fate::Replied(250));
        record.ended(third, Fate::Cut);
        record.ended(first, Fate::Reset);
        let a = json!({"received": 2, "replied": 1, "reset": 1, "cut": 0, "cookies": 1, "not_kept": 0,
                       "arrivals_ns": [100, 200], "times_ns": [null, 50]});
        let b = json!({"received": 1, "replied": 0, "reset": 0, "cut": 1, "cookies": 0, "not_kept": 0,
                       "arrivals_ns": [300], "times_ns": [null]});
        let value = read(&record);
        assert_eq!(value["paths"], json!({"/a?x=1": a, "/b": b}));
        assert_eq!(value["connections"], json!([2, 1]));
        assert_eq!(value["stamps"], json!({"kernel": 2, "user": 1, "error_ns": 7}));
    }

    #[test]
    fn what_was_under_way_at_a_reset_is_not_of_the_new_record() {
        let (mut record, mut place) = (Record::new(), Place::default());
        let old = record.received(&get("/a"), 100, Source::Kernel, &mut place);
        record.reset();
        record.ended(old, Fate::Replied(150));
        assert_eq!(read(&record)["paths"], json!({}));
        let new = record.received(&get("/a"), 200, Source::Kernel, &mut place);
        record.ended(old, Fate::Cut);
        record.ended(new, Fate::Replied(201));
        let value = read(&record);
        assert_eq!(value["paths"]["/a"]["times_ns"], json!([1]));
        assert_eq!((&value["paths"]["/a"]["cut"], &value["connections"]), (&json!(0), &json!([1])));
    }

    #[test]
    fn past_the_limit_requests_are_counted_without_their_times() {
        let (mut record, mut place) = (Record::new(), Place::default());
        let request = get("/a");
        for index in 0..KEPT as u64 + 2 {
            let entry = record.received(&request, index, Source::Kernel, &mut place);
            record.ended(entry, Fate::Replied(index + 5));
        }
        let target = &record.targets[0].1;
        assert_eq!((target.received, target.replied, target.times.len()), (1_000_002, 1_000_002, KEPT));
        assert_eq!(read(&record)["paths"]["/a"]["not_kept"], json!(2));
    }

    #[test]
    fn the_other_fields_are_reported_too() {
        let mut record = Record::new();
        record.partial();
        record.refused();
        record.froze(1, 2);
        record.stalled(3, 4);
        let value = read(&record);
        assert_eq!((&value["partial"], &value["refused"]), (&json!(1), &json!(1)));
        assert_eq!((&value["freezes_ns"], &value["stalls_ns"]), (&json!([[1, 2]]), &json!([[3, 4]])));
    }
}
