//! TOML edited in place: whatever is not ours keeps its bytes. Places are found by `toml_edit`, the text is cut and
//! spliced, because a document printed by it would lose CRLF line ends. Pure; knows nothing about hosts.

use super::edit::{Edited, Refused};
use memdir_core::base::text;
use serde_json::Value;
use std::ops::Range;
use toml_edit::{Document, InlineTable, Item, Table, TableLike};

const BOM: char = '\u{feff}';

/// The value at a path; nothing if it is not there.
pub(crate) fn get(text: &str, path: &[String]) -> Result<Option<Value>, Refused> {
    let document = parse(text)?;
    Ok(item_at(document.as_table(), path)?.map(json))
}

/// Sets the table at a path. One that is so already is left as it is written; one that is not is rewritten where it
/// stands; without one it is added at the end of the file, or inside the inline table that holds its like.
pub(crate) fn set(text: &str, path: &[String], value: &Value) -> Result<Edited, Refused> {
    if get(text, path)?.as_ref() == Some(value) {
        return Ok(Edited::same(text));
    }
    let document = parse(text)?;
    let (key, above) = path.split_last().ok_or_else(|| Refused::new("an empty path"))?;
    let holder = item_at(document.as_table(), above)?;
    let edited = match (holder, item_at(document.as_table(), path)?) {
        (_, Some(Item::Table(table))) if !table.is_dotted() && revised(text, table, value).is_some() => {
            revised(text, table, value).unwrap_or_default()
        }
        (_, Some(Item::Table(table))) if !table.is_dotted() => {
            let ranges = blocks(text, table);
            let block = block(text, path, value);
            let mut edited = cut(text, ranges.get(1..).unwrap_or_default());
            edited.replace_range(ranges[0].clone(), &block);
            edited
        }
        (Some(Item::Value(inline)), _) => {
            let span = inline.span().filter(|_| inline.is_inline_table());
            let span = span.ok_or_else(|| Refused::new(format!("{} is not a table", above.join("."))))?;
            let mut table = owned(text, &span)?;
            table.insert(key, toml_value(value));
            splice(text, span, table.to_string().trim())
        }
        (_, Some(Item::Value(entry))) if entry.is_inline_table() && entry.span().is_some() => {
            let span = entry.span().unwrap_or_default();
            let mut table = owned(text, &span)?;
            let wanted = |key: &str| value.get(key);
            table.retain(|key, _| wanted(key).is_some());
            for (key, value) in value.as_object().into_iter().flatten() {
                if table.get(key).map(json_value).as_ref() != Some(value) {
                    table.insert(key, toml_value(value));
                }
            }
            splice(text, span, table.to_string().trim())
        }
        (_, Some(_)) => {
            return Err(Refused::new(format!("{} is not written as a table; write it as [{}]", path.join("."), path.join("."))));
        }
        (_, None) => appended(text, &block(text, path, value)),
    };
    let made = if holder.is_none() && !above.is_empty() { vec![above.to_vec()] } else { Vec::new() };
    confirm(&edited, path, value)?;
    Ok(Edited { text: edited, made })
}

/// The text in which a table has this value and keeps its comments: only the values that differ are written. Nothing if
/// what differs is no plain value.
fn revised(text: &str, table: &Table, value: &Value) -> Option<String> {
    let wanted = value.as_object()?;
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, item) in table.iter() {
        match (item, wanted.get(key)) {
            (item, Some(new)) if json(item) == *new => {}
            (Item::Value(old), Some(new)) => edits.push((old.span()?, toml_value(new).to_string())),
            (Item::Value(old), None) => {
                let span = old.span()?;
                edits.push((text[..span.start].rfind('\n').map_or(0, |at| at + 1)..line_end(span.end), String::new()));
            }
            _ => return None,
        }
    }
    let new: Value = wanted.iter().filter(|(key, _)| !table.contains_key(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let at = line_end(own_end(table).max(table.span()?.end));
    let (end, ends) = (newline(text), text[..at].ends_with('\n'));
    let added = lines(&new, end);
    edits.push((at..at, if added.is_empty() || ends { added } else { format!("{end}{added}") }));
    edits.sort_by_key(|(range, _)| range.start);
    let mut revised = text.to_owned();
    edits.into_iter().rev().for_each(|(range, new)| revised.replace_range(range, &new));
    Some(revised)
}

/// Adds a table to the list of tables of that name.
pub(crate) fn push(text: &str, name: &str, value: &Value) -> Result<String, Refused> {
    let document = parse(text)?;
    match document.get(name) {
        None | Some(Item::ArrayOfTables(_)) => {}
        Some(_) => return Err(Refused::new(format!("{name} is not written as [[{name}]] tables; write it so, or add this one by hand"))),
    }
    let end = newline(text);
    let edited = appended(text, &format!("[[{name}]]{end}{}", lines(value, end)));
    parse(&edited)?;
    Ok(edited)
}

/// Removes the table at a path, wherever its parts stand.
pub(crate) fn remove(text: &str, path: &[String]) -> Result<String, Refused> {
    let document = parse(text)?;
    let (key, above) = path.split_last().ok_or_else(|| Refused::new("an empty path"))?;
    match item_at(document.as_table(), path)? {
        None => Ok(text.to_owned()),
        Some(Item::Table(table)) if !table.is_dotted() => {
            let ranges: Vec<_> = blocks(text, table).into_iter().map(|range| with_blank_line(text, range)).collect();
            Ok(cut(text, &ranges))
        }
        Some(Item::Value(entry)) if item_at(document.as_table(), above)?.is_some_and(Item::is_table) => {
            let span = entry.span().ok_or_else(|| Refused::new(format!("{} is not written as a table", path.join("."))))?;
            let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at + 1);
            let cut = splice(text, start..end, "");
            if get(&cut, path)?.is_some() { Err(Refused::new(format!("{} stands in a line with others", path.join(".")))) } else { Ok(cut) }
        }
        Some(_) => {
            let holder = item_at(document.as_table(), above)?.filter(|item| item.is_inline_table()).and_then(Item::span);
            let span = holder.ok_or_else(|| Refused::new(format!("{} is not written as a table", path.join("."))))?;
            let mut table = owned(text, &span)?;
            table.remove(key);
            Ok(splice(text, span, table.to_string().trim()))
        }
    }
}

/// Removes the table at a path if it has a header of its own and nothing in it.
pub(crate) fn remove_empty(text: &str, path: &[String]) -> Result<String, Refused> {
    let document = parse(text)?;
    match item_at(document.as_table(), path)? {
        Some(Item::Table(table)) if table.is_empty() && table.span().is_some() && !table.is_implicit() => remove(text, path),
        _ => Ok(text.to_owned()),
    }
}

/// Whether nothing is left in the file.
pub(crate) fn is_bare(text: &str) -> bool {
    text.trim_start_matches(BOM).trim().is_empty()
}

fn parse(text: &str) -> Result<Document<&str>, Refused> {
    Document::parse(text).map_err(|e| {
        let byte = text::char_floor(text, e.span().map_or(0, |span| span.start).min(text.len()));
        let line = text::line_at(text, byte);
        let column = text[text::line_start(text, line)..byte].chars().count() + 1;
        Refused::at(usize::try_from(line).unwrap_or_default(), column, e.message())
    })
}

fn item_at<'a>(table: &'a Table, path: &[String]) -> Result<Option<&'a Item>, Refused> {
    let mut table: &dyn TableLike = table;
    let Some((key, above)) = path.split_last() else { return Ok(None) };
    for (depth, name) in above.iter().enumerate() {
        match table.get(name) {
            None => return Ok(None),
            Some(item) => {
                let said = || Refused::new(format!("{} is not a table", path[..=depth].join(".")));
                table = item.as_table_like().ok_or_else(said)?;
            }
        }
    }
    Ok(table.get(key))
}

/// The text of a table and of the tables below it: from each header to the end of the line of its last value.
fn blocks(text: &str, table: &Table) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    collect(text, table, &mut ranges);
    ranges.sort_by_key(|range| range.start);
    ranges
}

fn collect(text: &str, table: &Table, ranges: &mut Vec<Range<usize>>) {
    if let Some(span) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        let end = own_end(table).max(span.end);
        ranges.push(span.start..text[end..].find('\n').map_or(text.len(), |at| end + at + 1));
    }
    for (_, item) in table.iter() {
        match item {
            Item::Table(below) => collect(text, below, ranges),
            Item::ArrayOfTables(all) => all.iter().for_each(|below| collect(text, below, ranges)),
            _ => {}
        }
    }
}

fn own_end(table: &Table) -> usize {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map_or(0, |span| span.end),
        Item::Table(below) if below.is_dotted() => own_end(below),
        _ => 0,
    };
    table.iter().map(|(_, item)| end(item)).max().unwrap_or(0)
}

/// The same with one empty line before it, which is what keeps tables apart.
fn with_blank_line(text: &str, range: Range<usize>) -> Range<usize> {
    let before = &text[..range.start];
    let blank = ["\r\n\r\n", "\n\n"].into_iter().find(|blank| before.ends_with(blank)).map_or(0, |blank| blank.len() / 2);
    range.start - blank..range.end
}

fn cut(text: &str, ranges: &[Range<usize>]) -> String {
    let mut cut = text.to_owned();
    ranges.iter().rev().for_each(|range| cut.replace_range(range.clone(), ""));
    cut
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let mut spliced = text.to_owned();
    spliced.replace_range(range, new);
    spliced
}

/// An inline table as it is written, free of its document.
fn owned(text: &str, span: &Range<usize>) -> Result<InlineTable, Refused> {
    let value: toml_edit::Value = text[span.clone()].parse().map_err(|e: toml_edit::TomlError| Refused::new(e.message()))?;
    value.as_inline_table().cloned().ok_or_else(|| Refused::new("an inline table that is none"))
}

fn appended(text: &str, block: &str) -> String {
    let end = newline(text);
    let bare = text.trim_start_matches(BOM).is_empty();
    let gap = match () {
        () if bare || text.ends_with(&format!("{end}{end}")) => String::new(),
        () if text.ends_with('\n') => end.to_owned(),
        () => format!("{end}{end}"),
    };
    format!("{text}{gap}{block}")
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn block(text: &str, path: &[String], value: &Value) -> String {
    let end = newline(text);
    let header = path.iter().map(|key| toml_edit::Key::new(key.as_str()).to_string()).collect::<Vec<_>>().join(".");
    format!("[{header}]{end}{}", lines(value, end))
}

fn lines(value: &Value, end: &str) -> String {
    let object = value.as_object().into_iter().flatten();
    object.map(|(key, value)| format!("{} = {}{end}", toml_edit::Key::new(key.as_str()), toml_value(value))).collect()
}

fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Null => toml_edit::Value::from(""),
        Value::Bool(value) => (*value).into(),
        Value::Number(value) => value.as_i64().map_or_else(|| value.as_f64().unwrap_or_default().into(), Into::into),
        Value::String(value) => value.as_str().into(),
        Value::Array(values) => values.iter().map(toml_value).collect(),
        Value::Object(values) => values.iter().map(|(key, value)| (key.as_str(), toml_value(value))).collect::<InlineTable>().into(),
    }
}

fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => table.iter().map(|(key, item)| (key.to_owned(), json(item))).collect(),
        Item::ArrayOfTables(all) => all.iter().map(|table| json(&Item::Table(table.clone()))).collect(),
    }
}

fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(value) => value.value().as_str().into(),
        toml_edit::Value::Integer(value) => (*value.value()).into(),
        toml_edit::Value::Float(value) => (*value.value()).into(),
        toml_edit::Value::Boolean(value) => (*value.value()).into(),
        toml_edit::Value::Datetime(value) => value.value().to_string().into(),
        toml_edit::Value::Array(values) => values.iter().map(json_value).collect(),
        toml_edit::Value::InlineTable(table) => table.iter().map(|(key, value)| (key.to_owned(), json_value(value))).collect(),
    }
}

/// What was written is what is read back: the last defence against a file whose shape nobody foresaw.
fn confirm(text: &str, path: &[String], value: &Value) -> Result<(), Refused> {
    match get(text, path) {
        Ok(Some(there)) if there == *value => Ok(()),
        _ => Err(Refused::new(format!("{} cannot be added to it without rewriting other parts; add it by hand", path.join(".")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn path() -> Vec<String> {
        ["mcp_servers", "memdir"].map(str::to_owned).to_vec()
    }

    fn server() -> Value {
        json!({ "command": "/bin/memdir", "args": ["mcp"] })
    }

    const OTHERS: &str = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.other]\ncommand = 'y'\n\n[mcp_servers.other.env]\nA = \"1\"\n\n[tui]\ntheme = \"dark\"\n";

    #[test]
    fn a_table_is_added_at_the_end_and_comes_out_without_a_trace() {
        for text in [
            OTHERS.to_owned(),
            OTHERS.replace('\n', "\r\n"),
            format!("\u{feff}{OTHERS}"),
            "# only a comment\n".into(),
            "[a]\n[a.b]\n".into(),
        ] {
            let edited = set(&text, &path(), &server()).unwrap();
            let end = newline(&text);
            assert_eq!(edited.text, format!("{text}{end}[mcp_servers.memdir]{end}command = \"/bin/memdir\"{end}args = [\"mcp\"]{end}"));
            assert_eq!(set(&edited.text, &path(), &server()).unwrap(), Edited::same(&edited.text));
            assert_eq!(remove(&edited.text, &path()).unwrap(), text);
        }
        assert_eq!(set("", &path(), &server()).unwrap().text, "[mcp_servers.memdir]\ncommand = \"/bin/memdir\"\nargs = [\"mcp\"]\n");
    }

    #[test]
    fn a_table_in_the_middle_is_changed_where_it_stands() {
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
            "[mcp_servers.memdir]\ncommand = \"/bin/memdir\"\nargs = [\"mcp\"]\nenv = \"none\"\n\n# theirs\n[z]\nn = 1\n\n"
        );
        assert_eq!(remove(text, &path()).unwrap(), "\n# theirs\n[z]\nn = 1\n");
    }

    #[test]
    fn an_inline_table_holds_it_too() {
        let text = "mcp_servers = { other = { command = 'y' } } # all of them\n[tui]\n";
        let edited = set(text, &path(), &server()).unwrap().text;
        assert_eq!(get(&edited, &path()).unwrap(), Some(server()));
        assert!(edited.ends_with(" # all of them\n[tui]\n"));
        assert_eq!(get(&remove(&edited, &path()).unwrap(), &["mcp_servers".into()]).unwrap(), Some(json!({ "other": { "command": "y" } })));
    }

    #[test]
    fn an_inline_entry_is_changed_where_it_stands() {
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
    fn dotted_keys_are_left_alone() {
        let text = "mcp_servers.other.command = 'y'\n";
        let edited = set(text, &path(), &server()).unwrap().text;
        assert_eq!(get(&edited, &["mcp_servers".into()]).unwrap(), Some(json!({ "other": { "command": "y" }, "memdir": server() })));
        assert_eq!(remove(&edited, &path()).unwrap(), text);
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_its_place() {
        for (text, why) in [("a = [\n\"x\n", "line 2"), ("mcp_servers = 1\n", "mcp_servers is not a table"), ("a = 1\na = 2\n", "line 2")] {
            let refused = set(text, &path(), &server()).unwrap_err();
            assert!(refused.why.starts_with(why), "{text}: {}", refused.why);
        }
    }

    #[test]
    fn lists_of_tables_grow_at_the_end() {
        let text = "[[mounts]]\nname = \"a\"\npath = \"b\"\n";
        let pushed = push(text, "mounts", &json!({ "name": "c", "path": "d" })).unwrap();
        assert_eq!(pushed, format!("{text}\n[[mounts]]\nname = \"c\"\npath = \"d\"\n"));
        assert!(push("mounts = []\n", "mounts", &json!({})).unwrap_err().why.contains("[[mounts]]"));
    }
}
