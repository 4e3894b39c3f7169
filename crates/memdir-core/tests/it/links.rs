//! References between memories: found, rewritten in their own form, rebased when the holder moves.

use memdir_core::{
    MemoryPath,
    internal::memory::links::{Reference, ReferenceKind, link_destination, rebase_links, references, resolve, rewrite_references},
};
use proptest::prelude::*;

fn path(text: &str) -> MemoryPath {
    MemoryPath::parse(text).expect("a name")
}

fn rewrite(text: &str, holder: &str, from: &str, to: &str) -> Option<String> {
    rewrite_references(text, &path(holder), &path(from), &path(to))
}

#[test]
fn every_form_of_reference_follows_a_rename() {
    let text = "\
[a](deploy.md) [b](./deploy.md#steps) [c](<deploy.md> \"t\") ![d](deploy) [x](other.md)\r\n\
[ref]: deploy.md 'title'\r\n\
See [[deploy]], [[deploy|how]], [[ deploy#part ]], [[deploy.md]] and [[deployment]].\r\n\
`mem:deploy` mem:deploy, (mem:deploy.md). `mem:deploy-old` xmem:deploy mem:deploy/x\r\n";
    let new = "\
[a](ops/release%20now.md) [b](./ops/release%20now.md#steps) [c](<ops/release now.md> \"t\") ![d](ops/release%20now) [x](other.md)\r\n\
[ref]: ops/release%20now.md 'title'\r\n\
See [[ops/release now]], [[ops/release now|how]], [[ ops/release now#part ]], [[ops/release now.md]] and [[deployment]].\r\n\
`mem:ops/release now` mem:ops/release now, (mem:ops/release now.md). `mem:deploy-old` xmem:deploy mem:deploy/x\r\n";
    assert_eq!(rewrite(text, "index.md", "deploy.md", "ops/release now.md").as_deref(), Some(new));
    assert_eq!(rewrite(text, "index.md", "absent.md", "x.md"), None);
}

#[test]
fn links_are_relative_to_their_holder() {
    let text = "[a](../deploy.md) [b](deploy.md) [c](/deploy.md) [d](..%2Fdeploy.md) [e](../../deploy.md)";
    assert_eq!(
        rewrite(text, "notes/x.md", "deploy.md", "notes/ship.md").as_deref(),
        Some("[a](ship.md) [b](deploy.md) [c](/notes/ship.md) [d](ship.md) [e](../../deploy.md)")
    );
    assert_eq!(rewrite("[a](b%20c.md)", "x.md", "b c.md", "d.md").as_deref(), Some("[a](d.md)"));
    assert_eq!(rewrite("[[deploy]]", "team/a/x.md", "team/a/deploy.md", "team/a/ship.md").as_deref(), Some("[[ship]]"));
    assert_eq!(rewrite("[[a/deploy]]", "team/b/x.md", "team/a/deploy.md", "user/ship.md").as_deref(), Some("[[user/ship]]"));
    assert_eq!(rewrite("[a](x)", "h", "x", "y").as_deref(), Some("[a](y)"), "names may leave .md off");
    assert_eq!(rewrite("[a](x.md)", "h", "x", "y").as_deref(), Some("[a](y.md)"));
}

#[test]
fn code_and_addresses_are_left_alone() {
    let text =
        "```\n[a](deploy.md) mem:deploy\n```\n`[a](deploy.md)` \\[[deploy]] https://x/deploy.md [b](https://x/deploy.md) [^1]: deploy.md\n";
    assert_eq!(rewrite(text, "h.md", "deploy.md", "ship.md"), Some(text.replace("mem:deploy", "mem:ship")));
    let fences = "~~~~\n~~~\n[a](deploy.md)\n~~~~\n[a](deploy.md)\n";
    assert_eq!(rewrite(fences, "h.md", "deploy.md", "ship.md").as_deref(), Some("~~~~\n~~~\n[a](deploy.md)\n~~~~\n[a](ship.md)\n"));
}

#[test]
fn a_moved_memory_keeps_its_links_working() {
    let rebase = |text: &str, from: &str, to: &str| rebase_links(text, &path(from), &path(to));
    let text = "[a](b.md) [up](../c.md#x) [me](x.md) [web](https://e.org) [abs](/r.md)\n[p]: img/p.png\n";
    assert_eq!(
        rebase(text, "n/x.md", "m/o/y.md").as_deref(),
        Some("[a](../../n/b.md) [up](../../c.md#x) [me](y.md) [web](https://e.org) [abs](/r.md)\n[p]: ../../n/img/p.png\n")
    );
    assert_eq!(rebase("[a](b.md)", "n/x.md", "n/y.md"), None);
    assert_eq!(rebase("[a](b/)", "n/x.md", "y.md").as_deref(), Some("[a](n/b/)"), "a folder stays one");
}

#[test]
fn references_are_listed_with_their_lines() {
    let found = references("# T\n[a](../b%20c.md#d)\n[[w|x]]\n`mem:m`\n[i]: e.md\n[u](https://x)\n[n](#here)\n", &path("n/h.md"));
    let reference = |line, target: &str, kind| Reference { line, target: target.into(), kind };
    assert_eq!(
        found,
        [
            reference(2, "b c.md", ReferenceKind::Link),
            reference(3, "w", ReferenceKind::Wiki),
            reference(4, "m", ReferenceKind::Mem),
            reference(5, "n/e.md", ReferenceKind::Definition),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn a_destination_resolves_to_its_path(name in prop_oneof!["[a-zß#?%<>():`| 0-9]{1,10}", "\\PC{1,12}"], folder in "new-[a-c]{1,2}") {
        let written = link_destination(&name);
        let text = format!("[x]({written})");
        if let Ok(name) = MemoryPath::parse(&name) {
            let found = references(&text, &path("h.md"));
            prop_assert_eq!(found.iter().map(|r| r.target.as_str()).collect::<Vec<_>>(), [name.as_str()]);
            let moved = rewrite_references(&text, &path("h.md"), &name, &path(&folder)).expect("a change");
            prop_assert_eq!(references(&moved, &path("h.md")).len(), 1);
        }
    }

    #[test]
    fn rewriting_there_and_back_changes_nothing(text in "(\\[a\\]\\((x|y/x|\\.\\./x|z)\\.md\\)|\\[\\[x\\]\\]|mem:x|`|\n|```\n| b){0,12}") {
        let holder = path("y/h.md");
        let there = rewrite_references(&text, &holder, &path("x.md"), &path("new.md"));
        let back = there.as_deref().and_then(|there| rewrite_references(there, &holder, &path("new.md"), &path("x.md")));
        prop_assert_eq!(back.unwrap_or(text.clone()), text);
    }

    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>(), marks in "[\\[\\]()<>`|#\\\\mem:x.\n ß]{0,30}") {
        let text = format!("{text}{marks}");
        for reference in references(&text, &path("a/h.md")) {
            prop_assert!(!reference.target.is_empty());
        }
        let _ = resolve(&text, Some("a"));
        let once = rewrite_references(&text, &path("a/h.md"), &path("x"), &path("fresh-name"));
        if let Some(once) = once {
            prop_assert_eq!(rewrite_references(&once, &path("a/h.md"), &path("x"), &path("fresh-name")), None);
        }
    }
}
