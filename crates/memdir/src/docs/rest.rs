//! Generates the pages on the REST API from its description.

use memdir_core::internal::base::text::one_line;
use memdir_server::problem_kinds;
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write as _};

#[test]
fn the_pages_on_the_rest_api_are_current() {
    let description = memdir_server::rest_description();
    super::check("openapi.json", &format!("{description:#}\n"));
    super::check("rest.md", &page(&description));
}

#[test]
fn the_statuses_in_the_guides_are_those_of_the_server() {
    // The meaning identifies the kind, whatever its status is.
    let status = |meaning: &str| problem_kinds().iter().find(|kind| kind.meaning.contains(meaning)).expect(meaning).status;
    for (guide, sentence) in [
        ("run-a-team-server.md", format!("exceeds a quota is refused: with {} over REST", status("exceeds the quota"))),
        ("use-over-rest.md", format!("only if the memory has this version; else {} |", status("`If-Match`"))),
        ("use-over-rest.md", format!("only if it does not exist; else {} |", status("`If-None-Match`"))),
        ("use-over-rest.md", format!("is an `If-Match` by hash; it fails with {}.", status("`precondition` in the body"))),
        ("use-over-rest.md", format!("A key that was used for another request gets {}.", status("a value is not allowed"))),
        ("use-over-rest.md", format!("A cursor that is too old gets {}:", status("a value is not allowed"))),
    ] {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guides/").to_owned() + guide).unwrap();
        let text = one_line(&text);
        assert!(text.contains(&sentence), "{guide} does not say: {sentence}");
    }
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
    page.push_str(&errors());
    page
}

const ERRORS: &str = "
## Errors

An error is `application/problem+json` with `type`, `title`, `status`, `detail` and usually `hint`.

| status | `type` | meaning |
|---|---|---|
";

/// The table of errors; kinds with one meaning share a row.
fn errors() -> String {
    let mut table = ERRORS.to_owned();
    for kinds in problem_kinds().chunk_by(|one, next| one.meaning == next.meaning) {
        let mut statuses: Vec<String> = kinds.iter().map(|kind| kind.status.to_string()).collect();
        statuses.dedup();
        let names: BTreeSet<String> = kinds.iter().map(|kind| format!("`{}`", kind.name)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let _ = writeln!(table, "| {} | {} | {} |", statuses.join(", "), names.join(", "), kinds[0].meaning);
    }
    table
}

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
