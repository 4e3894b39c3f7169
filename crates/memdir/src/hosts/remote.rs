//! Where a team server is in a host's settings: beside memdir's own server, under another name.

use super::{ConfigEdit, Host, HostConfigFile, InstallScope, Machine, RemoteServer, TokenEnv};

/// The name of the team server in a host's settings.
pub(crate) const TEAM_SERVER: &str = "memdir-team";

/// Why a host cannot be connected to a team server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRemote {
    /// Its settings have no servers over HTTP.
    NoHttp,
    /// It has no settings of this scope.
    NoScope,
    /// It cannot read a token from an environment variable.
    NoTokenEnv,
}

/// Returns the file of a host with the entry of a team server: the one that has memdir's own server.
pub(crate) fn remote_file(host: &Host, machine: &Machine, scope: InstallScope, server: &RemoteServer) -> Result<HostConfigFile, NoRemote> {
    let remote = host.remote.as_ref().ok_or(NoRemote::NoHttp)?;
    let files = (host.config)(machine, scope).ok_or(NoRemote::NoScope)?;
    let of_server = |file: HostConfigFile| {
        let path = file.edits.iter().find_map(|edit| if let ConfigEdit::Entry { path, .. } = edit { Some(path.clone()) } else { None })?;
        Some((file, path))
    };
    let (file, mut path) = files.into_iter().find_map(of_server).ok_or(NoRemote::NoHttp)?;
    let value = remote.value(server).ok_or(NoRemote::NoTokenEnv)?;
    path.pop();
    path.push(TEAM_SERVER.to_owned());
    Ok(HostConfigFile { edits: vec![ConfigEdit::Entry { path, value }], ..file })
}

/// Whether the host can read a token from an environment variable.
pub(crate) fn has_token_env(host: &Host) -> bool {
    host.remote.as_ref().is_some_and(|remote| remote.token_env != TokenEnv::No)
}

/// The option that gives a host a token. A token is never written into the settings of a project.
pub(crate) fn token_option(host: &Host, is_project: bool) -> &'static str {
    if is_project && has_token_env(host) { "--token-env NAME" } else { "--token-file FILE" }
}
