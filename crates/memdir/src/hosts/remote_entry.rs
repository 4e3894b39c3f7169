//! The entry of a team server in a host's settings: a server over HTTP, in the form that the host reads. Pure.

use serde_json::{Map, Value, json};

/// The keys under which hosts name the URL of a server.
const URL_KEYS: [&str; 3] = ["url", "httpUrl", "serverUrl"];
/// The keys that depend on how the host gets its token. An installation without one removes it.
pub(crate) const TOKEN_KEYS: [&str; 3] = ["headers", "http_headers", "bearer_token_env_var"];
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
    /// The host reads it from this environment variable.
    Variable(String),
    /// It is in the host's settings.
    Text(String),
}

/// How a host writes an entry of a server over HTTP.
#[derive(Debug)]
pub(crate) struct RemoteEntry {
    /// The key of the URL.
    pub(crate) url_key: &'static str,
    /// Further keys, as JSON.
    pub(crate) more: &'static str,
    /// Refers to an environment variable in a value; `None` if the host cannot.
    pub(crate) variable: Option<fn(&str) -> String>,
    /// The key of the headers.
    pub(crate) headers_key: &'static str,
    /// The key that names the variable with the bearer token, for hosts that have one instead of [`Self::variable`].
    pub(crate) token_variable_key: Option<&'static str>,
    /// What the user does to sign in.
    pub(crate) sign_in: &'static str,
}

/// The form that most hosts share.
pub(super) const HTTP: RemoteEntry =
    RemoteEntry { url_key: "url", more: "{}", variable: None, headers_key: "headers", token_variable_key: None, sign_in: "" };

/// The forms of a reference to an environment variable.
pub(super) fn braced(name: &str) -> String {
    format!("${{{name}}}")
}

pub(super) fn env_braced(name: &str) -> String {
    format!("${{env:{name}}}")
}

pub(super) fn opencode_env(name: &str) -> String {
    format!("{{env:{name}}}")
}

impl RemoteEntry {
    /// Returns the entry; `None` if the host cannot read the token from a variable.
    pub(super) fn value(&self, server: &RemoteServer) -> Option<Value> {
        let mut entry: Map<String, Value> = serde_json::from_str(self.more).unwrap_or_default();
        entry.insert(self.url_key.into(), json!(server.url));
        let mut headers = Map::new();
        match (&server.token, self.variable, self.token_variable_key) {
            (RemoteToken::SignIn, ..) => {}
            (RemoteToken::Text(token), ..) => drop(headers.insert("Authorization".into(), json!(format!("Bearer {token}")))),
            (RemoteToken::Variable(name), _, Some(key)) => drop(entry.insert(key.into(), json!(name))),
            (RemoteToken::Variable(name), Some(refer), None) => {
                headers.insert("Authorization".into(), json!(format!("Bearer {}", refer(name))));
            }
            (RemoteToken::Variable(_), None, None) => return None,
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
        let inner = value.strip_prefix("${").or_else(|| value.strip_prefix('{'))?.strip_suffix('}')?;
        Some(inner.strip_prefix("env:").unwrap_or(inner))
    };
    let is_name = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    entry["bearer_token_env_var"].as_str().or_else(reference).filter(is_name)
}

/// Returns the entry without its token, as receipts record it. A reference to a variable is not a token.
pub(crate) fn masked(entry: &Value) -> Value {
    let mut masked = entry.clone();
    if token_env_name(entry).is_some() && entry["bearer_token_env_var"].is_null() {
        return masked;
    }
    for key in ["headers", "http_headers"] {
        if let Some(header) = masked.get_mut(key).and_then(|headers| headers.get_mut("Authorization")) {
            *header = json!(MASKED);
        }
    }
    masked
}
