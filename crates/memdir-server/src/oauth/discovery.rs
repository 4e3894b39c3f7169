//! The issuer's metadata: OpenID Connect Discovery and RFC 8414, which differ in where the document is.

use super::fetch;
use axum::http::Uri;
use serde_json::Value;

/// What the issuer says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IssuerMetadata {
    pub(crate) jwks_uri: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: Option<String>,
}

/// Reads the metadata of an issuer. Blocks.
pub(super) fn read_metadata(issuer: &str) -> Result<IssuerMetadata, String> {
    let mut failures = Vec::new();
    for url in metadata_urls(issuer) {
        match fetch::get_json(&url).and_then(|document| parse(issuer, &url, &document)) {
            Ok(metadata) => return Ok(metadata),
            Err(why) => failures.push(why),
        }
    }
    Err(format!("no valid metadata found: {}", failures.join("; ")))
}

/// Returns the places of the document. A path of the issuer comes last in RFC 8414, and first in OpenID Connect.
fn metadata_urls(issuer: &str) -> Vec<String> {
    let issuer = issuer.trim_end_matches('/');
    let path = issuer.parse::<Uri>().map(|uri| uri.path().trim_end_matches('/').to_owned()).unwrap_or_default();
    let origin = issuer.strip_suffix(&path).unwrap_or(issuer);
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
        format!("{issuer}/.well-known/openid-configuration"),
    ];
    urls.dedup();
    urls
}

fn parse(issuer: &str, url: &str, document: &Value) -> Result<IssuerMetadata, String> {
    // Otherwise a document of another issuer could name its own keys.
    if document["issuer"].as_str() != Some(issuer) {
        return Err(format!("{url}: the issuer is {}, not {issuer:?}", document["issuer"]));
    }
    let endpoint = |name: &str| document[name].as_str().filter(|url| fetch::is_safe_url(url)).map(str::to_owned);
    let Some(jwks_uri) = endpoint("jwks_uri") else { return Err(format!("{url}: jwks_uri is missing or is not an https URL")) };
    Ok(IssuerMetadata { jwks_uri, authorization_endpoint: endpoint("authorization_endpoint"), token_endpoint: endpoint("token_endpoint") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_places_of_the_document() {
        assert_eq!(
            metadata_urls("https://id.example/acme/"),
            [
                "https://id.example/.well-known/oauth-authorization-server/acme",
                "https://id.example/.well-known/openid-configuration/acme",
                "https://id.example/acme/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            metadata_urls("https://id.example"),
            ["https://id.example/.well-known/oauth-authorization-server", "https://id.example/.well-known/openid-configuration"]
        );
    }

    #[test]
    fn a_document_of_another_issuer_or_with_a_plain_url_is_refused() {
        let document = |issuer: &str, keys: &str| json!({ "issuer": issuer, "jwks_uri": keys });
        let read = |document: &Value| parse("https://id.example", "u", document);
        assert!(read(&document("https://id.example", "https://id.example/keys")).is_ok());
        assert!(read(&document("https://id.example/", "https://id.example/keys")).unwrap_err().contains("the issuer is"));
        assert!(read(&document("https://id.example", "http://id.example/keys")).unwrap_err().contains("jwks_uri"));
    }
}
