//! The entry of a team server in a host's settings: a server over HTTP, in the form that the host reads; writing and reading it. Pure.

use serde_json::{Map, Value, json};

/// The keys under which hosts name the URL of a server.
const URL_KEYS: [&str; 3] = ["url", "httpUrl", "serverUrl"];
/// The keys that depend on how the host gets its token. An installation without one removes it.
pub(crate) const TOKEN_KEYS: [&str; 3] = ["headers", "http_headers", TOKEN_ENV_KEY];
/// The key that names the variable with the bearer token, in hosts that have one.
pub(super) const TOKEN_ENV_KEY: &str = "bearer_token_env_var";
/// The beginnings of a reference to an environment variable in a value; `}` ends it.
pub(super) const BRACED: &str = "${";
pub(super) const ENV_BRACED: &str = "${env:";
pub(super) const OPENCODE_ENV: &str = "{env:";
/// All beginnings; one that another one begins with comes after it.
const REFERENCES: [&str; 3] = [ENV_BRACED, OPENCODE_ENV, BRACED];
/// The placeholder for a token in receipts.
const MASKED: &str = "…";

/// A team server as an entry names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteServer {
    /// The URL of its MCP endpoint.
    pub(crate) url: String,
    pub(crate) token: RemoteToken,
    /// The project that it is asked for.
    pub(crate) project: Option<String>,
}

/// How a host gets the token of a team server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RemoteToken {
    /// The person signs in, in the host.
    SignIn,
    /// The host reads it from this environment variable (`--token-env`).
    Env(String),
    /// It is in the host's settings.
    Text(String),
}

/// How a host reads the token of a server from an environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenEnv {
    /// It cannot.
    No,
    /// The header refers to the variable; references begin like this.
    Reference(&'static str),
    /// The key [`TOKEN_ENV_KEY`] names the variable.
    Key,
}

/// How a host writes an entry of a server over HTTP.
#[derive(Debug)]
pub(crate) struct RemoteEntry {
    /// The key of the URL.
    pub(crate) url_key: &'static str,
    /// Further keys, as JSON.
    pub(crate) more: &'static str,
    /// How the host reads the token from an environment variable.
    pub(crate) token_env: TokenEnv,
    /// The key of the headers.
    pub(crate) headers_key: &'static str,
    /// What the user does to sign in.
    pub(crate) sign_in: &'static str,
}

/// The form that most hosts share.
pub(super) const HTTP: RemoteEntry =
    RemoteEntry { url_key: "url", more: "{}", token_env: TokenEnv::No, headers_key: "headers", sign_in: "" };

impl RemoteEntry {
    /// Returns the entry; `None` if the host cannot read the token from a variable.
    pub(super) fn value(&self, server: &RemoteServer) -> Option<Value> {
        let mut entry: Map<String, Value> = serde_json::from_str(self.more).unwrap_or_default();
        entry.insert(self.url_key.into(), json!(server.url));
        let mut headers = Map::new();
        match (&server.token, self.token_env) {
            (RemoteToken::SignIn, _) => {}
            (RemoteToken::Text(token), _) => drop(headers.insert("Authorization".into(), json!(format!("Bearer {token}")))),
            (RemoteToken::Env(name), TokenEnv::Key) => drop(entry.insert(TOKEN_ENV_KEY.into(), json!(name))),
            (RemoteToken::Env(name), TokenEnv::Reference(begin)) => {
                headers.insert("Authorization".into(), json!(format!("Bearer {begin}{name}}}")));
            }
            (RemoteToken::Env(_), TokenEnv::No) => return None,
        }
        headers.extend(server.project.iter().map(|project| ("Memdir-Project".to_owned(), json!(project))));
        if !headers.is_empty() {
            entry.insert(self.headers_key.into(), Value::Object(headers));
        }
        Some(Value::Object(entry))
    }
}

/// Returns the URL of a server's entry over HTTP.
pub(crate) fn remote_url(entry: &Value) -> Option<&str> {
    URL_KEYS.iter().find_map(|key| entry[*key].as_str())
}

/// Returns the value of a header of a server's entry.
pub(crate) fn remote_header<'a>(entry: &'a Value, name: &str) -> Option<&'a str> {
    ["headers", "http_headers"].iter().find_map(|key| entry[*key][name].as_str())
}

/// Returns the environment variable from which the host reads the token of a server's entry. Others may write the settings of a project,
/// and the name is part of suggested commands, so nothing else than a name is one.
pub(crate) fn token_env_name(entry: &Value) -> Option<&str> {
    let reference = || {
        let value = remote_header(entry, "Authorization")?.strip_prefix("Bearer ")?;
        REFERENCES.iter().find_map(|begin| value.strip_prefix(begin))?.strip_suffix('}')
    };
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    entry[TOKEN_ENV_KEY].as_str().or_else(reference).filter(is_name)
}

/// Returns the entry without its token, as receipts record it. A reference to a variable is not a token.
pub(crate) fn masked(entry: &Value) -> Value {
    let mut masked = entry.clone();
    if token_env_name(entry).is_some() && entry[TOKEN_ENV_KEY].is_null() {
        return masked;
    }
    for key in ["headers", "http_headers"] {
        if let Some(header) = masked.get_mut(key).and_then(|headers| headers.get_mut("Authorization")) {
            *header = json!(MASKED);
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::HOSTS;

    /// A form of reference that is missing in `REFERENCES` would be taken for a token.
    #[test]
    fn the_variable_of_every_host_is_read_as_it_is_written() {
        for host in HOSTS {
            let Some(remote) = &host.remote else { continue };
            let value = |token| remote.value(&RemoteServer { url: "https://memory.example.org/mcp".into(), token, project: None });
            let Some(entry) = value(RemoteToken::Env("TEAM_TOKEN".into())) else {
                assert_eq!(remote.token_env, TokenEnv::No, "{}", host.name);
                continue;
            };
            assert_eq!(token_env_name(&entry), Some("TEAM_TOKEN"), "{}: {entry}", host.name);
            for token in [RemoteToken::Text("mdt_token".into()), RemoteToken::SignIn] {
                let entry = value(token).unwrap();
                assert_eq!(token_env_name(&entry), None, "{}: {entry}", host.name);
            }
        }
    }
}
