//! TOML settings edited in place with `toml_edit`: bytes that are not part of an edit are kept, with comments, order, line endings, BOM
//! and a missing final newline. Pure; knows nothing about hosts.

use super::text_edit::{EditError, EditedConfigText, dotted};
use memdir_core::internal::base::sort::SharedSort as _;
use memdir_core::internal::base::{line_diff, text};
use serde_json::Value;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Key, RawString, Table};

const BOM: char = '\u{feff}';

/// Returns the value at a path, or `None`; an empty path is the root.
pub(crate) fn get(text: &str, path: &[String]) -> Result<Option<Value>, EditError> {
    Ok(item_at(parse(text)?.as_item(), path)?.map(to_json))
}

/// Sets the value at a path. A value that differs is changed where it is; a new table goes to the end of the file, or into the inline
/// table that contains its siblings.
pub(crate) fn set(text: &str, path: &[String], value: &Value) -> Result<EditedConfigText, EditError> {
    let mut document = parse(text)?;
    let current = item_at(document.as_item(), path)?.map(to_json);
    if current.as_ref() == Some(value) {
        return Ok(EditedConfigText::unchanged(text));
    }
    let above = path.split_last().map_or(&[][..], |(_, above)| above);
    let created = if item_at(document.as_item(), above)?.is_none() { vec![above.to_vec()] } else { Vec::new() };
    set_item(&mut document, path, value)?;
    let edited = print(text, &document);
    // The last defense against a file of a form that was not foreseen.
    if get(&edited, path)?.as_ref() != Some(value) {
        let message = format!("`{}` cannot be set without rewriting other parts of the file", dotted(path));
        return Err(EditError::new(message).with_hint("change or remove the key yourself"));
    }
    Ok(EditedConfigText { text: edited, created })
}

/// Appends a table to the array of tables with this name.
pub(crate) fn push(text: &str, name: &str, value: &Value) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let table = new_table(&mut document, value);
    match document.entry(name).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new())) {
        Item::ArrayOfTables(tables) => tables.push(table),
        _ => return Err(EditError::new(format!("`{name}` is not an array of tables ([[{name}]])"))),
    }
    let edited = print(text, &document);
    parse(&edited)?;
    Ok(edited)
}

/// Removes the value or table at a path if it exists. Comments before it are kept.
pub(crate) fn remove(text: &str, path: &[String]) -> Result<String, EditError> {
    let mut document = parse(text)?;
    if item_at(document.as_item(), path)?.is_none() {
        return Ok(text.to_owned());
    }
    remove_item(&mut document, path)?;
    Ok(print(text, &document))
}

/// Removes the table at a path if it has a header of its own and is empty.
pub(crate) fn remove_empty(text: &str, path: &[String]) -> Result<String, EditError> {
    match item_at(parse(text)?.as_item(), path)? {
        Some(Item::Table(table)) if table.is_empty() && !table.is_implicit() && !table.is_dotted() => remove(text, path),
        _ => Ok(text.to_owned()),
    }
}

/// Whether the file has no content.
pub(crate) fn is_empty_file(text: &str) -> bool {
    text.trim_start_matches(BOM).trim().is_empty()
}

/// Parses a text with its line endings normalized: `toml_edit` prints LF only.
fn parse(text: &str) -> Result<DocumentMut, EditError> {
    let text = text.trim_start_matches(BOM).replace("\r\n", "\n");
    text.parse().map_err(|e: toml_edit::TomlError| {
        let byte = text::floor_char_boundary(&text, e.span().map_or(0, |span| span.start).min(text.len()));
        let line = text::line_at(&text, byte);
        let column = text[text::line_start(&text, line)..byte].chars().count() + 1;
        EditError::at(usize::try_from(line).unwrap_or_default(), column, e.message())
    })
}

/// The text of an edited document. Lines that are not edited are copied from `original`, with their own line endings; new lines get
/// the line ending of the file.
fn print(original: &str, document: &DocumentMut) -> String {
    let rest = original.trim_start_matches(BOM);
    let newline = if rest.contains("\r\n") { "\r\n" } else { "\n" };
    let printed = document.to_string();
    let (old, new): (Vec<&str>, Vec<&str>) = (rest.split_inclusive('\n').collect(), printed.split_inclusive('\n').collect());
    let (old_contents, new_contents): (Vec<&str>, Vec<&str>) =
        (old.iter().map(|line| content(line)).collect(), new.iter().map(|line| content(line)).collect());
    let mut text = original[..original.len() - rest.len()].to_owned();
    let mut add = |line: &str, ending: &str| {
        // A line that was the last one, without a line ending, is followed by another.
        if !text.is_empty() && !text.ends_with(['\n', BOM]) {
            text.push_str(newline);
        }
        text.push_str(line);
        text.push_str(ending);
    };
    let mut next = 0;
    for change in line_diff::changed_lines(&old_contents, &new_contents) {
        old[next..change.old.start].iter().for_each(|line| add(line, ""));
        new[change.new].iter().for_each(|line| add(content(line), if line.ends_with('\n') { newline } else { "" }));
        next = change.old.end;
    }
    old[next..].iter().for_each(|line| add(line, ""));
    text
}

/// A line without its line ending.
fn content(line: &str) -> &str {
    line.trim_end_matches('\n').trim_end_matches('\r')
}

fn item_at<'a>(root: &'a Item, path: &[String]) -> Result<Option<&'a Item>, EditError> {
    let mut item = root;
    for (depth, key) in path.iter().enumerate() {
        let table = item.as_table_like().ok_or_else(|| not_a_table(&path[..depth]))?;
        match table.get(key) {
            Some(below) => item = below,
            None => return Ok(None),
        }
    }
    Ok(Some(item))
}

fn not_a_table(path: &[String]) -> EditError {
    EditError::new(format!("`{}` is not a table", dotted(path)))
}

/// The table at a path, with those that are missing created.
fn table_at<'a>(root: &'a mut Item, path: &[String]) -> Result<&'a mut Item, EditError> {
    let mut item = root;
    for (depth, key) in path.iter().enumerate() {
        let is_inline = item.is_inline_table();
        let table = item.as_table_like_mut().ok_or_else(|| not_a_table(&path[..depth]))?;
        item = table.entry(key).or_insert_with(|| if is_inline { toml_edit::value(InlineTable::new()) } else { implicit_table() });
    }
    if item.is_table_like() { Ok(item) } else { Err(not_a_table(path)) }
}

/// A table without a header of its own.
fn implicit_table() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
}

fn set_item(document: &mut DocumentMut, path: &[String], value: &Value) -> Result<(), EditError> {
    let (key, above) = path.split_last().ok_or_else(|| EditError::new("the key path is empty"))?;
    let child = |key: &str| -> Vec<String> { path.iter().cloned().chain([key.to_owned()]).collect() };
    match (item_at(document.as_item(), path)?, value.as_object()) {
        (Some(existing), _) if to_json(existing) == *value => Ok(()),
        (Some(existing), Some(wanted)) => {
            let table = existing.as_table_like().ok_or_else(|| not_a_table(path))?;
            let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
            for key in keys.iter().filter(|key| !wanted.contains_key(*key)) {
                remove_item(document, &child(key))?;
            }
            wanted.iter().try_for_each(|(key, value)| set_item(document, &child(key), value))
        }
        (Some(Item::Value(_)), None) => {
            let table = table_at(document.as_item_mut(), above)?;
            if let Some(Item::Value(old)) = table.as_table_like_mut().and_then(|table| table.get_mut(key)) {
                let decor = old.decor().clone();
                *old = to_toml(value);
                *old.decor_mut() = decor;
            }
            Ok(())
        }
        (existing, _) => {
            if existing.is_some() {
                remove_item(document, path)?;
            }
            insert(document, key, above, value)
        }
    }
}

fn insert(document: &mut DocumentMut, key: &str, above: &[String], value: &Value) -> Result<(), EditError> {
    let is_inline = table_at(document.as_item_mut(), above)?.is_inline_table();
    let item = match value {
        Value::Object(_) if !is_inline => Item::Table(new_table(document, value)),
        value => Item::Value(to_toml(value)),
    };
    if let Some(table) = table_at(document.as_item_mut(), above)?.as_table_like_mut() {
        table.insert(key, item);
    }
    Ok(())
}

/// A table for the end of the document, with a blank line before it. Comments at the end of the document stay before it.
fn new_table(document: &mut DocumentMut, value: &Value) -> Table {
    let mut table: Table = value.as_object().into_iter().flatten().map(|(key, value)| (Key::new(key.as_str()), to_toml(value))).collect();
    let is_first = document.to_string().is_empty();
    let mut prefix = raw(Some(document.trailing()));
    if !prefix.is_empty() && !prefix.ends_with('\n') {
        prefix.push('\n');
    }
    if !is_first && prefix != "\n" && !prefix.ends_with("\n\n") {
        prefix.push('\n');
    }
    document.set_trailing("");
    table.decor_mut().set_prefix(prefix);
    let last = headers(document.as_table()).into_iter().map(|(position, _)| position).max().unwrap_or(0);
    table.set_position(Some(last + 1));
    table
}

/// Removes the item at a path; comments before it go to what follows.
fn remove_item(document: &mut DocumentMut, path: &[String]) -> Result<(), EditError> {
    let (key, above) = path.split_last().ok_or_else(|| EditError::new("the key path is empty"))?;
    let parent = table_at(document.as_item_mut(), above)?;
    let Item::Table(table) = parent else {
        parent.as_table_like_mut().and_then(|table| table.remove(key));
        return Ok(());
    };
    let following = table.iter().skip_while(|(other, _)| other != key).skip(1).find(|(_, item)| item.is_value());
    let next_key = following.map(|(key, _)| key.to_owned());
    let position = table.position().unwrap_or(isize::MIN);
    let mut kept: Vec<(isize, String)> = Vec::new();
    match table.remove_entry(key) {
        Some((_, Item::Table(removed))) if !removed.is_dotted() => kept = headers(&removed),
        Some((key, _)) => {
            let comment = raw(key.leaf_decor().prefix());
            match next_key.and_then(|next| table.key_mut(&next)) {
                _ if comment.trim().is_empty() => {}
                Some(mut next) => {
                    let prefix = format!("{comment}{}", raw(next.leaf_decor().prefix()));
                    next.leaf_decor_mut().set_prefix(prefix);
                }
                None => kept.push((position, comment)),
            }
        }
        None => {}
    }
    kept.shared_sort_by_key(|(position, _)| std::cmp::Reverse(*position));
    for (position, text) in kept {
        // One blank line separates a table from what is before it, and goes with the table.
        let text = if text == "\n" || text.ends_with("\n\n") { &text[..text.len() - 1] } else { &text };
        prepend_to_next_table(document, position, text);
    }
    Ok(())
}

/// The position and the prefix of every header in a table and the tables below it.
fn headers(table: &Table) -> Vec<(isize, String)> {
    let own = table.position().map(|position| (position, raw(table.decor().prefix())));
    let below = table.iter().flat_map(|(_, item)| match item {
        Item::Table(table) => headers(table),
        Item::ArrayOfTables(tables) => tables.iter().flat_map(headers).collect(),
        _ => Vec::new(),
    });
    own.into_iter().chain(below).collect()
}

/// Adds text before the first header after a position, or at the end of the document.
fn prepend_to_next_table(document: &mut DocumentMut, position: isize, text: &str) {
    fn find(table: &mut Table, position: isize) -> Option<&mut Table> {
        if table.position() == Some(position) {
            return Some(table);
        }
        table.iter_mut().find_map(|(_, item)| match item {
            Item::Table(table) => find(table, position),
            Item::ArrayOfTables(tables) => tables.iter_mut().find_map(|table| find(table, position)),
            _ => None,
        })
    }
    let next = headers(document.as_table()).into_iter().map(|(other, _)| other).filter(|other| *other > position).min();
    match next.and_then(|next| find(document.as_table_mut(), next)) {
        Some(table) => {
            let prefix = format!("{text}{}", raw(table.decor().prefix()));
            table.decor_mut().set_prefix(prefix);
        }
        None => {
            let trailing = format!("{text}{}", raw(Some(document.trailing())));
            document.set_trailing(trailing);
        }
    }
}

fn raw(text: Option<&RawString>) -> String {
    text.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => toml_edit::Value::from(""),
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => value.as_i64().map_or_else(|| value.as_f64().unwrap_or_default().into(), Into::into),
        Value::String(value) => value.as_str().into(),
        Value::Array(values) => values.iter().map(to_toml).collect(),
        Value::Object(values) => values.iter().map(|(key, value)| (key.as_str(), to_toml(value))).collect::<InlineTable>().into(),
    }
}

fn to_json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => value_to_json(value),
        Item::Table(table) => table.iter().map(|(key, item)| (key.to_owned(), to_json(item))).collect(),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| to_json(&Item::Table(table.clone()))).collect(),
    }
}

fn value_to_json(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(value) => value.value().as_str().into(),
        toml_edit::Value::Integer(value) => (*value.value()).into(),
        toml_edit::Value::Float(value) => (*value.value()).into(),
        toml_edit::Value::Boolean(value) => (*value.value()).into(),
        toml_edit::Value::Datetime(value) => value.value().to_string().into(),
        toml_edit::Value::Array(values) => values.iter().map(value_to_json).collect(),
        toml_edit::Value::InlineTable(table) => table.iter().map(|(key, value)| (key.to_owned(), value_to_json(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn path() -> Vec<String> {
        ["mcp_servers", "memdir"].map(str::to_owned).to_vec()
    }

    fn server() -> Value {
        json!({ "command": "/bin/memdir", "args": ["mcp"] })
    }

    const OTHERS: &str = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.other]\ncommand = 'y'\n\n[mcp_servers.other.env]\nA = \"1\"\n\n[tui]\ntheme = \"dark\"\n";

    #[test]
    fn a_table_is_added_at_the_end_and_removed_without_a_trace() {
        for text in [
            OTHERS.to_owned(),
            OTHERS.replace('\n', "\r\n"),
            format!("\u{feff}{OTHERS}"),
            "# only a comment\n".into(),
            "[a]\n[a.b]\n".into(),
        ] {
            let edited = set(&text, &path(), &server()).unwrap();
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            assert_eq!(edited.text, format!("{text}{end}[mcp_servers.memdir]{end}command = \"/bin/memdir\"{end}args = [\"mcp\"]{end}"));
            assert_eq!(set(&edited.text, &path(), &server()).unwrap(), EditedConfigText::unchanged(&edited.text));
            assert_eq!(remove(&edited.text, &path()).unwrap(), text);
        }
        assert_eq!(set("", &path(), &server()).unwrap().text, "[mcp_servers.memdir]\ncommand = \"/bin/memdir\"\nargs = [\"mcp\"]\n");
    }

    #[test]
    fn a_table_in_the_middle_is_changed_in_place() {
        let text = "[mcp_servers.memdir] # ours\ncommand = \"/old/memdir\"\nargs = [\n  \"mcp\", # c\n]\n\n# theirs\n[z]\nn = 1\n\n[mcp_servers.memdir.env]\nA = \"1\"\n";
        let value = json!({ "command": "/bin/memdir", "args": ["mcp"], "env": { "A": "1" } });
        let edited = set(text, &path(), &value).unwrap().text;
        assert_eq!(edited, text.replace("/old/", "/bin/"));
        let more = json!({ "command": "/bin/memdir", "enabled": true, "env": { "A": "1" } });
        assert_eq!(
            set(text, &path(), &more).unwrap().text,
            "[mcp_servers.memdir] # ours\ncommand = \"/bin/memdir\"\nenabled = true\n\n# theirs\n[z]\nn = 1\n\n[mcp_servers.memdir.env]\nA = \"1\"\n"
        );
        let other = json!({ "command": "/bin/memdir", "args": ["mcp"], "env": "none" });
        assert_eq!(
            set(text, &path(), &other).unwrap().text,
            "[mcp_servers.memdir] # ours\ncommand = \"/bin/memdir\"\nargs = [\n  \"mcp\", # c\n]\nenv = \"none\"\n\n# theirs\n[z]\nn = 1\n"
        );
        assert_eq!(remove(text, &path()).unwrap(), "\n# theirs\n[z]\nn = 1\n");
    }

    #[test]
    fn an_inline_table_gains_an_entry() {
        let text = "mcp_servers = { other = { command = 'y' } } # all of them\n[tui]\n";
        let edited = set(text, &path(), &server()).unwrap().text;
        assert_eq!(get(&edited, &path()).unwrap(), Some(server()));
        assert!(edited.ends_with(" # all of them\n[tui]\n"));
        assert_eq!(get(&remove(&edited, &path()).unwrap(), &["mcp_servers".into()]).unwrap(), Some(json!({ "other": { "command": "y" } })));
    }

    #[test]
    fn an_inline_entry_is_changed_in_place() {
        let text = "[mcp_servers]\nmemdir = { command = \"/old/memdir\", args = [\"mcp\"], startup_timeout_sec = 20 } # mine\n[tui]\n";
        let value = json!({ "command": "/bin/memdir", "args": ["mcp"], "startup_timeout_sec": 20 });
        let edited = set(text, &path(), &value).unwrap().text;
        assert_eq!(get(&edited, &path()).unwrap(), Some(value));
        assert!(edited.contains("# mine\n[tui]\n"), "{edited}");
        assert_eq!(remove(&edited, &path()).unwrap(), "[mcp_servers]\n[tui]\n");
    }

    #[test]
    fn windows_paths_are_kept() {
        let value = json!({ "command": r"C:\Program Files\memdir\memdir.exe", "args": ["mcp"] });
        let edited = set("", &path(), &value).unwrap().text;
        assert_eq!(get(&edited, &path()).unwrap(), Some(value));
        insta::assert_snapshot!(edited, @r#"
        [mcp_servers.memdir]
        command = 'C:\Program Files\memdir\memdir.exe'
        args = ["mcp"]
        "#);
    }

    #[test]
    fn dotted_keys_are_kept() {
        let text = "mcp_servers.other.command = 'y'\n";
        let edited = set(text, &path(), &server()).unwrap().text;
        assert_eq!(get(&edited, &["mcp_servers".into()]).unwrap(), Some(json!({ "other": { "command": "y" }, "memdir": server() })));
        assert_eq!(remove(&edited, &path()).unwrap(), text);
    }

    #[test]
    fn invalid_files_are_refused_with_the_position() {
        for (text, why) in [("a = [\n\"x\n", "line 2"), ("mcp_servers = 1\n", "`mcp_servers` is not a table"), ("a = 1\na = 2\n", "line 2")]
        {
            let error = set(text, &path(), &server()).unwrap_err();
            assert!(error.message.starts_with(why), "{text}: {}", error.message);
        }
    }

    #[test]
    fn arrays_of_tables_grow_at_the_end() {
        let text = "[[mounts]]\nname = \"a\"\npath = \"b\"\n";
        let pushed = push(text, "mounts", &json!({ "name": "c", "path": "d" })).unwrap();
        assert_eq!(pushed, format!("{text}\n[[mounts]]\nname = \"c\"\npath = \"d\"\n"));
        assert!(push("mounts = []\n", "mounts", &json!({})).unwrap_err().message.contains("[[mounts]]"));
    }

    #[test]
    fn mixed_line_endings_and_a_missing_final_newline_are_kept() {
        for text in ["a = 1\r\nb = 2\n\r\n[x]\nc = 3\r\n", "[x]\r\nc = \"\"\"\r\none\r\ntwo\"\"\"\r\n", "a = 1 \t\n\n\n[x] # y\n# z\n"] {
            let edited = set(text, &path(), &server()).unwrap().text;
            assert!(edited.starts_with(text), "{edited:?}");
            assert_eq!(remove(&edited, &path()).unwrap(), text);
        }
        let edited = set("[x]\nc = 3", &path(), &server()).unwrap().text;
        assert_eq!(edited, "[x]\nc = 3\n\n[mcp_servers.memdir]\ncommand = \"/bin/memdir\"\nargs = [\"mcp\"]\n");
        let text = "[mcp_servers.memdir]\ncommand = \"/old\"\n[x]\nc = 3";
        let command: Vec<String> = path().into_iter().chain(["command".to_owned()]).collect();
        assert_eq!(set(text, &command, &json!("/new")).unwrap().text, text.replace("/old", "/new"));
    }

    #[test]
    fn comments_around_a_removed_table_are_kept() {
        for (text, expected) in [
            ("# a\n[mcp_servers.memdir] # b\n# c\nx = 1\n# d\n[z]\n", "# a\n# d\n[z]\n"),
            ("[z]\n\n# a\n\n[mcp_servers.memdir]\nx = 1\n\n# d\n", "[z]\n\n# a\n\n# d\n"),
            ("mcp_servers.memdir.x = 1\nb = 2\n", "b = 2\n"),
            ("[mcp_servers]\n# a\nmemdir = { x = 1 }\n# b\ny = {}\n[z]\n", "[mcp_servers]\n# a\n# b\ny = {}\n[z]\n"),
            ("[mcp_servers]\n# a\nmemdir = { x = 1 }\n\n[z]\n", "[mcp_servers]\n# a\n\n[z]\n"),
        ] {
            assert_eq!(remove(text, &path()).unwrap(), expected);
        }
    }

    #[test]
    fn a_value_is_set_in_tables_of_every_form() {
        let command: Vec<String> = path().into_iter().chain(["command".to_owned()]).collect();
        for (text, expected) in [
            ("[mcp_servers.memdir]\ncommand = 'x' # c\n", "[mcp_servers.memdir]\ncommand = \"y\" # c\n"),
            ("mcp_servers.memdir.command = 'x' # c\n", "mcp_servers.memdir.command = \"y\" # c\n"),
            ("mcp_servers = { memdir = { command = 'x' } }\n", "mcp_servers = { memdir = { command = \"y\" } }\n"),
            ("[mcp_servers]\nmemdir = {}\n", "[mcp_servers]\nmemdir = { command = \"y\" }\n"),
            ("[mcp_servers.memdir]\n[z]\n", "[mcp_servers.memdir]\ncommand = \"y\"\n[z]\n"),
        ] {
            assert_eq!(set(text, &command, &json!("y")).unwrap().text, expected);
        }
    }

    fn line() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "", "# c", "  # d  ", "[a]", "[b.c]", "[[d]]", "[mcp_servers.other] # e", "[mcp_servers]", "x = [ 1,\n 2 ]",
        ])
    }

    proptest! {
        /// A server that is added and removed leaves every byte, whatever else is in the file.
        #[test]
        fn set_and_remove_restore_every_byte(lines in prop::collection::vec((line(), any::<bool>()), 0..8)) {
            // Every key is unique in its table; a file with a table twice is not TOML.
            let text: String = lines.iter().map(|(line, crlf)| format!("{line}{}", if *crlf { "\r\n" } else { "\n" })).collect();
            prop_assume!(parse(&text).is_ok());
            let edited = set(&text, &path(), &server()).unwrap();
            prop_assert_eq!(get(&edited.text, &path()).unwrap(), Some(server()));
            // The blank line before the new table is not added if there is one.
            let removed = remove(&edited.text, &path()).unwrap();
            prop_assert!(removed == text || text.ends_with("\n\n") || text.ends_with("\n\r\n") || text.trim().is_empty(), "{:?}\n{:?}", text, removed);
        }
    }
}
