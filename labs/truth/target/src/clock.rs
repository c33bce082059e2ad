//! The monotonic clock, the conversion of the kernel's real-time stamps to it, and a blocking sleep.

/// Maximum age of a measured offset between the two clocks, ns.
const OFFSET_LIFETIME: u64 = 100_000_000;

/// Nanoseconds on `CLOCK_MONOTONIC`.
pub(crate) fn now() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

#[allow(unsafe_code)]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writing, and both clocks exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    nanos(&time)
}

/// A non-negative timespec as ns.
pub(crate) fn nanos(time: &libc::timespec) -> u64 {
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// ns as a timespec.
pub(crate) fn timespec(nanos: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanos / 1_000_000_000).cast_signed(), tv_nsec: (nanos % 1_000_000_000).cast_signed() }
}

/// Blocks the thread until `deadline`, monotonic ns. Nothing is served meanwhile, which is the purpose.
#[allow(unsafe_code)]
pub(crate) fn sleep_until(deadline: u64) {
    let at = timespec(deadline);
    while now() < deadline {
        // SAFETY: `at` is a valid time, the remainder is not asked for. A signal ends it early: hence the loop.
        unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const at, std::ptr::null_mut())
        };
    }
}

/// Converts the kernel's receive stamps, which are `CLOCK_REALTIME`, to the monotonic clock.
///
/// Slewing changes the speed of both clocks alike, so their offset changes only when the time is set. It is still
/// measured again every 100 ms.
#[derive(Debug, Default)]
pub(crate) struct StampClock {
    /// real time − monotonic time, ns.
    offset: u64,
    /// Time of the measurement, monotonic ns; 0 = never.
    measured: u64,
    /// The error of the offset is at most half of this, ns, over all measurements.
    bracket: u64,
}

impl StampClock {
    /// Converts a kernel stamp to the monotonic clock.
    pub(crate) fn monotonic(&mut self, stamp: u64) -> u64 {
        if self.measured == 0 || now() - self.measured > OFFSET_LIFETIME {
            self.measure();
        }
        stamp.wrapping_sub(self.offset)
    }

    /// Maximum error of a converted stamp, ns: half the widest bracket around a reading of the real-time clock.
    pub(crate) fn error(&self) -> u64 {
        self.bracket.div_ceil(2)
    }

    /// Measures five times and keeps the result with the shortest time between its two monotonic readings.
    fn measure(&mut self) {
        let tries = [(); 5].map(|()| {
            let before = now();
            let real = read(libc::CLOCK_REALTIME);
            (now() - before, real, before)
        });
        let (width, real, before) = tries.into_iter().min().expect("there are five");
        self.offset = real.wrapping_sub(before + width / 2);
        self.measured = before;
        self.bracket = self.bracket.max(width);
    }
}

#[cfg(test)]
mod tests {
    use super::{StampClock, nanos, now, read, sleep_until, timespec};

    #[test]
    fn real_time_now_lands_between_the_monotonic_readings_around_it() {
        let mut clock = StampClock::default();
        clock.monotonic(0);
        let before = now();
        let stamp = read(libc::CLOCK_REALTIME);
        let after = now();
        let converted = clock.monotonic(stamp);
        assert!(clock.error() > 0);
        assert!(before - clock.error() <= converted && converted <= after + clock.error());
    }

    #[test]
    fn a_time_survives_the_way_through_a_timespec() {
        assert_eq!(nanos(&timespec(12_345_678_901)), 12_345_678_901);
    }

    #[test]
    fn sleeping_ends_at_the_deadline_or_later() {
        let deadline = now() + 2_000_000;
        sleep_until(deadline);
        assert!(now() >= deadline);
        sleep_until(0);
    }
}
