//! The objects of the REST API. Names of fields follow the contract of managed memory stores.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use jiff::Timestamp;
use memdir_core::{Actor, Change, FileChange, MemoryPath, MemoryVersion, Role, Stored, Verb, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The encoding of the content of a memory in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum ContentEncoding {
    /// Plain text.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// Base64, for content that is not valid UTF-8.
    #[serde(rename = "base64")]
    Base64,
}

/// A memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MemoryObject {
    /// Always `memory`.
    #[serde(rename = "type")]
    pub(crate) kind: MemoryType,
    /// The path, with folders and extension.
    pub(crate) path: String,
    /// The name: the path without `.md`. Every request accepts both.
    pub(crate) name: String,
    /// The content. Absent in lists with `view=basic` and in responses to changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    /// The encoding of `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_encoding: Option<ContentEncoding>,
    /// The SHA-256 hash of the content, in hexadecimal digits.
    pub(crate) content_sha256: String,
    /// The size of the content in bytes.
    pub(crate) content_size_bytes: u64,
    /// The creation date in the frontmatter, if there is one. The time of the first version is in `/v1/memory_versions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<String>,
    /// The time of the last change to the content.
    pub(crate) updated_at: String,
    /// The id of the version, which is also the entity tag.
    pub(crate) memory_version_id: String,
    /// The id of the change that the request made; absent if it changed nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) change_id: Option<String>,
    /// Notes about the change that the request made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MemoryType {
    Memory,
}

impl MemoryObject {
    /// Describes a memory without its content.
    pub(crate) fn new(path: &MemoryPath, bytes: &[u8], updated: Timestamp) -> Self {
        let created = memdir_core::Memory::parse(&String::from_utf8_lossy(bytes)).0.created();
        MemoryObject {
            kind: MemoryType::Memory,
            path: path.to_string(),
            name: path.name().to_owned(),
            content: None,
            content_encoding: None,
            content_sha256: sha256_hex(bytes),
            content_size_bytes: bytes.len() as u64,
            created_at: created.map(|created| created.to_string()),
            updated_at: updated.to_string(),
            memory_version_id: Version::from_content(bytes).to_string(),
            change_id: None,
            notes: Vec::new(),
        }
    }

    /// Describes a memory with its content.
    pub(crate) fn full(stored: &Stored) -> Self {
        let (content, encoding) = encode(&stored.bytes);
        let memory = MemoryObject::new(&stored.path, &stored.bytes, stored.stamp.modified());
        MemoryObject { content: Some(content), content_encoding: Some(encoding), ..memory }
    }
}

/// Encodes the bytes of a memory: as text if they are UTF-8.
pub(crate) fn encode(bytes: &[u8]) -> (String, ContentEncoding) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), ContentEncoding::Utf8),
        Err(_) => (STANDARD.encode(bytes), ContentEncoding::Base64),
    }
}

/// Decodes the content of a request.
pub(crate) fn decode(content: String, encoding: ContentEncoding) -> memdir_core::Result<Vec<u8>> {
    match encoding {
        ContentEncoding::Utf8 => Ok(content.into_bytes()),
        ContentEncoding::Base64 => {
            STANDARD.decode(content).map_err(|error| memdir_core::Error::bad_input("content", format!("it is not valid Base64: {error}")))
        }
    }
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The effect of a change on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VersionOperation {
    Created,
    Modified,
    Deleted,
}

impl VersionOperation {
    fn new(before: Option<Version>, after: Option<Version>) -> Self {
        match (before, after) {
            (_, None) => VersionOperation::Deleted,
            (None, Some(_)) => VersionOperation::Created,
            (Some(_), Some(_)) => VersionOperation::Modified,
        }
    }
}

/// The person or program that made a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ActorObject {
    /// The name of the person or program.
    pub(crate) name: String,
    /// The id of the conversation or connection, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
}

impl From<&Actor> for ActorObject {
    fn from(actor: &Actor) -> Self {
        ActorObject { name: actor.name.clone(), session: actor.session.clone() }
    }
}

/// A version of a memory, or its deletion.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct VersionObject {
    /// Always `memory_version`.
    #[serde(rename = "type")]
    pub(crate) kind: VersionType,
    /// The id of the version; null if the memory was deleted.
    pub(crate) memory_version_id: Option<String>,
    /// The path of the memory at that time.
    pub(crate) path: String,
    /// The effect of the change on the memory.
    pub(crate) operation: VersionOperation,
    /// The time of the change.
    pub(crate) created_at: String,
    /// The person or program that made the change.
    pub(crate) created_by: ActorObject,
    /// The name of the reviewer who accepted the change, if it was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reviewed_by: Option<String>,
    /// The id of the change, for undo.
    pub(crate) change_id: String,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum VersionType {
    MemoryVersion,
}

impl From<&MemoryVersion> for VersionObject {
    fn from(version: &MemoryVersion) -> Self {
        VersionObject {
            kind: VersionType::MemoryVersion,
            memory_version_id: version.after.map(|version| version.to_string()),
            path: version.path.to_string(),
            operation: VersionOperation::new(version.before, version.after),
            created_at: version.change.at.to_string(),
            created_by: (&version.change.actor).into(),
            reviewed_by: version.change.reviewer.clone(),
            change_id: version.change.id.to_string(),
        }
    }
}

/// A change to one or more memories.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ChangeObject {
    /// Always `change`.
    #[serde(rename = "type")]
    pub(crate) kind: ChangeType,
    /// The id of the change, for undo.
    pub(crate) id: String,
    /// The kind of change: `write`, `append`, `edit`, `rename`, `delete`, `undo`, …
    pub(crate) verb: String,
    /// The time of the change.
    pub(crate) created_at: String,
    /// The person or program that made the change.
    pub(crate) created_by: ActorObject,
    /// The name of the reviewer who accepted the change, if it was proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reviewed_by: Option<String>,
    /// The id of the change that this one undoes or redoes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undoes: Option<String>,
    /// The memories that the change affected.
    pub(crate) memories: Vec<ChangedMemory>,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChangeType {
    Change,
}

/// A memory that a change affected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ChangedMemory {
    /// The path of the memory.
    pub(crate) path: String,
    /// The effect of the change on the memory.
    pub(crate) operation: VersionOperation,
    /// The id of the version after the change; null if the memory was deleted.
    pub(crate) memory_version_id: Option<String>,
    /// The id of the version before the change; null if the memory was created.
    pub(crate) previous_memory_version_id: Option<String>,
}

impl From<&Change> for ChangeObject {
    fn from(change: &Change) -> Self {
        let memory = |file: &FileChange| ChangedMemory {
            path: file.path.to_string(),
            operation: VersionOperation::new(file.before, file.after),
            memory_version_id: file.after.map(|version| version.to_string()),
            previous_memory_version_id: file.before.map(|version| version.to_string()),
        };
        ChangeObject {
            kind: ChangeType::Change,
            id: change.id.to_string(),
            verb: verb_name(change.verb),
            created_at: change.at.to_string(),
            created_by: (&change.actor).into(),
            reviewed_by: change.reviewer.clone(),
            undoes: change.undoes.as_ref().map(ToString::to_string),
            memories: change.files.iter().filter(|file| file.role == Role::Memory).map(memory).collect(),
        }
    }
}

fn verb_name(verb: Verb) -> String {
    to_text(&verb)
}

/// Returns the text of a value that is serialized as one.
pub(crate) fn to_text<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        _ => String::new(),
    }
}
