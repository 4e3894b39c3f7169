//! The direction between modules, and other boundaries that a reader relies on: held here, so that they stay true.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Modules from the bottom up. A module uses only what is below it, its own layer's neighbours where they are words or
/// verbs, and its own children. A file that is in no layer fails the test: whoever adds it says where it belongs.
const LAYERS: &[(&str, &[&str])] = &[
    ("machine", &["raw"]),
    (
        "words",
        &[
            "error",
            "path",
            "version",
            "limits",
            "time",
            "text",
            "texts",
            "memory",
            "entrypoint",
            "query",
            "secrets",
            "analyse",
            "day",
            "stamp",
            "glob",
            "when",
        ],
    ),
    ("seams", &["store", "index", "embed", "chats"]),
    ("behind the seams", &["vault", "tantivy_index", "scan", "vectors", "rank", "project", "stop"]),
    (
        "verbs",
        &[
            "read", "list", "write", "edit", "rename", "delete", "undo", "history", "diff", "restore", "stats", "repair", "keep", "exact",
            "search", "get", "recall", "prompt", "log", "check", "dream", "indexer", "watch", "import", "verify", "space",
        ],
    ),
    ("surface", &["memdir", "tools", "dialects", "testing", "lib"]),
];

/// `memdir.rs` is the front door above the verbs, but the context its callers hand to every verb is declared there.
const EXCEPTIONS: &[(&str, &str)] = &[("memdir::Context", "verbs")];

#[test]
fn modules_only_use_what_is_below_them() {
    let mut wrong = Vec::new();
    for file in sources() {
        let module = module_of(&file);
        let Some(layer) = layer_of(&module) else {
            wrong.push(format!("{module} is in no layer; add it to LAYERS in this test"));
            continue;
        };
        for used in used_modules(&fs::read_to_string(&file).unwrap()) {
            let target = used.split("::").next().unwrap_or_default().to_owned();
            let excepted = EXCEPTIONS.iter().any(|(what, who)| *what == used && LAYERS[layer].0 == *who);
            if let Some(below) = layer_of(&target)
                && below > layer
                && !excepted
            {
                wrong.push(format!("{} ({}) uses crate::{used} ({})", file.display(), LAYERS[layer].0, LAYERS[below].0));
            }
        }
    }
    assert!(wrong.is_empty(), "arrows against words <- seams <- behind the seams <- verbs <- surface:\n{}", wrong.join("\n"));
}

#[test]
fn the_store_and_the_index_do_not_know_each_other() {
    let apart: &[(&[&str], &[&str])] =
        &[(&["store", "vault"], &["index", "tantivy_index"]), (&["index", "tantivy_index"], &["store", "vault"])];
    for file in sources() {
        let module = module_of(&file);
        let used: BTreeSet<String> =
            used_modules(&fs::read_to_string(&file).unwrap()).iter().map(|used| used.split("::").next().unwrap().to_owned()).collect();
        for (these, those) in apart {
            let meets = those.iter().find(|other| used.contains(**other));
            assert!(!these.contains(&module.as_str()) || meets.is_none(), "{module} uses {meets:?}");
        }
    }
}

#[test]
fn words_do_no_input_or_output() {
    for file in sources().into_iter().filter(|file| layer_of(&module_of(file)).is_some_and(|layer| LAYERS[layer].0 == "words")) {
        let text = fs::read_to_string(&file).unwrap();
        for forbidden in ["std::fs", "std::net", "std::process", "rustix::", "std::env"] {
            assert!(!text.contains(forbidden), "{} mentions {forbidden}", file.display());
        }
    }
}

/// A test file that no `mod` line names is never run, and nobody notices.
#[test]
fn every_test_file_is_declared() {
    for crate_dir in fs::read_dir(workspace().join("crates")).unwrap().flatten() {
        for suite in ["it", "e2e"] {
            let dir = crate_dir.path().join("tests").join(suite);
            let Ok(main) = fs::read_to_string(dir.join("main.rs")) else { continue };
            for file in fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.path()) {
                let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
                let rust = file.extension().is_some_and(|extension| extension == "rs");
                let declared = main.lines().any(|line| line.trim_end().ends_with(&format!("mod {stem};")));
                assert!(!rust || stem == "main" || declared, "{} is not declared in main.rs", file.display());
            }
        }
    }
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn sources() -> Vec<PathBuf> {
    all_rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

fn all_rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(all_rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The top module a file belongs to.
fn module_of(file: &Path) -> String {
    let rel = file.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = rel.components().next().unwrap().as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, modules)| modules.contains(&module))
}

/// What a file uses of its own crate: every `crate::a::b`, in `use` trees and in paths, as `a::b`.
fn used_modules(text: &str) -> BTreeSet<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut used = BTreeSet::new();
    for behind in code.split("crate::").skip(1) {
        match behind.strip_prefix('{') {
            Some(tree) => used.extend(branches(tree)),
            None => used.extend([first_two(behind)]),
        }
    }
    used
}

/// The branches of a `use` tree up to its closing brace, each as `a::b`.
fn branches(tree: &str) -> Vec<String> {
    let mut depth = 1;
    let mut parts = vec![String::new()];
    for c in tree.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
        parts.last_mut().unwrap().push(c);
    }
    parts.iter().map(|part| first_two(part.trim())).filter(|part| !part.is_empty()).collect()
}

fn first_two(path: &str) -> String {
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(path.len());
    path[..end].split("::").filter(|part| !part.is_empty()).take(2).collect::<Vec<_>>().join("::")
}

#[test]
fn the_reader_of_use_lines_reads_them() {
    let text = "use crate::{\n    error::{Error, Result}, memdir::Context,\n    vault,\n};\nfn f() { crate::keep::line_for(); }\n// crate::search\n";
    let used: Vec<String> = used_modules(text).into_iter().collect();
    assert_eq!(used, ["error", "keep::line_for", "memdir::Context", "vault"]);
    let layers: BTreeMap<&str, usize> =
        ["error", "store", "vault", "keep", "memdir"].map(|module| (module, layer_of(module).unwrap())).into();
    assert_eq!(layers.into_values().collect::<Vec<_>>(), [1, 4, 5, 2, 3]);
}
