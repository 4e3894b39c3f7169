//! The entrypoint: lines are kept, people's text is left alone, nothing becomes unreachable.

use memdir_core::internal::{
    base::limits,
    entrypoint::{
        DeadLine, EntrypointFiles, EntrypointPlan, LineChange, LinePlace, LongLine, Page, dead, load, long_lines, plan, plan_many,
    },
    store::mounts::{choose_entrypoint, is_page_name, is_pointer_file_name},
};
use proptest::prelude::*;
use std::{collections::BTreeMap, sync::Arc};

const BEGIN: &str = "<!-- memdir: one line per memory, sorted; write outside these two marks -->\n";
const END: &str = "<!-- /memdir -->\n";

/// A mount's root as far as the entrypoint is concerned.
#[derive(Default, Clone, PartialEq, Debug)]
struct Files {
    main: Option<String>,
    pages: BTreeMap<String, (String, Arc<Page>)>,
}

impl Files {
    fn with(text: &str) -> Files {
        Files { main: Some(text.to_owned()), ..Files::default() }
    }

    fn book(&self) -> EntrypointFiles {
        EntrypointFiles::new("MEMORY.md", self.main.as_deref(), self.pages.iter().map(|(name, (_, page))| (name.as_str(), page.clone())))
    }

    fn apply(&mut self, plan: EntrypointPlan) -> Vec<String> {
        if let Some(main) = plan.main {
            assert_ne!(self.main.as_ref(), Some(&main), "an unchanged entrypoint is not written");
            self.main = Some(main);
        }
        for (name, text) in plan.pages {
            assert!(is_page_name(&name));
            match text {
                Some(text) => {
                    let page = Arc::new(Page::parse(&text));
                    assert_ne!(
                        self.pages.insert(name, (text.clone(), page)).map(|(old, _)| old),
                        Some(text),
                        "an unchanged page is not written"
                    );
                }
                None => drop(self.pages.remove(&name)),
            }
        }
        plan.notes
    }

    fn change(&mut self, change: LineChange) -> Vec<String> {
        self.apply(plan(&self.book(), &[change], &|_| 0))
    }

    fn set(&mut self, path: &str, hook: &str) -> Vec<String> {
        self.change(set(path, hook))
    }

    fn main(&self) -> &str {
        self.main.as_deref().expect("an entrypoint")
    }
}

fn set(path: &str, hook: &str) -> LineChange {
    LineChange::Set { path: path.into(), title: path.trim_end_matches(".md").into(), hook: hook.into() }
}

fn remove(path: &str) -> LineChange {
    LineChange::Remove { path: path.into() }
}

fn rename(from: &str, to: &str) -> LineChange {
    LineChange::Rename { from: from.into(), to: to.into(), title: to.trim_end_matches(".md").into(), hook: "h".into() }
}

#[test]
fn names_of_entrypoints_and_pages() {
    for (name, is_one) in [("MEMORY.md", true), ("index.md", true), ("notes/MEMORY.md", false), ("memory.md", false)] {
        assert_eq!(is_pointer_file_name(name), is_one, "{name}");
    }
    for page in ["MEMORY.page-001.md", "index.page-042.md", "MEMORY.page-1000.md"] {
        assert!(is_page_name(page), "{page}");
    }
    for other in ["MEMORY.page-1.md", "MEMORY.page-000.md", "MEMORY.page-0001.md", "MEMORY.md", "x.page-001.md", "MEMORY.page-abc.md"] {
        assert!(!is_page_name(other), "{other}");
    }
    assert_eq!(choose_entrypoint(|_| false), "MEMORY.md");
    assert_eq!(choose_entrypoint(|name| name == "index.md"), "index.md");
    assert_eq!(choose_entrypoint(|_| true), "MEMORY.md");
}

#[test]
fn a_new_entrypoint_is_sorted_and_marked() {
    let mut files = Files::default();
    assert_eq!(files.change(remove("x.md")), Vec::<String>::new());
    assert_eq!(files.main, None, "nothing to say, no file");
    files.set("b.md", "second");
    files.set("a.md", "");
    files.set("notes/c d.md", "with [brackets], `code` and a\nline end");
    let expected = format!(
        "# Memory\n\n{BEGIN}- [a](a.md)\n- [b](b.md) — second\n- [notes/c d](<notes/c d.md>) — with \\[brackets\\], \\`code\\` and a line end\n{END}"
    );
    assert_eq!(files.main(), expected);
    files.set("b.md", "second");
    files.change(remove("notes/c d.md"));
    files.change(rename("a.md", "z.md"));
    assert_eq!(files.main(), format!("# Memory\n\n{BEGIN}- [b](b.md) — second\n- [z](z.md) — h\n{END}"));
    assert_eq!(files.book().line_of("z.md"), Some(LinePlace::Section));
    assert_eq!(files.book().line_of("a.md"), None);
}

#[test]
fn the_section_follows_the_first_heading_and_keeps_line_ends() {
    let placed = |text: &str| {
        let mut files = Files::with(text);
        files.set("a.md", "");
        files.main().replace(BEGIN.trim_end(), "BEGIN").replace(END.trim_end(), "END").replace("- [a](a.md)", "A")
    };
    assert_eq!(placed("# Mine\n\ntext\n"), "# Mine\n\nBEGIN\nA\nEND\n\ntext\n");
    assert_eq!(placed("# Mine\r\ntext\r\n"), "# Mine\r\n\r\nBEGIN\r\nA\r\nEND\r\n\r\ntext\r\n");
    assert_eq!(placed("Mine\n===\ntext"), "Mine\n===\n\nBEGIN\nA\nEND\n\ntext");
    assert_eq!(placed("\u{feff}text"), "\u{feff}BEGIN\nA\nEND\n\ntext");
    assert_eq!(placed("---\nname: x\n---\n# T"), "---\nname: x\n---\n# T\n\nBEGIN\nA\nEND\n");
    assert_eq!(placed("text\n# later\n"), "BEGIN\nA\nEND\n\ntext\n# later\n");
    assert_eq!(placed(""), "# Memory\n\nBEGIN\nA\nEND\n");
}

#[test]
fn lines_stay_short_and_paths_whole() {
    let mut files = Files::default();
    let long = "wörter ".repeat(60);
    files.change(LineChange::Set { path: "a.md".into(), title: long.clone(), hook: long.clone() });
    files.change(LineChange::Set { path: "b.md".into(), title: "B".into(), hook: long.clone() });
    files.change(LineChange::Set { path: format!("{}.md", "p".repeat(200)), title: long.clone(), hook: long });
    let lines: Vec<&str> = files.main().lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(lines[0].chars().count(), limits::ENTRYPOINT_LINE_CHARS, "{}", lines[0]);
    assert!(lines[0].contains("…](a.md) — wörter") && lines[0].ends_with('…'), "{}", lines[0]);
    assert!(lines[1].starts_with("- [B](b.md) — wörter") && lines[1].ends_with('…'), "{}", lines[1]);
    assert!(lines[1].chars().count() <= limits::ENTRYPOINT_LINE_CHARS);
    assert_eq!(lines[2], format!("- […]({}.md)", "p".repeat(200)));
    assert_eq!(long_lines(&files.book()), [LongLine { line: 6, chars: 210 }]);
}

#[test]
fn a_persons_pointer_is_the_memorys_line() {
    let text = "# M\n\n* **[Deploy](deploy.md)** — mine\n- read [one](one.md) and [two](two.md)\n- see [[wiki]]\n- [ ] [todo](./to%20do.md#x)\n- [folder](code/)\n\n```\n- [code](code.md)\n```\n";
    let mut files = Files::with(text);
    for path in ["deploy.md", "one.md", "two.md", "wiki.md", "to do.md"] {
        files.set(path, "new words");
    }
    assert_eq!(files.main(), text, "every one of them has its line");
    assert_eq!(files.book().line_of("to do.md"), Some(LinePlace::Hand(6)));
    files.set("code.md", "");
    assert_eq!(files.main(), text.replacen("# M\n", &format!("# M\n\n{BEGIN}- [code](code.md)\n{END}"), 1));
    assert_eq!(files.book().line_of("to do.md"), Some(LinePlace::Hand(10)));
}

#[test]
fn a_pointer_written_later_replaces_our_line() {
    let mut files = Files::default();
    files.set("a.md", "");
    files.set("b.md", "");
    files.main = Some(format!("{}\n- [my a](a.md)\n", files.main()));
    files.set("b.md", "new");
    assert_eq!(files.main(), format!("# Memory\n\n{BEGIN}- [b](b.md) — new\n{END}\n- [my a](a.md)\n"));
}

#[test]
fn removing_a_memory_takes_its_pointer_and_reports_prose() {
    let text = "# M\n- [a](a.md) — x\n- [b](b.md)\n  and more about b\n- with [a](a.md) and [c](c.md)\n- always read [a](a.md) first\nSee [[a]].\n";
    let mut files = Files::with(text);
    let notes = files.change(remove("a.md"));
    assert_eq!(files.main(), text.replace("- [a](a.md) — x\n", ""));
    assert_eq!(notes, ["MEMORY.md still mentions a.md outside memdir's section (lines 4, 5, 6)"]);
    let notes = files.change(remove("b.md"));
    assert_eq!(notes, ["MEMORY.md still mentions b.md outside memdir's section (line 2)"]);
}

#[test]
fn a_persons_links_follow_a_rename() {
    let mut files = Files::with("# M\r\n- [a](a.md) — x\r\nSee [[a|it]] and [b](b.md).\r\n");
    files.change(rename("a.md", "n/z.md"));
    assert_eq!(files.main(), "# M\r\n- [a](n/z.md) — x\r\nSee [[n/z|it]] and [b](b.md).\r\n");
}

#[test]
fn edits_of_others_between_the_marks_are_kept() {
    let text =
        format!("# M\n\n{BEGIN}- [b](b.md) — x\n\nI wrote here.\n- [a](a.md)\n- [b](b.md) — twice\n{END}{BEGIN}- [c](c.md)\n{END}tail\n");
    let mut files = Files::with(&text);
    files.set("d.md", "");
    assert_eq!(files.main(), format!("# M\n\n{BEGIN}- [a](a.md)\n- [b](b.md) — x\n- [c](c.md)\n- [d](d.md)\nI wrote here.\n{END}tail\n"));
    let unclosed = format!("# M\n{BEGIN}- [b](b.md)\n\nMy text.\n- [c](c.md)\n");
    let mut files = Files::with(&unclosed);
    files.set("a.md", "");
    assert_eq!(files.main(), format!("# M\n{BEGIN}- [a](a.md)\n- [b](b.md)\n{END}\nMy text.\n- [c](c.md)\n"));
}

#[test]
fn the_oldest_lines_move_to_a_page_and_the_writer_gets_a_note() {
    let mut files = Files::default();
    let mut notes = Vec::new();
    // Later names are older, so that age and order differ.
    let age = |path: &str| -path[1..4].parse::<i64>().expect("a number");
    for n in (0..198).rev() {
        notes.extend(files.apply(plan(&files.book(), &[set(&format!("m{n:03}.md"), "short")], &age)));
    }
    assert_eq!(files.pages.len(), 1);
    let page = &files.pages["MEMORY.page-001.md"].0;
    assert!(page.starts_with(&format!("# Memory, page 1\n\n{BEGIN}- [m100](m100.md) — short\n")), "{page}");
    assert!(
        files
            .main()
            .starts_with(&format!("# Memory\n\n{BEGIN}- Older memories, page [1](MEMORY.page-001.md)\n- [m000](m000.md) — short\n"))
    );
    assert_eq!(files.book().line_of("m197.md"), Some(LinePlace::Page("MEMORY.page-001.md".into())));
    assert_eq!(notes[0], "MEMORY.md is at 160 lines (limit 200); when it is full, its oldest lines are moved to an overflow page");
    assert!(
        notes.contains(&"MEMORY.md was full, so its 98 oldest lines were moved to the linked page MEMORY.page-001.md".to_owned()),
        "{notes:?}"
    );

    // A memory of the page is changed there alone, and leaves it for good.
    let one = plan(&files.book(), &[set("m150.md", "changed")], &age);
    assert_eq!((one.main.as_ref(), one.pages.len()), (None, 1));
    files.apply(one);
    let moved = plan(&files.book(), &[rename("m150.md", "b.md")], &age);
    assert_eq!((moved.main.as_ref(), moved.pages.len()), (None, 1));
    files.apply(moved);
    assert!(files.pages["MEMORY.page-001.md"].0.contains("\n- [b](b.md) — h\n- [m100]"));
    let paths: Vec<String> = files.pages["MEMORY.page-001.md"].1.paths().map(str::to_owned).collect();
    for path in paths {
        files.change(remove(&path));
    }
    assert_eq!(files.pages.len(), 0);
    assert!(!files.main().contains("page-001"), "the link goes with the page");
}

/// The paths that have no line.
fn missing(book: &EntrypointFiles, paths: &[String]) -> Vec<String> {
    paths.iter().filter(|path| book.line_of(path).is_none()).cloned().collect()
}

#[test]
fn a_deleted_page_is_replaced_at_the_next_save() {
    let mut files = Files::default();
    let all: Vec<String> = (0..500).map(|n| format!("m{n:03}.md")).collect();
    let changes: Vec<LineChange> = all.iter().map(|path| set(path, "x")).collect();
    let many = plan_many(&files.book(), &changes, &|_| 0);
    files.apply(many);
    assert!(files.pages.len() >= 2);
    assert_eq!(missing(&files.book(), &all), Vec::<String>::new());
    let (_, lost) = files.pages.pop_first().expect("a page");
    let absent = missing(&files.book(), &all);
    assert_eq!(absent, lost.1.paths().collect::<Vec<_>>());
    files.set(&absent[0], "again");
    assert!(!files.main().contains("page-001"), "a link to nothing is dropped at the next save");
    let repair: Vec<LineChange> = missing(&files.book(), &all).iter().map(|path| set(path, "x")).collect();
    let many = plan_many(&files.book(), &repair, &|_| 0);
    files.apply(many);
    assert_eq!(missing(&files.book(), &all), Vec::<String>::new());
}

#[test]
fn a_persons_text_over_the_caps_leaves_the_newest_lines_a_place() {
    let mut files = Files::with(&format!("# Big\n\n{}", "prose\n".repeat(300)));
    let mut notes = Vec::new();
    let mut pages_written = 0;
    for n in 0..200 {
        let one = plan(&files.book(), &[set(&format!("m{n:03}.md"), "x")], &|path| path[1..4].parse().expect("a number"));
        pages_written += one.pages.len();
        notes = files.apply(one);
    }
    let ours = files.main().lines().filter(|line| line.starts_with("- [m")).count();
    assert!((20..=41).contains(&ours), "{ours}");
    assert!(files.main().contains("[m199]"));
    assert!(pages_written < 20, "lines move in batches: {pages_written}");
    assert!(load(files.main()).content.contains("[m199]"), "what is cut is never the newest line");
    let last = notes.last().expect("a note");
    assert!(
        last.starts_with("MEMORY.md is at ") && last.ends_with("only its beginning is loaded; shorten the text outside memdir's section"),
        "{last}"
    );
}

#[test]
fn five_hundred_pages_are_linked_within_the_caps() {
    let mut files = Files::default();
    for n in 1..=500 {
        let text = format!("# Memory, page {n}\n\n{BEGIN}- [x](x{n}.md)\n{END}");
        files.pages.insert(format!("MEMORY.page-{n:03}.md"), (text.clone(), Arc::new(Page::parse(&text))));
    }
    files.set("a.md", "");
    let shown = load(files.main());
    assert_eq!(shown.warning, None);
    assert!((1..=500).all(|n| shown.content.contains(&format!("(MEMORY.page-{n:03}.md)"))));
    assert!(shown.content.lines().all(|line| line.chars().count() <= limits::ENTRYPOINT_LINE_CHARS));
}

#[test]
fn an_index_md_has_pages_of_its_own_name() {
    let book = EntrypointFiles::new("index.md", Some("# I\n"), []);
    let changes: Vec<LineChange> = (0..300).map(|n| set(&format!("m{n}.md"), "")).collect();
    let many = plan_many(&book, &changes, &|_| 0);
    assert_eq!(many.pages.keys().collect::<Vec<_>>(), ["index.page-001.md"]);
}

#[test]
fn loading_names_the_limit_that_cut_the_text() {
    let warning = |text: &str| load(text).warning;
    assert_eq!(warning("# fine\n"), None);
    let many = "x\n".repeat(312);
    assert_eq!(
        load(&many).with_warning(),
        format!(
            "{}\n\n> WARNING: this entrypoint has 312 lines (limit 200). Only the first 200 of 312 lines were loaded. Keep one short line per memory and move details into the memories.",
            "x\n".repeat(200).trim_end()
        )
    );
    let long = format!("{}\n", "é".repeat(300)).repeat(104);
    assert_eq!(
        warning(&long).as_deref(),
        Some(
            "> WARNING: this entrypoint is 61 KB (limit 24.4 KB) because its lines are too long. Only the first 41 of 104 lines were loaded. Keep one short line per memory and move details into the memories."
        )
    );
    let both = load(&long.repeat(3)).warning.expect("a warning");
    assert!(both.contains("has 312 lines (limit 200) and 183.1 KB (limit 24.4 KB), so it exceeds both limits."), "{both}");
    let loaded = load(&many);
    assert_eq!((loaded.line_count, loaded.byte_count, loaded.cut_by_lines, loaded.cut_by_bytes), (312, 623, true, false));
    assert!(warning(&"x".repeat(30_000)).is_some_and(|text| text.contains("Only the beginning of its first line was loaded.")));
    let two = format!("{}\n{}", "x".repeat(20_000), "y".repeat(20_000));
    assert!(warning(&two).is_some_and(|text| text.contains("Only its first line was loaded.")));
}

#[test]
fn audits_find_dead_and_long_lines() {
    let text = format!(
        "# M\n{BEGIN}- [a](a.md)\n- [gone](gone.md)\n{END}\n- [b](b) and [web](https://x)\n- [lost](lost.md)\n{}\n",
        "w".repeat(201)
    );
    let book = EntrypointFiles::new("MEMORY.md", Some(&text), []);
    let exists = |path: &str| matches!(path, "a.md" | "b.md" | "c.md");
    let line = |path: &str, place| DeadLine { path: path.into(), place };
    assert_eq!(dead(&book, &exists), [line("gone.md", LinePlace::Section), line("lost.md", LinePlace::Hand(8))]);
    assert_eq!(long_lines(&book), [LongLine { line: 9, chars: 201 }]);
}

/// What may happen to a mount, over a small set of names.
#[derive(Debug, Clone)]
enum Op {
    Set(u16, String, String),
    Remove(u16),
    Rename(u16, u16),
}

fn path_of(n: u16) -> String {
    match n % 5 {
        0 => format!("topic/with blank/m{n:03}.md"),
        1 => format!("ünï-{n:03}.md"),
        2 => format!("data/m{n:03}.txt"),
        _ => format!("m{n:03}.md"),
    }
}

fn op() -> impl Strategy<Value = Op> {
    let words = prop_oneof!["[a-z \\[\\]`<]{0,12}", "[äöü字🦀 ]{20,140}", "\\PC{0,20}"];
    prop_oneof![
        8 => (0u16..400, words.clone(), words).prop_map(|(n, title, hook)| Op::Set(n, title, hook)),
        2 => (0u16..400).prop_map(Op::Remove),
        1 => (0u16..400, 0u16..400).prop_map(|(from, to)| Op::Rename(from, to)),
    ]
}

/// The text outside the marks.
fn outside(text: &str) -> String {
    let (head, rest) = text.split_once("<!-- memdir:").expect("a mark");
    let (_, tail) = rest.split_once("<!-- /memdir -->").expect("an end mark");
    format!("{head}{tail}")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    #[test]
    fn every_memory_is_reachable_exactly_once(
        start in prop_oneof![
            Just(None),
            Just(Some("# Mine\n\nSome prose.\n- [hand](hand.md) — by hand\n\n".to_owned())),
            Just(Some("prose\r\n\r\n* [hand](hand.md)\r\n".to_owned())),
            Just(Some(format!("# Long\n{}- [hand](hand.md)", "a line of prose\n".repeat(120)))),
        ],
        ops in prop::collection::vec(op(), 200..500),
    ) {
        let mut files = Files { main: start.clone(), ..Files::default() };
        let mut live: BTreeMap<String, i64> = BTreeMap::new();
        let mut kept: Option<String> = None;
        for (now, op) in (0i64..).zip(ops) {
            let change = match op {
                Op::Set(n, title, hook) => {
                    live.insert(path_of(n), now);
                    LineChange::Set { path: path_of(n), title, hook }
                }
                Op::Remove(n) => {
                    live.remove(&path_of(n));
                    remove(&path_of(n))
                }
                Op::Rename(from, to) => {
                    if live.contains_key(&path_of(to)) || live.remove(&path_of(from)).is_none() {
                        continue;
                    }
                    live.insert(path_of(to), now);
                    rename(&path_of(from), &path_of(to))
                }
            };
            let age = |path: &str| live.get(path).copied().unwrap_or(-1);
            let book = files.book();
            let one = plan(&book, std::slice::from_ref(&change), &age);
            if now % 16 == 0 {
                prop_assert_eq!(&one, &plan(&book, &[change], &age), "the same every time");
            }
            prop_assert!(one.pages.len() <= 1, "touched {:?}", one.pages.keys());
            files.apply(one);
            if let Some(main) = files.main.as_deref().filter(|main| main.contains("<!-- memdir:")) {
                let hand = outside(main);
                prop_assert_eq!(kept.get_or_insert_with(|| hand.clone()), &hand, "a person's text changed");
            }
        }
        let main = files.main.clone().unwrap_or_default();
        let mut shown: Vec<String> = Vec::new();
        let mut texts = vec![&main];
        texts.extend(files.pages.values().map(|(text, _)| text));
        for text in texts {
            prop_assert!(text.lines().count() <= limits::ENTRYPOINT_LINES && text.len() <= limits::ENTRYPOINT_BYTES, "{} lines, {} bytes", text.lines().count(), text.len());
            prop_assert!(text.lines().filter(|line| line.starts_with("- [")).all(|line| line.chars().count() <= limits::ENTRYPOINT_LINE_CHARS));
            let ours: Vec<String> = Page::parse(text).paths().map(str::to_owned).collect();
            prop_assert_eq!(Page::parse(text).paths().count(), text.lines().filter(|line| line.starts_with("- [") && !line.contains("(hand.md)")).count());
            shown.extend(ours);
        }
        shown.sort();
        prop_assert_eq!(shown, live.into_keys().collect::<Vec<_>>());
        let page_names: Vec<String> = files.book().page_names().collect();
        let linked = page_names.iter().all(|name| main.contains(&format!("({name})")));
        prop_assert!(linked);
        if let (Some(start), Some(kept)) = (start, kept) {
            let filled_lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(filled_lines(&start), filled_lines(&kept));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_name_has_one_line(name in prop_oneof!["[a-z:#?%<>()\\[\\]`| 0-9]{1,12}", "\\PC{1,20}"], words in "\\PC{0,40}") {
        if let Ok(path) = memdir_core::MemoryPath::parse(&name) {
            let change = LineChange::Set { path: path.as_str().into(), title: words.clone(), hook: words };
            let mut files = Files::default();
            files.change(change.clone());
            prop_assert_eq!(files.book().line_of(path.as_str()), Some(LinePlace::Section));
            prop_assert_eq!(plan(&files.book(), &[change], &|_| 0), EntrypointPlan::default());
        }
    }

    #[test]
    fn any_text_can_be_an_entrypoint(text in prop_oneof![any::<String>(), "(<!-- memdir: x -->\n|<!-- /memdir -->\r?\n|- \\[a\\]\\(a.md\\)\n|x\n|\n|```\n|# h\n|- \\[b\\]\\(b.md\\)\r\n){0,14}"]) {
        let mut files = Files::with(&text);
        files.set("new.md", "words");
        let first = files.main().to_owned();
        files.set("new.md", "words");
        prop_assert_eq!(files.main(), first.as_str(), "a second save changes nothing");
        prop_assert_eq!(files.book().line_of("new.md"), Some(LinePlace::Section));
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.contains("memdir") && !line.starts_with("- [")) {
            prop_assert!(first.contains(line), "{line:?} was lost");
        }
        files.change(remove("new.md"));
        prop_assert_eq!(files.book().line_of("new.md"), None);
    }
}
