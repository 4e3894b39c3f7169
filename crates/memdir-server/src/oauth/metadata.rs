//! What clients read to find the identity provider: the metadata of RFC 9728, and the challenge of a refused request.

use super::{ResourceServer, TokenRefusal};
use axum::http::{HeaderValue, Uri};
use serde_json::{Value, json};

/// The path of the metadata. A path of the resource is appended to it.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl ResourceServer {
    /// Returns the metadata for a path after [`WELL_KNOWN`]: of the server, or of its MCP endpoint. `None` for another path.
    pub(crate) fn metadata(&self, suffix: &str) -> Option<Value> {
        let options = &self.options;
        let resource = options.resource.trim_end_matches('/');
        let (_, path) = self.origin_and_path();
        // A proxy may have removed the path that it serves this server under.
        let place = suffix.strip_prefix(&path).unwrap_or(suffix).trim_end_matches('/');
        let resource = match place {
            "" => resource.to_owned(),
            "/mcp" => format!("{resource}/mcp"),
            _ => return None,
        };
        Some(json!({
            "resource": resource,
            "authorization_servers": [options.issuer],
            "scopes_supported": [options.read_scope, options.write_scope],
            "bearer_methods_supported": ["header"],
            "resource_name": "memdir",
        }))
    }

    /// Returns the value of `WWW-Authenticate` for a refused request to this path.
    pub(crate) fn challenge(&self, request_path: &str, refusal: Option<&TokenRefusal>) -> HeaderValue {
        let (origin, path) = self.origin_and_path();
        let place = if request_path == "/mcp" { "/mcp" } else { "" };
        let mut value = format!("Bearer resource_metadata=\"{origin}{WELL_KNOWN}{path}{place}\"");
        match refusal {
            None => {}
            Some(TokenRefusal::Scope { .. }) => value += ", error=\"insufficient_scope\"",
            Some(refusal) => value += &format!(", error=\"invalid_token\", error_description=\"{}\"", quotable(&refusal.to_string())),
        }
        value += &format!(", scope=\"{} {}\"", self.options.read_scope, self.options.write_scope);
        HeaderValue::from_str(&value).unwrap_or(HeaderValue::from_static("Bearer"))
    }

    /// Splits the server's URL.
    fn origin_and_path(&self) -> (String, String) {
        let resource = self.options.resource.trim_end_matches('/');
        let path = resource.parse::<Uri>().map(|uri| uri.path().trim_end_matches('/').to_owned()).unwrap_or_default();
        (resource.strip_suffix(&path).unwrap_or(resource).to_owned(), path)
    }
}

/// Keeps the characters that RFC 6750 allows in a description.
fn quotable(text: &str) -> String {
    text.chars().filter(|c| matches!(c, ' '..='~') && *c != '"' && *c != '\\').collect()
}
