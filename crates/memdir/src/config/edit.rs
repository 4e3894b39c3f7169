//! Edits `config.toml` for commands. The rest of the file is unchanged, including comments.

use crate::exit::Failure;
use memdir_core::internal::base::disk::{self, FileLock, FileMode, LockWait, Replace};
use std::{
    io::{self, Write as _},
    path::Path,
};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Locks the file, reads it, applies `edit`, and replaces the file atomically. `edit` decides by the document it gets, which is current,
/// and not by settings that were loaded before. Nothing is written after an error, or if the document is unchanged.
pub(crate) fn change<T>(file: &Path, edit: impl FnOnce(&mut DocumentMut) -> Result<T, Failure>) -> Result<T, Failure> {
    let failed = |doing| move |source: io::Error| Failure::File { doing, path: file.to_owned(), source };
    let _lock = FileLock::for_update(file, LockWait::COMMAND).map_err(failed("lock"))?;
    let text = read(file).map_err(failed("read"))?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| Failure::Settings {
        message: format!("{}: {}", file.display(), error.message()),
        hint: "fix the syntax error with: memdir config edit".into(),
    })?;
    let value = edit(&mut document)?;
    let changed = with_line_endings_of(&text, document.to_string());
    if changed != text {
        replace(file, &text, &changed)?;
    }
    Ok(value)
}

/// Locks the file and replaces its text, if it is still `old`.
pub(crate) fn replace_text(file: &Path, old: &str, new: &str) -> Result<(), Failure> {
    let failed = |source: io::Error| Failure::File { doing: "lock", path: file.to_owned(), source };
    let _lock = FileLock::for_update(file, LockWait::COMMAND).map_err(failed)?;
    replace(file, old, new)
}

/// Reads the file; it is empty if it does not exist.
pub(crate) fn text(file: &Path) -> Result<String, Failure> {
    read(file).map_err(|source| Failure::File { doing: "read", path: file.to_owned(), source })
}

/// The parser drops carriage returns, so they are added again to a file that has them.
fn with_line_endings_of(old: &str, new: String) -> String {
    if old.contains("\r\n") { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new }
}

fn replace(file: &Path, text: &str, changed: &str) -> Result<(), Failure> {
    let failed = |doing| move |source: io::Error| Failure::File { doing, path: file.to_owned(), source };
    let how = Replace { mode: FileMode::KeepOr(0o600), ..Replace::DURABLE };
    let prepared = disk::prepare(file, how, |new| new.write_all(changed.as_bytes())).map_err(failed("write"))?;
    // An editor takes no lock.
    if read(file).map_err(failed("read"))? != text {
        return Err(failed("write")(io::Error::new(io::ErrorKind::WouldBlock, "another program has just changed the file")));
    }
    prepared.commit().map_err(failed("write"))
}

fn read(file: &Path) -> io::Result<String> {
    match std::fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// The table `name`, created if it does not exist.
pub(crate) fn table<'a>(document: &'a mut DocumentMut, name: &str) -> &'a mut dyn toml_edit::TableLike {
    let item = document.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if item.as_table_like().is_none() {
        *item = Item::Table(Table::new());
    }
    item.as_table_like_mut().expect("the item is a table")
}

/// Sets a key such as `chats.on`. A comment after the old value stays.
pub(crate) fn set(document: &mut DocumentMut, key: &str, mut value: Value) {
    let (above, key) = key.rsplit_once('.').unwrap_or(("", key));
    let table = if above.is_empty() { document.as_table_mut() } else { table(document, above) };
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// Removes a key such as `chats.on`, and its table if it is empty then and has no comment. Returns whether the key existed.
pub(crate) fn unset(document: &mut DocumentMut, key: &str) -> bool {
    let (above, key) = key.rsplit_once('.').unwrap_or(("", key));
    if above.is_empty() {
        return document.remove(key).is_some();
    }
    let Some(item) = document.get_mut(above) else { return false };
    let Some(table) = item.as_table_like_mut() else { return false };
    let existed = table.remove(key).is_some();
    let is_bare = |item: &Item| item.as_table().is_none_or(|table| table.decor().prefix().is_none_or(is_blank));
    if existed && table.is_empty() && is_bare(item) {
        document.remove(above);
    }
    existed
}

fn is_blank(text: &toml_edit::RawString) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

/// Adds a text to a list, or removes it. An empty list is removed.
pub(crate) fn member(table: &mut dyn toml_edit::TableLike, key: &str, text: &str, present: bool) {
    let list = table.entry(key).or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let Some(list) = list.as_array_mut() else { return };
    let index = list.iter().position(|value| value.as_str() == Some(text));
    match (index, present) {
        (None, true) => list.push(text),
        (Some(index), false) => drop(list.remove(index)),
        _ => {}
    }
    if list.is_empty() {
        table.remove(key);
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files by hand")]
mod tests {
    use super::*;

    #[test]
    fn comments_and_order_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        let edit = |wanted: bool| {
            change(&file, |document| {
                let chats = table(document, "chats");
                chats.insert("on", toml_edit::value(wanted));
                member(chats, "hosts_off", "cursor", wanted);
                Ok(())
            })
            .unwrap();
            std::fs::read_to_string(&file).unwrap()
        };
        assert_eq!(edit(true), "[chats]\non = true\nhosts_off = [\"cursor\"]\n");
        assert_eq!(edit(false), "[chats]\non = false\n");
        std::fs::write(&file, "# mine\n[memory] # here\nextraPaths = []\n").unwrap();
        assert_eq!(edit(true), "# mine\n[memory] # here\nextraPaths = []\n\n[chats]\non = true\nhosts_off = [\"cursor\"]\n");
    }
}
