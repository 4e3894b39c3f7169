//! Rules about the source files themselves.

use std::{fs, path::Path};

#[test]
fn only_one_file_may_have_unsafe_code() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut found = Vec::new();
    let mut folders = vec![crates.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "rs")
                && fs::read_to_string(&entry).expect("text").contains(concat!("(", "unsafe_code"))
            {
                found.push(entry.strip_prefix(crates).expect("inside").display().to_string());
            }
        }
    }
    assert_eq!(found, ["memdir-core/src/base/raw.rs"]);
}
