//! Requests to the identity provider. They are over HTTPS, except to loopback, never follow a redirect and use no proxy.

use axum::http::Uri;
use serde_json::Value;
use std::{net::IpAddr, time::Duration};

/// Seconds for a whole request.
const TIMEOUT_SECS: u64 = 5;
/// Maximum number of bytes of an answer.
const MAX_BYTES: u64 = 1 << 20;

/// Returns whether a URL is `https`, or `http` to loopback, and has neither credentials nor a fragment.
pub fn is_safe_url(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else { return false };
    let is_plain = !authority.as_str().contains('@') && !url.contains('#') && !authority.host().is_empty();
    is_plain && (scheme == "https" || (scheme == "http" && is_loopback(authority.host())))
}

/// Returns whether a host name or address is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads a JSON document.
pub(super) fn get_json(url: &str) -> Result<Value, String> {
    check(url)?;
    read(url, agent().get(url).header("accept", "application/json").call())
}

/// Sends a form, with the encoded credentials of a client, and reads the JSON answer. The form has secrets, so errors do not show it.
pub(super) fn post_form(url: &str, form: &str, credentials: Option<&str>) -> Result<Value, String> {
    check(url)?;
    let mut request = agent().post(url).header("accept", "application/json").header("content-type", "application/x-www-form-urlencoded");
    if let Some(credentials) = credentials {
        request = request.header("authorization", format!("Basic {credentials}"));
    }
    read(url, request.send(form))
}

fn check(url: &str) -> Result<(), String> {
    if is_safe_url(url) { Ok(()) } else { Err(format!("{url:?} is not an https URL")) }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .timeout_global(Some(Duration::from_secs(TIMEOUT_SECS)))
        .http_status_as_error(false)
        // A redirect could leave HTTPS, or the issuer.
        .max_redirects(0)
        .max_redirects_will_error(false)
        // The default reads the environment.
        .proxy(None)
        .user_agent("memdir")
        .build()
        .new_agent()
}

fn read(url: &str, response: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Result<Value, String> {
    let mut response = response.map_err(|error| format!("{url}: {error}"))?;
    let status = response.status();
    let bytes = response.body_mut().with_config().limit(MAX_BYTES).read_to_vec().map_err(|error| format!("{url}: {error}"))?;
    if !status.is_success() {
        // An error of the token endpoint has its reason in `error`, a fixed word.
        let reason = serde_json::from_slice::<Value>(&bytes).ok().and_then(|body| body["error"].as_str().map(str::to_owned));
        return Err(format!("{url}: status {}{}", status.as_u16(), reason.map_or(String::new(), |reason| format!(" ({reason})"))));
    }
    serde_json::from_slice(&bytes).map_err(|error| format!("{url}: invalid JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::is_safe_url;

    #[test]
    fn plain_http_is_for_loopback_only() {
        for safe in ["https://login.example.org/a", "http://127.0.0.1:8080", "http://localhost/x", "http://[::1]:9"] {
            assert!(is_safe_url(safe), "{safe}");
        }
        for unsafe_url in [
            "http://login.example.org", "http://127.0.0.1.example.org", "ftp://127.0.0.1", "https://a@b.example", "https://a/#b", "login",
            "",
        ] {
            assert!(!is_safe_url(unsafe_url), "{unsafe_url}");
        }
    }
}
