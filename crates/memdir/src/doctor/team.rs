//! Checks the connection to a team server: the entry in the host's settings, whether the server can be reached, and whether it accepts
//! the token. Never prints a token.

use super::DoctorFinding;
use crate::{
    hosts::{
        ConfigEdit, ConfigFile, Host, config_edit,
        remote_entry::{remote_header, remote_url},
    },
    team_client::{self, TRUST_CERTIFICATES, TeamAccess, TeamClient},
};
use serde_json::Value;
use std::fs;

/// Returns the entry of a team server in a host's file, if it is there.
pub(crate) fn remote_entry(file: &ConfigFile) -> Option<Value> {
    let text = fs::read_to_string(&file.path).ok()?;
    let path = file.edits.iter().find_map(|edit| if let ConfigEdit::Entry { path, .. } = edit { Some(path) } else { None })?;
    config_edit::get(file.format, &text, path).ok().flatten().filter(|entry| remote_url(entry).is_some())
}

/// Checks the connection that was installed in a file. `variable` returns the value of an environment variable.
pub(crate) fn check_team_server(host: &Host, file: &ConfigFile, variable: &dyn Fn(&str) -> Option<String>) -> DoctorFinding {
    let what = format!("{}: team server", file.path.display());
    let install = |url: &str| format!("run: memdir install {} --server {url}", host.name);
    let Some(entry) = remote_entry(file) else {
        return DoctorFinding::bad(what, "missing", install("URL"));
    };
    let url = remote_url(&entry).unwrap_or_default();
    let Ok(base) = team_client::server_url(url) else {
        return DoctorFinding::bad(what, format!("{url:?} is not a valid server URL"), install("URL"));
    };
    let (token, unset) = match variable_name(&entry) {
        None => (remote_header(&entry, "Authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned), None),
        Some(name) => {
            let value = variable(&name);
            let unset = value.is_none().then_some(name);
            (value, unset)
        }
    };
    let has_token = token.is_some();
    let project = remote_header(&entry, "Memdir-Project").map(str::to_owned);
    let has_project = project.is_some();
    match (TeamClient::new(&base, token, project).access(), unset) {
        (TeamAccess::Accepted(version), _) if has_token => {
            DoctorFinding::ok(what, format!("{base} runs memdir {version} and accepts the token"))
        }
        (TeamAccess::Accepted(version), _) => DoctorFinding::ok(what, format!("{base} runs memdir {version} and does not require a token")),
        (TeamAccess::NeedsToken, Some(name)) => {
            let fix = format!("set {name} to your token in the environment of {}", host.title);
            DoctorFinding::note(what, format!("{base} can be reached; {name} is not set here, so the token was not checked"), fix)
        }
        (TeamAccess::NeedsToken, None) => {
            let sign_in = host.remote.as_ref().map_or("sign in to the server", |remote| remote.sign_in);
            DoctorFinding::note(what, format!("{base} can be reached; whether {} is signed in was not checked", host.title), sign_in)
        }
        (TeamAccess::Refused(why), _) => {
            let (first, project) = match has_project {
                true => ("check the project, or get another token", " --project ID"),
                false => ("get another token", ""),
            };
            let fix = format!("{first}, then {}{project} --token-file FILE", install(&base));
            DoctorFinding::bad(what, format!("{base} refuses access: {why}"), fix)
        }
        (TeamAccess::Unexpected(why), _) => DoctorFinding::bad(what, why, "check the URL, and that the server is running"),
        (TeamAccess::Untrusted(why), _) => DoctorFinding::bad(what, format!("cannot be reached: {why}"), TRUST_CERTIFICATES),
        (TeamAccess::Unreachable(why), _) => {
            DoctorFinding::bad(what, format!("cannot be reached: {why}"), "check the URL and the network connection")
        }
    }
}

/// The variable that an entry refers to for its token.
fn variable_name(entry: &Value) -> Option<String> {
    if let Some(name) = entry["bearer_token_env_var"].as_str() {
        return Some(name.to_owned());
    }
    let value = remote_header(entry, "Authorization")?.strip_prefix("Bearer ")?;
    let inner = value.strip_prefix("${").or_else(|| value.strip_prefix('{'))?.strip_suffix('}')?;
    Some(inner.strip_prefix("env:").unwrap_or(inner).to_owned())
}
