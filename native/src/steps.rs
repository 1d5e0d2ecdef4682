//! Counts of work, by which tests see that time grows no faster than messages.

#[cfg(test)]
thread_local! {
    pub static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Count comparisons or bytes that were looked at; outside of tests nothing is counted.
#[inline]
pub fn steps(count: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + count);
    let _ = count;
}
