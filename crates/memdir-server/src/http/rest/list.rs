//! Lists memories by prefix, in pages.

use super::{
    model::MemoryObject,
    problem::Problem,
    route::{NoBody, RestCall, RestOperation, RestReply, RouteInfo},
    types::Bounded,
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use memdir_core::{Error, List, MemoryPath, Stored, internal::store::if_readable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of memories on a page without and with their content.
const BASIC_LIMIT: u32 = 100;
const FULL_LIMIT: u32 = 20;

/// Which memories to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    /// Only memories below this folder; ends with `/`. Default: all.
    path_prefix: Option<String>,
    /// Depth of the list. 0: all memories below the prefix. 1: the memories directly below it, and one entry for each folder. Default: 0.
    depth: Option<Bounded<0, 1>>,
    /// Fields of each memory: `full` includes the content. Default: `basic`.
    view: Option<ListView>,
    /// Maximum number of entries; at most 20 with `view=full`. Default: the maximum.
    limit: Option<Bounded<1, BASIC_LIMIT>>,
    /// The value of `next_page` from the previous page. Default: the first page.
    page: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ListView {
    Basic,
    Full,
}

/// A page of a list of memories.
#[derive(Serialize, JsonSchema)]
pub(super) struct MemoryPage {
    /// The entries, sorted by path.
    data: Vec<ListEntry>,
    /// The value of `page` for the next page; null on the last page.
    next_page: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ListEntry {
    Memory(Box<MemoryObject>),
    Prefix(PrefixObject),
}

/// A folder of memories.
#[derive(Serialize, JsonSchema)]
struct PrefixObject {
    /// Always `memory_prefix`.
    #[serde(rename = "type")]
    kind: PrefixType,
    /// The path of the folder, for `path_prefix`.
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PrefixType {
    MemoryPrefix,
}

pub(super) struct ListMemories;

impl RestOperation for ListMemories {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/memories",
        id: "list_memories",
        summary: "List memories by prefix",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "A page of memories")],
        headers: &[],
    };
    type Query = ListQuery;
    type Body = NoBody;
    type Reply = MemoryPage;

    fn run(call: &RestCall, query: ListQuery, _: NoBody) -> Result<RestReply<MemoryPage>, Problem> {
        let prefix = query.path_prefix.unwrap_or_default();
        if !prefix.is_empty() && !prefix.ends_with('/') {
            return Err(Error::bad_input("path_prefix", "it must end with \"/\"").into());
        }
        let is_full = query.view == Some(ListView::Full);
        let most = if is_full { FULL_LIMIT } else { BASIC_LIMIT };
        let limit = query.limit.map_or(most, |limit| limit.0.min(most)) as usize;
        let after = query.page.as_deref().map(parse_page).transpose()?;

        let listed = call.memdir.list(&List { topic: prefix.clone(), ..List::default() })?.memories;
        // A folder is listed once, at the place of its path.
        let mut all: BTreeMap<String, Option<MemoryPath>> = BTreeMap::new();
        for memory in listed {
            let path = memory.path.as_str();
            match path
                .strip_prefix(&prefix)
                .and_then(|below| below.split_once('/'))
                .filter(|_| query.depth.is_some_and(|depth| depth.0 == 1))
            {
                Some((folder, _)) => all.insert(format!("{prefix}{folder}/"), None),
                None => all.insert(path.to_owned(), Some(memory.path)),
            };
        }
        let mut rest = all.into_iter().skip_while(|(path, _)| after.as_ref().is_some_and(|after| path <= after));
        let page: Vec<(String, Option<MemoryPath>)> = rest.by_ref().take(limit).collect();
        let next_page = rest.next().and(page.last()).map(|(path, _)| URL_SAFE_NO_PAD.encode(path));

        let paths: Vec<MemoryPath> = page.iter().filter_map(|(_, memory)| memory.clone()).collect();
        let mut stored = read_all(call, &paths)?.into_iter();
        let mut data = Vec::with_capacity(page.len());
        for (path, memory) in page {
            if memory.is_none() {
                data.push(ListEntry::Prefix(PrefixObject { kind: PrefixType::MemoryPrefix, path }));
            } else if let Some(stored) = stored.next().flatten() {
                let basic = || MemoryObject::new(&stored.path, &stored.bytes, stored.stamp.modified());
                data.push(ListEntry::Memory(Box::new(if is_full { MemoryObject::full(&stored) } else { basic() })));
            }
        }
        Ok(RestReply::ok(MemoryPage { data, next_page }))
    }
}

/// Reads memories. One that another program made too large or unreadable is left out, like one that was deleted meanwhile.
fn read_all(call: &RestCall, paths: &[MemoryPath]) -> Result<Vec<Option<Stored>>, Problem> {
    let store = call.memdir.store();
    match store.get_many(paths) {
        Err(Error::Io { .. } | Error::TooLarge { .. }) => paths.iter().map(|path| Ok(if_readable(store.get(path))?)).collect(),
        other => Ok(other?),
    }
}

fn parse_page(page: &str) -> Result<String, Problem> {
    let path = URL_SAFE_NO_PAD.decode(page).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    path.ok_or_else(|| Error::bad_input("page", "it is not a `next_page` value from this list; omit it to start at the beginning").into())
}
