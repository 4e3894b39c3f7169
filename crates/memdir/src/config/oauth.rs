//! The `[oauth]` table: the identity provider whose access tokens the HTTP server accepts, and what its claims mean.

use serde::Deserialize;
use std::path::PathBuf;

/// The `[oauth]` table, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct OAuthSetting {
    /// The issuer.
    pub(crate) issuer: String,
    /// The URL under which clients reach the server.
    pub(crate) resource: String,
    /// Further audiences.
    #[serde(default)]
    pub(crate) audiences: Vec<String>,
    #[serde(default = "read_scope")]
    pub(crate) read_scope: String,
    #[serde(default = "write_scope")]
    pub(crate) write_scope: String,
    #[serde(default = "person_claim")]
    pub(crate) person_claim: String,
    #[serde(default = "groups_claim")]
    pub(crate) groups_claim: String,
    pub(crate) projects_claim: Option<String>,
    pub(crate) tenant_claim: Option<String>,
    /// The tenant, if no claim names it.
    pub(crate) tenant: Option<String>,
    /// The id of the pages' client.
    pub(crate) client_id: Option<String>,
    /// The file with the secret of the pages' client.
    pub(crate) client_secret_file: Option<PathBuf>,
    /// The projects of groups.
    #[serde(default)]
    pub(crate) groups: Vec<OAuthGroup>,
}

/// One `[[oauth.groups]]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct OAuthGroup {
    /// The name of the group in the claim.
    pub(crate) name: String,
    /// The projects that its people have access to.
    pub(crate) projects: Vec<String>,
}

fn read_scope() -> String {
    "memdir:read".into()
}

fn write_scope() -> String {
    "memdir:write".into()
}

fn person_claim() -> String {
    "sub".into()
}

fn groups_claim() -> String {
    "groups".into()
}
