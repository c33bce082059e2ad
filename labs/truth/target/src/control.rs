//! Requests that control the target or read its record. They are not recorded.

use crate::request::Request;

/// A control request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// `GET /truth`: the record.
    Tell,
    /// `POST /truth/reset`: starts a new record, and resets every seed.
    Reset,
    /// `POST /freeze?every=5&for=1`: from now on freezes for the last `for` seconds of every `every` seconds. Times in
    /// ns; length 0 ends it.
    Freeze { period: u64, length: u64 },
    /// `POST /accept-stall?for=1`: accepts no connection for this long, ns.
    Stall { length: u64 },
}

const SECOND: f64 = 1e9;

/// Whether it is a control request, and a valid one.
pub(crate) fn control(request: &Request) -> Option<Result<Control, String>> {
    match (request.method.as_str(), request.path()) {
        ("GET", "/truth") => Some(Ok(Control::Tell)),
        ("POST", "/truth/reset") => Some(Ok(Control::Reset)),
        ("POST", "/freeze") => Some(freeze(request)),
        ("POST", "/accept-stall") => Some(request.duration("for", 1.0, SECOND).map(|length| Control::Stall { length })),
        (_, "/truth" | "/truth/reset" | "/freeze" | "/accept-stall") => {
            Some(Err("GET /truth, POST to the others".to_owned()))
        }
        _ => None,
    }
}

fn freeze(request: &Request) -> Result<Control, String> {
    let period = request.duration("every", 5.0, SECOND)?;
    let length = request.duration("for", 1.0, SECOND)?;
    if length >= period {
        Err("for must be shorter than every".to_owned())
    } else {
        Ok(Control::Freeze { period, length })
    }
}

/// Future freezes: everything stops for the last `length` of each `period`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Freezes {
    period: u64,
    length: u64,
    /// Start of the next freeze, monotonic ns.
    next: u64,
}

impl Freezes {
    /// From `now` on. Lengths in ns, 0 < length < period.
    pub(crate) fn new(period: u64, length: u64, now: u64) -> Freezes {
        Freezes { period, length, next: now + period - length }
    }

    /// Start of the next freeze.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// End of the current freeze. The next one starts a period later.
    pub(crate) fn enter(&mut self) -> u64 {
        let end = self.next + self.length;
        self.next += self.period;
        end
    }
}

#[cfg(test)]
mod tests {
    use super::{Control, Freezes, control};
    use crate::request::{Request, get};

    fn post(target: &str) -> Option<Result<Control, String>> {
        control(&Request { method: "POST".to_owned(), ..get(target) })
    }

    #[test]
    fn only_its_own_paths_are_control_requests() {
        assert_eq!(control(&get("/truth")), Some(Ok(Control::Tell)));
        assert_eq!(post("/truth/reset"), Some(Ok(Control::Reset)));
        assert_eq!(control(&get("/fixed?ms=1")), None);
        assert!(control(&get("/truth/reset")).unwrap().is_err());
    }

    #[test]
    fn a_freeze_is_shorter_than_its_period() {
        let (period, length) = (5_000_000_000, 1_000_000_000);
        assert_eq!(post("/freeze?every=5&for=1"), Some(Ok(Control::Freeze { period, length })));
        assert_eq!(post("/freeze?for=0"), Some(Ok(Control::Freeze { period, length: 0 })));
        assert!(post("/freeze?every=1&for=1").unwrap().is_err());
        assert_eq!(post("/accept-stall?for=0.5"), Some(Ok(Control::Stall { length: 500_000_000 })));
    }

    #[test]
    fn freezes_keep_their_beat() {
        let mut freezes = Freezes::new(5, 1, 100);
        assert_eq!((freezes.next(), freezes.enter()), (104, 105));
        assert_eq!((freezes.next(), freezes.enter()), (109, 110));
    }
}
