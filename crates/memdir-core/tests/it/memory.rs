//! Memories: frontmatter of every kind is read, kept and patched in place.

use memdir_core::{
    Kind, Memory, Problem,
    internal::memory::{compose, read_time},
};
use proptest::prelude::*;

fn parse(text: &str) -> Memory {
    Memory::parse(text).0
}

fn problems(text: &str) -> Vec<Problem> {
    Memory::parse(text).1
}

#[test]
fn a_memory_is_read_with_its_fields_and_body() {
    let text = "---\nname: Deploy\ndescription: \"How: we deploy\"\ntype: Project\ncreated: 2026-03-01\nwhen: deploying, on fridays\n---\n\n# Deploy\n\nSteps.\n";
    let (memory, problems) = Memory::parse(text);
    assert_eq!(problems, []);
    assert_eq!(memory.name(), Some("Deploy"));
    assert_eq!(memory.description(), Some("How: we deploy"));
    assert_eq!(memory.kind(), Some(Kind::Project));
    assert_eq!(memory.created(), "2026-03-01T00:00:00Z".parse().ok());
    assert_eq!(memory.when(), Some("deploying, on fridays"));
    assert_eq!(memory.body(), "# Deploy\n\nSteps.\n");
    assert_eq!((memory.frontmatter_lines(), memory.body_first_line()), (7, 9));
    assert_eq!(memory.keys().collect::<Vec<_>>(), ["name", "description", "type", "created", "when"]);
}

#[test]
fn type_may_be_under_metadata_even_after_tabs() {
    assert_eq!(parse("---\nname: x\nmetadata: \n  node_type: memory\n  type: feedback\n---\nb").kind(), Some(Kind::Feedback));
    let (memory, problems) = Memory::parse("---\nmetadata:\n\ttype: user\n---\nb");
    assert_eq!(memory.kind(), Some(Kind::User));
    assert_eq!(memory.field("metadata.type"), Some("user"));
    assert_eq!(problems, [Problem::at(2, "a line of `metadata` is indented with a tab, which YAML does not allow")]);
    assert_eq!(parse("---\ntype: project\nmetadata:\n  type: user\n---\n").kind(), Some(Kind::Project), "the top counts first");
}

#[test]
fn values_of_every_yaml_form_are_read() {
    let text = "---\nname: 'it''s'\nfolded: >\n  one\n  two\nkept: |\n  a\n  # b\nwrapped: first\n  second\nescaped: \"tab\\there\"\nnumber: 1.0\nempty:\nnull: ~\n\"odd key\": v # why\nlist: [a, b]\nitems:\n- a\n- b\n---\n";
    let (memory, problems) = Memory::parse(text);
    assert_eq!(problems, []);
    let read: Vec<_> = memory.keys().map(|key| (key, memory.field(key))).collect();
    assert_eq!(
        read,
        [
            ("name", Some("it's")),
            ("folded", Some("one two")),
            ("kept", Some("a\n# b")),
            ("wrapped", Some("first second")),
            ("escaped", Some("tab\there")),
            ("number", Some("1.0")),
            ("empty", None),
            ("null", None),
            ("odd key", Some("v")),
            ("list", None),
            ("items", None),
        ]
    );
    assert_eq!((memory.raw("list"), memory.raw("items")), (Some("[a, b]"), Some("- a\n- b")));
}

#[test]
fn invalid_yaml_is_read_as_plain_text_and_reported() {
    let text = "---\nname: @ada\ndescription: ideas: music and audits # 2\nsource: \"never closed\nwhen: a line\nthat goes on unindented\ntype:user\nname: again\ncreated: soon\n---\nbody\n";
    let (memory, problems) = Memory::parse(text);
    assert_eq!(memory.name(), Some("@ada"));
    assert_eq!(memory.description(), Some("ideas: music and audits # 2"));
    assert_eq!(memory.source(), Some("\"never closed"));
    assert_eq!(memory.field("when"), Some("a line"), "a line outside of every field is not part of a value");
    assert_eq!(memory.kind(), Some(Kind::User));
    assert_eq!(memory.body(), "body\n");
    let broken = |key| format!("the value of `{key}` is not valid YAML and was read as plain text; put it in quotes");
    assert_eq!(
        problems,
        [
            Problem::at(2, broken("name")),
            Problem::at(3, broken("description")),
            Problem::at(4, broken("source")),
            Problem::at(6, "a frontmatter line is not in the form `key: value`"),
            Problem::at(8, "duplicate key \"name\"; the first one is used"),
            Problem::at(9, "`created` is not a date or time such as 2026-03-01 or 2026-03-01T09:30:00Z"),
        ]
    );
}

#[test]
fn an_unknown_type_is_untyped_and_reported() {
    let (memory, problems) = Memory::parse("---\ntype: recipe\n---\n");
    assert_eq!(memory.kind(), None);
    assert_eq!(problems, [Problem::at(2, "the type \"recipe\" is not one of user, feedback, project, reference")]);
}

#[test]
fn rules_in_the_body_are_not_frontmatter() {
    let unclosed = "---\nname: x\n\nbody goes on\n";
    assert_eq!(parse(unclosed).body(), unclosed);
    assert_eq!(problems(unclosed), [Problem::at(1, "the frontmatter has no closing `---` line, so the whole file is read as the body")]);
    let ruled = "---\n# Heading\n\nSome prose.\n---\nmore\n";
    assert_eq!(parse(ruled).body(), ruled);
    assert_eq!(problems(ruled).len(), 1);
    assert_eq!(parse("text\n---\nname: x\n---\n").name(), None);
    assert_eq!(parse("---\nname: x\n---\nbody\n\n---\nmore\n").body(), "body\n\n---\nmore\n");
    assert_eq!(parse("---\n---\nb").body(), "b");
}

#[test]
fn byte_order_mark_and_crlf_are_kept() {
    let text = "\u{feff}---\r\nname: x\r\n---\r\n\r\nbody\r\n";
    let memory = parse(text);
    assert_eq!((memory.name(), memory.body(), memory.body_first_line()), (Some("x"), "body\r\n", 5));
    assert_eq!(memory.with_field("name", Some("y")), text.replace("x", "y"));
    assert_eq!(memory.with_field("type", Some("user")), "\u{feff}---\r\nname: x\r\ntype: user\r\n---\r\n\r\nbody\r\n");
    assert_eq!(memory.with_body("new\r\n"), "\u{feff}---\r\nname: x\r\n---\r\n\r\nnew\r\n");
    let bare = parse("\u{feff}one\r\ntwo");
    assert_eq!((bare.body(), bare.body_first_line()), ("one\r\ntwo", 1));
    assert_eq!(bare.with_field("name", Some("x")), "\u{feff}---\r\nname: x\r\n---\r\n\r\none\r\ntwo");
}

#[test]
fn setting_a_field_changes_only_its_value() {
    let text = "---\n# mine\nname:   'old'   # keep me\nother: {a: 1}\ndescription: >\n  long\n  text\n# between\nmetadata:\n  type: user # t\nempty:\n---\nbody";
    let memory = parse(text);
    assert_eq!(memory.with_field("name", Some("new")), text.replace("'old'", "new"));
    assert_eq!(memory.with_field("name", Some("a: b")), text.replace("'old'", "\"a: b\""));
    assert_eq!(memory.with_field("name", Some("old")), text, "the same value changes nothing");
    assert_eq!(memory.with_field("description", Some("short")), text.replace(">\n  long\n  text", "short"));
    assert_eq!(memory.with_field("type", Some("project")), text.replace("user #", "project #"));
    assert_eq!(memory.with_field("empty", Some("full")), text.replace("empty:", "empty: full"));
    assert_eq!(memory.with_field("source", Some("ada")), text.replace("empty:\n", "empty:\nsource: ada\n"));
    assert_eq!(memory.with_field("description", None), text.replace("description: >\n  long\n  text\n", ""));
    assert_eq!(memory.with_field("type", None), text.replace("  type: user # t\n", ""));
    assert_eq!(memory.with_field("absent", None), text);
    assert_eq!(parse("---\nname: a\nname: b\n---\n").with_field("name", None), "---\n---\n");
    assert_eq!(parse("body").with_field("name", Some("x")), "---\nname: x\n---\n\nbody");
}

#[test]
fn new_memories_have_frontmatter_only_when_there_is_a_field() {
    assert_eq!(compose(&[], "body\n"), "body\n");
    assert_eq!(compose(&[("name", "A: b"), ("type", "user")], "body\n"), "---\nname: \"A: b\"\ntype: user\n---\n\nbody\n");
    assert_eq!(compose(&[("created", "2026-03-01")], ""), "---\ncreated: 2026-03-01\n---\n");
}

#[test]
fn values_are_quoted_only_when_yaml_needs_it() {
    let written = |value: &str| compose(&[("k", value)], "").lines().nth(1).map(str::to_owned).unwrap();
    for plain in ["two words", "it's", "a#b", "a:b", "2026-03-01", "https://x.y/z", "— dash", "-x", "naïve 🦀", "C:\\dir"] {
        assert_eq!(written(plain), format!("k: {plain}"));
    }
    for quoted in
        ["", " x", "- x", "a: b", "a #b", "end:", "true", "No", "null", "~", "12", "1e3", "@x", "[a", "*x", "#x", "%x", "!x", "|", "---"]
    {
        assert_eq!(written(quoted), format!("k: \"{quoted}\""));
    }
    assert_eq!(written("a\nb\t\"c\"\\"), "k: \"a\\nb\\t\\\"c\\\"\\\\\"");
}

#[test]
fn titles_and_hooks_are_plain_single_lines() {
    let hook = |text: &str| parse(text).hook();
    assert_eq!(hook("---\ndescription: >\n  Use **bold** and\n  `code`, see [docs](x.md)\n---\n# Other\n"), "Use bold and code, see docs");
    assert_eq!(hook("<!-- c\nd -->\n```sh\nx\n```\n\n---\n\n## Head *line* ##\ntext"), "Head *line*");
    assert_eq!(hook("---\nname: Deploy\n---\n# deploy\n\n- [ ] first [[a|step]] of my_own__name\n"), "[ ] first step of my_own__name");
    assert_eq!(hook("1. One\n"), "One");
    assert_eq!(hook(""), "");
    assert_eq!(parse("---\nname: Deploy\n---\n").title("notes/deploy"), "Deploy");
    assert_eq!(parse("x").title("notes/deploy"), "notes/deploy");
}

#[test]
fn times_are_read_as_people_write_them() {
    let time = |text: &str| read_time(text).map(|time| time.to_string());
    assert_eq!(time("2026-03-01").as_deref(), Some("2026-03-01T00:00:00Z"));
    assert_eq!(time("2026/03/01").as_deref(), Some("2026-03-01T00:00:00Z"));
    assert_eq!(time("2026-03-01 09:30").as_deref(), Some("2026-03-01T09:30:00Z"));
    assert_eq!(time("2026-03-01T09:30:00+02:00").as_deref(), Some("2026-03-01T07:30:00Z"));
    assert_eq!(time("yesterday"), None);
}

#[test]
#[expect(clippy::print_stderr, reason = "says that it was skipped")]
fn every_memory_of_the_corpus_is_kept_byte_for_byte() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/memory-files");
    let Ok(folders) = std::fs::read_dir(&root) else {
        return eprintln!("skipped: no corpus beside the workspace");
    };
    let mut seen = 0;
    for folder in folders.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            let text = String::from_utf8(std::fs::read(&file).expect("a file")).expect("UTF-8");
            let memory = parse(&text);
            assert_eq!(memory.text(), text);
            assert_eq!(memory.with_body(memory.body()), text);
            if text.starts_with("---") {
                let (name, kind) = (memory.name().expect("a name"), memory.kind().expect("a type"));
                assert_eq!(memory.with_field("name", Some(name)), text);
                assert_eq!(memory.with_field("type", Some(kind.as_str())), text);
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "the corpus has {seen} files");
}

/// Texts that look like memories, broken in every way.
fn memoryish() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("---".to_owned()),
        Just("...".to_owned()),
        Just(String::new()),
        Just("metadata:".to_owned()),
        Just("# note".to_owned()),
        "(name|type|x y|\"q\"): ?[a-z:#'\"@|>\\[{ \t]{0,8}",
        "[ \t]{1,3}(type|k): ?[a-z:#'\"]{0,6}",
        "[ -~ßé]{0,10}",
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (any::<bool>(), any::<bool>(), prop::collection::vec((line, end), 0..12)).prop_map(|(bom, open, lines)| {
        let body: String = lines.into_iter().map(|(line, end)| line + end).collect();
        format!("{}{}{body}", if bom { "\u{feff}" } else { "" }, if open { "---\nname: x\n" } else { "" })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn nothing_is_lost_by_reading(text in prop_oneof![memoryish(), any::<String>()]) {
        let memory = parse(&text);
        prop_assert_eq!(memory.text(), &text);
        prop_assert_eq!(memory.with_body(memory.body()), text.clone());
        prop_assert_eq!(memory.with_field("no such key", None), text.clone());
        if memory.body_first_line() > 1 {
            let start = memdir_core::internal::base::text::line_start(&text, memory.body_first_line());
            prop_assert_eq!(&text[start..], memory.body());
        }
    }

    #[test]
    fn a_set_field_reads_back_and_the_rest_stays(text in memoryish(), value in prop_oneof![any::<String>(), "[ -~]{0,12}", "[\\PC]{0,5}"]) {
        let before = parse(&text);
        for key in ["name", "type", "fresh"] {
            let changed = before.with_field(key, Some(&value));
            let after = parse(&changed);
            prop_assert_eq!(after.field(key).unwrap_or_default(), &value, "{:?}", changed);
            let lead = ['\r', '\n'];
            prop_assert_eq!(after.body().trim_start_matches(lead), before.body().trim_start_matches(lead));
            prop_assert_eq!(after.with_field(key, Some(&value)), changed.clone());
            for other in before.keys().filter(|other| *other != key && *other != "metadata") {
                prop_assert_eq!(after.raw(other), before.raw(other));
            }
            // What differs is one run of bytes: everything before and after it is the same.
            let same = changed.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            let tail = changed.bytes().rev().zip(text.bytes().rev()).take_while(|(a, b)| a == b).count();
            let old = before.raw(key).map_or(0, |raw| raw.len() + 12);
            prop_assert!(same + tail + old + 3 >= text.len(), "{:?} became {:?}", text, changed);
        }
    }

    #[test]
    fn a_removed_field_is_gone_and_the_body_stays(text in memoryish()) {
        let before = parse(&text);
        let after = parse(&before.with_field("name", None));
        prop_assert_eq!(after.name(), None);
        prop_assert!(after.body().ends_with(before.body()));
    }
}
