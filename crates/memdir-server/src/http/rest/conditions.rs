//! Conditional requests (RFC 9110, section 13). The entity tag of a memory is its version.

use super::problem::Problem;
use axum::http::{HeaderMap, HeaderName, header};

/// The conditions of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    pub(crate) if_match: Option<EntityTags>,
    pub(crate) if_none_match: Option<EntityTags>,
}

/// The value of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntityTags {
    /// `*`: any version.
    Any,
    OneOf(Vec<String>),
}

impl EntityTags {
    /// Whether a memory with this version, or a missing one, has one of the tags.
    pub(crate) fn includes(&self, version: Option<&str>) -> bool {
        match self {
            EntityTags::Any => version.is_some(),
            EntityTags::OneOf(tags) => version.is_some_and(|version| tags.iter().any(|tag| tag == version)),
        }
    }
}

impl Conditions {
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Conditions { if_match: tags(headers, &header::IF_MATCH)?, if_none_match: tags(headers, &header::IF_NONE_MATCH)? })
    }
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<EntityTags>, Problem> {
    let invalid = || Problem::invalid(format!("header {name} must be * or a list of quoted versions, as in the ETag header"));
    let mut all = Vec::new();
    let mut is_any = false;
    for value in headers.get_all(name) {
        let value = value.to_str().map_err(|_| invalid())?;
        for tag in value.split(',').map(str::trim) {
            if tag == "*" {
                is_any = true;
                continue;
            }
            // Proxies that compress a response weaken its tag, and clients forget the quotes; the version is the same.
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            all.push(tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag).to_owned());
        }
    }
    match (is_any, all.is_empty()) {
        (true, true) => Ok(Some(EntityTags::Any)),
        (true, false) => Err(invalid()),
        (false, true) => Ok(None),
        (false, false) => Ok(Some(EntityTags::OneOf(all))),
    }
}
