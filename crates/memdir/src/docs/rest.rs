//! Generates the pages on the REST API from its description.

use serde_json::Value;
use std::fmt::Write as _;

#[test]
fn the_pages_on_the_rest_api_are_current() {
    let description = memdir_server::rest_description();
    super::check("openapi.json", &format!("{description:#}\n"));
    super::check("rest.md", &page(&description));
}

fn page(description: &Value) -> String {
    let mut page = String::from(
        "# REST API\n\nGenerated from the declaration of the routes. [`openapi.json`](openapi.json) has the schemas; a server has it at ",
    );
    page.push_str("`/v1/openapi.json`. [Use memdir from a program over REST](../guides/use-over-rest.md) has examples.\n\n");
    let _ = writeln!(page, "{}\n", text(&description["info"]["description"]));
    let _ = writeln!(page, "| request | |\n|---|---|");
    let operations = operations(description);
    for (method, path, operation) in &operations {
        let anchor = text(&operation["operationId"]);
        let _ = writeln!(page, "| [`{method} {path}`](#{anchor}) | {} |", text(&operation["summary"]));
    }
    for (method, path, operation) in &operations {
        let _ = writeln!(page, "\n## {}\n\n`{method} {path}`: {}.\n", text(&operation["operationId"]), text(&operation["summary"]));
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let rows: Vec<String> = parameters.map(parameter).collect();
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let rows: Vec<String> = rows.into_iter().chain(fields(description, body)).collect();
        if !rows.is_empty() {
            let _ = writeln!(page, "| in | name | |\n|---|---|---|\n{}\n", rows.join("\n"));
        }
        for (status, response) in operation["responses"].as_object().into_iter().flatten() {
            if let Some(meaning) = response["description"].as_str() {
                let _ = writeln!(page, "- {status}: {meaning}.");
            }
        }
    }
    page.push_str(STATUSES);
    page
}

const STATUSES: &str = "
## Errors

An error is `application/problem+json` with `type`, `title`, `status`, `detail` and usually `hint`.

| status | `type` | meaning |
|---|---|---|
| 400 | `invalid_request_error` | the request does not match the description of the route |
| 401 | `authentication_error` | the token is missing or unknown |
| 403 | `permission_error` | the caller or the server is not allowed to do this |
| 404 | `not_found_error` | the memory, version or route does not exist |
| 405, 415 | `invalid_request_error` | the method is not allowed, or the body is not `application/json` |
| 409 | `memory_precondition_failed_error` | the `precondition` in the body does not hold |
| 409 | `memory_path_conflict_error` | a memory with the new name already exists |
| 409 | `conflict_error` | there is nothing to undo, or newer changes would be lost |
| 412 | `memory_precondition_failed_error` | `If-Match` or `If-None-Match` does not hold |
| 413 | `request_too_large` | the body or the memory is too large |
| 422 | `invalid_request_error` | a value is refused by a rule; the detail names it |
| 422 | `secret_error` | the text looks like a secret |
| 429 | `rate_limit_error` | too many requests from this address |
| 500, 503 | `api_error`, `overloaded_error` | the server cannot answer now; try again later |
| 507 | `quota_error` | the change exceeds the quota of the tenant |
";

fn operations(description: &Value) -> Vec<(String, String, &Value)> {
    let paths = description["paths"].as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, operation)| (method.to_uppercase(), path.clone(), operation))
        })
        .collect()
}

fn parameter(parameter: &Value) -> String {
    let required = if parameter["required"] == true { " (required)" } else { "" };
    format!("| {} | `{}`{required} | {} |", text(&parameter["in"]), text(&parameter["name"]), text(&parameter["description"]))
}

/// The fields of a body.
fn fields(description: &Value, schema: &Value) -> Vec<String> {
    let Some(schema) = schema["$ref"].as_str().and_then(|name| description.pointer(name.trim_start_matches('#'))) else {
        return Vec::new();
    };
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let field = |(name, field): (&String, &Value)| {
        let required = if is_required(name) { " (required)" } else { "" };
        format!("| body | `{name}`{required} | {} |", text(&field["description"]))
    };
    properties.map(field).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
