//! Parameters of tools. Each is declared once: the declaration is served as JSON Schema and also parses the argument, so the two
//! cannot disagree. Parsing is in `args.rs`.

use serde_json::{Map, Value, json};
use std::ops::RangeInclusive;

/// One parameter of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Param {
    pub(super) name: &'static str,
    /// Names that models guess. They are accepted and never served.
    pub(super) aliases: &'static [&'static str],
    kind: ParamKind,
    default: Option<DefaultValue>,
    serves_default: bool,
    description: &'static str,
    required: bool,
    served: bool,
    /// Whether `""` is a value. Otherwise an optional parameter that is blank counts as not given: models send `""` for what they
    /// do not want to set.
    empty_is_value: bool,
    /// Whether a number out of range is moved into it, with a note in the answer.
    clamped: bool,
}

#[derive(Debug, Clone, Copy)]
enum ParamKind {
    Text,
    TextList,
    IntegerPair,
    Flag,
    Object,
    Choice { values: &'static [&'static str], typed: bool },
    Integer { min: i64, max: i64, shown: ShownRange },
    Number { min: f32, max: f32, shown: ShownRange },
}

/// The bounds of a range that the schema shows. All bounds are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownRange {
    /// Both bounds.
    Both,
    /// The lower bound.
    Min,
    /// No bound.
    Neither,
}

#[derive(Debug, Clone, Copy)]
enum DefaultValue {
    Text(&'static str),
    Integer(i64),
    Number(f32),
    Flag(bool),
}

impl Param {
    const fn new(name: &'static str, kind: ParamKind) -> Self {
        Param {
            name,
            aliases: &[],
            kind,
            default: None,
            serves_default: true,
            description: "",
            required: false,
            served: true,
            empty_is_value: false,
            clamped: false,
        }
    }

    pub(crate) const fn text(name: &'static str) -> Self {
        Param::new(name, ParamKind::Text)
    }

    pub(crate) const fn text_list(name: &'static str) -> Self {
        Param::new(name, ParamKind::TextList)
    }

    pub(crate) const fn integer_pair(name: &'static str) -> Self {
        Param::new(name, ParamKind::IntegerPair)
    }

    pub(crate) const fn flag(name: &'static str) -> Self {
        Param::new(name, ParamKind::Flag)
    }

    pub(crate) const fn object(name: &'static str) -> Self {
        Param::new(name, ParamKind::Object)
    }

    /// One of these texts. The schema has an `enum` and no `type`.
    pub(crate) const fn choice(name: &'static str, values: &'static [&'static str]) -> Self {
        Param::new(name, ParamKind::Choice { values, typed: false })
    }

    /// One of these texts. The schema has an `enum` and a `type`, as dialects have it.
    pub(crate) const fn typed_choice(name: &'static str, values: &'static [&'static str]) -> Self {
        Param::new(name, ParamKind::Choice { values, typed: true })
    }

    pub(crate) const fn integer(name: &'static str, min: i64, max: i64) -> Self {
        Param::new(name, ParamKind::Integer { min, max, shown: ShownRange::Both })
    }

    pub(crate) const fn number(name: &'static str, min: f32, max: f32) -> Self {
        Param::new(name, ParamKind::Number { min, max, shown: ShownRange::Both })
    }

    pub(crate) const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Param { aliases, ..self }
    }

    pub(crate) const fn describe(self, description: &'static str) -> Self {
        Param { description, ..self }
    }

    pub(crate) const fn required(self) -> Self {
        Param { required: true, ..self }
    }

    /// Accepts the parameter without showing it in the schema.
    pub(crate) const fn unserved(self) -> Self {
        Param { served: false, ..self }
    }

    /// A text that is written, or that the tool judges itself: `""` is a value, even if the parameter is optional.
    pub(crate) const fn empty_is_value(self) -> Self {
        Param { empty_is_value: true, ..self }
    }

    /// Moves a number that is out of range into it, and adds a note to the answer.
    pub(crate) const fn clamped(self) -> Self {
        Param { clamped: true, ..self }
    }

    pub(crate) const fn shown_range(self, shown: ShownRange) -> Self {
        let kind = match self.kind {
            ParamKind::Integer { min, max, .. } => ParamKind::Integer { min, max, shown },
            ParamKind::Number { min, max, .. } => ParamKind::Number { min, max, shown },
            other => other,
        };
        Param { kind, ..self }
    }

    pub(crate) const fn default_text(self, value: &'static str) -> Self {
        Param { default: Some(DefaultValue::Text(value)), ..self }
    }

    pub(crate) const fn default_integer(self, value: i64) -> Self {
        Param { default: Some(DefaultValue::Integer(value)), ..self }
    }

    pub(crate) const fn default_number(self, value: f32) -> Self {
        Param { default: Some(DefaultValue::Number(value)), ..self }
    }

    pub(crate) const fn default_flag(self, value: bool) -> Self {
        Param { default: Some(DefaultValue::Flag(value)), ..self }
    }

    /// Applies the default without showing it in the schema: the description names it.
    pub(crate) const fn unserved_default(self) -> Self {
        Param { serves_default: false, ..self }
    }

    /// Whether a value counts as not given.
    pub(super) fn is_absent(&self, value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::String(text) => !self.required && !self.empty_is_value && text.trim().is_empty(),
            _ => false,
        }
    }

    /// Whether a number out of range is moved into it.
    pub(super) fn is_clamped(&self) -> bool {
        self.clamped
    }

    /// The values of a choice; empty for every other kind.
    pub(super) fn values(&self) -> &'static [&'static str] {
        if let ParamKind::Choice { values, .. } = self.kind { values } else { &[] }
    }

    /// The integers that are accepted.
    pub(super) fn integers(&self) -> RangeInclusive<i64> {
        if let ParamKind::Integer { min, max, .. } = self.kind { min..=max } else { i64::MIN..=i64::MAX }
    }

    /// The numbers that are accepted.
    pub(super) fn numbers(&self) -> RangeInclusive<f32> {
        if let ParamKind::Number { min, max, .. } = self.kind { min..=max } else { f32::MIN..=f32::MAX }
    }

    pub(super) fn text_default(&self) -> Option<&'static str> {
        if let Some(DefaultValue::Text(value)) = self.default { Some(value) } else { None }
    }

    pub(super) fn integer_default(&self) -> Option<i64> {
        if let Some(DefaultValue::Integer(value)) = self.default { Some(value) } else { None }
    }

    pub(super) fn number_default(&self) -> Option<f32> {
        if let Some(DefaultValue::Number(value)) = self.default { Some(value) } else { None }
    }

    /// Whether an argument with this name belongs to the parameter.
    pub(super) fn accepts(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    fn schema(&self) -> Value {
        let mut out = match self.kind {
            ParamKind::Text => json!({ "type": "string" }),
            ParamKind::TextList => json!({ "type": "array", "items": { "type": "string" } }),
            ParamKind::IntegerPair => json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 }),
            ParamKind::Flag => json!({ "type": "boolean" }),
            ParamKind::Object => json!({ "type": "object" }),
            ParamKind::Choice { values, typed: true } => json!({ "type": "string", "enum": values }),
            ParamKind::Choice { values, typed: false } => json!({ "enum": values }),
            ParamKind::Integer { min, max, shown } => with_bounds(json!({ "type": "integer" }), json!(min), json!(max), shown),
            ParamKind::Number { min, max, shown } => with_bounds(json!({ "type": "number" }), decimal(min), decimal(max), shown),
        };
        if let Some(default) = self.default.filter(|_| self.serves_default) {
            out["default"] = match default {
                DefaultValue::Text(text) => json!(text),
                DefaultValue::Integer(integer) => json!(integer),
                DefaultValue::Number(number) => decimal(number),
                DefaultValue::Flag(flag) => json!(flag),
            };
        }
        if !self.description.is_empty() {
            out["description"] = json!(self.description);
        }
        out
    }
}

/// The JSON Schema of a tool's arguments, without references.
pub(super) fn input_schema(params: &[Param], closed: bool) -> Value {
    let served = || params.iter().filter(|param| param.served);
    let properties: Map<String, Value> = served().map(|param| (param.name.to_owned(), param.schema())).collect();
    let required: Vec<&str> = served().filter(|param| param.required).map(|param| param.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if closed {
        schema["additionalProperties"] = json!(false);
    }
    schema
}

fn with_bounds(mut schema: Value, min: Value, max: Value, shown: ShownRange) -> Value {
    if shown != ShownRange::Neither {
        schema["minimum"] = min;
    }
    if shown == ShownRange::Both {
        schema["maximum"] = max;
    }
    schema
}

/// A number as it is written in code: 0.35 and not the nearest `f64` of an `f32`, 1 and not 1.0.
fn decimal(number: f32) -> Value {
    serde_json::from_str(&number.to_string()).unwrap_or_else(|_| json!(number))
}
