//! Checks the documentation: every link resolves, every page is in the table of contents, and every console example in
//! README.md, docs/getting-started.md and docs/guides prints what it shows.
//! `UPDATE_DOCS=1 cargo test -p memdir documentation` writes the outputs of the examples into the pages, and draws the picture.
//!
//! A ```` ```console ```` block holds commands (`$ command`) and their output, standard output and standard error together. The
//! examples of one page run in order, each in its own `sh`, with the working directory and the exported variables of the one
//! before. Each page has a home of its own with a git repository `~/shop`, which is where it starts. A comment that begins with
//! the line `<!-- setup` holds shell commands that run at its place without being shown. Blocks of other languages are not run.
//!
//! What differs from run to run is replaced: see `Session::canonical` in `documentation/session.rs`.

mod examples;
mod markdown;
mod session;

use examples::run_page;
use markdown::{anchors, links, paragraphs, sentences, without_setup};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

#[test]
fn every_console_example_prints_what_it_shows() {
    let update = is_update();
    if update {
        fs::write(root().join(LIBRARY_GUIDE), library_guide()).unwrap();
    }
    let failures: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = example_pages().into_iter().map(|page| scope.spawn(move || run_page(&page, update))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "UPDATE_DOCS=1 cargo test -p memdir documentation writes the outputs\n\n{}", failures.join("\n\n"));
}

/// `scripts/make-picture` needs Python 3; without it the picture is not checked.
#[test]
fn the_picture_shows_a_current_session() {
    let scratch = TempDir::new().unwrap();
    let (script, picture) = (root().join("scripts/make-picture"), root().join("docs/images/tour.svg"));
    let drawn = scratch.path().join("tour.svg");
    let Ok(status) = Command::new("python3").arg(script).arg(env!("CARGO_BIN_EXE_memdir")).arg(&drawn).status() else { return };
    assert!(status.success());
    if is_update() {
        fs::copy(&drawn, &picture).unwrap();
    }
    let is_current = fs::read(&drawn).unwrap() == fs::read(&picture).unwrap();
    assert!(is_current, "docs/images/tour.svg is not current; UPDATE_DOCS=1 cargo test -p memdir documentation draws it");
}

#[test]
fn every_relative_link_resolves() {
    let mut failures = Vec::new();
    for page in linked_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in links(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').map_or((target.as_str(), None), |(file, anchor)| (file, Some(anchor)));
            let path = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            if !path.exists() {
                failures.push(format!("{}: {target}: no such file", shown(&page)));
            } else if let Some(anchor) = anchor
                && !anchors(&fs::read_to_string(&path).unwrap()).contains(anchor)
            {
                failures.push(format!("{}: {target}: no such heading", shown(&page)));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let docs = root().join("docs");
    let mut listed = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap());
    let mut pages: Vec<String> = markdown_below(&docs).iter().map(|page| relative(page, &docs)).collect();
    pages.retain(|page| page != "SUMMARY.md");
    listed.sort();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn guides_begin_with_the_commands() {
    for guide in markdown_below(&root().join("docs/guides")) {
        let text = fs::read_to_string(&guide).unwrap();
        let text = without_setup(&text);
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        assert!(lines.next().unwrap().starts_with("# "), "{} has no title", shown(&guide));
        assert!(lines.next().unwrap().starts_with("```"), "{} does not begin with the commands", shown(&guide));
    }
}

/// The guide to the library shows the example of the library's own documentation, which is compiled and run as a doc test.
#[test]
fn the_guide_to_the_library_shows_the_compiled_example() {
    // The test of the console examples updates the page: two writers would overwrite each other.
    if !is_update() {
        assert_eq!(library_guide(), fs::read_to_string(root().join(LIBRARY_GUIDE)).unwrap());
    }
}

const LIBRARY_GUIDE: &str = "docs/guides/use-as-a-library.md";

/// The guide to the library with the first example in the documentation of memdir-core.
fn library_guide() -> String {
    let source = fs::read_to_string(root().join("crates/memdir-core/src/lib.rs")).unwrap();
    let header = source.lines().map_while(|line| line.strip_prefix("//!")).map(|line| line.strip_prefix(' ').unwrap_or(line));
    let example = header.skip_while(|line| !line.starts_with("```")).skip(1).take_while(|line| !line.starts_with("```"));
    let example: Vec<&str> = example.filter(|line| !line.starts_with("# ")).collect();
    let page = fs::read_to_string(root().join(LIBRARY_GUIDE)).unwrap();
    if example.is_empty() {
        return page;
    }
    let (before, rest) = page.split_once("```rust\n").unwrap();
    let (_, after) = rest.split_once("```\n").unwrap();
    format!("{before}```rust\n{}\n```\n{after}", example.join("\n"))
}

#[test]
fn the_readme_is_short() {
    let lines = fs::read_to_string(root().join("README.md")).unwrap().lines().count();
    assert!(lines <= 120, "README.md has {lines} lines");
}

/// At most 5 sentences in a paragraph and 25 words in a sentence. Generated pages are exempt: their sentences are in the code.
#[test]
fn paragraphs_and_sentences_are_short() {
    let pages = markdown_below(&root().join("docs")).into_iter().filter(|page| !page.starts_with(root().join("docs/reference")));
    let mut failures = Vec::new();
    for page in pages.chain([root().join("README.md")]) {
        for paragraph in paragraphs(&fs::read_to_string(&page).unwrap()) {
            let sentences = sentences(&paragraph);
            if sentences.len() > 5 {
                failures.push(format!("{}: {} sentences: {paragraph}", shown(&page), sentences.len()));
            }
            for sentence in sentences.iter().filter(|sentence| sentence.split_whitespace().count() > 25) {
                failures.push(format!("{}: {} words: {sentence}", shown(&page), sentence.split_whitespace().count()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn relative(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap().to_str().unwrap().to_owned()
}

fn shown(page: &Path) -> String {
    relative(page, &root())
}

fn example_pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("docs/getting-started.md")];
    pages.extend(markdown_below(&root().join("docs/guides")));
    pages
}

fn linked_pages() -> Vec<PathBuf> {
    let mut pages = markdown_below(&root().join("docs"));
    pages.extend(["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root().join(name)));
    pages
}

fn markdown_below(dir: &Path) -> Vec<PathBuf> {
    let files = crate::home::files_below(dir).into_iter().filter(|name| name.ends_with(".md"));
    files.map(|name| dir.join(name)).collect()
}
