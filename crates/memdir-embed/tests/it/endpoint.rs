//! Endpoints, against a server that answers well, slowly, wrongly and not at all.

use crate::server::{Reply, Request, Server};
use memdir_core::{
    Embedder,
    internal::search::embed::{
        EmbedRole,
        testing::{RAM_DIM, RamEmbedder, check_embedder},
    },
};
use memdir_embed::{ApiKey, Endpoint, EndpointSettings, Protocol};
use serde_json::{Value, json};
use std::{
    net::TcpListener,
    sync::mpsc,
    time::{Duration, Instant},
};

const BOTH: [Protocol; 2] = [Protocol::OpenAi, Protocol::Ollama];

/// What a good server answers.
fn good(protocol: Protocol, request: &Request) -> Value {
    let texts: Vec<&str> = request.body["input"].as_array().expect("texts").iter().map(|t| t.as_str().expect("text")).collect();
    let vectors = RamEmbedder::new().embed(EmbedRole::Passage, &texts).expect("vectors");
    // Not of unit length: the client must normalise them.
    let rows: Vec<Vec<f32>> = vectors.iter().map(|v| v.row().iter().map(|x| f32::from(*x) * 0.37).collect()).collect();
    match protocol {
        Protocol::Ollama => json!({ "model": "m", "embeddings": rows }),
        // In no particular order: the index says which is which.
        Protocol::OpenAi => {
            let data = rows.iter().enumerate().rev().map(|(i, r)| json!({ "object": "embedding", "index": i, "embedding": r }));
            json!({ "object": "list", "data": data.collect::<Vec<_>>(), "usage": { "total_tokens": 3 } })
        }
    }
}

fn settings(protocol: Protocol, url: &str) -> EndpointSettings {
    EndpointSettings { timeout: Duration::from_secs(20), ..EndpointSettings::new(protocol, url, "m", RAM_DIM) }
}

/// What a call to a server that replies so ends in.
fn failure(settings: impl FnOnce(&mut EndpointSettings), protocol: Protocol, reply: impl Fn() -> Reply + Send + 'static) -> String {
    let server = Server::start(move |_| reply());
    let mut all = self::settings(protocol, &server.url);
    settings(&mut all);
    let limit = all.timeout;
    let begin = now();
    let endpoint = Endpoint::new(all).expect("good settings");
    let error = endpoint.embed(EmbedRole::Query, &["one", "two"]).expect_err("a failure");
    assert!(begin.elapsed() < limit + Duration::from_secs(5), "an answer came after {:?}", begin.elapsed());
    assert_eq!(error.code(), "unavailable");
    error.to_string().replace(&server.url, "SERVER")
}

#[expect(clippy::disallowed_methods, reason = "the test asks how long a call took")]
fn now() -> Instant {
    Instant::now()
}

#[test]
fn endpoints_keep_the_contract() {
    for protocol in BOTH {
        let server = Server::start(move |request| Reply::Status(200, good(protocol, &request).to_string()));
        let endpoint = Endpoint::new(settings(protocol, &server.url)).unwrap();
        check_embedder(&endpoint);
        assert!(!endpoint.is_instant());
    }
}

#[test]
fn requests_are_what_the_servers_expect() {
    for protocol in BOTH {
        let (tell, told) = mpsc::channel();
        let server = Server::start(move |request| {
            let answer = good(protocol, &request).to_string();
            tell.send(request).expect("the test listens");
            Reply::Status(200, answer)
        });
        let endpoint = Endpoint::new(EndpointSettings {
            key: Some(ApiKey::new(" sk-123\n")),
            shorten: true,
            query_prefix: "query: ".into(),
            batch: 2,
            max_text_bytes: 5,
            ..settings(protocol, &server.url)
        })
        .unwrap();
        let vectors = endpoint.embed(EmbedRole::Query, &["one", "", "fünfzehn", "two"]).unwrap();
        assert_eq!(vectors.iter().map(|v| v.is_zero()).collect::<Vec<_>>(), [false, true, false, false]);
        let request = |input: Value| {
            let (line, body) = match protocol {
                Protocol::OpenAi => (
                    "POST /v1/embeddings HTTP/1.1",
                    json!({ "model": "m", "input": input, "encoding_format": "float", "dimensions": RAM_DIM }),
                ),
                Protocol::Ollama => {
                    ("POST /api/embed HTTP/1.1", json!({ "model": "m", "input": input, "truncate": true, "dimensions": RAM_DIM }))
                }
            };
            Request { line: line.into(), authorization: Some("Bearer sk-123".into()), body }
        };
        let expected = [request(json!(["query: one", "query: fünf"])), request(json!(["query: two"]))];
        assert_eq!(told.try_iter().collect::<Vec<_>>(), expected);
    }
}

#[test]
fn wrong_answers_are_errors() {
    let row = |n: usize| vec![0.5; n];
    let cases = [
        (
            Protocol::OpenAi,
            json!("what?"),
            "invalid response: invalid type: string \"what?\", expected struct OpenAiResponse at line 1 column 7",
        ),
        (Protocol::OpenAi, json!({ "data": [] }), "wrong number of vectors in the response: expected 2, found 0"),
        (
            Protocol::OpenAi,
            json!({ "data": [{ "index": 0, "embedding": row(RAM_DIM) }, { "index": 0, "embedding": row(RAM_DIM) }] }),
            "the indexes of the vectors in the response do not match the texts",
        ),
        (
            Protocol::OpenAi,
            json!({ "data": [{ "index": 0, "embedding": row(RAM_DIM) }, { "index": 1, "embedding": row(3) }] }),
            "the response has vectors with 3 dimensions; 83 dimensions are configured",
        ),
        (Protocol::Ollama, json!({ "embeddings": [row(RAM_DIM)] }), "wrong number of vectors in the response: expected 2, found 1"),
        (
            Protocol::Ollama,
            json!({ "embeddings": [row(RAM_DIM), row(RAM_DIM), row(RAM_DIM)] }),
            "wrong number of vectors in the response: expected 2, found 3",
        ),
        (
            Protocol::Ollama,
            json!({ "embeddings": [row(2), row(2)] }),
            "the response has vectors with 2 dimensions; 83 dimensions are configured",
        ),
        (Protocol::Ollama, json!({ "embeddings": [vec![1e300; RAM_DIM], row(RAM_DIM)] }), "the response contains non-finite numbers"),
        (Protocol::Ollama, json!({ "error": "no" }), "invalid response: missing field `embeddings` at line 1 column 14"),
    ];
    for (protocol, body, why) in cases {
        let path = if protocol == Protocol::OpenAi { "v1/embeddings" } else { "api/embed" };
        let found = failure(|_| {}, protocol, move || Reply::Status(200, body.to_string()));
        assert_eq!(found, format!("embedder m at SERVER/{path}: {why}"));
    }
    let cut = failure(|_| {}, Protocol::Ollama, || Reply::Status(200, "{\"embeddings\": [[1.0,".into()));
    assert_eq!(cut, "embedder m at SERVER/api/embed: invalid response: EOF while parsing a value at line 1 column 21");
}

#[test]
fn refusals_are_errors_with_the_servers_words_and_without_the_key() {
    let key = |s: &mut EndpointSettings| s.key = Some(ApiKey::new("sk-123"));
    let found = failure(key, Protocol::OpenAi, || Reply::Status(500, "{\"error\":\n \"sk-123 is wrong\"}".into()));
    assert_eq!(found, "embedder m at SERVER/v1/embeddings: status 500: {\"error\": \"… is wrong\"}");
    let moved = failure(key, Protocol::OpenAi, || Reply::Status(307, String::new()));
    assert_eq!(moved, "embedder m at SERVER/v1/embeddings: status 307: ");
    assert_eq!(format!("{:?}", ApiKey::new("sk-123")), "ApiKey(…)");
}

#[test]
fn broken_and_endless_answers_are_errors() {
    for bytes in ["", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{}", "nonsense\r\n\r\n"] {
        failure(|_| {}, Protocol::OpenAi, move || Reply::Raw(bytes.into()));
    }
    failure(|s| s.batch = 2, Protocol::OpenAi, || Reply::Status(200, " ".repeat(1 << 20)));
}

#[test]
fn a_server_that_does_not_answer_costs_no_more_than_the_timeout() {
    let short = |s: &mut EndpointSettings| s.timeout = Duration::from_millis(150);
    for bytes in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"embed"] {
        let found = failure(short, Protocol::Ollama, move || Reply::Hang(bytes.into()));
        assert!(found.starts_with("embedder m at SERVER/api/embed: timeout"), "{found}");
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Endpoint::new(settings(Protocol::OpenAi, &url)).unwrap().embed(EmbedRole::Passage, &["x"]).unwrap_err();
    assert_eq!(error.code(), "unavailable");
}

#[test]
fn blank_texts_send_no_request() {
    let endpoint = Endpoint::new(settings(Protocol::OpenAi, "http://127.0.0.1:9")).unwrap();
    assert!(endpoint.embed(EmbedRole::Passage, &["", " \n"]).unwrap().iter().all(|v| v.is_zero()));
}

#[test]
fn bad_settings_are_refused_before_anything_is_sent() {
    let refused = |change: &dyn Fn(&mut EndpointSettings)| {
        let mut all = settings(Protocol::OpenAi, "http://localhost:1");
        change(&mut all);
        Endpoint::new(all).map(|_| ()).unwrap_err().to_string()
    };
    let url = "embedder url: it is not an http or https URL; use an address such as http://localhost:11434";
    assert_eq!(refused(&|s| s.url = String::new()), url);
    assert_eq!(refused(&|s| s.url = "localhost:11434".into()), url);
    assert_eq!(refused(&|s| s.url = "file:///etc/passwd".into()), url);
    assert_eq!(refused(&|s| s.model = " ".into()), "embedder model: it is empty; set it to the model's name");
    assert_eq!(refused(&|s| s.dimensions = 0), "embedder dimensions: 0 is not in the range 1 to 65536");
    assert_eq!(refused(&|s| s.batch = 0), "embedder limits: batch size, text size and timeout must be greater than 0");
    assert_eq!(
        refused(&|s| s.key = Some(ApiKey::new("a\r\nb"))),
        "embedder key: it contains whitespace or characters that are not printable ASCII"
    );
}

#[test]
fn the_identity_changes_with_all_that_changes_the_vectors_and_with_nothing_else() {
    let id = |change: &dyn Fn(&mut EndpointSettings)| {
        let mut all = settings(Protocol::OpenAi, "http://user:pass@host/v1");
        change(&mut all);
        Endpoint::new(all).unwrap().id().clone()
    };
    let plain = id(&|_| {});
    assert!(plain.as_str().starts_with("openai:m@"), "{plain}");
    assert_eq!(plain, id(&|s| s.url = "http://user:pass@host/v1/embeddings".into()));
    assert_eq!(plain, id(&|s| (s.key, s.batch, s.timeout) = (Some(ApiKey::new("k")), 7, Duration::from_secs(1))));
    let others: [&dyn Fn(&mut EndpointSettings); 7] = [
        &|s| s.url = "http://other/v1".into(),
        &|s| s.model = "n".into(),
        &|s| s.dimensions = 84,
        &|s| s.shorten = true,
        &|s| s.query_prefix = "q".into(),
        &|s| s.passage_prefix = "q".into(),
        &|s| s.max_text_bytes = 100,
    ];
    let mut ids: Vec<String> = others.iter().map(|change| id(change).to_string()).chain([plain.to_string()]).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 8);
}
