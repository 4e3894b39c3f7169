//! What a memory must be before a change, from the headers or the body of a request.

use super::{
    conditions::{Conditions, EntityTags},
    model::sha256_hex,
    problem::Problem,
    types::Sha256Hex,
};
use memdir_core::{Error, Memdir, MemoryPath, Version};
use schemars::JsonSchema;
use serde::Deserialize;

/// The content that the memory must have before the change.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Precondition {
    /// The content must have this SHA-256 hash.
    ContentSha256 {
        /// The SHA-256 hash of the content, in hexadecimal digits.
        content_sha256: Sha256Hex,
    },
}

impl Precondition {
    pub(super) fn from_sha256(content_sha256: Sha256Hex) -> Self {
        Precondition::ContentSha256 { content_sha256 }
    }
}

/// What a change expects. The version is compared again under the lock of the change.
pub(super) struct ChangeExpectation {
    /// The version that the memory must have.
    pub(super) version: Option<Version>,
    /// Whether there must be no memory.
    pub(super) is_absent: bool,
    /// Whether headers say so.
    is_header: bool,
}

impl ChangeExpectation {
    /// Compares the conditions of a request with the memory as it is.
    pub(super) fn new(
        memdir: &Memdir,
        path: &MemoryPath,
        conditions: &Conditions,
        precondition: Option<&Precondition>,
    ) -> Result<Self, Problem> {
        let is_header = conditions.if_match.is_some() || conditions.if_none_match.is_some();
        let mut expected = ChangeExpectation { version: None, is_absent: false, is_header };
        if !is_header && precondition.is_none() {
            return Ok(expected);
        }
        let stored = memdir.store().get(&memdir.name(path))?;
        let version = stored.as_ref().map(|stored| stored.version.to_string());
        let failed = |is_header| {
            let name = path.name();
            match &version {
                None => {
                    let hint = "The memory may have been deleted or renamed: list the memories to find it.";
                    Problem::precondition(format!("memory {name:?} does not exist"), is_header).with_hint(hint)
                }
                Some(version) if is_header => {
                    Problem::precondition(format!("memory {name:?} has version {version}, which does not meet the condition"), true)
                }
                Some(_) => Problem::precondition(format!("the content of memory {name:?} does not match the given content_sha256"), false),
            }
        };
        if let Some(tags) = &conditions.if_match {
            if !tags.includes(version.as_deref()) {
                return Err(failed(true));
            }
            expected.version = stored.as_ref().map(|stored| stored.version);
        }
        if let Some(tags) = &conditions.if_none_match {
            if tags.includes(version.as_deref()) {
                return Err(failed(true));
            }
            expected.is_absent = *tags == EntityTags::Any;
        }
        if let Some(Precondition::ContentSha256 { content_sha256 }) = precondition {
            if stored.as_ref().map(|stored| sha256_hex(&stored.bytes)).as_ref() != Some(&content_sha256.0) {
                return Err(failed(false));
            }
            expected.version = stored.map(|stored| stored.version);
        }
        Ok(expected)
    }

    /// Returns the problem of a change that failed, perhaps because the memory changed since it was compared.
    pub(super) fn problem(&self, error: Error) -> Problem {
        match error {
            Error::Changed { .. } | Error::Exists { .. } => Problem::precondition(error.to_string(), self.is_header),
            error => error.into(),
        }
    }
}
