//! Edits `config.toml` for commands. The rest of the file is unchanged, including comments.

use crate::exit::Failure;
use memdir_core::internal::base::disk::{self, FileMode, Replace};
use std::{
    io::{self, Write as _},
    path::Path,
};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

/// Reads the file, applies `edit`, and replaces the file atomically.
pub(crate) fn change(file: &Path, edit: impl FnOnce(&mut DocumentMut)) -> Result<(), Failure> {
    let failed = |doing| move |source: io::Error| Failure::File { doing, path: file.to_owned(), source };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(source) => return Err(failed("read")(source)),
    };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| Failure::Settings {
        message: format!("{}: {}", file.display(), error.message()),
        hint: "fix the syntax of the file first".into(),
    })?;
    edit(&mut document);
    let write = || -> io::Result<()> {
        let dir = file.parent().unwrap_or(Path::new("."));
        disk::create_private_dir(dir)?;
        let how = Replace { mode: FileMode::KeepOr(0o600), ..Replace::DURABLE };
        disk::replace(file, how, |new| new.write_all(document.to_string().as_bytes()))
    };
    write().map_err(failed("write"))
}

/// The table `name`, created if it does not exist.
pub(crate) fn table<'a>(document: &'a mut DocumentMut, name: &str) -> &'a mut dyn toml_edit::TableLike {
    let item = document.entry(name).or_insert_with(|| Item::Table(Table::new()));
    if item.as_table_like().is_none() {
        *item = Item::Table(Table::new());
    }
    item.as_table_like_mut().expect("the item is a table")
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
            })
            .unwrap();
            std::fs::read_to_string(&file).unwrap()
        };
        assert_eq!(edit(true), "[chats]\non = true\nhosts_off = [\"cursor\"]\n");
        assert_eq!(edit(false), "[chats]\non = false\n");
        change(&file, |document| *document = "# mine\n[memory] # here\nextraPaths = []\n".parse().unwrap()).unwrap();
        assert_eq!(edit(true), "# mine\n[memory] # here\nextraPaths = []\n\n[chats]\non = true\nhosts_off = [\"cursor\"]\n");
    }
}
