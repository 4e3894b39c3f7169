//! How many requests one address may send: a number at once, and so many a second after that.

use super::{Body, later};
use hyper::{Response, StatusCode};
use memdir_core::base::time::Stopwatch;
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

/// What a wrong token costs, in requests: guessing stays slow.
pub(super) const WRONG_TOKEN: u32 = 500;
/// Addresses that are remembered; the fullest accounts are forgotten first, which costs nobody anything.
const ADDRESSES: usize = 10_000;

pub(super) struct Rates {
    per_second: f64,
    burst: f64,
    clock: Stopwatch,
    accounts: Mutex<HashMap<IpAddr, Account>>,
}

struct Account {
    left: f64,
    /// Seconds on the clock when `left` was true.
    at: f64,
}

impl Rates {
    pub(super) fn new(per_second: u32, burst: u32) -> Self {
        Rates { per_second: per_second.into(), burst: burst.into(), clock: Stopwatch::start(), accounts: Mutex::default() }
    }

    /// Takes from an address's account; a request it cannot pay for is refused.
    pub(super) fn take(&self, address: IpAddr, cost: u32) -> Result<(), Response<Body>> {
        let now = self.clock.elapsed().as_secs_f64();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if accounts.len() >= ADDRESSES && !accounts.contains_key(&address) {
            accounts.retain(|_, account| account.left + (now - account.at) * self.per_second < self.burst);
        }
        let account = accounts.entry(address).or_insert(Account { left: self.burst, at: now });
        account.left = (account.left + (now - account.at) * self.per_second).min(self.burst);
        account.at = now;
        if account.left < f64::from(cost) {
            return Err(later(StatusCode::TOO_MANY_REQUESTS, "too many requests from this address"));
        }
        account.left -= f64::from(cost);
        Ok(())
    }
}
