//! The stream of changes, as server-sent events. The id of an event is the cursor after its change, so that a client that lost the
//! connection continues where it was.

use super::{
    model::ChangeObject,
    problem::Problem,
    route::{NoBody, RestCall, RestOperation, RestReply, RouteHeader, RouteInfo},
};
use crate::{
    call::CallKind,
    http::event_body::{CONNECTED, KEEP_ALIVE_SECS, QUIET, event_stream},
    subscriptions::ResourceEvent,
};
use axum::{
    http::{Method, StatusCode},
    response::Response,
};
use bytes::Bytes;
use memdir_core::{ChangeCursor, Memdir};
use schemars::JsonSchema;
use serde::Deserialize;
use std::{fmt::Write as _, future::Future, time::Duration};
use tokio::sync::{
    broadcast::{self, error::RecvError},
    mpsc,
};
use tokio_util::sync::CancellationToken;

/// Changes that are read at a time.
const BATCH: usize = 100;
/// Seconds after which the history is read without a hint. Hints come from changed files; the history may have more.
const POLL_SECS: u64 = 5;

/// Where the stream starts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamQuery {
    /// The cursor to start after: a `cursor` of `/v1/changes`, or the id of an event. `Last-Event-ID` takes precedence. Default: the newest change.
    after: Option<String>,
}

/// Its declaration. The answer is a stream, which the router starts; running it returns the cursor at which it starts.
pub(super) struct StreamChanges;

impl RestOperation for StreamChanges {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/changes/stream",
        id: "stream_changes",
        summary: "Stream changes as server-sent events",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "Events of type `change`: the data is the change, and the id is the cursor to continue from")],
        headers: &[RouteHeader::LastEventId],
    };
    type Query = StreamQuery;
    type Body = NoBody;
    type Reply = String;

    fn run(call: &RestCall, query: StreamQuery, _: NoBody) -> Result<RestReply<String>, Problem> {
        let after = call.last_event_id.as_deref().or(query.after.as_deref());
        let cursor = match after {
            Some(after) => {
                let cursor = ChangeCursor::parse(after)?;
                // An expired cursor is refused before the stream begins.
                call.memdir.changes_since(Some(&cursor), 1)?;
                cursor
            }
            None => call.memdir.store().newest_cursor()?,
        };
        Ok(RestReply::ok(cursor.to_string()))
    }
}

/// Returns the events after a cursor as text, and the cursor after them.
pub(super) fn events_since(memdir: &Memdir, after: &ChangeCursor) -> memdir_core::Result<(String, ChangeCursor)> {
    let page = memdir.changes_since(Some(after), BATCH)?;
    let mut text = String::new();
    for (change, cursor) in &page.changes {
        let data = serde_json::to_string(&ChangeObject::from(change)).unwrap_or_default();
        let _ = write!(text, "id: {cursor}\nevent: change\ndata: {data}\n\n");
    }
    Ok((text, page.next))
}

/// Starts a stream at a cursor. `read` returns the events after a cursor, or `None` if the caller may no longer read them.
pub(super) fn start<R, F>(
    mut cursor: ChangeCursor,
    mut hints: broadcast::Receiver<ResourceEvent>,
    shutdown: CancellationToken,
    read: R,
) -> Response
where
    R: Fn(ChangeCursor) -> F + Send + 'static,
    F: Future<Output = Option<(String, ChangeCursor)>> + Send,
{
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(async move {
        let mut message = Bytes::from_static(CONNECTED);
        let mut quiet_secs = 0;
        loop {
            if !message.is_empty() && sender.send(message).await.is_err() {
                return;
            }
            let Some((events, next)) = read(cursor).await else { return };
            let is_full = !events.is_empty();
            (message, cursor) = (Bytes::from(events), next);
            if is_full {
                quiet_secs = 0;
                continue;
            }
            tokio::select! {
                hint = hints.recv() => if matches!(hint, Err(RecvError::Closed)) { return },
                () = sender.closed() => return,
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(Duration::from_secs(POLL_SECS)) => quiet_secs += POLL_SECS,
            }
            if quiet_secs >= KEEP_ALIVE_SECS {
                (message, quiet_secs) = (Bytes::from_static(QUIET), 0);
            }
        }
    });
    event_stream(receiver)
}
