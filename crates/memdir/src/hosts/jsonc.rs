//! JSON settings with comments, edited in place: bytes that are not part of an edit are kept, with comments, order, indentation, line
//! endings and trailing commas. Pure; knows nothing about hosts.

use super::text_edit::{EditError, EditedConfigText, dotted};
use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};
use memdir_core::internal::base::text;
use serde_json::Value;

/// The key of the list in a group.
const GROUP: &str = "hooks";
const BOM: char = '\u{feff}';

/// Returns the value at a path, or `None`; an empty path is the root.
pub(crate) fn get(text: &str, path: &[String]) -> Result<Option<Value>, EditError> {
    let (_, root) = parse(text)?;
    let Some(value) = root.value() else { return Ok(None) };
    let mut at = value;
    for (depth, key) in path.iter().enumerate() {
        let object = at.as_object().ok_or_else(|| not_a("an object", &path[..depth]))?;
        match prop(&object, key, &path[..depth])?.and_then(|prop| prop.value()) {
            Some(value) => at = value,
            None => return Ok(None),
        }
    }
    Ok(at.to_serde_value())
}

/// Sets the value at a path and creates the objects above it. An equal value keeps its formatting.
pub(crate) fn set(text: &str, path: &[String], value: &Value) -> Result<EditedConfigText, EditError> {
    let (bom, root) = parse(text)?;
    let (key, above) = path.split_last().ok_or_else(|| EditError::new("the key path is empty"))?;
    let mut created = Vec::new();
    let object = object_at(&root, above, &mut created)?;
    match prop(&object, key, above)? {
        Some(prop) if has_value(&prop.value(), value) => return Ok(EditedConfigText::unchanged(text)),
        Some(prop) => prop.set_value(input(value)),
        None => drop(object.append(key, input(value))),
    }
    Ok(EditedConfigText { text: keep_on_one_line(text, format!("{bom}{root}")), created })
}

/// Puts a value into the list at a path: it replaces the first element that is `ours`, further ones are removed, and without one the
/// value is appended. An element may be a group with a list [`GROUP`] of its own, in which our elements are replaced and others kept.
pub(crate) fn put_element(
    text: &str,
    path: &[String],
    value: &Value,
    ours: &dyn Fn(&Value) -> bool,
) -> Result<EditedConfigText, EditError> {
    let (bom, root) = parse(text)?;
    let (key, above) = path.split_last().ok_or_else(|| EditError::new("the key path is empty"))?;
    let mut created = Vec::new();
    let object = object_at(&root, above, &mut created)?;
    let list = match prop(&object, key, above)? {
        Some(prop) => prop.array_value().ok_or_else(|| not_a("a list", path))?,
        None => {
            created.push(path.to_vec());
            object.append(key, CstInputValue::Array(Vec::new())).array_value().ok_or_else(|| not_a("a list", path))?
        }
    };
    let mut own = members(&list, ours).into_iter();
    match own.next() {
        Some(first) if has_value(&Some(first.node.clone()), first.replacement(value)) && own.len() == 0 => {
            return Ok(EditedConfigText::unchanged(text));
        }
        Some(first) => first.replace(&list, value),
        None => drop(list.append(input(value))),
    }
    own.for_each(Member::remove);
    Ok(EditedConfigText { text: keep_on_one_line(text, format!("{bom}{root}")), created })
}

/// Returns the first element that is `ours` in the list at a path or in its groups.
pub(crate) fn find_element(text: &str, path: &[String], ours: &dyn Fn(&Value) -> bool) -> Result<Option<Value>, EditError> {
    let mut element = None;
    edit_at(text, path, |prop| {
        let list = prop.array_value();
        element = list.and_then(|list| members(&list, ours).into_iter().next()).and_then(|member| member.node.to_serde_value());
    })?;
    Ok(element)
}

/// Removes the value at a path if it exists.
pub(crate) fn remove(text: &str, path: &[String]) -> Result<String, EditError> {
    edit_at(text, path, CstObjectProp::remove)
}

/// Removes the elements that are `ours` from the list at a path and from its groups, and groups that become empty.
pub(crate) fn remove_elements(text: &str, path: &[String], ours: &dyn Fn(&Value) -> bool) -> Result<String, EditError> {
    edit_at(text, path, |prop| {
        if let Some(list) = prop.array_value() {
            members(&list, ours).into_iter().for_each(Member::remove);
        }
    })
}

/// Removes the object or list at a path if it is empty and contains no comment.
pub(crate) fn remove_empty(text: &str, path: &[String]) -> Result<String, EditError> {
    edit_at(text, path, |prop| {
        if prop.value().is_some_and(|value| is_empty(&value)) {
            prop.remove();
        }
    })
}

/// Whether the file has no content but an empty object.
pub(crate) fn is_empty_file(text: &str) -> bool {
    let Ok((_, root)) = parse(text) else { return false };
    let blank = root.children().iter().all(|child| !child.is_comment());
    blank && root.value().is_none_or(|value| value.as_object().is_some() && is_empty(&value))
}

/// Puts the edit on one line if it is in a container that was written on one line and was not empty.
fn keep_on_one_line(before: &str, after: String) -> String {
    let at = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let same = before.bytes().rev().zip(after.bytes().rev()).take_while(|(a, b)| a == b).count();
    let same = same.min(before.len() - at).min(after.len() - at);
    let (at, end) = (text::floor_char_boundary(before, at), after.len() - same);
    if !is_on_one_line(before, at) || !after.is_char_boundary(end) || after[at..end].contains("//") {
        return after;
    }
    let lines: Vec<&str> = after[at..end].split('\n').map(str::trim_end).collect();
    let joined = lines.iter().enumerate().map(|(n, line)| if n == 0 { *line } else { line.trim_start() }).collect::<Vec<_>>().join(" ");
    let joined = if after[end..].starts_with(' ') { joined.trim_end() } else { &joined };
    let joined = if after[..at].ends_with(' ') { joined.trim_start() } else { joined };
    let whole = format!("{}{joined}{}", &after[..at], &after[end..]);
    // The values must not depend on the formatting.
    if get(&whole, &[]) == get(&after, &[]) { whole } else { after }
}

/// Whether a position is in a container that begins and ends on its line and is not empty.
fn is_on_one_line(text: &str, at: usize) -> bool {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    let depth = |part: &str, open: [char; 2], close: [char; 2]| {
        part.chars().fold((0_i32, 0_i32), |(depth, least), c| {
            let depth = depth + i32::from(open.contains(&c)) - i32::from(close.contains(&c));
            (depth, least.min(depth))
        })
    };
    // A comment on the line would be removed together with our entry.
    if ["/*", "//"].iter().any(|comment| text[start..end].contains(comment)) {
        return false;
    }
    let (opens, closes) = (['{', '['], ['}', ']']);
    let opened = depth(&text[start..at], opens, closes);
    let closed = -depth(&text[at..end], opens, closes).1;
    let around = (opened.0 - opened.1).min(closed);
    let empty = text[..at].trim_end().ends_with(opens) && text[at..].trim_start().starts_with(closes);
    around > i32::from(empty)
}

fn parse(text: &str) -> Result<(&str, CstRootNode), EditError> {
    let (bom, rest) = text.strip_prefix(BOM).map_or(("", text), |rest| text.split_at(text.len() - rest.len()));
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let root =
        CstRootNode::parse(rest, &options).map_err(|e| EditError::at(e.line_display(), e.column_display(), &e.kind().to_string()))?;
    if root.value().is_some_and(|value| value.as_object().is_none()) {
        return Err(not_a("an object", &[]));
    }
    Ok((bom, root))
}

fn object_at(root: &CstRootNode, path: &[String], created: &mut Vec<Vec<String>>) -> Result<CstObject, EditError> {
    let mut object = root.object_value_or_create().ok_or_else(|| not_a("an object", &[]))?;
    for (depth, key) in path.iter().enumerate() {
        let here = &path[..=depth];
        object = match prop(&object, key, &path[..depth])? {
            Some(prop) => prop.object_value().ok_or_else(|| not_a("an object", here))?,
            None => {
                created.push(here.to_vec());
                let prop = object.append(key, CstInputValue::Object(Vec::new()));
                prop.object_value().ok_or_else(|| not_a("an object", here))?
            }
        };
    }
    Ok(object)
}

/// Applies `edit` to the property at a path if it exists.
fn edit_at(text: &str, path: &[String], edit: impl FnOnce(CstObjectProp)) -> Result<String, EditError> {
    let (bom, root) = parse(text)?;
    let Some((key, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut object = root.object_value();
    for (depth, key) in above.iter().enumerate() {
        object = object.map(|object| prop(&object, key, &above[..depth])).transpose()?.flatten().and_then(|prop| prop.object_value());
    }
    if let Some(prop) = object.map(|object| prop(&object, key, above)).transpose()?.flatten() {
        edit(prop);
    }
    Ok(format!("{bom}{root}"))
}

/// Returns the property with this name. A duplicate is an error, because hosts differ in which one they read.
fn prop(object: &CstObject, key: &str, above: &[String]) -> Result<Option<CstObjectProp>, EditError> {
    let named = |prop: &CstObjectProp| prop.decoded_name().is_some_and(|name| name == key);
    let mut found = object.properties().into_iter().filter(named);
    let first = found.next();
    match found.next() {
        Some(_) => Err(EditError::new(format!("duplicate key `{}`", dotted(&[above, &[key.to_owned()]].concat())))),
        None => Ok(first),
    }
}

/// An element of a list, or of a group in the list.
struct Member {
    node: CstNode,
    group: Option<CstNode>,
}

impl Member {
    /// The part of a list element's value that replaces this member: in a group, the group's first element.
    fn replacement<'a>(&self, value: &'a Value) -> &'a Value {
        value[GROUP].get(0).filter(|_| self.group.is_some()).unwrap_or(value)
    }

    fn replace(self, list: &CstArray, value: &Value) {
        let list = self.group.as_ref().and_then(grouped).unwrap_or_else(|| list.clone());
        list.insert(self.node.element_index().unwrap_or(0), input(self.replacement(value)));
        self.node.remove();
    }

    fn remove(self) {
        self.node.remove();
        if let Some(group) = self.group.filter(|group| grouped(group).is_some_and(|list| list.elements().is_empty())) {
            group.remove();
        }
    }
}

fn grouped(node: &CstNode) -> Option<CstArray> {
    node.as_object()?.get(GROUP)?.array_value()
}

fn members(list: &CstArray, ours: &dyn Fn(&Value) -> bool) -> Vec<Member> {
    let is_ours = |node: &CstNode| node.to_serde_value().is_some_and(|value| ours(&value));
    let within = |node: CstNode| match grouped(&node) {
        Some(inner) => {
            let own = inner.elements().into_iter().filter(is_ours);
            own.map(|member| Member { node: member, group: Some(node.clone()) }).collect()
        }
        None if is_ours(&node) => vec![Member { node, group: None }],
        None => Vec::new(),
    };
    list.elements().into_iter().flat_map(within).collect()
}

fn has_value(node: &Option<CstNode>, value: &Value) -> bool {
    node.as_ref().and_then(CstNode::to_serde_value).is_some_and(|current| current == *value)
}

fn is_empty(node: &CstNode) -> bool {
    let container = node.as_object().is_some() || node.as_array().is_some();
    container && node.children_exclude_trivia_and_tokens().is_empty() && !node.children().iter().any(CstNode::is_comment)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(value) => CstInputValue::Number(value.to_string()),
        Value::String(value) => CstInputValue::String(value.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => CstInputValue::Object(values.iter().map(|(key, value)| (key.clone(), input(value))).collect()),
    }
}

fn not_a(kind: &str, path: &[String]) -> EditError {
    let subject = if path.is_empty() { "the file".to_owned() } else { format!("`{}`", dotted(path)) };
    EditError::new(format!("{subject} is not {kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    fn set_server(text: &str) -> EditedConfigText {
        set(text, &path("mcpServers.memdir"), &json!({ "command": "/bin/memdir", "args": ["mcp"] })).unwrap()
    }

    #[test]
    fn an_entry_follows_the_formatting_of_the_file() {
        let text = "\u{feff}{\r\n\t// the servers\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // mine\r\n\t},\r\n\t/* odd */ \"x\" : 1.50,\r\n}\r\n";
        let expected = "\u{feff}{\r\n\t// the servers\r\n\t\"mcpServers\": {\r\n\t\t\"other\": { \"command\": \"x\" }, // mine\r\n\t\t\"memdir\": {\r\n\t\t\t\"command\": \"/bin/memdir\",\r\n\t\t\t\"args\": [\"mcp\"],\r\n\t\t},\r\n\t},\r\n\t/* odd */ \"x\" : 1.50,\r\n}\r\n";
        let edited = set_server(text);
        assert_eq!(edited, EditedConfigText { text: expected.into(), created: vec![] });
        assert_eq!(remove(expected, &path("mcpServers.memdir")).unwrap(), text);
    }

    #[test]
    fn created_containers_are_removed_when_empty() {
        for text in ["{\n  \"a\": 1\n}\n", "{\n    \"a\": [1, 2], // c\n    \"b\": {}\n}"] {
            let edited = set_server(text);
            assert_eq!(edited.created, [path("mcpServers")]);
            let removed = remove(&edited.text, &path("mcpServers.memdir")).unwrap();
            assert_eq!(remove_empty(&removed, &path("mcpServers")).unwrap(), text);
        }
    }

    #[test]
    fn an_empty_file_becomes_an_object() {
        for text in ["", "\n", "  ", "\u{feff}"] {
            let edited = set_server(text);
            assert_eq!(get(&edited.text, &path("mcpServers.memdir.args")).unwrap(), Some(json!(["mcp"])), "{text:?}");
        }
        insta::assert_snapshot!(set_server("// mine\n").text, @r#"
        // mine
        {
          "mcpServers": {
            "memdir": {
              "command": "/bin/memdir",
              "args": ["mcp"]
            }
          }
        }
        "#);
    }

    #[test]
    fn an_equal_value_keeps_its_formatting() {
        let text = "{ \"mcpServers\": { \"memdir\": { \"args\" : [ \"mcp\" ] , \"command\":\"/bin/memdir\" } } }";
        assert_eq!(set_server(text), EditedConfigText::unchanged(text));
    }

    #[test]
    fn a_list_gains_one_element_and_never_two() {
        let ours = |value: &Value| value["n"] == "memdir";
        let text = "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"n\": \"other\" } // keep\n    ]\n  }\n}\n";
        let once = put_element(text, &path("hooks.Stop"), &json!({ "n": "memdir", "v": 1 }), &ours).unwrap().text;
        let twice = put_element(&once, &path("hooks.Stop"), &json!({ "n": "memdir", "v": 1 }), &ours).unwrap();
        assert_eq!(twice, EditedConfigText::unchanged(&once));
        let newer = put_element(&once, &path("hooks.Stop"), &json!({ "n": "memdir", "v": 2 }), &ours).unwrap().text;
        assert_eq!(newer, once.replace("\"v\": 1", "\"v\": 2"));
        assert_eq!(remove_elements(&newer, &path("hooks.Stop"), &ours).unwrap(), text);
    }

    #[test]
    fn what_is_on_one_line_stays_on_one_line() {
        let memdir = r#""memdir": { "command": "/bin/memdir", "args": ["mcp"] }"#;
        for (text, expected) in [
            (
                r#"{ "mcpServers": { "a": { "command": "x" } }, "z": 1 }"#,
                format!(r#"{{ "mcpServers": {{ "a": {{ "command": "x" }}, {memdir} }}, "z": 1 }}"#),
            ),
            (r#"{ "mcpServers": {}, "z": 1 }"#, format!(r#"{{ "mcpServers": {{ {memdir} }}, "z": 1 }}"#)),
            ("{\n  \"mcpServers\": { \"a\": {} }\n}\n", format!("{{\n  \"mcpServers\": {{ \"a\": {{}}, {memdir} }}\n}}\n")),
        ] {
            assert_eq!(set_server(text).text, expected);
        }
        assert!(
            set_server("{\n  \"mcpServers\": {}\n}\n").text.contains("\n    \"memdir\": {\n"),
            "an empty object has no formatting to keep"
        );
    }

    #[test]
    fn other_members_of_a_group_are_kept() {
        let ours = |value: &Value| value["n"] == "memdir";
        let text = r#"{ "Stop": [ { "hooks": [ { "n": "memdir", "v": 1 }, { "n": "other" } ] }, { "hooks": [ { "n": "memdir" } ] } ] }"#;
        let newer = put_element(text, &path("Stop"), &json!({ "hooks": [{ "n": "memdir", "v": 2 }] }), &ours).unwrap().text;
        let list = |text: &str| get(text, &path("Stop")).unwrap().unwrap();
        assert_eq!(list(&newer), json!([{ "hooks": [{ "n": "memdir", "v": 2 }, { "n": "other" }] }]));
        assert_eq!(find_element(&newer, &path("Stop"), &ours).unwrap(), Some(json!({ "n": "memdir", "v": 2 })));
        assert_eq!(list(&remove_elements(&newer, &path("Stop"), &ours).unwrap()), json!([{ "hooks": [{ "n": "other" }] }]));
    }

    #[test]
    fn invalid_files_are_refused_with_the_position() {
        for (text, why) in [
            ("{\n  \"a\": \n}", "line 3, column 1: "),
            ("{ \"a\": 1 ", "line 1, column 1: "),
            ("{ 'a': 1 }", "line 1, column 3: "),
            ("[1]", "the file is not an object"),
            ("{ \"mcpServers\": [] }", "`mcpServers` is not an object"),
            ("{ \"mcpServers\": {}, \"mcpServers\": {} }", "duplicate key `mcpServers`"),
            ("<<<<<<< HEAD\n{}\n", "line 1, column 1: "),
        ] {
            let error = set(text, &path("mcpServers.memdir"), &json!({})).unwrap_err();
            assert!(error.message.starts_with(why), "{text}: {}", error.message);
        }
    }

    #[test]
    fn only_an_empty_object_is_empty_file() {
        for (text, bare) in [
            ("{}", true),
            ("{\n}\n", true),
            ("", true),
            ("{ \"a\": 1 }", false),
            ("// c\n{}", false),
            ("{ /* c */ }", false),
            ("[]", false),
        ] {
            assert_eq!(is_empty_file(text), bare, "{text}");
        }
    }

    fn trivia() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["", " ", "\n  ", "\n\t", " /* c */ ", " // c\n  "]).prop_map(str::to_owned)
    }

    fn value() -> impl Strategy<Value = String> {
        prop::sample::select(vec!["1", "-2.50e3", "\"a \\u00e9 é\"", "true", "null", "[]", "[ 1,2 ]", "{}", "{\"x\" : {\"y\":[]}}"])
            .prop_map(str::to_owned)
    }

    prop_compose! {
        /// An object with other entries, in any formatting.
        fn object()(entries in prop::collection::vec((trivia(), trivia(), value(), trivia()), 0..5), end in trivia(), comma in any::<bool>()) -> String {
            let last = entries.len().saturating_sub(1);
            let body: String = entries.iter().enumerate().map(|(n, (before, between, value, after))| {
                let sep = if n < last || comma { "," } else { "" };
                format!("{before}\"k{n}\":{between}{value}{after}{sep}")
            }).collect();
            format!("{{{body}{end}}}\n")
        }
    }

    proptest! {
        /// Other entries and comments survive an installation and its removal.
        #[test]
        fn others_entries_survive(text in object()) {
            let edited = set_server(&text);
            let both = get(&edited.text, &[]).unwrap().unwrap();
            let mut others = both.clone();
            others.as_object_mut().unwrap().shift_remove("mcpServers");
            let before = get(&text, &[]).unwrap().unwrap();
            prop_assert_eq!(&others, &before);
            prop_assert_eq!(edited.text.matches("c */").count() + edited.text.matches("// c").count(), text.matches("c */").count() + text.matches("// c").count());
            let removed = remove(&edited.text, &path("mcpServers.memdir")).unwrap();
            let removed = remove_empty(&removed, &path("mcpServers")).unwrap();
            prop_assert_eq!(get(&removed, &[]).unwrap().unwrap(), before);
            prop_assert_eq!(get(&set_server(&removed).text, &[]).unwrap().unwrap(), both);
        }
    }
}
