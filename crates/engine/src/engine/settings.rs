//! What a caller sets for all requests from now on, and what it may ask.

use std::sync::Arc;

use plimsoll_record::Sampling;

use super::Engine;
use crate::allow::AllowedHosts;
use crate::backoff::Refusals;
use crate::call::Call;
use crate::origin::Origin;
use crate::platform::StampSwitch;
use crate::trace::Tracer;

impl Engine {
    /// Whether this kernel stamps received data. Takes up to 50 ms if it does not.
    pub fn kernel_stamps(&self) -> bool {
        self.stamps.as_ref().is_some_and(StampSwitch::probe)
    }

    /// Total time in completed backoffs, ns.
    pub fn backed_off(&self) -> u64 {
        self.backoff.waited
    }

    /// Sets the maximum length of a response body without transfer coding, in bytes.
    pub fn limit_body(&mut self, bytes: u64) {
        self.io.heads.limit_body(bytes);
    }

    /// Sets the allowed hosts for new connections. Default: any host.
    pub fn allow(&mut self, allowed: AllowedHosts) {
        self.allowed = allowed;
    }

    /// Switches the backoff after failed connections (up to one second) on or off. Default: off.
    pub fn set_connect_backoff(&mut self, on: bool) {
        self.backoff.is_on = on;
    }

    /// Records that an origin has refused a user's request to switch protocols, as a failed connection to it. `refusals`:
    /// those of the user.
    pub(crate) fn refused_upgrade(&mut self, refusals: &mut Refusals, origin: &Arc<Origin>) {
        self.backoff.refused(refusals, origin);
    }

    /// Adds a completed backoff that the user has waited by itself, ns.
    pub(crate) fn add_backed_off(&mut self, waited: u64) {
        self.backoff.waited += waited;
    }

    /// Adds a `traceparent` header with a new trace to each request that has none. prefix: the first half of all
    /// traces; the second half is in [`Exchange::trace`](plimsoll_record::Exchange::trace). sampling: which of them
    /// have the flag *sampled*. None: off.
    pub fn trace(&mut self, traces: Option<(u64, Sampling)>) {
        self.tracer = traces.map(|(prefix, sampling)| Tracer::new(prefix, sampling));
    }

    /// Adds a trace to a request. Returns it; 0: none.
    #[cold]
    pub(super) fn mark(&mut self, call: &mut Call) -> u64 {
        self.tracer.as_mut().map_or(0, |tracer| tracer.mark(&mut call.wire))
    }
}
