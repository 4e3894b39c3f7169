//! Embedders over HTTP: OpenAI-compatible servers and Ollama. One request per batch, without retries, within the timeout; every
//! response is validated. Never follows a redirect, uses no proxy.

mod answer;

use memdir_core::{
    Embedder, Error, Result,
    internal::{
        base::text::truncate_bytes,
        search::embed::{EmbedRole, EmbedderId, Vector},
    },
};
use serde_json::json;
use std::{fmt, time::Duration};

/// The largest number of dimensions of a vector: several times that of any model.
pub const MAX_DIMENSIONS: usize = 65_536;

/// The settings of an HTTP embedder.
#[derive(Debug, Clone)]
pub struct EndpointSettings {
    /// Its API.
    pub protocol: Protocol,
    /// Its URL: the server (`http://localhost:11434`), the server with `/v1`, or the whole URL of the endpoint.
    pub url: String,
    /// The model's name on the server.
    pub model: String,
    /// The key, which is sent as a bearer token.
    pub key: Option<ApiKey>,
    /// The number of dimensions of its vectors.
    pub dimensions: usize,
    /// Whether to send `dimensions` to the server, for models that can shorten their vectors. Others reject it.
    pub shorten: bool,
    /// A prefix for every query, which some models need.
    pub query_prefix: String,
    /// A prefix for every passage.
    pub passage_prefix: String,
    /// The timeout of a request, from the DNS lookup to the last byte.
    pub timeout: Duration,
    /// Texts per request.
    pub batch: usize,
    /// The maximum number of bytes of a text that are sent; the rest is cut off. Models reject or cut what exceeds their context
    /// window.
    pub max_text_bytes: usize,
}

impl EndpointSettings {
    /// Creates settings with the default limits: 10 s, 64 texts of at most 8,000 bytes (a token has at least one byte, and context windows
    /// of 8,192 tokens are common).
    pub fn new(protocol: Protocol, url: &str, model: &str, dimensions: usize) -> Self {
        EndpointSettings {
            protocol,
            url: url.to_owned(),
            model: model.to_owned(),
            key: None,
            dimensions,
            shorten: false,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            timeout: Duration::from_secs(10),
            batch: 64,
            max_text_bytes: 8_000,
        }
    }
}

/// The API of an embedding server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `POST /v1/embeddings`.
    OpenAi,
    /// `POST /api/embed`.
    Ollama,
}

impl Protocol {
    fn name(self) -> &'static str {
        match self {
            Protocol::OpenAi => "openai",
            Protocol::Ollama => "ollama",
        }
    }
}

/// An API key. Neither `Debug` nor errors show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Creates a key without the white space around it.
    pub fn new(key: &str) -> Self {
        ApiKey(key.trim().to_owned())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// An embedder over HTTP.
pub struct Endpoint {
    settings: EndpointSettings,
    address: String,
    id: EmbedderId,
    agent: ureq::Agent,
}

impl Endpoint {
    /// Validates the settings. Opens no connection.
    pub fn new(settings: EndpointSettings) -> Result<Self> {
        let address = endpoint_url(settings.protocol, &settings.url);
        validate(&settings, &address)?;
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(settings.timeout))
            .http_status_as_error(false)
            // A redirect could send the key to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // The default reads the environment.
            .proxy(None)
            .user_agent("memdir")
            .build()
            .new_agent();
        Ok(Endpoint { id: identity(&settings, &address), settings, address, agent })
    }

    /// Embeds one batch of texts.
    fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vector>> {
        let bytes = self.post(&self.request(texts).to_string())?;
        let parsed = match self.settings.protocol {
            Protocol::OpenAi => answer::open_ai(&bytes, texts.len()),
            Protocol::Ollama => answer::ollama(&bytes, texts.len()),
        };
        let rows = parsed.map_err(|why| self.failed(why))?;
        rows.iter().map(|row| answer::vector(row, self.settings.dimensions).map_err(|why| self.failed(why))).collect()
    }

    fn request(&self, texts: &[String]) -> serde_json::Value {
        let mut body = match self.settings.protocol {
            Protocol::OpenAi => json!({ "model": self.settings.model, "input": texts, "encoding_format": "float" }),
            Protocol::Ollama => json!({ "model": self.settings.model, "input": texts, "truncate": true }),
        };
        if self.settings.shorten {
            body["dimensions"] = self.settings.dimensions.into();
        }
        body
    }

    /// Sends a request and returns the body of a successful response.
    fn post(&self, body: &str) -> Result<Vec<u8>> {
        let mut request = self.agent.post(&self.address).header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.settings.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send(body).map_err(|e| self.failed(e.to_string()))?;
        let status = response.status();
        // A number takes less than 32 bytes of text, and a response has little else.
        let limit = (self.settings.batch * self.settings.dimensions * 32 + 65_536) as u64;
        let bytes = response.body_mut().with_config().limit(limit).read_to_vec().map_err(|e| self.failed(e.to_string()))?;
        if status.is_success() {
            return Ok(bytes);
        }
        Err(self.failed(format!("status {}: {}", status.as_u16(), answer::head(&bytes))))
    }

    fn failed(&self, why: String) -> Error {
        let why = match &self.settings.key {
            Some(ApiKey(key)) if !key.is_empty() => why.replace(key, "…"),
            _ => why,
        };
        Error::unavailable(format!("embedder {} at {}", self.settings.model, display_url(&self.address)), why)
    }

    /// Returns the text to send: its prefix, and the text cut to the limit.
    fn prepare(&self, role: EmbedRole, text: &str) -> String {
        let prefix = match role {
            EmbedRole::Query => &self.settings.query_prefix,
            EmbedRole::Passage => &self.settings.passage_prefix,
        };
        format!("{prefix}{}", truncate_bytes(text, self.settings.max_text_bytes))
    }
}

impl Embedder for Endpoint {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn dim(&self) -> usize {
        self.settings.dimensions
    }

    fn embed(&self, role: EmbedRole, texts: &[&str]) -> Result<Vec<Vector>> {
        let mut vectors = vec![Vector::zero(self.settings.dimensions); texts.len()];
        // Servers reject blank texts.
        let wanted: Vec<usize> = (0..texts.len()).filter(|i| !texts[*i].trim().is_empty()).collect();
        for some in wanted.chunks(self.settings.batch) {
            let prepared: Vec<String> = some.iter().map(|i| self.prepare(role, texts[*i])).collect();
            for (i, vector) in some.iter().zip(self.embed_batch(&prepared)?) {
                vectors[*i] = vector;
            }
        }
        Ok(vectors)
    }

    fn is_instant(&self) -> bool {
        false
    }

    fn batch(&self) -> usize {
        self.settings.batch
    }
}

/// Validates the settings.
fn validate(settings: &EndpointSettings, address: &str) -> Result<()> {
    let bad = |what: &str, why: String| Err(Error::BadInput { what: format!("embedder {what}"), why });
    let uri: Result<ureq::http::Uri, _> = address.parse();
    let web = uri.is_ok_and(|u| matches!(u.scheme_str(), Some("http" | "https")) && u.host().is_some_and(|h| !h.is_empty()));
    if !web {
        return bad("url", "it is not an http or https URL; use an address such as http://localhost:11434".into());
    }
    if settings.model.trim().is_empty() {
        return bad("model", "it is empty; set it to the model's name".into());
    }
    if !(1..=MAX_DIMENSIONS).contains(&settings.dimensions) {
        return bad("dimensions", format!("{} is not in the range 1 to {MAX_DIMENSIONS}", settings.dimensions));
    }
    if settings.batch == 0 || settings.max_text_bytes == 0 || settings.timeout.is_zero() {
        return bad("limits", "batch size, text size and timeout must be greater than 0".into());
    }
    if settings.key.as_ref().is_some_and(|k| k.0.chars().any(|c| !c.is_ascii_graphic())) {
        return bad("key", "it contains whitespace or characters that are not printable ASCII".into());
    }
    Ok(())
}

/// The whole URL of the endpoint.
fn endpoint_url(protocol: Protocol, url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    match protocol {
        Protocol::OpenAi if url.ends_with("/embeddings") => url.to_owned(),
        Protocol::OpenAi if url.ends_with("/v1") => format!("{url}/embeddings"),
        Protocol::OpenAi => format!("{url}/v1/embeddings"),
        Protocol::Ollama if url.ends_with("/api/embed") => url.to_owned(),
        Protocol::Ollama => format!("{url}/api/embed"),
    }
}

/// The identity covers everything that may change the vectors, including the URL: two servers may run different models under one
/// name.
fn identity(settings: &EndpointSettings, address: &str) -> EmbedderId {
    let EndpointSettings { model, dimensions, shorten, query_prefix, passage_prefix, max_text_bytes, .. } = settings;
    let all = format!("{address}\n{model}\n{dimensions} {shorten} {max_text_bytes}\n{query_prefix:?}\n{passage_prefix:?}");
    let name = format!("{}:{model}", settings.protocol.name());
    EmbedderId::new(&name, &blake3::hash(all.as_bytes()).to_hex()[..16])
}

/// The URL without credentials and query, for messages.
fn display_url(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = server.rsplit('@').next().unwrap_or(server);
            format!("{scheme}://{host}{}", path.split('?').next().unwrap_or(path))
        }
        None => "a URL without a scheme".into(),
    }
}
