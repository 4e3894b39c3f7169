//! Explains malformed parameters of the methods that the server knows. `rmcp` hands over a request whose parameters it cannot
//! parse as one of an unknown method, and rejects one whose parameters are not an object; clients must be able to tell all of them
//! apart.

use rmcp::{
    ErrorData,
    model::{CustomRequest, ErrorCode, RequestId},
};
use serde_json::{Map, Value};

/// The JSON type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    String,
    Object,
}

impl Type {
    fn matches(self, value: &Value) -> bool {
        match self {
            Type::String => value.is_string(),
            Type::Object => value.is_object(),
        }
    }

    fn article_and_name(self) -> &'static str {
        match self {
            Type::String => "a string",
            Type::Object => "an object",
        }
    }
}

/// A parameter: its name, with dots for the members of an object, its type, and whether it is required.
type Parameter = (&'static str, Type, bool);

/// The methods with parameters, in the form that `rmcp` parses.
const METHODS: &[(&str, &[Parameter])] = &[
    ("completion/complete", COMPLETE),
    ("initialize", INITIALIZE),
    ("prompts/get", CALL),
    ("prompts/list", LIST),
    ("resources/list", LIST),
    ("resources/read", RESOURCE),
    ("resources/subscribe", RESOURCE),
    ("resources/templates/list", LIST),
    ("resources/unsubscribe", RESOURCE),
    ("subscriptions/listen", &[("notifications", Type::Object, true)]),
    ("tools/call", CALL),
    ("tools/list", LIST),
];
const CALL: &[Parameter] = &[("name", Type::String, true), ("arguments", Type::Object, false)];
const INITIALIZE: &[Parameter] = &[
    ("protocolVersion", Type::String, true),
    ("capabilities", Type::Object, true),
    ("clientInfo", Type::Object, true),
    ("clientInfo.name", Type::String, true),
    ("clientInfo.version", Type::String, true),
];
const LIST: &[Parameter] = &[("cursor", Type::String, false)];
const RESOURCE: &[Parameter] = &[("uri", Type::String, true)];
const COMPLETE: &[Parameter] = &[
    ("ref", Type::Object, true),
    ("ref.type", Type::String, true),
    ("argument", Type::Object, true),
    ("argument.name", Type::String, true),
    ("argument.value", Type::String, true),
];

/// Returns the error for a request that could not be parsed: the method is unknown, or its parameters are malformed.
pub(super) fn error(request: &CustomRequest) -> ErrorData {
    let method = request.method.as_str();
    match METHODS.iter().find(|(known, _)| *known == method) {
        None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method {method:?}"), None),
        Some((_, parameters)) => {
            let why = explain(parameters, request.params.as_ref());
            ErrorData::invalid_params(format!("invalid params for {method}: {why}"), None)
        }
    }
}

/// Returns the error for JSON that is not a message, and the id of the request if it has one.
pub(crate) fn not_a_message(json: &[u8]) -> (Option<RequestId>, ErrorData) {
    let message: Value = serde_json::from_slice(json).unwrap_or_default();
    let id = message.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_known = |method: &str| METHODS.iter().any(|(known, _)| *known == method);
    let has_wrong_params = message.get("params").is_some_and(|params| !params.is_object());
    match message.get("method").and_then(Value::as_str) {
        Some(method) if id.is_some() && has_wrong_params && is_known(method) => {
            (id, ErrorData::invalid_params(format!("invalid params for {method}: params must be an object"), None))
        }
        _ => (id, ErrorData::invalid_request("not an MCP message", None)),
    }
}

/// Returns the error for an `initialize` request with malformed parameters, and its id; `None` for any other message. `rmcp` refuses it
/// over HTTP with a line of text, but a request has a JSON-RPC response; over stdio it asks for `_meta`, which `initialize` does not need.
pub(crate) fn malformed_initialize(json: &[u8]) -> Option<(Option<RequestId>, ErrorData)> {
    let message: Value = serde_json::from_slice(json).ok()?;
    let id = serde_json::from_value(message.get("id")?.clone()).ok()?;
    let why = fault(INITIALIZE, message.get("params")).filter(|_| message["method"] == "initialize")?;
    Some((Some(id), ErrorData::invalid_params(format!("invalid params for initialize: {why}"), None)))
}

fn explain(parameters: &[Parameter], params: Option<&Value>) -> String {
    fault(parameters, params).unwrap_or_else(|| "a parameter has a type or value that the protocol does not allow".into())
}

/// Returns what is wrong with the first malformed parameter.
fn fault(parameters: &[Parameter], params: Option<&Value>) -> Option<String> {
    let none = Map::new();
    let object = match params {
        None | Some(Value::Null) => &none,
        Some(Value::Object(object)) => object,
        Some(_) => return Some("params must be an object".into()),
    };
    for (name, expected, is_required) in parameters {
        match lookup(object, name) {
            None | Some(Value::Null) if *is_required => {
                return Some(format!("{name:?} is missing; it must be {}", expected.article_and_name()));
            }
            None | Some(Value::Null) => {}
            Some(value) if expected.matches(value) => {}
            Some(_) => return Some(format!("{name:?} must be {}", expected.article_and_name())),
        }
    }
    object.get("_meta").filter(|meta| !meta.is_object()).map(|_| "\"_meta\" must be an object".into())
}

fn lookup<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => object.get(name),
        Some((outer, inner)) => object.get(outer)?.get(inner),
    }
}
