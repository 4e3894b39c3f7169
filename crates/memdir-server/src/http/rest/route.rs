//! What a route of the REST API is: a declaration from which the router, the parser of its parameters and its description are made, so that
//! they cannot disagree.

use super::{conditions::Conditions, problem::Problem, proposal_object::ProposalObject, query::parse_query};
use crate::{call::CallKind, catalog::PromptSection};
use axum::http::{Method, StatusCode};
use bytes::Bytes;
use memdir_core::{Change, Error, Memdir, MemoryPath};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// The declaration of a route.
pub(crate) struct RouteInfo {
    pub(crate) method: Method,
    /// The path; `{name}` at its end is the rest of the path.
    pub(crate) path: &'static str,
    /// The name of the operation, in metrics and descriptions.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    /// The tool that does the same. A server or a caller without the tool does not have the route either.
    pub(crate) tool: &'static str,
    pub(crate) kind: CallKind,
    /// The statuses of success, with their meaning.
    pub(crate) success: &'static [(StatusCode, &'static str)],
    /// The headers that the route reads besides the common ones.
    pub(crate) headers: &'static [RouteHeader],
}

/// A header that a route reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteHeader {
    IfMatch,
    IfNoneMatch,
    IdempotencyKey,
    LastEventId,
}

/// An operation of the API.
pub(crate) trait RestOperation {
    const ROUTE: RouteInfo;
    type Query: DeserializeOwned + JsonSchema;
    /// [`NoBody`] if the request has none.
    type Body: DeserializeOwned + JsonSchema;
    type Reply: Serialize + JsonSchema;
    fn run(call: &RestCall, query: Self::Query, body: Self::Body) -> Result<RestReply<Self::Reply>, Problem>;
}

/// The query of a route without parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoQuery {}

/// The body of a request without one.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct NoBody;

/// A request to run, on a worker thread.
pub(crate) struct RestCall {
    /// The caller's space.
    pub(crate) memdir: Memdir,
    pub(crate) section: Option<PromptSection>,
    /// The projects of which the caller has selected none.
    pub(crate) projects: Vec<String>,
    /// The rest of the path, decoded.
    pub(crate) parameter: String,
    pub(crate) conditions: Conditions,
    pub(crate) last_event_id: Option<String>,
}

impl RestCall {
    /// Returns the memory that the path names.
    pub(crate) fn memory(&self) -> Result<MemoryPath, Problem> {
        parse_path(&self.parameter)
    }

    /// Makes a change once for the request's idempotency key. `path` is a memory that the change concerns.
    pub(crate) fn once<T>(&self, path: &MemoryPath, change: impl FnOnce(&Memdir) -> Result<T, Problem>) -> Result<Once<T>, Problem> {
        let problem = match change(&self.memdir) {
            Ok(made) => return Ok(Once::Made(made)),
            Err(problem) if problem.proposal.is_some() => return Err(problem),
            Err(problem) => problem,
        };
        // If the change was made before, any error here is a consequence of that.
        match self.memdir.made_for_key(path, Error::no_change("not made")) {
            Ok(change) => Ok(Once::Repeated(change)),
            Err(Error::NoChange { .. }) => Err(problem),
            Err(error) => Err(error.into()),
        }
    }
}

/// The outcome of a change that is made once.
pub(crate) enum Once<T> {
    Made(T),
    /// An earlier request with the same key made this change.
    Repeated(Change),
}

/// Parses the name of a memory in a request.
pub(crate) fn parse_path(text: &str) -> Result<MemoryPath, Problem> {
    MemoryPath::parse(text).map_err(|error| Error::from(error).into())
}

/// The answer of an operation.
pub(crate) struct RestReply<T> {
    pub(crate) status: StatusCode,
    /// Absent only with 304.
    pub(crate) value: Option<T>,
    /// The version of the memory that was read or written.
    pub(crate) etag: Option<String>,
    /// Whether an earlier request with the same key did the work.
    pub(crate) is_replayed: bool,
}

impl<T> RestReply<T> {
    pub(crate) fn new(status: StatusCode, value: T) -> Self {
        RestReply { status, value: Some(value), etag: None, is_replayed: false }
    }

    pub(crate) fn ok(value: T) -> Self {
        RestReply::new(StatusCode::OK, value)
    }

    pub(crate) fn with_etag(self, version: impl ToString) -> Self {
        RestReply { etag: Some(version.to_string()), ..self }
    }

    pub(crate) fn replayed(self, is_replayed: bool) -> Self {
        RestReply { is_replayed, ..self }
    }
}

/// A route of the table.
pub(crate) struct Route {
    pub(crate) info: RouteInfo,
    pub(crate) run: fn(&RestCall, &str, &Bytes) -> Result<RestReply<String>, Problem>,
    pub(crate) schemas: fn(&mut SchemaGenerator) -> RouteSchemas,
}

/// The schemas of a route.
pub(crate) struct RouteSchemas {
    pub(crate) query: Schema,
    pub(crate) body: Option<Schema>,
    pub(crate) reply: Schema,
    /// The answer to a change that is waiting for review.
    pub(crate) proposal: Option<Schema>,
}

impl Route {
    pub(crate) const fn new<O: RestOperation>() -> Self {
        Route { info: O::ROUTE, run: run::<O>, schemas: schemas::<O> }
    }

    /// Returns the rest of a path that belongs to this route, still encoded; empty for a route without a parameter.
    pub(crate) fn matches<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.info.path.split_once('{') {
            None => (path == self.info.path).then_some(""),
            Some((prefix, _)) => path.strip_prefix(prefix).filter(|rest| !rest.is_empty()),
        }
    }

    /// Whether the answer is a stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.info.headers.contains(&RouteHeader::LastEventId)
    }

    /// Whether requests have a body.
    pub(crate) fn has_body(&self) -> bool {
        self.info.method == Method::PUT || self.info.method == Method::POST
    }
}

fn run<O: RestOperation>(call: &RestCall, query: &str, body: &Bytes) -> Result<RestReply<String>, Problem> {
    let query = parse_query(query).map_err(Problem::invalid)?;
    // A route without a body parses this.
    let body: &[u8] = if O::ROUTE.method == Method::PUT || O::ROUTE.method == Method::POST { body } else { b"null" };
    let body = serde_json::from_slice(body).map_err(|error| Problem::invalid(format!("invalid body: {error}")))?;
    let RestReply { status, value, etag, is_replayed } = match O::run(call, query, body) {
        Err(Problem { proposal: Some((id, is_repeated)), .. }) => return proposed(call, &id, is_repeated),
        reply => reply?,
    };
    let value = value.map(|value| serde_json::to_string(&value)).transpose();
    let value = value.map_err(|error| Problem::from_status(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(RestReply { status, value, etag, is_replayed })
}

/// Answers a request whose change is waiting for review.
fn proposed(call: &RestCall, id: &str, is_repeated: bool) -> Result<RestReply<String>, Problem> {
    let reading = call.memdir.proposal(id)?;
    let value = serde_json::to_string(&ProposalObject::from(&reading.proposal));
    let value = value.map_err(|error| Problem::from_status(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(RestReply::new(StatusCode::ACCEPTED, value).replayed(is_repeated))
}

fn schemas<O: RestOperation>(generator: &mut SchemaGenerator) -> RouteSchemas {
    let has_body = O::ROUTE.method == Method::PUT || O::ROUTE.method == Method::POST;
    RouteSchemas {
        query: O::Query::json_schema(generator),
        body: has_body.then(|| generator.subschema_for::<O::Body>()),
        reply: generator.subschema_for::<O::Reply>(),
        proposal: O::ROUTE.headers.contains(&RouteHeader::IdempotencyKey).then(|| generator.subschema_for::<ProposalObject>()),
    }
}
