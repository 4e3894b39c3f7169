//! Search, recall, and the memory section of a system prompt.

use super::{
    model::to_text,
    problem::Problem,
    route::{NoBody, NoQuery, RestCall, RestOperation, RestReply, RouteInfo},
    types::{Bounded, Fraction, NonEmptyText},
};
use crate::call::CallKind;
use axum::http::{Method, StatusCode};
use memdir_core::{Hit, Kind, Recall, RecallBudget, Search, Source, internal::base::time::parse_since};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A search request.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchBody {
    /// The question or the words to search for.
    query: NonEmptyText,
    /// Maximum number of hits. Default: 10.
    max_results: Option<Bounded<1, 100>>,
    /// Minimum score of a hit. Default: 0.35.
    min_score: Option<Fraction>,
    /// Only hits from this source. Default: all sources.
    source: Option<SearchSource>,
    /// Only memories of this type. Default: all types.
    #[serde(rename = "type")]
    kind: Option<SearchType>,
    /// Only memories below this folder. Default: all.
    path_prefix: Option<String>,
    /// Only memories dated (or, without a date, changed) on or after this date, such as 2026-01-31,
    /// or in a period, such as 90d. A date begins at midnight in the time zone of the server.
    since: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchSource {
    Memory,
    Chat,
    Custom,
    Inbox,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum SearchType {
    User,
    Feedback,
    Project,
    Reference,
}

/// The answer to a search.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchAnswer {
    /// The hits, best first; empty if nothing is relevant.
    data: Vec<SearchHit>,
    /// Number of hits at or above the minimum score, returned or not.
    total: u64,
    /// The search method: `hybrid`, `fts` or `vector`.
    method: String,
    /// Number of files that were searched.
    searched_files: u64,
    /// Notes about the answer.
    notes: Vec<String>,
}

/// Lines of a memory that answer a search.
#[derive(Serialize, JsonSchema)]
struct SearchHit {
    /// The path of the memory.
    path: String,
    /// The line numbers of the hit as `first-last`, counted from 1.
    lines: String,
    /// The text of these lines, with secrets redacted.
    text: String,
    /// Whether a secret was redacted.
    masked: bool,
    /// The strength of the match, from 0 to 1.
    score: f32,
    /// The source: `memory`, `chat`, `custom` or `inbox`.
    source: String,
    /// The time since the memory was last verified or changed.
    age: String,
    /// The headings above the lines, outermost first.
    headings: Vec<String>,
    /// The type of the memory.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// The reason why the memory ranks behind others: `stale`, `deprecated` or `superseded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    outdated: Option<String>,
    /// The name of the matching memory that this one supersedes.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
}

impl From<Hit> for SearchHit {
    fn from(hit: Hit) -> Self {
        SearchHit {
            path: hit.path.to_string(),
            lines: hit.lines,
            text: hit.text,
            masked: hit.masked,
            score: hit.score,
            source: to_text(&hit.source),
            age: hit.age,
            headings: hit.headings,
            kind: hit.kind.map(|kind| kind.as_str().to_owned()),
            outdated: hit.outdated.map(|outdated| to_text(&outdated)),
            replaces: hit.replaces,
        }
    }
}

pub(super) struct SearchMemories;

impl RestOperation for SearchMemories {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/search",
        id: "search_memories",
        summary: "Search memories by words and meaning",
        tool: "memory_search",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The hits")],
        headers: &[],
    };
    type Query = NoQuery;
    type Body = SearchBody;
    type Reply = SearchAnswer;

    fn run(call: &RestCall, _: NoQuery, body: SearchBody) -> Result<RestReply<SearchAnswer>, Problem> {
        let mut search = Search::new(body.query.0);
        search.max_results = body.max_results.map_or(search.max_results, |most| most.0 as usize);
        search.min_score = body.min_score.map_or(search.min_score, |least| least.0);
        search.source = body.source.map(|source| match source {
            SearchSource::Memory => Source::Memory,
            SearchSource::Chat => Source::Chat,
            SearchSource::Custom => Source::Custom,
            SearchSource::Inbox => Source::Inbox,
        });
        search.kind = body.kind.map(|kind| match kind {
            SearchType::User => Kind::User,
            SearchType::Feedback => Kind::Feedback,
            SearchType::Project => Kind::Project,
            SearchType::Reference => Kind::Reference,
        });
        search.under = body.path_prefix.map(|prefix| prefix.trim_end_matches('/').to_owned()).filter(|prefix| !prefix.is_empty());
        search.since = body.since.map(|since| parse_since("since", &since, &*call.memdir.context().clock)).transpose()?;
        let note = call.memdir.catch_up_chats(search.source);
        let answer = call.memdir.search(&search)?;
        Ok(RestReply::ok(SearchAnswer {
            data: answer.hits.into_iter().map(SearchHit::from).collect(),
            total: answer.total as u64,
            method: to_text(&answer.method),
            searched_files: answer.searched.files,
            notes: answer.notes.into_iter().chain(note).collect(),
        }))
    }
}

/// A message to recall memories for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RecallBody {
    /// The message of the user.
    message: NonEmptyText,
    /// Maximum number of memories. Default: 5.
    max_memories: Option<Bounded<1, 20>>,
    /// Maximum number of tokens in the text. Default: 4000.
    max_tokens: Option<Bounded<100, 20000>>,
    /// Names of memories that were already shown in the conversation.
    #[serde(default)]
    shown: Vec<String>,
}

/// The memories that a message needs.
#[derive(Serialize, JsonSchema)]
pub(super) struct RecallAnswer {
    /// The text for the conversation; empty if nothing is relevant.
    text: String,
    /// The memories in the text, in the same order.
    memories: Vec<RecalledMemory>,
    /// The relevant memories that are not in the text.
    omitted: Vec<OmittedObject>,
    /// Estimated number of tokens in the text.
    tokens: u64,
}

/// A memory in the text of a recall.
#[derive(Serialize, JsonSchema)]
struct RecalledMemory {
    /// The name of the memory.
    name: String,
    /// Whether the text contains only a part of the memory.
    is_cut: bool,
}

/// A memory that is not in the text of a recall.
#[derive(Serialize, JsonSchema)]
struct OmittedObject {
    /// The name of the memory.
    name: String,
    /// The reason why the memory was omitted.
    reason: String,
}

pub(super) struct RecallMemories;

impl RestOperation for RecallMemories {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::POST,
        path: "/v1/recall",
        id: "recall_memories",
        summary: "Select the memories relevant to a message",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The memories")],
        headers: &[],
    };
    type Query = NoQuery;
    type Body = RecallBody;
    type Reply = RecallAnswer;

    fn run(call: &RestCall, _: NoQuery, body: RecallBody) -> Result<RestReply<RecallAnswer>, Problem> {
        let mut room = RecallBudget::default();
        room.memories = body.max_memories.map_or(room.memories, |most| most.0 as usize);
        room.tokens = body.max_tokens.map_or(room.tokens, |most| most.0 as usize);
        let recall = Recall { message: Some(&body.message.0), room, shown: &body.shown, ..Recall::default() };
        let recalled = call.memdir.recall(&recall)?;
        Ok(RestReply::ok(RecallAnswer {
            text: recalled.text,
            memories: recalled.shown.into_iter().map(|memory| RecalledMemory { name: memory.name, is_cut: memory.cut }).collect(),
            omitted: recalled.dropped.into_iter().map(|memory| OmittedObject { name: memory.name, reason: memory.why }).collect(),
            tokens: recalled.tokens as u64,
        }))
    }
}

/// The memory section of a system prompt.
#[derive(Serialize, JsonSchema)]
pub(super) struct PromptAnswer {
    /// The text of the section.
    text: String,
}

pub(super) struct GetPrompt;

impl RestOperation for GetPrompt {
    const ROUTE: RouteInfo = RouteInfo {
        method: Method::GET,
        path: "/v1/prompt",
        id: "get_prompt",
        summary: "Get the memory section for a system prompt",
        tool: "memory_read",
        kind: CallKind::Read,
        success: &[(StatusCode::OK, "The section")],
        headers: &[],
    };
    type Query = NoQuery;
    type Body = NoBody;
    type Reply = PromptAnswer;

    fn run(call: &RestCall, _: NoQuery, _: NoBody) -> Result<RestReply<PromptAnswer>, Problem> {
        let none = || Problem::from_status(StatusCode::NOT_FOUND, "this server does not provide a memory section");
        let section = call.section.as_ref().ok_or_else(none)?;
        Ok(RestReply::ok(PromptAnswer { text: section(&call.memdir)? }))
    }
}
