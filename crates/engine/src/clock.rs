//! The monotonic clock, and the conversion of the kernel's real-time stamps to it.

use plimsoll_record::StampSource;

use crate::platform::MONOTONIC;

/// Maximum age of a measured offset between the two clocks, ns.
const OFFSET_LIFETIME: u64 = 100_000_000;

/// Nanoseconds on the monotonic clock.
#[inline]
pub fn now() -> u64 {
    read(MONOTONIC)
}

/// Milliseconds since 1970.
pub(crate) fn unix_millis() -> i64 {
    (read(libc::CLOCK_REALTIME) / 1_000_000).cast_signed()
}

#[allow(unsafe_code)]
#[inline]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing, and both clocks exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    nanos(&time)
}

/// A non-negative timespec as ns.
#[inline]
pub(crate) fn nanos(time: &libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Converts the kernel's receive stamps, which are `CLOCK_REALTIME`, to the monotonic clock.
///
/// The real-time clock is slewed and stepped, so the offset is measured again at least every 100 ms of use.
#[derive(Debug, Default)]
pub(crate) struct StampClock {
    /// real time − monotonic time, ns.
    offset: u64,
    /// Time of the measurement, monotonic ns; 0 = never.
    measured: u64,
}

impl StampClock {
    /// The arrival by the kernel's stamp if it lies between `sent` and `read`; else the time of the read.
    #[inline]
    pub(crate) fn arrival(&mut self, stamp: Option<u64>, sent: u64, read: u64) -> (u64, StampSource) {
        let Some(real) = stamp else { return (read, StampSource::User) };
        if read.saturating_sub(self.measured) > OFFSET_LIFETIME || self.measured == 0 {
            self.measure();
        }
        place(real.wrapping_sub(self.offset), sent, read)
    }

    /// Measures three times and keeps the result with the shortest time between its two monotonic readings.
    fn measure(&mut self) {
        let tries = [(); 3].map(|()| {
            let before = now();
            let real = read(libc::CLOCK_REALTIME);
            let after = now();
            (after - before, real, before + (after - before) / 2)
        });
        let (_, real, middle) = tries.into_iter().min().expect("there are three");
        self.offset = real.wrapping_sub(middle);
        self.measured = middle;
    }
}

#[inline]
fn place(stamp: u64, sent: u64, read: u64) -> (u64, StampSource) {
    if sent <= stamp && stamp <= read { (stamp, StampSource::Kernel) } else { (read, StampSource::Rejected) }
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use plimsoll_record::StampSource;

    use super::{StampClock, now, place, read, unix_millis};

    #[test]
    fn a_stamp_between_sent_and_read_is_the_arrival() {
        assert_eq!(place(150, 100, 200), (150, StampSource::Kernel));
        assert_eq!(place(100, 100, 200), (100, StampSource::Kernel));
        assert_eq!(place(200, 100, 200), (200, StampSource::Kernel));
    }

    #[test]
    fn a_stamp_out_of_order_is_rejected_for_the_time_of_the_read() {
        assert_eq!(place(99, 100, 200), (200, StampSource::Rejected));
        assert_eq!(place(201, 100, 200), (200, StampSource::Rejected));
    }

    #[test]
    fn without_a_stamp_the_read_is_the_arrival() {
        assert_eq!(StampClock::default().arrival(None, 100, 200), (200, StampSource::User));
    }

    #[test]
    fn real_time_now_lands_between_the_monotonic_readings_around_it() {
        let mut clock = StampClock::default();
        clock.measure();
        let before = now();
        let real = read(libc::CLOCK_REALTIME);
        // One second of tolerance on each side. Only a wrong sign or unit fails.
        let (arrival, source) = clock.arrival(Some(real), before - 1_000_000_000, now() + 1_000_000_000);
        assert_eq!(source, StampSource::Kernel);
        assert!(arrival.abs_diff(before) < 1_000_000_000);
    }

    #[test]
    fn unix_millis_are_those_of_the_system() {
        let millis = || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
        let before = millis();
        let ours = unix_millis();
        assert!((before..=millis()).contains(&ours));
    }
}
