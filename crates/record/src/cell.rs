//! The counters and histograms of one endpoint with one outcome in one second.

use crate::{Durations, Exchange, Times};

/// The largest number of a sum, which is that of a column of the store: larger ones stay at it.
pub const LARGEST: u64 = i64::MAX as u64;

/// The sum of numbers of which one may be from outside.
pub(crate) fn sum_of(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(LARGEST)
}

/// Identifies an endpoint of one recorder; from [`Recorder::endpoint`](crate::Recorder::endpoint).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(pub u32);

/// Exchanges of one endpoint with one outcome that arrived in one second.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// All exchanges.
    pub count: u64,
    /// Of these, the ones without a response time.
    pub untimed: u64,
    /// Of these, the ones longer than a histogram holds.
    pub overflow: u64,
    /// Request bytes on the wire.
    pub bytes_out: u64,
    /// Response bytes on the wire.
    pub bytes_in: u64,
    /// Decoded response bodies.
    pub bytes_body: u64,
    /// Redirects followed.
    pub hops: u64,
    /// Requests sent again.
    pub retries: u64,
    /// Exchanges that opened a connection.
    pub connected: u64,
    /// Sum of their connection times (name resolution, connect, TLS handshake), ns.
    pub connect_sum: u64,
    /// Sum of response times, ns.
    pub response_sum: u64,
    /// Smallest response time, ns; meaningful when `count > untimed`, as is the next.
    pub response_min: u64,
    /// Largest response time, ns.
    pub response_max: u64,
    /// Sum of service times, ns.
    pub service_sum: u64,
    /// Stamp of the first arrival recorded; meaningful when `count > 0`, as is the next.
    pub first: u64,
    /// Stamp of the last arrival.
    pub last: u64,
    /// Response times.
    pub response: Durations,
    /// Service times.
    pub service: Durations,
    /// The response times of a generator that sends on time. None while they equal the service times: they differ only
    /// for arrivals that waited for a free user.
    pub on_time: Option<Box<Durations>>,
}

impl Cell {
    /// The counters, then sums and extremes of times, in the order in which Python expects them.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        [
            self.count,
            self.untimed,
            self.overflow,
            self.bytes_out,
            self.bytes_in,
            self.bytes_body,
            self.hops,
            self.retries,
            self.connected,
            self.connect_sum,
            self.response_sum,
            self.response_min,
            self.response_max,
            self.service_sum,
        ]
        .into_iter()
        .map(|number| number.min(LARGEST))
    }

    /// `times`: None for an exchange without a response time.
    #[inline(always)]
    #[allow(clippy::inline_always)] // see `Second::cell`
    pub(crate) fn add(&mut self, exchange: &Exchange, body: u64, times: Option<Times>) {
        let first = self.count == self.untimed;
        if self.count == 0 {
            self.first = exchange.arrival;
        }
        self.last = self.last.max(exchange.arrival);
        self.count += 1;
        self.bytes_out += exchange.bytes_out;
        self.bytes_in += exchange.bytes_in;
        self.bytes_body += body;
        self.hops += u64::from(exchange.hops);
        self.retries += u64::from(exchange.retries);
        self.connected += u64::from(exchange.connect > 0);
        self.connect_sum += exchange.dns + exchange.connect + exchange.tls;
        let Some(times) = times else {
            self.untimed += 1;
            return;
        };
        self.response_sum += times.response;
        self.service_sum += times.service;
        self.response_min = if first { times.response } else { self.response_min.min(times.response) };
        self.response_max = self.response_max.max(times.response);
        self.overflow += u64::from(!self.response.record_ns(times.response));
        let on_time = times.on_time();
        if on_time != times.service || self.on_time.is_some() {
            self.record_on_time(on_time);
        }
        self.service.record_ns(times.service);
    }

    /// Call it before the service time is recorded: it copies the service times of the exchanges so far.
    #[inline(never)]
    fn record_on_time(&mut self, nanos: u64) {
        let service = &self.service;
        self.on_time.get_or_insert_with(|| Box::new(service.clone())).record_ns(nanos);
    }
}
