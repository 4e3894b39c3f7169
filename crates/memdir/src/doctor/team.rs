//! Checks the connection to a team server: the entry in the host's settings, whether the server can be reached, and whether it accepts
//! the token. Never prints a token.

use super::{DoctorFinding, in_project};
use crate::{
    hosts::{
        ConfigEdit, Host, HostConfigFile, config_edit,
        remote::token_option,
        remote_entry::{remote_header, remote_url, token_env_name},
    },
    team_client::{self, TRUST_CERTIFICATES, TeamAccess, TeamClient},
};
use memdir_core::internal::base::shell::quote_posix;
use serde_json::Value;
use std::{fs, path::Path};

/// Returns the entry of a team server in a host's file, if it is there.
pub(crate) fn remote_entry(file: &HostConfigFile) -> Option<Value> {
    let text = fs::read_to_string(&file.path).ok()?;
    let path = file.edits.iter().find_map(|edit| if let ConfigEdit::Entry { path, .. } = edit { Some(path) } else { None })?;
    config_edit::get(file.format, &text, path).ok().flatten().filter(|entry| remote_url(entry).is_some())
}

/// Checks the connection that was installed in a file, for a project if there is one. `variable` returns the value of an environment
/// variable.
pub(crate) fn check_team_server(
    host: &Host,
    (file, project_dir): (&HostConfigFile, Option<&Path>),
    variable: &dyn Fn(&str) -> Option<String>,
) -> DoctorFinding {
    let what = format!("{}: team server", file.path.display());
    let install = |url: &str, entry: &Value| install_command(host, project_dir, url, entry);
    let Some(entry) = remote_entry(file) else {
        if let Some(gone) = project_dir.filter(|dir| !dir.is_dir()) {
            let dir = quote_posix(&gone.to_string_lossy());
            let fix = format!(
                "remove memdir's record of this installation with: mkdir -p {dir} && cd {dir} && memdir uninstall {} --server --scope project",
                host.name
            );
            return DoctorFinding::note(what, "the project no longer exists", fix);
        }
        let recorded = file.edits.iter().find_map(|edit| if let ConfigEdit::Entry { value, .. } = edit { Some(value) } else { None });
        let recorded = recorded.unwrap_or(&Value::Null);
        let base = remote_url(recorded).and_then(|url| team_client::server_url(url).ok()).unwrap_or_else(|| "URL".to_owned());
        return DoctorFinding::bad(what, "missing", format!("run: {}", install(&base, recorded)));
    };
    let url = remote_url(&entry).unwrap_or_default();
    let Ok(base) = team_client::server_url(url) else {
        return DoctorFinding::bad(what, format!("{url:?} is not a valid server URL"), format!("run: {}", install("URL", &entry)));
    };
    let (token, unset) = match token_env_name(&entry) {
        None => (remote_header(&entry, "Authorization").and_then(|value| value.strip_prefix("Bearer ")).map(str::to_owned), None),
        Some(name) => {
            let value = variable(name);
            let unset = value.is_none().then_some(name);
            (value, unset)
        }
    };
    let has_token = token.is_some();
    let project = remote_header(&entry, "Memdir-Project").map(str::to_owned);
    let check_project = project.as_ref().map_or_else(String::new, |project| format!("check the project name {project:?}, or "));
    match (TeamClient::new(&base, token, project).access(), unset) {
        (TeamAccess::Accepted(version), _) if has_token => {
            DoctorFinding::ok(what, format!("{base} runs memdir {version} and accepts the token"))
        }
        (TeamAccess::Accepted(version), _) => DoctorFinding::ok(what, format!("{base} runs memdir {version} and does not require a token")),
        (TeamAccess::NeedsToken { .. }, Some(name)) => {
            let fix = format!("set {name} to your token in the environment of {}", host.title);
            DoctorFinding::note(
                what,
                format!("{base} can be reached; {name} is not set in this environment, so the token was not checked"),
                fix,
            )
        }
        (TeamAccess::NeedsToken { has_sign_in: false }, None) => {
            let fix = format!("get a token, then run: {} {}", install(&base, &entry), token_option(host, project_dir.is_some()));
            DoctorFinding::bad(what, format!("{base} requires a token, and the host has none"), fix)
        }
        (TeamAccess::NeedsToken { has_sign_in: true }, None) => {
            let sign_in = host.remote.as_ref().map_or("sign in to the server", |remote| remote.sign_in);
            DoctorFinding::note(what, format!("{base} can be reached; whether {} is signed in was not checked", host.title), sign_in)
        }
        (TeamAccess::Refused(why), _) => {
            let fix = match token_env_name(&entry) {
                Some(name) => format!("get another token, then set {name} to that token in the environment of {}", host.title),
                None => format!("get another token, then run: {}", install(&base, &entry)),
            };
            DoctorFinding::bad(what, format!("{base} refuses access: {why}"), fix)
        }
        (TeamAccess::Forbidden(why), _) => {
            let fix = format!("{check_project}ask the server's operator for access");
            DoctorFinding::bad(what, format!("{base} refuses access: {why}"), fix)
        }
        (TeamAccess::Unavailable(why), _) => DoctorFinding::bad(what, why, "try again later, or check that the server is running"),
        (TeamAccess::Unexpected(why), _) => DoctorFinding::bad(what, why, "check the URL, and that the server is running"),
        (TeamAccess::Untrusted(why), _) => DoctorFinding::bad(what, format!("cannot be reached: {why}"), TRUST_CERTIFICATES),
        (TeamAccess::Unreachable(why), _) => {
            DoctorFinding::bad(what, format!("cannot be reached: {why}"), "check the URL and the network connection")
        }
    }
}

/// Returns the command that installs a connection again where it is, with the options that its entry shows.
fn install_command(host: &Host, project_dir: Option<&Path>, url: &str, entry: &Value) -> String {
    let project = remote_header(entry, "Memdir-Project").map(|project| format!(" --project {}", quote_posix(project)));
    let token = match (token_env_name(entry), remote_header(entry, "Authorization"), project_dir) {
        (Some(name), ..) => format!(" --token-env {name}"),
        (None, None, _) => String::new(),
        (None, Some(_), _) => format!(" {}", token_option(host, project_dir.is_some())),
    };
    let command = format!("memdir install {} --server {}{}{token}", host.name, quote_posix(url), project.unwrap_or_default());
    let scope = if project_dir.is_some() { " --scope project" } else { "" };
    in_project(project_dir, &format!("{command}{scope}"))
}
