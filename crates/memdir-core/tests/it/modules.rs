//! The module graph of every crate is acyclic: between the modules of one folder, uses point in one direction only.
//!
//! A module may use its own children, and a child what its parent declares. For every other use the two modules are followed up
//! to the folder they share; there the folders or files they belong to must not depend on each other in a circle. Re-exports
//! are followed to the module that declares the item, so that they hide nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

#[test]
fn no_crate_has_a_module_cycle() {
    let mut cycles = Vec::new();
    for krate in crates() {
        let modules = Modules::read(&krate.join("src"));
        let name = krate.file_name().unwrap().to_string_lossy().into_owned();
        cycles.extend(modules.cycles().into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(cycles.is_empty(), "module cycles:\n{}", cycles.join("\n"));
}

#[test]
fn the_core_has_few_top_level_modules() {
    let modules = Modules::read(&workspace().join("crates/memdir-core/src"));
    let top: BTreeSet<&str> = modules.files.keys().filter_map(|path| path.first()).map(String::as_str).collect();
    assert!(top.len() <= 16, "{} top-level modules: {top:?}", top.len());
}

/// Types whose name is that of a schema in the description of the REST API.
const NAMED_BY_SCHEMA: [&str; 1] = ["Problem"];

/// A name that two types share cannot be searched for. Types that only their own file sees are exempt.
#[test]
fn no_two_visible_types_have_one_name() {
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in crates().iter().flat_map(|krate| rust_files(&krate.join("src"))) {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let visible = line.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
                Some(scope) => scope.split_once(')').map_or("", |(_, item)| item),
                None => rest,
            });
            let item = visible.and_then(|item| [" struct ", " enum ", " trait ", " type "].iter().find_map(|kind| item.strip_prefix(kind)));
            let Some(name) = item.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()) else { continue };
            declared.entry(name.to_owned()).or_default().insert(file.display().to_string());
        }
    }
    declared.retain(|name, files| files.len() > 1 && !NAMED_BY_SCHEMA.contains(&name.as_str()));
    assert!(declared.is_empty(), "declared more than once: {declared:#?}");
}

/// Parts of names that readers have to translate: who acts is a caller, user, process or client, and what it does is report, print or
/// request.
const VAGUE_NAME_PARTS: [&str; 9] = ["whoever", "somebody", "nobody", "everybody", "anybody", "stranger", "told", "said", "meant"];

#[test]
fn no_function_has_a_vague_name() {
    let mut vague = Vec::new();
    for file in crates().iter().flat_map(|krate| rust_files(krate)) {
        let text = fs::read_to_string(&file).unwrap();
        let names = text.lines().filter_map(|line| {
            let (before, rest) = line.split_once("fn ")?;
            let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
            before.chars().all(|c| c.is_alphanumeric() || "_ ()\"".contains(c)).then_some(name)
        });
        let is_vague = |name: &&str| name.split('_').any(|part| VAGUE_NAME_PARTS.contains(&part.strip_suffix('s').unwrap_or(part)));
        vague.extend(names.filter(is_vague).map(|name| format!("{}: {name}", file.display())));
    }
    assert!(vague.is_empty(), "functions with {VAGUE_NAME_PARTS:?} in their names: {vague:#?}");
}

/// Stores and indexes are exchanged independently of each other. Both know the file names in `store::mounts`.
#[test]
fn stores_and_indexes_do_not_know_each_other() {
    let modules = Modules::read(&workspace().join("crates/memdir-core/src"));
    let belongs = |path: &[String], prefix: &str| path.join("::").starts_with(prefix);
    for (from, to) in modules.uses() {
        assert!(!(belongs(&from, "store") && belongs(&to, "search")), "{} uses {}", from.join("::"), to.join("::"));
        let is_index = belongs(&from, "search::index") && !belongs(&from, "search::indexing");
        let is_store = belongs(&to, "store") && !belongs(&to, "store::mounts");
        assert!(!is_index || !is_store, "{from:?} uses {to:?}");
    }
    for file in rust_files(&workspace().join("crates/memdir-index/src")) {
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains("store::files"), "{} uses the file store", file.display());
    }
}

/// A limit of one file is easier to find, and to understand, in that file.
#[test]
fn every_shared_limit_has_several_users() {
    let limits = workspace().join("crates/memdir-core/src/base/limits.rs");
    let declared = fs::read_to_string(&limits).unwrap();
    let names: Vec<&str> = declared.lines().filter_map(|line| line.strip_prefix("pub const ")?.split(':').next()).collect();
    assert!(!names.is_empty(), "no constants were found in {}", limits.display());
    let mut users: BTreeMap<&str, Vec<String>> = names.iter().map(|name| (*name, Vec::new())).collect();
    for file in crates().iter().flat_map(|krate| rust_files(&krate.join("src"))).filter(|file| !file.ends_with("tests.rs")) {
        let code = code(&fs::read_to_string(&file).unwrap());
        // Without `limits` in it, a file that has the name has a constant of its own.
        if !code.contains("limits") && file != limits {
            continue;
        }
        let words: Vec<&str> = code.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        // The declaration is not a use.
        let declarations = usize::from(file == limits);
        for (name, users) in &mut users {
            if words.iter().filter(|word| *word == name).count() > declarations {
                users.push(file.strip_prefix(workspace()).unwrap().display().to_string());
            }
        }
    }
    users.retain(|_, users| users.len() < 2);
    assert!(
        users.is_empty(),
        "base/limits.rs is for limits that several files use; move each of these to the top of the one file that uses it: {users:#?}"
    );
}

/// A test file that is missing from its `main.rs` is never compiled, and its tests never run.
#[test]
fn every_test_file_is_declared() {
    for krate in crates() {
        for suite in ["it", "e2e"] {
            let dir = krate.join("tests").join(suite);
            let Ok(main) = fs::read_to_string(dir.join("main.rs")) else { continue };
            for file in fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.path()) {
                let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
                let is_rust = file.extension().is_some_and(|extension| extension == "rs");
                let is_declared = main.lines().any(|line| line.trim_end().ends_with(&format!("mod {stem};")));
                assert!(!is_rust || stem == "main" || is_declared, "{} is not declared in main.rs", file.display());
            }
        }
    }
}

#[test]
fn the_check_finds_a_cycle_and_follows_re_exports() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "pub mod a;\npub mod b;\npub use b::one::Thing;\n");
    write("a.rs", "use crate::{b::{self, One}, Thing};\n");
    write("b.rs", "mod one;\nmod two;\npub use one::One;\n// use crate::a;\n");
    write("b/one.rs", "pub struct One; pub struct Thing;\n");
    write("b/two.rs", "use super::One;\n#[cfg(test)]\nmod tests { use crate::a; }\n");
    assert_eq!(Modules::read(dir.path()).cycles(), [""; 0]);
    // A use through the parent's re-export is a use of the sibling.
    write("b/one.rs", "use super::two::Two;\npub struct One; pub struct Thing;\n");
    assert_eq!(Modules::read(dir.path()).cycles(), ["b::one -> b::two -> b::one"]);
    write("b/one.rs", "pub struct One; pub struct Thing;\nfn f() { crate::a::f(); }\n");
    assert_eq!(Modules::read(dir.path()).cycles(), ["a -> b -> a"]);
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn crates() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(workspace().join("crates")).unwrap().flatten().map(|entry| entry.path()).collect();
    all.sort();
    all
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

type ModulePath = Vec<String>;

/// The modules of one crate, by their paths; the root has the empty path.
struct Modules {
    files: BTreeMap<ModulePath, Source>,
}

/// What is read of one file.
struct Source {
    /// Every path in the code, as written, from its first segment.
    paths: Vec<ModulePath>,
    /// What `use` lines bring into the module, by name.
    imports: BTreeMap<String, ModulePath>,
}

impl Modules {
    fn read(src: &Path) -> Self {
        let mut files = BTreeMap::new();
        for file in rust_files(src) {
            let rel = file.strip_prefix(src).unwrap().with_extension("");
            let mut path: ModulePath = rel.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
            if path.last().is_some_and(|name| name == "tests") {
                continue;
            }
            if matches!(path.last().map(String::as_str), Some("lib" | "main" | "mod")) {
                path.pop();
            }
            files.insert(path, Source::parse(&code(&fs::read_to_string(&file).unwrap())));
        }
        Modules { files }
    }

    /// Which module uses which.
    fn uses(&self) -> BTreeSet<(ModulePath, ModulePath)> {
        let mut uses = BTreeSet::new();
        for (from, source) in &self.files {
            for path in &source.paths {
                if let Some(to) = self.resolve(from, path, 0) {
                    uses.insert((from.clone(), to));
                }
            }
        }
        uses
    }

    /// The module a path written in another leads to, if it is one of this crate.
    fn resolve(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        let (mut at, mut rest): (ModulePath, &[String]) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.split_last()?.1.to_vec(), &path[1..]),
            first => {
                let child: ModulePath = from.iter().cloned().chain([first.to_owned()]).collect();
                if !self.files.contains_key(&child) {
                    return None;
                }
                (from.clone(), path)
            }
        };
        while rest.first().is_some_and(|part| part == "super") {
            at.pop()?;
            rest = &rest[1..];
        }
        while let Some(part) = rest.first() {
            let child: ModulePath = at.iter().cloned().chain([part.clone()]).collect();
            if !self.files.contains_key(&child) {
                break;
            }
            (at, rest) = (child, &rest[1..]);
        }
        // What a module only passes on belongs to the module it has it from.
        if let (Some(item), true) = (rest.first(), depth < 8)
            && let Some(origin) = self.files.get(&at).and_then(|source| source.imports.get(item))
            && let Some(found) = self.resolve(&at, origin, depth + 1)
        {
            return Some(found);
        }
        self.files.contains_key(&at).then_some(at)
    }

    /// One line per folder in which modules depend on each other in a circle.
    fn cycles(&self) -> Vec<String> {
        let mut folders: BTreeMap<ModulePath, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (from, to) in self.uses() {
            let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                folders.entry(from[..shared].to_vec()).or_default().entry(a.clone()).or_default().insert(b.clone());
            }
        }
        folders.iter().filter_map(|(folder, graph)| cycle_in(graph).map(|cycle| line(folder, &cycle))).collect()
    }
}

fn line(folder: &[String], cycle: &[String]) -> String {
    let named: Vec<String> = cycle.iter().map(|name| folder.iter().chain([name]).cloned().collect::<Vec<_>>().join("::")).collect();
    named.join(" -> ")
}

/// The first circle of a graph, with its first member again at the end.
fn cycle_in(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut finished = BTreeSet::new();
    graph.keys().find_map(|start| walk(graph, start, &mut Vec::new(), &mut finished))
}

fn walk(
    graph: &BTreeMap<String, BTreeSet<String>>,
    at: &str,
    trail: &mut Vec<String>,
    finished: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(begin) = trail.iter().position(|seen| seen == at) {
        return Some(trail[begin..].iter().cloned().chain([at.to_owned()]).collect());
    }
    if finished.contains(at) {
        return None;
    }
    trail.push(at.to_owned());
    let found = graph.get(at).into_iter().flatten().find_map(|next| walk(graph, next, trail, finished));
    trail.pop();
    finished.insert(at.to_owned());
    found
}

/// A file's code: without comments, and without its unit tests, which come last.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

impl Source {
    fn parse(code: &str) -> Self {
        let (mut paths, mut imports) = (Vec::new(), BTreeMap::new());
        let mut rest = code;
        let mut plain = String::new();
        while let Some(at) = rest.find("use ").filter(|at| !rest[*at..].is_empty()) {
            // A statement begins its line; the word may also occur in a text.
            let before = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
            let is_statement = matches!(before, "" | ";" | "pub") || (before.starts_with("pub(") && before.ends_with(')'));
            plain.push_str(&rest[..at]);
            let Some(end) = rest[at..].find(';').filter(|_| is_statement) else {
                plain.push_str("use ");
                rest = &rest[at + 4..];
                continue;
            };
            for (path, name) in leaves(&rest[at + 4..at + end]) {
                imports.insert(name, path.clone());
                paths.push(path);
            }
            rest = &rest[at + end..];
        }
        plain.push_str(rest);
        paths.extend(paths_in(&plain));
        Source { paths, imports }
    }
}

/// The leaves of a `use` tree: each path, and the name it has here.
fn leaves(tree: &str) -> Vec<(ModulePath, String)> {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let head: ModulePath = tree[..open].split("::").map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect();
        let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
        return branches(inner)
            .iter()
            .flat_map(|branch| leaves(branch))
            .map(|(path, name)| {
                let path: ModulePath = head.iter().cloned().chain(path.into_iter().filter(|part| part != "self")).collect();
                let name = if name == "self" { head.last().cloned().unwrap_or_default() } else { name };
                (path, name)
            })
            .collect();
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias.trim().to_owned())));
    let path: ModulePath = path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
    let name = alias.or_else(|| path.last().cloned()).unwrap_or_default();
    if path.is_empty() { Vec::new() } else { vec![(path, name)] }
}

/// Splits at the commas outside of braces.
fn branches(inner: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// Every `a::b::c` in code.
fn paths_in(code: &str) -> Vec<ModulePath> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.split(|c: char| !is_part(c))
        .filter(|word| word.contains("::") && !word.starts_with(':'))
        .map(|word| word.split("::").filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect())
        .collect()
}
