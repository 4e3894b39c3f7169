//! A client of the REST API for benchmarks. Keeps connections open.

use crate::{
    exit::Failure,
    team_client::{is_page, reply_reason},
};
use serde_json::{Value, json};
use std::path::Path;
use ureq::{
    Agent,
    http::{Method, Request},
};

pub(super) struct RestClient {
    agent: Agent,
    url: String,
    authorization: Option<String>,
}

impl RestClient {
    pub(super) fn new(url: &str, token: Option<&str>) -> Self {
        // As many idle connections as clients, so that none is opened while times are taken.
        let config = Agent::config_builder().max_idle_connections(64).max_idle_connections_per_host(64).http_status_as_error(false);
        let authorization = token.map(|token| format!("Bearer {token}"));
        RestClient { agent: config.build().into(), url: url.trim_end_matches('/').to_owned(), authorization }
    }

    pub(super) fn read_token(file: &Path) -> Result<String, Failure> {
        let text = std::fs::read_to_string(file).map_err(|source| Failure::File { doing: "read", path: file.to_owned(), source })?;
        Ok(text.trim().to_owned())
    }

    pub(super) fn get(&self, name: &str) -> Result<(), Failure> {
        self.send(Method::GET, &format!("/v1/memories/{name}"), None).map(drop)
    }

    pub(super) fn put(&self, name: &str, text: &str) -> Result<(), Failure> {
        self.send(Method::PUT, &format!("/v1/memories/{name}"), Some(&json!({ "content": text }))).map(drop)
    }

    pub(super) fn search(&self, query: &str) -> Result<(), Failure> {
        self.send(Method::POST, "/v1/search", Some(&json!({ "query": query }))).map(drop)
    }

    /// Deletes all memories whose path begins with one of these.
    pub(super) fn delete_below(&self, prefixes: &[&str]) -> Result<(), Failure> {
        let mut page = String::new();
        loop {
            let listed = self.send(Method::GET, &format!("/v1/memories{page}"), None)?;
            for path in listed["data"].as_array().into_iter().flatten().filter_map(|memory| memory["path"].as_str()) {
                if prefixes.iter().any(|prefix| path.starts_with(prefix)) {
                    self.send(Method::DELETE, &format!("/v1/memories/{path}"), None)?;
                }
            }
            match listed["next_page"].as_str() {
                Some(next) => page = format!("?page={next}"),
                None => return Ok(()),
            }
        }
    }

    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Failure> {
        let what = format!("{method} {}{path}", self.url);
        let fail = |why: String| Failure::Settings { message: format!("{what}: {why}"), hint: "check --server and --token-file".into() };
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some(authorization) = &self.authorization {
            request = request.header("authorization", authorization);
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(body.map(ToString::to_string).unwrap_or_default()).map_err(|error| fail(error.to_string()))?;
        let mut response = self.agent.run(request).map_err(|error| fail(error.to_string()))?;
        let text = response.body_mut().read_to_string().map_err(|error| fail(error.to_string()))?;
        let status = response.status();
        if !status.is_success() {
            let why = format!("{status}: {}", reply_reason(is_page(response.headers()), &text));
            return Err(match status.as_u16() {
                429 | 500..=599 => {
                    let hint = "try again later, or check that the server is running".into();
                    Failure::Settings { message: format!("{what}: {why}"), hint }
                }
                _ => fail(why),
            });
        }
        serde_json::from_str(&text).map_err(|error| fail(error.to_string()))
    }
}
