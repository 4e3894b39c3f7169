//! The description of the REST API in OpenAPI 3.1, made of the table of routes.

use super::{
    problem::{PROBLEM_TYPE, Problem},
    route::{Route, RouteHeader, RouteSchemas},
};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

const ABOUT: &str = "Access to the memories of one caller, identified by the bearer token. The header `Memdir-Project` selects one of the \
    caller's projects; `Memdir-Only` restricts access to memories under a comma-separated list of prefixes. \
    Errors are problem details (RFC 9457).";

/// Describes the routes.
pub(super) fn document(routes: &[Route]) -> Value {
    let mut generator =
        SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into()).into_generator();
    let problem = generator.subschema_for::<Problem>();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let schemas = (route.schemas)(&mut generator);
        let operation = operation(route, schemas);
        let methods = paths.entry(route.info.path).or_insert_with(|| json!({}));
        methods[route.info.method.as_str().to_ascii_lowercase()] = operation;
    }
    let problem = json!({ "description": "An error", "content": { PROBLEM_TYPE: { "schema": problem } } });
    json!({
        "openapi": "3.1.0",
        "info": { "title": "memdir", "version": env!("CARGO_PKG_VERSION"), "description": ABOUT },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": { "Problem": problem },
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route, schemas: RouteSchemas) -> Value {
    let info = &route.info;
    let mut parameters: Vec<Value> = path_parameter(info.path).into_iter().collect();
    parameters.extend(query_parameters(&schemas.query.to_value()));
    parameters.extend(info.headers.iter().map(|header| header_parameter(*header)));
    let mut responses = Map::new();
    for (status, meaning) in info.success {
        let content = if route.is_stream() {
            json!({ "text/event-stream": { "schema": { "type": "string" } } })
        } else {
            json!({ "application/json": { "schema": schemas.reply } })
        };
        let mut response = json!({ "description": meaning });
        // A response without a change of the client's copy has no body.
        if *status != axum::http::StatusCode::NOT_MODIFIED {
            response["content"] = content;
        }
        responses.insert(status.as_u16().to_string(), response);
    }
    if let Some(proposal) = schemas.proposal {
        let about = "Changes to this memory need review: the change was stored as a proposal and has not been applied";
        responses.insert("202".into(), json!({ "description": about, "content": { "application/json": { "schema": proposal } } }));
    }
    for range in ["4XX", "5XX"] {
        responses.insert(range.into(), json!({ "$ref": "#/components/responses/Problem" }));
    }
    let mut operation = json!({ "operationId": info.id, "summary": info.summary, "parameters": parameters, "responses": responses });
    if let Some(body) = schemas.body {
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": body } } });
    }
    operation
}

/// The parameter at the end of a path.
fn path_parameter(path: &str) -> Option<Value> {
    let name = path.split_once('{')?.1.trim_end_matches('}');
    let (description, schema) = match name {
        "path" => {
            let about = "The name of the memory, with or without `.md`. Slashes may be percent-encoded.";
            (about, json!({ "type": "string", "minLength": 1, "maxLength": 1024 }))
        }
        "proposal_id" => ("The id of the proposal", json!({ "type": "string", "pattern": "^[a-z2-9]{8}$" })),
        _ => ("The id of the version", json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" })),
    };
    Some(json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }))
}

/// The fields of a query type, each as a parameter.
fn query_parameters(schema: &Value) -> Vec<Value> {
    let required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| {
        let mut schema = without_null(schema);
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        json!({ "name": name, "in": "query", "required": required(name), "description": description, "schema": schema })
    };
    properties.map(parameter).collect()
}

/// A parameter that is not given is absent, and never null.
fn without_null(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(types) = schema["type"].as_array_mut() {
        types.retain(|one| one != "null");
        if let [one] = types.as_slice() {
            schema["type"] = one.clone();
        }
    }
    let any_of = schema.as_object_mut().and_then(|schema| schema.remove("anyOf"));
    if let Some(Value::Array(mut all)) = any_of {
        all.retain(|one| one["type"] != "null");
        if let (Some(Value::Object(one)), Some(schema)) = (all.pop(), schema.as_object_mut()) {
            schema.extend(one);
        }
    }
    if schema["type"].is_null() {
        schema.as_object_mut().map(|schema| schema.remove("type"));
    }
    schema
}

fn header_parameter(header: RouteHeader) -> Value {
    let (name, description, schema) = match header {
        RouteHeader::IfMatch => {
            ("If-Match", "Process the request only if the memory has this version, as returned in `ETag`", json!({ "type": "string" }))
        }
        RouteHeader::IfNoneMatch => (
            "If-None-Match",
            "Process the request only if the memory does not have this version; with `*`, only if the memory does not exist",
            json!({ "type": "string" }),
        ),
        RouteHeader::IdempotencyKey => (
            "Idempotency-Key",
            "A key that makes retries idempotent: a repeated request returns the change made by the first request. A team server keeps a key for at least 24 hours",
            json!({ "type": "string", "pattern": "^[!-~]{1,255}$" }),
        ),
        RouteHeader::LastEventId => ("Last-Event-ID", "The id of the last received event", json!({ "type": "string" })),
    };
    json!({ "name": name, "in": "header", "required": false, "description": description, "schema": schema })
}
