//! Exports memories as one self-contained HTML file: readable without a script, with a small one for search. Secrets are redacted.

use super::{
    assets, backlinks, layout,
    markdown::{self, LinkTarget},
    views::memory,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{Markup, PreEscaped, html};
use memdir_core::{
    List, Memdir, Memory, MemoryPath, Result,
    internal::{
        base::{text, time},
        secrets,
        store::mounts,
    },
};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// An exported file.
#[derive(Debug, Clone)]
pub struct ExportedView {
    /// The HTML.
    pub html: String,
    /// Number of memories in it.
    pub memories: usize,
    /// The prefixes of mounts that were left out.
    pub left_out: Vec<String>,
    /// Why memories of the other mounts are missing: files and directories that could not be read.
    pub problems: Vec<String>,
    /// Whether no memory of the other mounts is missing.
    pub is_complete: bool,
}

struct ExportedMemory {
    id: String,
    name: String,
    age: String,
    memory: Memory,
    path: MemoryPath,
}

/// Renders the memories of the mounts that `includes` accepts by their prefix.
pub fn export_view(memdir: &Memdir, title: &str, includes: &dyn Fn(&str) -> bool) -> Result<ExportedView> {
    let store = memdir.store();
    let prefix_of = |path: &MemoryPath| mounts::mount_of(store, path).map(|mount| mount.prefix.clone()).unwrap_or_default();
    let mut memories = Vec::new();
    let listing = memdir.list(&List::default())?;
    let mut problems: Vec<String> = listing.problems.into_iter().map(|problem| problem.what).collect();
    if listing.left_out > 0 {
        problems.push(format!("too many files: {} omitted", layout::counted(listing.left_out as u64, "file", "files")));
    }
    let is_mount = |name: &str| store.mounts().iter().any(|mount| mount.prefix == name);
    let owner = |dir: &str| match is_mount(dir) {
        true => dir.to_owned(),
        false => mounts::locate(store.mounts(), dir).map(|(mount, _)| mount.prefix.clone()).unwrap_or_default(),
    };
    let mut is_complete = listing.left_out == 0 && !listing.unlisted.iter().any(|dir| includes(&owner(dir)));
    for listed in listing.memories {
        if !includes(&prefix_of(&listed.path)) {
            continue;
        }
        let stored = match store.get(&listed.path) {
            Ok(Some(stored)) => stored,
            // It vanished since it was listed.
            Ok(None) => continue,
            Err(error) => {
                problems.push(format!("skipped {}: {error}", listed.name));
                is_complete = false;
                continue;
            }
        };
        let (memory, _) = Memory::parse(&secrets::redact(&text::decode(&stored.bytes).0));
        let age = time::age(memdir.context().clock.now(), memory.last_confirmed(stored.stamp.modified()));
        memories.push(ExportedMemory { id: format!("m{}", memories.len() + 1), name: listed.name, age, memory, path: stored.path });
    }
    let left_out = store.mounts().iter().map(|mount| mount.prefix.clone()).filter(|prefix| !includes(prefix)).collect();
    let ids: BTreeMap<&str, &str> = memories.iter().map(|one| (one.path.name(), one.id.as_str())).collect();
    let html = document(memdir, title, &memories, &ids).into_string();
    Ok(ExportedView { html, memories: memories.len(), left_out, problems, is_complete })
}

fn document(memdir: &Memdir, title: &str, memories: &[ExportedMemory], ids: &BTreeMap<&str, &str>) -> Markup {
    let head = html! {
        meta name="referrer" content="no-referrer";
        // Only the stylesheet and the script of this file, by their hashes: nothing is loaded, and nothing else runs.
        meta http-equiv="Content-Security-Policy" content=(policy());
        style { (PreEscaped(assets::STYLE)) }
    };
    let body = html! {
        body.export {
            (layout::SKIP_LINK)
            header.top { form.find #search role="search" hidden {
                label.hidden for="find" { "Search memories" }
                input #find type="search" placeholder="Search" autocomplete="off";
                span #count role="status" {}
            } }
            main #main tabindex="-1" {
                h1 { (title) }
                p.quiet { (layout::counted(memories.len() as u64, "memory", "memories")) }
                nav aria-label="Memories" { ul.plain.index { @for one in memories { li { a href=(format!("#{}", one.id)) { (one.name) } } } } }
                @for one in memories { (article(memdir, one, ids)) }
            }
            script { (PreEscaped(assets::EXPORT_SCRIPT)) }
        }
    };
    layout::document(title, &head, &body)
}

fn article(memdir: &Memdir, one: &ExportedMemory, ids: &BTreeMap<&str, &str>) -> Markup {
    let keys: Vec<&str> = one.memory.keys().collect();
    let text = markdown::render(one.memory.body(), &|destination, is_wiki| {
        let found = backlinks::destination(memdir, destination, is_wiki, &one.path);
        match found.and_then(|path| ids.get(path.name()).map(|id| format!("#{id}"))) {
            Some(place) => LinkTarget::Page(place),
            None => markdown::web_target(destination),
        }
    });
    html! {
        article.text.exported id=(one.id) {
            h2 { (one.memory.title(&one.name)) }
            p.quiet { code { (one.name) } " · " (one.age) }
            @if !keys.is_empty() {
                dl { @for key in keys { dt { (key) } dd { (memory::field_value(&one.memory, key)) } } }
            }
            (text)
        }
    }
}

/// The policy of an exported file.
fn policy() -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src {}; script-src {}; form-action 'none'; base-uri 'none'",
        hash(assets::STYLE),
        hash(assets::EXPORT_SCRIPT)
    )
}
