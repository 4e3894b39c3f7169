//! Sessions of a browser: the token of the first URL, which is used once and soon, and the cookie and form token it is exchanged
//! for. Secrets are compared in constant time and never printed.

use super::visit::is_equal;
use jiff::{SignedDuration, Timestamp};
use memdir_core::Clock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Seconds for which the token of the first URL is valid.
const START_SECS: i64 = 60;
/// Hours after which a session ends, however much it is used.
const SESSION_HOURS: i64 = 24;
/// The name of the cookie.
const COOKIE: &str = "memdir";

/// The error if the system provides no random bytes for secrets.
pub(super) type NoRandomness = getrandom::Error;

/// The sessions of one server.
pub(super) struct PageSessions {
    clock: Arc<dyn Clock>,
    /// The path that everything is served under. It cannot be guessed, because ports of one host share their cookies.
    base: String,
    state: Mutex<PageSessionState>,
}

struct PageSessionState {
    start: Option<StartToken>,
    open: Vec<PageSession>,
    last_used: Timestamp,
}

struct StartToken {
    secret: String,
    until: Timestamp,
}

/// One browser.
#[derive(Clone)]
pub(super) struct PageSession {
    secret: String,
    /// The token that every form repeats.
    pub(super) csrf: String,
    until: Timestamp,
}

impl PageSessions {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Result<Self, NoRandomness> {
        let now = clock.now();
        let start = StartToken { secret: random_secret()?, until: after_secs(now, START_SECS) };
        let state = Mutex::new(PageSessionState { start: Some(start), open: Vec::new(), last_used: now });
        Ok(PageSessions { clock, base: format!("/{}", random_secret()?), state })
    }

    /// The path prefix of every page, without a final slash.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The path and query of the first request, while its token is unused.
    pub(super) fn start_path(&self) -> Option<String> {
        self.state().start.as_ref().map(|start| format!("{}/start?token={}", self.base, start.secret))
    }

    /// Exchanges the token of the first URL for a session. Returns the value of its `Set-Cookie` header, or `None` if the token is
    /// wrong, used or expired. A wrong token does not use up the right one.
    pub(super) fn exchange(&self, token: &str) -> Result<Option<String>, NoRandomness> {
        let now = self.clock.now();
        let mut state = self.state();
        if !state.start.as_ref().is_some_and(|start| is_equal(&start.secret, token)) {
            return Ok(None);
        }
        let is_valid = state.start.take().is_some_and(|start| now < start.until);
        if !is_valid {
            return Ok(None);
        }
        let session = PageSession { secret: random_secret()?, csrf: random_secret()?, until: after_secs(now, SESSION_HOURS * 3_600) };
        let cookie = format!("{COOKIE}={}; Path={}; HttpOnly; SameSite=Strict", session.secret, self.base);
        state.open.push(session);
        Ok(Some(cookie))
    }

    /// The name of the cookie.
    pub(super) fn cookie(&self) -> &'static str {
        COOKIE
    }

    /// Returns the session with one of these values of the cookie, and records that the server is in use.
    pub(super) fn authenticate(&self, secrets: &[&str]) -> Option<PageSession> {
        let now = self.clock.now();
        let mut state = self.state();
        state.open.retain(|session| now < session.until);
        let found = state.open.iter().find(|session| secrets.iter().any(|secret| is_equal(&session.secret, secret))).cloned()?;
        state.last_used = now;
        Some(found)
    }

    /// Seconds since the last authenticated request, or since the start.
    pub(super) fn idle_secs(&self) -> i64 {
        self.clock.now().duration_since(self.state().last_used).as_secs()
    }

    fn state(&self) -> MutexGuard<'_, PageSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn after_secs(now: Timestamp, secs: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(secs)).unwrap_or(now)
}

/// Returns 32 random bytes as text. Fails rather than to return something that can be guessed.
pub(super) fn random_secret() -> Result<String, NoRandomness> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[derive(Default)]
    struct Seconds(AtomicI64);

    impl Clock for Seconds {
        fn now(&self) -> Timestamp {
            Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
        }

        fn zone(&self) -> jiff::tz::TimeZone {
            jiff::tz::TimeZone::UTC
        }
    }

    fn token(sessions: &PageSessions) -> String {
        sessions.start_path().unwrap().split_once("token=").unwrap().1.to_owned()
    }

    /// The value of a cookie.
    fn secret(cookie: &str) -> &str {
        cookie.split(['=', ';']).nth(1).unwrap()
    }

    #[test]
    fn a_token_is_used_once() {
        let sessions = PageSessions::new(Arc::new(Seconds::default())).unwrap();
        let token = token(&sessions);
        assert!(sessions.exchange("wrong").unwrap().is_none());
        let cookie = sessions.exchange(&token).unwrap().unwrap();
        assert!(cookie.ends_with(&format!("; Path={}; HttpOnly; SameSite=Strict", sessions.base())));
        assert!(sessions.exchange(&token).unwrap().is_none());
        assert!(sessions.start_path().is_none());
        let session = sessions.authenticate(&["other", secret(&cookie)]).unwrap();
        assert_eq!((session.csrf.len(), session.csrf == session.secret), (64, false));
        assert!(sessions.authenticate(&[""]).is_none() && sessions.authenticate(&[]).is_none());
    }

    #[test]
    fn a_token_expires_after_a_minute_and_a_session_after_a_day() {
        let clock = Arc::new(Seconds::default());
        let sessions = PageSessions::new(clock.clone()).unwrap();
        let late = token(&sessions);
        clock.0.store(START_SECS, Ordering::Relaxed);
        assert!(sessions.exchange(&late).unwrap().is_none());
        let sessions = PageSessions::new(clock.clone()).unwrap();
        let cookie = sessions.exchange(&token(&sessions)).unwrap().unwrap();
        let cookie = [secret(&cookie)];
        clock.0.store(SESSION_HOURS * 3_600, Ordering::Relaxed);
        assert!(sessions.authenticate(&cookie).is_some());
        assert_eq!(sessions.idle_secs(), 0);
        clock.0.store(SESSION_HOURS * 3_600 + START_SECS, Ordering::Relaxed);
        assert!(sessions.authenticate(&cookie).is_none());
        assert_eq!(sessions.idle_secs(), START_SECS);
    }
}
