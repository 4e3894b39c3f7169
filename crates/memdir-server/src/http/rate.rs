//! Rate limits: a token bucket per client address, in a table of bounded size.

use memdir_core::internal::base::time::Stopwatch;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

/// The cost of a wrong bearer token, in requests: it keeps guessing slow.
pub(super) const WRONG_TOKEN_COST: u32 = 500;
/// Maximum number of addresses in the table.
const MAX_ADDRESSES: usize = 10_000;
/// Number of addresses that stay when the table is full. Evicting many at once makes the scan cheap per request.
const KEPT_ADDRESSES: usize = MAX_ADDRESSES / 4 * 3;

/// Limits the requests of each client address.
pub(super) struct RateLimiter {
    per_second: f64,
    burst: f64,
    clock: Stopwatch,
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

struct Bucket {
    /// Requests left at the time `at`.
    left: f64,
    /// Seconds on the clock.
    at: f64,
}

impl RateLimiter {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        RateLimiter { per_second: per_second.into(), burst: burst.into(), clock: Stopwatch::start(), buckets: Mutex::default() }
    }

    /// Takes `cost` requests from an address's bucket. Returns whether it had that many.
    pub(super) fn try_spend(&self, address: IpAddr, cost: u32) -> bool {
        self.try_spend_at(address, cost, self.clock.elapsed().as_secs_f64())
    }

    fn try_spend_at(&self, address: IpAddr, cost: u32, now: f64) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_ADDRESSES && !buckets.contains_key(&address) {
            self.evict(&mut buckets, now);
        }
        let bucket = buckets.entry(address).or_insert(Bucket { left: self.burst, at: now });
        bucket.left = self.left_at(bucket, now);
        bucket.at = now;
        if bucket.left < f64::from(cost) {
            return false;
        }
        bucket.left -= f64::from(cost);
        true
    }

    fn left_at(&self, bucket: &Bucket, now: f64) -> f64 {
        (bucket.left + (now - bucket.at) * self.per_second).min(self.burst)
    }

    /// Evicts full buckets, which lose nothing. If too many remain, evicts the fullest: those that have been idle longest for
    /// what they spent. An address that has spent its bucket, such as one that guesses tokens, is evicted last.
    fn evict(&self, buckets: &mut HashMap<IpAddr, Bucket>, now: f64) {
        buckets.retain(|_, bucket| self.left_at(bucket, now) < self.burst);
        if buckets.len() <= KEPT_ADDRESSES {
            return;
        }
        let mut by_left: Vec<(f64, IpAddr)> = buckets.iter().map(|(address, bucket)| (self.left_at(bucket, now), *address)).collect();
        by_left.select_nth_unstable_by(KEPT_ADDRESSES, |a, b| a.0.total_cmp(&b.0));
        for (_, address) in &by_left[KEPT_ADDRESSES..] {
            buckets.remove(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    fn address(n: u32) -> IpAddr {
        IpAddr::V6(Ipv6Addr::from(u128::from(n)))
    }

    fn len(limiter: &RateLimiter) -> usize {
        limiter.buckets.lock().unwrap().len()
    }

    #[test]
    fn the_table_stays_bounded_when_no_bucket_is_full() {
        let limiter = RateLimiter::new(1, 100);
        for n in 0..50_000 {
            assert!(limiter.try_spend_at(address(n), 10, 0.0));
            assert!(len(&limiter) <= MAX_ADDRESSES);
        }
    }

    #[test]
    fn a_flood_of_addresses_does_not_refill_a_spent_bucket() {
        let limiter = RateLimiter::new(1, 1_000);
        let guesser = address(u32::MAX);
        assert!(limiter.try_spend_at(guesser, WRONG_TOKEN_COST, 0.0) && limiter.try_spend_at(guesser, WRONG_TOKEN_COST, 0.0));
        for n in 0..50_000 {
            limiter.try_spend_at(address(n), 1, 0.0);
        }
        assert!(!limiter.try_spend_at(guesser, WRONG_TOKEN_COST, 1.0));
    }

    #[test]
    fn a_bucket_refills_over_time() {
        let limiter = RateLimiter::new(10, 20);
        assert!(limiter.try_spend_at(address(1), 20, 0.0) && !limiter.try_spend_at(address(1), 1, 0.0));
        assert!(limiter.try_spend_at(address(1), 10, 1.0) && !limiter.try_spend_at(address(1), 1, 1.0));
        assert!(limiter.try_spend_at(address(1), 20, 100.0) && !limiter.try_spend_at(address(1), 1, 100.0));
    }
}
