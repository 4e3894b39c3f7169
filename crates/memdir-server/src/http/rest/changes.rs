//! Changes: those after a cursor, and undoing one.

use super::{
    model::ChangeObject,
    problem::Problem,
    route::{NoBody, NoQuery, Once, RestCall, RestOperation, RestReply, RouteHeader, RouteInfo},
    types::{ListLimit, list_limit},
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use memdir_core::{ChangeCursor, Error, MemoryPath, ReadOnlyCause, UndoTarget, internal::store::mounts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which changes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesQuery {
    /// The value of `cursor` from the previous page. Default: the beginning of the history.
    after: Option<String>,
    /// Maximum number of changes. Default: 100.
    limit: Option<ListLimit>,
}

/// A page of changes.
#[derive(Serialize, JsonSchema)]
pub(super) struct ChangesPage {
    /// The changes, oldest first; empty if there are no newer ones.
    data: Vec<ChangeObject>,
    /// The value of `after` for the next page.
    cursor: String,
}

pub(super) struct ListChanges;

impl RestOperation for ListChanges {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/changes",
        id: "list_changes",
        summary: "List the changes after a cursor, oldest first",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "A page of changes")],
        headers: &[],
    };
    type Query = ChangesQuery;
    type Body = NoBody;
    type Reply = ChangesPage;

    fn run(call: &RestCall, query: ChangesQuery, _: NoBody) -> Result<RestReply<ChangesPage>, Problem> {
        let after = query.after.as_deref().map(ChangeCursor::parse).transpose()?;
        let limit = list_limit(query.limit);
        let page = call.memdir.changes_since(after.as_ref(), limit)?;
        Ok(RestReply::ok(ChangesPage {
            data: page.changes.iter().map(|(change, _)| change.into()).collect(),
            cursor: page.next.to_string(),
        }))
    }
}

/// The change to undo.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UndoBody {
    /// The id of one of your changes. Default: your newest change.
    change_id: Option<String>,
}

/// A change that was undone.
#[derive(Serialize, JsonSchema)]
pub(super) struct UndoneObject {
    /// The id of the change that was undone.
    undone_change_id: String,
    /// The change that undid it, which can be undone in turn.
    change: ChangeObject,
    /// Notes about the change.
    notes: Vec<String>,
}

pub(super) struct UndoChange;

impl RestOperation for UndoChange {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/undo",
        id: "undo_change",
        summary: "Undo one of your changes",
        tool: "memory_undo",
        kind: CallKind::Write,
        success: &[(StatusCode::OK, "The change was undone")],
        headers: &[RouteHeader::IdempotencyKey],
    };
    type Query = NoQuery;
    type Body = UndoBody;
    type Reply = UndoneObject;

    fn run(call: &RestCall, _: NoQuery, body: UndoBody) -> Result<RestReply<UndoneObject>, Problem> {
        let target = body.change_id.map_or(UndoTarget::Mine, UndoTarget::Own);
        match call.once(&any_path(call)?, |memdir| Ok(memdir.undo(&target)?))? {
            Once::Made(undone) => {
                let (undone_change_id, change) = (undone.undone.id.to_string(), (&undone.change).into());
                Ok(RestReply::ok(UndoneObject { undone_change_id, change, notes: undone.notes }).replayed(undone.is_repeated))
            }
            Once::Repeated(change) => {
                let undone_change_id = change.undoes.as_ref().map(ToString::to_string).unwrap_or_default();
                Ok(RestReply::ok(UndoneObject { undone_change_id, change: (&change).into(), notes: Vec::new() }).replayed(true))
            }
        }
    }
}

/// Returns a name in a writable mount.
fn any_path(call: &RestCall) -> Result<MemoryPath, Problem> {
    let mounts = call.memdir.store().mounts();
    let mount = mounts.iter().find(|mount| mount.access == memdir_core::Access::ReadWrite);
    let read_only = || Error::ReadOnly { path: String::new(), why: "every mount is read-only".into(), cause: ReadOnlyCause::Caller };
    Ok(mounts::entrypoint_path(&mount.ok_or_else(read_only)?.prefix)?)
}
