//! The number of iterations and requests that may still begin.

/// The remaining budget. Each waiting arrival has its iteration and its first request reserved, so that a limit never
/// drops it.
#[derive(Debug)]
pub(super) struct Budget {
    /// `u64::MAX` = no limit, here and below: no run reaches it.
    iterations: u64,
    requests: u64,
}

impl Budget {
    pub(super) fn new(iterations: Option<u64>, requests: Option<u64>) -> Budget {
        Budget { iterations: iterations.unwrap_or(u64::MAX), requests: requests.unwrap_or(u64::MAX) }
    }

    /// Whether another iteration can begin, without those reserved for `waiting` arrivals.
    #[inline]
    pub(super) fn allows_iteration(&self, waiting: usize) -> bool {
        self.iterations > waiting as u64 && self.allows_request(waiting)
    }

    /// Whether another request can begin.
    #[inline]
    pub(super) fn allows_request(&self, waiting: usize) -> bool {
        self.requests > waiting as u64
    }

    /// Counts an iteration.
    #[inline]
    pub(super) fn take_iteration(&mut self) {
        self.iterations -= 1;
    }

    /// Counts a request.
    #[inline]
    pub(super) fn take_request(&mut self) {
        self.requests -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn a_limit_is_reached_after_exactly_so_many() {
        let mut budget = Budget::new(Some(2), Some(3));
        budget.take_iteration();
        budget.take_request();
        assert!(budget.allows_iteration(0));
        budget.take_iteration();
        budget.take_request();
        assert!(!budget.allows_iteration(0), "two have begun");
        assert!(budget.allows_request(0), "and may go on");
        budget.take_request();
        assert!(!budget.allows_request(0));
    }

    #[test]
    fn what_waits_has_its_share_set_aside() {
        let budget = Budget::new(Some(5), Some(3));
        assert!(budget.allows_iteration(2));
        assert!(!budget.allows_iteration(3), "each needs a request");
        assert!(!budget.allows_request(3));
        assert!(!Budget::new(Some(1), None).allows_iteration(1));
    }

    #[test]
    fn without_a_limit_there_is_no_end() {
        let mut budget = Budget::new(None, None);
        budget.take_iteration();
        budget.take_request();
        assert!(budget.allows_iteration(1 << 40));
    }
}
