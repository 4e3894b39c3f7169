//! Memories: list, get, put, append, move, delete.

use super::{
    expectation::{ChangeExpectation, Precondition},
    model::{ContentEncoding, MemoryObject, decode},
    problem::Problem,
    route::{NoBody, NoQuery, Once, RestCall, RestOperation, RestReply, RouteHeader, RouteInfo, parse_path},
    types::Sha256Hex,
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use jiff::Timestamp;
use memdir_core::{Change, Delete, Memdir, MemoryPath, Role, Version, Write, WriteMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SAVED: &[(StatusCode, &str)] = &[(StatusCode::OK, "The updated or unchanged memory"), (StatusCode::CREATED, "The new memory")];

pub(super) struct GetMemory;

impl RestOperation for GetMemory {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/memories/{path}",
        id: "get_memory",
        summary: "Get a memory with its exact content",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The memory"), (StatusCode::NOT_MODIFIED, "The memory has one of the versions in `If-None-Match`")],
        headers: &[RouteHeader::IfNoneMatch],
    };
    type Query = NoQuery;
    type Body = NoBody;
    type Reply = MemoryObject;

    fn run(call: &RestCall, _: NoQuery, _: NoBody) -> Result<RestReply<MemoryObject>, Problem> {
        let stored = call.memdir.get(&call.memory()?)?;
        let version = stored.version.to_string();
        if call.conditions.if_none_match.as_ref().is_some_and(|tags| tags.includes(Some(&version))) {
            return Ok(RestReply { status: StatusCode::NOT_MODIFIED, value: None, etag: Some(version), is_replayed: false });
        }
        Ok(RestReply::ok(MemoryObject::full(&stored)).with_etag(version))
    }
}

/// The content of a memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PutMemoryBody {
    /// The whole new content.
    content: String,
    /// The encoding of `content`.
    #[serde(default)]
    content_encoding: ContentEncoding,
    /// The content that the memory must have before the change.
    precondition: Option<Precondition>,
}

pub(super) struct PutMemory;

impl RestOperation for PutMemory {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::PUT,
        path: "/v1/memories/{path}",
        id: "put_memory",
        summary: "Create a memory, or replace its whole content",
        tool: "memory_write",
        kind: CallKind::Write,
        success: SAVED,
        headers: &[RouteHeader::IfMatch, RouteHeader::IfNoneMatch, RouteHeader::IdempotencyKey],
    };
    type Query = NoQuery;
    type Body = PutMemoryBody;
    type Reply = MemoryObject;

    fn run(call: &RestCall, _: NoQuery, body: PutMemoryBody) -> Result<RestReply<MemoryObject>, Problem> {
        let path = call.memory()?;
        let bytes = decode(body.content, body.content_encoding)?;
        let saved = call.once(&path, |memdir| {
            let expected = ChangeExpectation::new(memdir, &path, &call.conditions, body.precondition.as_ref())?;
            let mode = if expected.is_absent { WriteMode::PutNew } else { WriteMode::Put };
            let write = Write { expect: expected.version, ..Write::create(path.clone(), bytes.clone()).mode(mode) };
            memdir.write(&write).map_err(|error| expected.problem(error))
        });
        match saved {
            Ok(Once::Made(saved)) => {
                let status = if saved.created { StatusCode::CREATED } else { StatusCode::OK };
                let memory = MemoryObject::new(&saved.path, &bytes, now(&call.memdir));
                let change_id = saved.change.map(|id| id.to_string());
                Ok(RestReply::new(status, MemoryObject { change_id, notes: saved.notes, ..memory }).with_etag(saved.version))
            }
            Ok(Once::Repeated(change)) => repeated(&call.memdir, &change, &path),
            Err(problem) => unchanged(&call.memdir, &path, &bytes, problem),
        }
    }
}

/// Returns the memory if it is already what the request asks for: then a failed precondition does not matter.
fn unchanged(memdir: &Memdir, path: &MemoryPath, bytes: &[u8], problem: Problem) -> Result<RestReply<MemoryObject>, Problem> {
    let stored = if problem.kind == Problem::PRECONDITION { memdir.store().get(&memdir.name(path))? } else { None };
    match stored.filter(|stored| stored.bytes == bytes) {
        Some(stored) => {
            let memory = MemoryObject::new(&stored.path, bytes, stored.stamp.modified());
            Ok(RestReply::ok(memory).with_etag(stored.version))
        }
        None => Err(problem),
    }
}

/// A text to append to a memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AppendBody {
    /// The name of the memory, which is created if it does not exist.
    path: String,
    /// The text to append, as whole lines.
    content: String,
}

pub(super) struct AppendMemory;

impl RestOperation for AppendMemory {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/append",
        id: "append_memory",
        summary: "Append lines to a memory, or create it",
        tool: "memory_write",
        kind: CallKind::Write,
        success: SAVED,
        headers: &[RouteHeader::IfMatch, RouteHeader::IdempotencyKey],
    };
    type Query = NoQuery;
    type Body = AppendBody;
    type Reply = MemoryObject;

    fn run(call: &RestCall, _: NoQuery, body: AppendBody) -> Result<RestReply<MemoryObject>, Problem> {
        let path = parse_path(&body.path)?;
        let saved = call.once(&path, |memdir| {
            let expected = ChangeExpectation::new(memdir, &path, &call.conditions, None)?;
            let write = Write { expect: expected.version, ..Write::create(path.clone(), body.content).mode(WriteMode::Append) };
            memdir.write(&write).map_err(|error| expected.problem(error))
        })?;
        match saved {
            Once::Made(saved) => {
                let status = if saved.created { StatusCode::CREATED } else { StatusCode::OK };
                let memory = at_version(&call.memdir, &saved.path, saved.version, now(&call.memdir))?;
                let change_id = saved.change.map(|id| id.to_string());
                Ok(RestReply::new(status, MemoryObject { change_id, notes: saved.notes, ..memory }).with_etag(saved.version))
            }
            Once::Repeated(change) => repeated(&call.memdir, &change, &path),
        }
    }
}

/// The old and the new name of a memory.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveBody {
    /// The current name of the memory.
    from: String,
    /// The new name of the memory.
    to: String,
}

/// A memory that was moved.
#[derive(Serialize, JsonSchema)]
pub(super) struct MovedObject {
    /// The memory under its new name.
    #[serde(flatten)]
    memory: MemoryObject,
    /// The names of the memories whose references to it were updated.
    rewritten: Vec<String>,
    /// The names of the read-only memories that still refer to it by its old name.
    skipped: Vec<String>,
}

pub(super) struct MoveMemory;

impl RestOperation for MoveMemory {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/move",
        id: "move_memory",
        summary: "Rename a memory and update the references to it",
        tool: "memory_move",
        kind: CallKind::Write,
        success: &[(StatusCode::OK, "The memory under its new name")],
        headers: &[RouteHeader::IdempotencyKey],
    };
    type Query = NoQuery;
    type Body = MoveBody;
    type Reply = MovedObject;

    fn run(call: &RestCall, _: NoQuery, body: MoveBody) -> Result<RestReply<MovedObject>, Problem> {
        let (from, to) = (parse_path(&body.from)?, parse_path(&body.to)?);
        match call.once(&to, |memdir| Ok(memdir.rename(&from, &to)?))? {
            Once::Made(moved) => {
                let memory = at_version(&call.memdir, &moved.to, moved.version, now(&call.memdir))?;
                let memory = MemoryObject { change_id: Some(moved.change.to_string()), notes: moved.notes, ..memory };
                let (rewritten, skipped) = (moved.rewritten, moved.skipped);
                Ok(RestReply::ok(MovedObject { memory, rewritten, skipped }).with_etag(moved.version))
            }
            Once::Repeated(change) => {
                let RestReply { value, etag, .. } = repeated(&call.memdir, &change, &to)?;
                let others = change.files.iter().filter(|file| file.role == Role::Memory && file.before.is_some() && file.after.is_some());
                let rewritten = others.map(|file| file.path.name().to_owned()).collect();
                let value = value.map(|memory| MovedObject { memory, rewritten, skipped: Vec::new() });
                Ok(RestReply { status: StatusCode::OK, value, etag, is_replayed: true })
            }
        }
    }
}

/// What the memory must contain to be deleted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteQuery {
    /// The SHA-256 hash that the content must have, in hexadecimal digits.
    expected_content_sha256: Option<Sha256Hex>,
}

/// A memory that was deleted.
#[derive(Serialize, JsonSchema)]
pub(super) struct DeletedObject {
    /// Always `memory_deleted`.
    #[serde(rename = "type")]
    kind: DeletedType,
    /// The path of the deleted memory.
    path: String,
    /// The id of the change, for undo.
    change_id: String,
    /// The id of the deleted version.
    memory_version_id: Option<String>,
    /// Notes about the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DeletedType {
    MemoryDeleted,
}

pub(super) struct DeleteMemory;

impl RestOperation for DeleteMemory {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::DELETE,
        path: "/v1/memories/{path}",
        id: "delete_memory",
        summary: "Delete a memory; its versions are kept",
        tool: "memory_delete",
        kind: CallKind::Write,
        success: &[(StatusCode::OK, "The memory was deleted")],
        headers: &[RouteHeader::IfMatch, RouteHeader::IdempotencyKey],
    };
    type Query = DeleteQuery;
    type Body = NoBody;
    type Reply = DeletedObject;

    fn run(call: &RestCall, query: DeleteQuery, _: NoBody) -> Result<RestReply<DeletedObject>, Problem> {
        let path = call.memory()?;
        let precondition = query.expected_content_sha256.map(Precondition::from_sha256);
        let deleted = call.once(&path, |memdir| {
            let expected = ChangeExpectation::new(memdir, &path, &call.conditions, precondition.as_ref())?;
            let deleted = memdir.delete(&Delete { path: path.clone(), expect: expected.version });
            deleted.map_err(|error| expected.problem(error))
        })?;
        let kind = DeletedType::MemoryDeleted;
        let (object, is_replayed) = match deleted {
            Once::Made(deleted) => {
                let (path, version, notes) = (deleted.path.to_string(), Some(deleted.version.to_string()), deleted.notes);
                (DeletedObject { kind, path, change_id: deleted.change.to_string(), memory_version_id: version, notes }, false)
            }
            Once::Repeated(change) => {
                let file = change.files.iter().find(|file| file.role == Role::Memory && file.after.is_none());
                let path = file.map_or_else(|| path.to_string(), |file| file.path.to_string());
                let version = file.and_then(|file| file.before).map(|version| version.to_string());
                (DeletedObject { kind, path, change_id: change.id.to_string(), memory_version_id: version, notes: Vec::new() }, true)
            }
        };
        Ok(RestReply::ok(object).replayed(is_replayed))
    }
}

fn now(memdir: &Memdir) -> Timestamp {
    memdir.context().clock.now()
}

/// Describes a memory as it was right after a change.
fn at_version(memdir: &Memdir, path: &MemoryPath, version: Version, updated: Timestamp) -> Result<MemoryObject, Problem> {
    let bytes = memdir.store().text_at(path, version)?.unwrap_or_default();
    Ok(MemoryObject::new(path, &bytes, updated))
}

/// Answers a repeated request as the first one was answered: from the change that it made.
fn repeated(memdir: &Memdir, change: &Change, path: &MemoryPath) -> Result<RestReply<MemoryObject>, Problem> {
    let name = memdir.name(path);
    let files = || change.files.iter().filter(|file| file.role == Role::Memory);
    let written = files().find(|file| file.path.name() == name.name()).or_else(|| files().find(|file| file.before.is_none()));
    let Some((file, version)) = written.and_then(|file| Some((file, file.after?))) else {
        // The first request had nothing to change.
        let stored = memdir.get(path)?;
        let memory = MemoryObject::new(&stored.path, &stored.bytes, stored.stamp.modified());
        return Ok(RestReply::ok(memory).with_etag(stored.version).replayed(true));
    };
    let status = if file.before.is_none() { StatusCode::CREATED } else { StatusCode::OK };
    let memory = at_version(memdir, &file.path, version, change.at)?;
    let memory = MemoryObject { change_id: Some(change.id.to_string()), ..memory };
    Ok(RestReply::new(status, memory).with_etag(version).replayed(true))
}
