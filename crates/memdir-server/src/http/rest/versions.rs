//! Versions of a memory: its history, and the content that it had.

use super::{
    model::{ContentEncoding, VersionObject, VersionType, encode, sha256_hex},
    problem::Problem,
    route::{NoBody, RestCall, RestOperation, RestReply, RouteInfo, parse_path},
    types::{ListLimit, list_limit},
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use memdir_core::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionsQuery {
    /// The name of the memory, which may have been deleted.
    path: String,
    /// Maximum number of versions. Default: 100.
    limit: Option<ListLimit>,
}

/// The versions of a memory.
#[derive(Serialize, JsonSchema)]
pub(super) struct VersionPage {
    /// The versions, newest first, including those under earlier names of the memory.
    data: Vec<VersionObject>,
    /// Whether there are older versions.
    has_more: bool,
}

pub(super) struct ListVersions;

impl RestOperation for ListVersions {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/memory_versions",
        id: "list_memory_versions",
        summary: "List the versions of a memory",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The versions, newest first")],
        headers: &[],
    };
    type Query = VersionsQuery;
    type Body = NoBody;
    type Reply = VersionPage;

    fn run(call: &RestCall, query: VersionsQuery, _: NoBody) -> Result<RestReply<VersionPage>, Problem> {
        let limit = list_limit(query.limit);
        let mut versions = call.memdir.versions(&parse_path(&query.path)?, limit + 1)?;
        let has_more = versions.len() > limit;
        versions.truncate(limit);
        Ok(RestReply::ok(VersionPage { data: versions.iter().map(VersionObject::from).collect(), has_more }))
    }
}

/// Which memory the version is of.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionQuery {
    /// The path that the memory had at this version.
    path: String,
}

/// The content of a version.
#[derive(Serialize, JsonSchema)]
pub(super) struct VersionContent {
    /// Always `memory_version`.
    #[serde(rename = "type")]
    kind: VersionType,
    /// The id of the version.
    memory_version_id: String,
    /// The path of the memory, as in the request.
    path: String,
    /// The content of the version.
    content: String,
    /// The encoding of `content`.
    content_encoding: ContentEncoding,
    /// The SHA-256 hash of the content, in hexadecimal digits.
    content_sha256: String,
    /// The size of the content in bytes.
    content_size_bytes: u64,
}

pub(super) struct GetVersion;

impl RestOperation for GetVersion {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/memory_versions/{memory_version_id}",
        id: "get_memory_version",
        summary: "Get the content of a version",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The version")],
        headers: &[],
    };
    type Query = VersionQuery;
    type Body = NoBody;
    type Reply = VersionContent;

    fn run(call: &RestCall, query: VersionQuery, _: NoBody) -> Result<RestReply<VersionContent>, Problem> {
        let path = call.memdir.name(&parse_path(&query.path)?);
        let not_found = |detail: String| Problem::from_status(StatusCode::NOT_FOUND, detail).with_hint("List the versions of the memory.");
        let absent = || not_found(format!("memory {:?} has no version {:?}", path.name(), call.parameter));
        let version = call.parameter.parse().map_err(|_| absent())?;
        let bytes = match call.memdir.store().text_at(&path, version) {
            // The version was forgotten.
            Err(Error::NoChange { why, .. }) => return Err(not_found(why)),
            found => found?.ok_or_else(absent)?,
        };
        let (content, content_encoding) = encode(&bytes);
        Ok(RestReply::ok(VersionContent {
            kind: VersionType::MemoryVersion,
            memory_version_id: call.parameter.clone(),
            path: path.to_string(),
            content,
            content_encoding,
            content_sha256: sha256_hex(&bytes),
            content_size_bytes: bytes.len() as u64,
        }))
    }
}
