//! A client of a team server over HTTP: whether it can be reached and accepts a token, and its memories. Requests are over HTTPS, except to loopback,
//! follow no redirect, and errors never show a token.

use crate::{config, exit::Failure};
use jiff::Timestamp;
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::internal::base::text;
use memdir_server::{encode_url_part, is_safe_url};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{cmp::Reverse, fmt, fs, sync::Arc, time::Duration};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Seconds for a request.
const TIMEOUT_SECS: u64 = 20;
/// Maximum number of bytes of an answer: the largest memory, escaped, with some margin.
const MAX_BYTES: u64 = 32 << 20;

/// Why a memory that is not text is not copied.
pub(crate) const NOT_UTF8: &str = "not valid UTF-8";

/// A team server, and the token that is sent to it.
#[derive(Clone)]
pub(crate) struct TeamClient {
    agent: ureq::Agent,
    /// The URL of the server, without a final slash.
    base: String,
    token: Option<String>,
    project: Option<String>,
    /// Why no connection can be opened, if the certificate authorities cannot be read.
    problem: Option<String>,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct TeamReply {
    pub(crate) status: u16,
    /// Whether it is a web page, which no route of memdir's API answers: that of a proxy or of another server.
    pub(crate) is_page: bool,
    /// Whether it names an identity provider that a client can sign in with.
    pub(crate) has_sign_in: bool,
    pub(crate) body: String,
}

impl TeamReply {
    /// What it says besides the result: memdir's reason, or the beginning of a text that something else sent.
    fn reason(&self) -> String {
        reply_reason(self.is_page, &self.body)
    }
}

/// The number of characters of an answer in an error.
const REASON_CHARS: usize = 200;

/// What an answer without a result says. memdir answers with a problem in JSON, or with a short text.
pub(crate) fn reply_reason(is_page: bool, body: &str) -> String {
    if let Some(detail) = serde_json::from_str::<Value>(body).ok().as_ref().and_then(|problem| problem["detail"].as_str()) {
        return detail.trim().to_owned();
    }
    let line = text::one_line(body);
    let shown = text::ellipsis(&line, REASON_CHARS);
    if is_page { format!("the response is a web page, not a response of the API: {shown}") } else { shown.into_owned() }
}

/// Whether an answer is a web page, by its media type.
pub(crate) fn is_page(headers: &ureq::http::HeaderMap) -> bool {
    let media_type = headers.get("content-type").and_then(|value| value.to_str().ok());
    media_type.is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

/// What to do if the certificate of a server is not trusted.
pub(crate) const TRUST_CERTIFICATES: &str = "set SSL_CERT_FILE to a PEM file with the certificate authorities to trust";

/// Why a request got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The server's certificate is not trusted, or the certificate authorities to trust cannot be read.
    Certificates(String),
    /// Any other error.
    Network(String),
}

/// What a server says to a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TeamAccess {
    /// It accepts the token; the version of memdir it runs.
    Accepted(String),
    /// It needs a token, and there is none.
    NeedsToken {
        /// Whether a client can sign in to get one.
        has_sign_in: bool,
    },
    /// It does not accept the token, for this reason.
    Refused(String),
    /// It accepts the token, or needs none, and refuses access, for this reason.
    Forbidden(String),
    /// It does not answer.
    Unreachable(String),
    /// Its certificate is not trusted.
    Untrusted(String),
    /// It cannot answer now: why, as a sentence with its URL.
    Unavailable(String),
    /// It answers something else: what, as a sentence with its URL.
    Unexpected(String),
}

/// Returns the URL of a server without `/mcp`. Fails if a token would be sent in plain text.
pub(crate) fn server_url(typed: &str) -> Result<String, Failure> {
    let url = typed.trim().trim_end_matches('/');
    let base = url.strip_suffix("/mcp").unwrap_or(url).trim_end_matches('/');
    if is_safe_url(base) && !base.contains('?') {
        return Ok(base.to_owned());
    }
    Err(Failure::Usage {
        message: format!("{typed:?} is not a valid server URL"),
        hint: "use an https URL such as https://memory.example.org; http is allowed only for loopback".into(),
    })
}

/// Returns the certificate authorities of the environment, or the public ones.
fn trusted_roots() -> Result<RootCerts, String> {
    let Some(file) = config::certificates_variable() else { return Ok(RootCerts::WebPki) };
    let pem = fs::read(&file).map_err(|error| format!("cannot read {file:?} (SSL_CERT_FILE): {error}"))?;
    let items = parse_pem(&pem).collect::<Result<Vec<_>, _>>();
    let items = items.map_err(|_| format!("{file:?} (SSL_CERT_FILE) is not a valid PEM file"))?;
    let certificates =
        items.into_iter().filter_map(|item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None });
    let certificates: Vec<_> = certificates.collect();
    if certificates.is_empty() {
        return Err(format!("{file:?} (SSL_CERT_FILE) contains no certificates"));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

impl TeamClient {
    /// Creates a client. Opens no connection.
    pub(crate) fn new(base: &str, token: Option<String>, project: Option<String>) -> Self {
        let (roots, problem) = match trusted_roots() {
            Ok(roots) => (roots, None),
            Err(why) => (RootCerts::WebPki, Some(why)),
        };
        let agent = ureq::Agent::config_builder()
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .timeout_global(Some(Duration::from_secs(TIMEOUT_SECS)))
            .http_status_as_error(false)
            // A redirect could send the token to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The default reads the environment.
            .proxy(None)
            .user_agent("memdir")
            .build()
            .new_agent();
        TeamClient { agent, base: base.to_owned(), token, project, problem }
    }

    /// Sends a request and returns the answer, or why there is none.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Result<TeamReply, Unsent> {
        if let Some(why) = &self.problem {
            return Err(Unsent::Certificates(why.clone()));
        }
        let mut request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        for (name, value) in headers.iter().copied().chain(self.project.as_deref().map(|project| ("memdir-project", project))) {
            request = request.header(name, value);
        }
        let failed = |error: ureq::Error| {
            let error = error.to_string();
            let why = self.without_token(&format!("{}: {error}", self.base));
            if error.contains("UnknownIssuer") { Unsent::Certificates(why) } else { Unsent::Network(why) }
        };
        let invalid = |error: ureq::http::Error| Unsent::Network(self.without_token(&error.to_string()));
        let mut response = match body {
            Some(body) => self.agent.run(request.body(body.to_owned()).map_err(invalid)?).map_err(failed)?,
            None => self.agent.run(request.body(()).map_err(invalid)?).map_err(failed)?,
        };
        let status = response.status().as_u16();
        let is_page = is_page(response.headers());
        let challenge = response.headers().get("www-authenticate").and_then(|value| value.to_str().ok());
        let has_sign_in = challenge.is_some_and(|challenge| challenge.contains("resource_metadata"));
        let body = response.body_mut().with_config().limit(MAX_BYTES).read_to_string().map_err(failed)?;
        Ok(TeamReply { status, is_page, has_sign_in, body })
    }

    /// Asks whether the server accepts the token, by the first message of a session.
    pub(crate) fn access(&self) -> TeamAccess {
        let client = json!({ "name": "memdir", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
        let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
        match self.send("POST", "/mcp", &headers, Some(&hello)) {
            Err(Unsent::Certificates(why)) => TeamAccess::Untrusted(why),
            Err(Unsent::Network(why)) => TeamAccess::Unreachable(why),
            Ok(reply) if reply.status == 401 && self.token.is_none() => TeamAccess::NeedsToken { has_sign_in: reply.has_sign_in },
            Ok(reply) if reply.status == 401 => TeamAccess::Refused(reply.reason()),
            Ok(reply) if reply.status == 403 => TeamAccess::Forbidden(reply.reason()),
            Ok(reply) if matches!(reply.status, 429 | 500..=599) => {
                TeamAccess::Unavailable(format!("{} is currently unavailable: HTTP status {}", self.base, reply.status))
            }
            Ok(reply) => match server_version(&reply.body).filter(|_| reply.status == 200) {
                Some(version) => TeamAccess::Accepted(version),
                None => {
                    let why = format!("{} does not respond like a memdir server: HTTP status {}", self.base, reply.status);
                    TeamAccess::Unexpected(why)
                }
            },
        }
    }

    fn without_token(&self, text: &str) -> String {
        match &self.token {
            Some(token) if !token.is_empty() => text.replace(token.as_str(), "…"),
            _ => text.to_owned(),
        }
    }
}

/// The version in the answer to the first message, which is JSON or one event.
fn server_version(body: &str) -> Option<String> {
    let json = body.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim()).find(|line| line.starts_with('{'))?;
    let answer: Value = serde_json::from_str(json).ok()?;
    let server = &answer["result"]["serverInfo"];
    server["name"].as_str().filter(|name| *name == "memdir")?;
    Some(server["version"].as_str()?.to_owned())
}

/// A memory of the server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct ServerMemory {
    pub(crate) name: String,
    /// The version, which is that of its content on every machine.
    #[serde(rename = "memory_version_id")]
    pub(crate) version: String,
}

/// A proposed change of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerProposal {
    pub(crate) id: String,
    pub(crate) state: String,
    pub(crate) verb: String,
    /// What it would do, as in `rename notes/a to notes/b`.
    pub(crate) summary: String,
    pub(crate) created_at: String,
    pub(crate) created_by: ServerActor,
    /// The project, if the caller has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    pub(crate) memories: Vec<ServerProposedMemory>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    pub(crate) can_decide: bool,
    pub(crate) can_withdraw: bool,
}

/// Proposals of the server.
#[derive(Deserialize)]
struct ProposalPage {
    data: Vec<ServerProposal>,
    /// The projects of which the request selected none.
    #[serde(default)]
    projects: Vec<String>,
}

/// Who proposed a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerActor {
    pub(crate) name: String,
}

/// A memory that a proposed change concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerProposedMemory {
    pub(crate) path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) is_outdated: Option<bool>,
}

/// Why a request of the REST API failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TeamFailure {
    /// The memory exists, or differs.
    Conflict,
    /// The server refused the request, for this reason.
    Refused(String),
    /// What the request names does not exist, or is not visible.
    NotFound(String),
    /// The proposal is already decided, or outdated.
    Undecidable(String),
    /// The token is missing or not accepted.
    Denied(String),
    /// The token is accepted, and does not give this access.
    Forbidden(String),
    /// The memory is not text.
    NotText,
    /// The server cannot be reached.
    Unreachable(String),
    /// The server cannot answer now.
    Unavailable(String),
    /// The answer is not one of a memdir server.
    Unexpected(String),
    /// The server's certificate is not trusted, or the certificate authorities to trust cannot be read.
    Untrusted(String),
}

impl From<Unsent> for TeamFailure {
    fn from(unsent: Unsent) -> Self {
        match unsent {
            Unsent::Certificates(why) => TeamFailure::Untrusted(why),
            Unsent::Network(why) => TeamFailure::Unreachable(why),
        }
    }
}

impl fmt::Display for TeamFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TeamFailure::Conflict => f.write_str("the memory differs on the server"),
            TeamFailure::Refused(why)
            | TeamFailure::NotFound(why)
            | TeamFailure::Undecidable(why)
            | TeamFailure::Denied(why)
            | TeamFailure::Forbidden(why) => write!(f, "the server refused the request: {why}"),
            TeamFailure::NotText => f.write_str(NOT_UTF8),
            TeamFailure::Unreachable(why) | TeamFailure::Unavailable(why) => write!(f, "the server is not available: {why}"),
            TeamFailure::Unexpected(why) => write!(f, "the server sent an unexpected response: {why}"),
            TeamFailure::Untrusted(why) => write!(f, "cannot connect to the server securely: {why}"),
        }
    }
}

/// The REST API.
impl TeamClient {
    /// Lists the memories below a prefix, which ends with a slash or is empty.
    pub(crate) fn list(&self, prefix: &str) -> Result<Vec<ServerMemory>, TeamFailure> {
        #[derive(Deserialize)]
        struct Page {
            data: Vec<ServerMemory>,
            next_page: Option<String>,
        }
        let mut all = Vec::new();
        let mut page: Option<String> = None;
        loop {
            let mut query = vec![format!("path_prefix={}", encode_url_part(prefix))];
            query.extend(page.iter().map(|page| format!("page={}", encode_url_part(page))));
            let listed: Page = parse(&self.ask("GET", &format!("/v1/memories?{}", query.join("&")), &[], None)?)?;
            all.extend(listed.data);
            match listed.next_page {
                Some(next) if page.as_ref() != Some(&next) => page = Some(next),
                _ => return Ok(all),
            }
        }
    }

    /// Reads the text of a memory.
    pub(crate) fn read(&self, name: &str) -> Result<String, TeamFailure> {
        #[derive(Deserialize)]
        struct Memory {
            content: String,
            content_encoding: String,
        }
        let memory: Memory = parse(&self.ask("GET", &format!("/v1/memories/{}", encode_url_part(name)), &[], None)?)?;
        if memory.content_encoding == "utf-8" { Ok(memory.content) } else { Err(TeamFailure::NotText) }
    }

    /// Lists proposals, newest first. Without a selected project, those of all projects.
    pub(crate) fn proposals(&self, state: Option<&str>) -> Result<Vec<ServerProposal>, TeamFailure> {
        let page = self.proposal_page(state, 1_000)?;
        let mut all = page.data;
        for project in page.projects {
            let found = self.in_project(&project).proposal_page(state, 1_000)?.data;
            for proposal in found {
                // Proposals of the group's memory are in each of its projects.
                if all.iter().all(|other| other.id != proposal.id) {
                    all.push(ServerProposal { project: Some(project.clone()), ..proposal });
                }
            }
        }
        // By time: as texts, times with and without fractions have another order.
        all.shared_sort_by_key(|one| Reverse(one.created_at.parse::<Timestamp>().ok()));
        Ok(all)
    }

    fn proposal_page(&self, state: Option<&str>, limit: u32) -> Result<ProposalPage, TeamFailure> {
        let state = state.map_or_else(String::new, |state| format!("&state={state}"));
        parse(&self.ask("GET", &format!("/v1/proposals?limit={limit}{state}"), &[], None)?)
    }

    fn in_project(&self, project: &str) -> TeamClient {
        TeamClient { project: Some(project.to_owned()), ..self.clone() }
    }

    /// Sends a request about a proposal, in each project of the caller until it is found.
    fn about_proposal<T>(&self, ask: impl Fn(&TeamClient) -> Result<T, TeamFailure>) -> Result<T, TeamFailure> {
        let asked = ask(self);
        if self.project.is_some() || !matches!(asked, Err(TeamFailure::NotFound(_))) {
            return asked;
        }
        for project in self.proposal_page(None, 1)?.projects {
            match ask(&self.in_project(&project)) {
                Err(TeamFailure::NotFound(_)) => {}
                answered => return answered,
            }
        }
        asked
    }

    /// Reads a proposal with its diffs.
    pub(crate) fn proposal(&self, id: &str) -> Result<ServerProposal, TeamFailure> {
        self.about_proposal(|client| parse(&client.ask("GET", &format!("/v1/proposals/{}", encode_url_part(id)), &[], None)?))
    }

    /// Accepts, rejects or withdraws a proposal.
    pub(crate) fn decide(&self, id: &str, decision: &str, reason: Option<&str>) -> Result<ServerProposal, TeamFailure> {
        self.about_proposal(|client| client.decide_here(id, decision, reason))
    }

    fn decide_here(&self, id: &str, decision: &str, reason: Option<&str>) -> Result<ServerProposal, TeamFailure> {
        let (path, body) =
            (format!("/v1/proposals/{}", encode_url_part(id)), json!({ "decision": decision, "reason": reason }).to_string());
        let reply = self.send("POST", &path, &[("content-type", "application/json")], Some(&body))?;
        // The reason says whether a memory was changed, or who decided before.
        if reply.status == 409 {
            return Err(TeamFailure::Undecidable(problem_detail(&reply)));
        }
        parse(&answer(reply)?)
    }

    /// Creates a memory; fails with a conflict if it exists with another text. Returns whether it is waiting for review.
    pub(crate) fn create(&self, name: &str, text: &str) -> Result<bool, TeamFailure> {
        let body = json!({ "content": text }).to_string();
        let headers = [("if-none-match", "*"), ("content-type", "application/json")];
        let answer: Value = parse(&self.ask("PUT", &format!("/v1/memories/{}", encode_url_part(name)), &headers, Some(&body))?)?;
        Ok(answer["type"] == "proposal")
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Result<String, TeamFailure> {
        answer(self.send(method, path, headers, body)?)
    }
}

/// Returns the body of an answer, or why the request failed.
fn answer(reply: TeamReply) -> Result<String, TeamFailure> {
    match reply.status {
        200..=299 => Ok(reply.body),
        409 | 412 => Err(TeamFailure::Conflict),
        404 => Err(TeamFailure::NotFound(problem_detail(&reply))),
        401 => Err(TeamFailure::Denied(problem_detail(&reply))),
        403 => Err(TeamFailure::Forbidden(problem_detail(&reply))),
        // The quota is exceeded, which stays.
        507 => Err(TeamFailure::Refused(problem_detail(&reply))),
        429 | 500..=599 => Err(TeamFailure::Unavailable(problem_detail(&reply))),
        _ => Err(TeamFailure::Refused(problem_detail(&reply))),
    }
}

fn problem_detail(reply: &TeamReply) -> String {
    format!("{} (status {})", reply.reason(), reply.status)
}

fn parse<T: for<'de> Deserialize<'de>>(body: &str) -> Result<T, TeamFailure> {
    serde_json::from_str(body).map_err(|error| TeamFailure::Unexpected(error.to_string()))
}
