//! The stamps of one exchange, and the four times computed from them.

/// Where the arrival stamp comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StampSource {
    /// The kernel's receive stamp of the segment that completed the response.
    Kernel,
    /// There was no kernel stamp: arrival is the engine's own clock after the read.
    #[default]
    User,
    /// The kernel stamp contradicted sent ≤ arrival ≤ read: arrival is the engine's own clock.
    Rejected,
}

/// One request and its response, as the engine stamped it.
///
/// All stamps are nanoseconds on one monotonic clock, in the order due ≤ sent ≤ `first_byte` ≤ arrival ≤ read, except
/// that `first_byte` is 0 without a response head. For a failed exchange, arrival is the time of the failure; for a
/// timeout it is the limit itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// When it should have been sent. Open model: the schedule's time. Closed model: the end of the user's wait.
    pub due: u64,
    /// When a user became free for it, or a stream of its connection (HTTP/2), if that was after `due`; 0 = at once. The
    /// wait for either is not lag of the generator.
    pub free: u64,
    /// Immediately before the first write of the request, or before the start of a new connection.
    pub sent: u64,
    /// Arrival of the segment that completed the response head; 0 without one.
    pub first_byte: u64,
    /// Arrival of the segment that completed the response body.
    pub arrival: u64,
    /// The engine's own clock after the read.
    pub read: u64,
    /// Name resolution, ns; 0 on a kept connection, like the next two.
    pub dns: u64,
    /// TCP (or Unix socket, or proxy) connection set-up, ns.
    pub connect: u64,
    /// TLS handshake, ns.
    pub tls: u64,
    /// Request bytes, as written to the connection before TLS.
    pub bytes_out: u64,
    /// Response bytes, as read from the connection after TLS.
    pub bytes_in: u64,
    /// Redirects followed.
    pub hops: u32,
    /// Requests sent again because a kept connection was closed, or because the peer has not taken them (HTTP/2).
    pub retries: u32,
    /// The clock of `arrival`.
    pub source: StampSource,
    /// Status of the complete response, 100…999; 0 without one.
    pub status: u16,
    /// Second half of the trace in its `traceparent` header; 0 = none.
    pub trace: u64,
}

/// The derived times of one exchange, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// What a user of the system experiences: arrival − due.
    pub response: u64,
    /// The time of the target and the network: arrival − sent.
    pub service: u64,
    /// How late the generator sent: sent − due, without the wait for a free user.
    pub lag: u64,
    /// How late the generator read: read − arrival.
    pub delay: u64,
}

impl Times {
    /// The response time of a generator that sends on time: the wait for a free user plus the service time.
    pub const fn on_time(&self) -> u64 {
        self.response.saturating_sub(self.lag)
    }
}

impl Exchange {
    /// The only place that computes latency.
    pub const fn times(&self) -> Times {
        Times {
            response: self.arrival.saturating_sub(self.due),
            service: self.arrival.saturating_sub(self.sent),
            lag: self.sent.saturating_sub(if self.free > self.due { self.free } else { self.due }),
            delay: self.read.saturating_sub(self.arrival),
        }
    }

    /// The stamps of its times alone, for a row beside that of the request, to which bytes and connections belong.
    pub(crate) fn stamps(&self) -> Exchange {
        let Exchange { due, free, sent, arrival, read, .. } = *self;
        Exchange { due, free, sent, arrival, read, ..Exchange::default() }
    }

    /// Makes this the next hop of `previous`, so that the chain is one exchange. It has the due and send times of the
    /// first hop, and the sums of bytes and setup times.
    pub fn follow(&mut self, previous: &Exchange) {
        self.due = previous.due;
        self.free = previous.free;
        self.sent = previous.sent;
        self.dns += previous.dns;
        self.connect += previous.connect;
        self.tls += previous.tls;
        self.bytes_out += previous.bytes_out;
        self.bytes_in += previous.bytes_in;
        self.retries += previous.retries;
        self.hops = previous.hops + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Exchange, Times};

    #[test]
    fn response_is_lag_plus_service() {
        let exchange =
            Exchange { due: 100, sent: 150, first_byte: 400, arrival: 450, read: 460, ..Exchange::default() };
        assert_eq!(exchange.times(), Times { response: 350, service: 300, lag: 50, delay: 10 });
    }

    #[test]
    fn the_wait_for_a_user_is_in_response_and_not_in_lag() {
        let exchange = Exchange { due: 100, free: 140, sent: 150, arrival: 450, read: 460, ..Exchange::default() };
        assert_eq!(exchange.times(), Times { response: 350, service: 300, lag: 10, delay: 10 });
        assert_eq!(exchange.times().on_time(), 340, "the wait and the service");
        let at_once = Exchange { free: 90, ..exchange };
        assert_eq!((at_once.times().lag, at_once.times().on_time()), (50, 300));
    }

    #[test]
    fn a_chain_of_hops_is_one_exchange_from_the_first_due_to_the_last_arrival() {
        let first = Exchange {
            due: 10,
            sent: 20,
            arrival: 30,
            read: 31,
            bytes_out: 5,
            bytes_in: 7,
            connect: 3,
            ..Exchange::default()
        };
        let mut last =
            Exchange { due: 31, sent: 32, arrival: 50, read: 51, bytes_out: 5, bytes_in: 70, ..Exchange::default() };
        last.follow(&first);
        assert_eq!(last.times(), Times { response: 40, service: 30, lag: 10, delay: 1 });
        assert_eq!((last.bytes_out, last.bytes_in, last.connect, last.hops), (10, 77, 3, 1));
    }
}
