//! Parsers of text that others wrote take linear time: a hostile text of twice the size takes at most 2.3 times the steps.
//!
//! Steps are counted, not timed, so that the result is the same on every machine. Counting instructions is not possible everywhere:
//! virtual machines and containers rarely offer the processor's counters, and single-stepping takes a microsecond for each. So
//! the loops of the parsers count the bytes, lines or items that they look at, and those that the searches they call may look at
//! (`base/steps.rs`; compiled to nothing in a release). A parser that counts less than an eighth of all its texts fails too: it
//! would be one that does not count.

use memdir_core::{
    Action, Actor, Dream, Incoming, Memdir, Memory, MemoryPath, Needle, ToolNames, Write,
    internal::{
        base::{glob::Glob, steps, text::LineCounter},
        entrypoint::{EntrypointFiles, LineChange, Page, plan, plan_many},
        memory::{edit, links},
        operations::{check, import, verify},
        prompt::{self, PromptInput, SpacePart},
        recall::when,
        search::{
            analysis::Analyser,
            indexing::unit_texts,
            query::{Query, highlights},
        },
        secrets,
    },
    testing::RamStore,
};
use std::sync::Arc;

/// A parser: its name, the size of the smaller text, and what it does with a text.
struct Parser {
    name: &'static str,
    bytes: usize,
    run: fn(&str),
}

/// A hostile text of about this many bytes.
type Hostile = (&'static str, fn(usize) -> String);

/// The number of steps that a parser takes.
fn steps_of(run: fn(&str), text: &str) -> u64 {
    steps::take_count();
    run(text);
    steps::take_count()
}

/// The texts that take more than 2.3 times the steps at twice the size, and the parsers that hardly count.
fn slow(parsers: &[Parser], texts: &[Hostile]) -> Vec<String> {
    let mut slow = Vec::new();
    for parser in parsers {
        let (mut counted, mut given) = (0, 0);
        for (name, build) in texts {
            let (once, twice) = (build(parser.bytes), build(2 * parser.bytes));
            let (first, second) = (steps_of(parser.run, &once), steps_of(parser.run, &twice));
            let growth = second as f64 / first.max(1) as f64 / (twice.len() as f64 / once.len() as f64 / 2.0);
            if growth > 2.3 {
                slow.push(format!("{} of {name}: {first} steps for {} bytes, {second} for {}", parser.name, once.len(), twice.len()));
            }
            counted += second;
            given += twice.len() as u64;
        }
        if counted < given / 8 {
            slow.push(format!("{} counts {counted} steps for {given} bytes", parser.name));
        }
    }
    slow
}

/// Repeats a piece up to a size.
fn repeated(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len())
}

/// Repeats a piece with a number in it up to a size.
fn numbered(bytes: usize, piece: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(bytes + 64);
    for number in 0.. {
        if out.len() >= bytes {
            break;
        }
        out.push_str(&piece(number));
    }
    out
}

const MARKDOWN: &[Hostile] = &[
    ("open wikilinks", |n| repeated("[[", n)),
    ("wikilinks without an end", |n| repeated("[[a ", n)),
    ("wikilinks to one target", |n| repeated("[[a]]\n", n)),
    ("open links", |n| repeated("[a](", n)),
    ("open brackets", |n| repeated("[", n)),
    ("images", |n| repeated("![", n)),
    ("closing brackets", |n| repeated("](", n)),
    ("angles without an end", |n| repeated("](<a ", n)),
    ("links to one target", |n| repeated("- [a](b.md) and [c](d.md)\n", n)),
    ("links to many targets", |n| numbered(n, |i| format!("- [a](b{i}.md)\n"))),
    ("definitions", |n| numbered(n, |i| format!("[a{i}]: b.md\n"))),
    ("mem names", |n| repeated("mem:a ", n)),
    ("mem names on lines", |n| repeated("mem:a\n", n)),
    ("quoted mem names", |n| repeated("`mem:a ", n)),
    ("backticks of growing length", |n| {
        let mut out = String::new();
        (1..).map_while(|i| (out.len() < n).then(|| out.push_str(&("`".repeat(i) + " ")))).for_each(drop);
        out
    }),
    ("single backticks", |n| repeated("` ", n)),
    ("alternating backticks", |n| repeated("` `` ", n)),
    ("escapes", |n| repeated("\\`", n)),
    ("alternating fences", |n| repeated("```\n~~~\n", n)),
    ("fences of growing length", |n| numbered(n, |i| "`".repeat(3 + i % 200) + "\n")),
    ("open fences in items", |n| repeated("- a\n  ```\n", n)),
    ("nested quotes", |n| repeated("> ", n)),
    ("headings", |n| repeated("# a\n## b\n### c\n", n)),
    ("one long heading and many paragraphs", |n| format!("# {}\n\n{}", "a ".repeat(n / 4), repeated("b\n\n", n / 2))),
    ("nested items", |n| numbered(n, |i| format!("{}- a\n", " ".repeat(i % 300)))),
    ("items of growing depth", |n| {
        let depth = (2 * n).isqrt();
        (0..depth).map(|i| " ".repeat(i) + "- a\n").collect()
    }),
    ("items with blank lines", |n| repeated("- a\n\n\n\n", n)),
    ("tables", |n| repeated("a | b\n--|--\n", n)),
    ("rows", |n| repeated("|-", n)),
    ("rules", |n| repeated("---\n", n)),
    ("turns of a chat", |n| repeated("User: a\n\nAssistant: b\n\n", n)),
    ("turns of many speakers", |n| numbered(n, |i| format!("Ann{}: a\n", i % 50))),
    ("one long line", |n| repeated("a", n)),
    ("sentences on one line", |n| repeated("A bee. ", n)),
    ("words joined by hyphens", |n| repeated("a-", n)),
    ("words joined by slashes", |n| repeated("a/", n)),
    ("camel case", |n| repeated("aB", n)),
    ("accents", |n| repeated("e\u{301}\u{323}", n)),
    ("one letter with many accents", |n| format!("e{}", repeated("\u{301}\u{323}", n))),
    ("characters without spaces", |n| repeated("部署", n)),
    ("curly quotes", |n| repeated("“a ", n)),
    ("straight quotes", |n| repeated("\"a ", n)),
    ("excluded words", |n| repeated("-a ", n)),
    ("symbols", |n| repeated("`foo()` ", n)),
    ("many symbols and one path", |n| format!("`src/a.rs` {}", repeated("`foo()` ", n))),
    ("paths", |n| numbered(n, |i| format!("src/a{i}.rs "))),
    ("files", |n| numbered(n, |i| format!("a{i}.rs "))),
    ("tags", |n| repeated("<a <b ", n)),
    ("dates", |n| repeated("2024-01-01 yesterday ", n)),
    ("nothing but line ends", |n| repeated("\n", n)),
    ("carriage returns", |n| repeated("a\r\n", n)),
];

const MARKDOWN_PARSERS: &[Parser] = &[
    Parser { name: "parse", bytes: 100_000, run: |text| drop(Memory::parse(text)) },
    Parser {
        name: "plan of a dream",
        bytes: 20_000,
        run: |text| {
            let memdir = Memdir::new(Arc::new(RamStore::default()), Actor { name: "ada".into(), session: None });
            // A file that a store would refuse is not planned either.
            let _ = memdir.write(&Write::create(path("a"), text));
            drop(memdir.dream(&Dream::default()).unwrap());
        },
    },
    Parser {
        name: "hook",
        bytes: 100_000,
        run: |text| {
            drop(Memory::parse(text).0.hook());
        },
    },
    Parser { name: "references", bytes: 100_000, run: |text| drop(links::references(text, &path("a/b/c"))) },
    Parser {
        name: "rewriting of references",
        bytes: 100_000,
        run: |text| drop(links::rewrite_references(text, &path("c"), &path("b"), &path("e"))),
    },
    Parser { name: "rebasing of links", bytes: 100_000, run: |text| drop(links::rebase_links(text, &path("a/b"), &path("c/d"))) },
    Parser { name: "chunking", bytes: 100_000, run: |text| drop(unit_texts(text)) },
    Parser { name: "words", bytes: 100_000, run: |text| drop(Analyser::default().words_and_codes(text)) },
    Parser { name: "query", bytes: 100_000, run: |text| drop(Query::parse(text, &mut Analyser::default())) },
    Parser {
        name: "highlights",
        bytes: 100_000,
        run: |text| {
            let query = Query::parse("deploy a b", &mut Analyser::default());
            drop(highlights(text, &query, &mut Analyser::default()));
        },
    },
    Parser { name: "mentions", bytes: 100_000, run: |text| drop(verify::mentions(text)) },
    Parser {
        name: "relative dates",
        bytes: 100_000,
        run: |text| {
            drop(check::relative_dates(text));
        },
    },
    Parser { name: "secrets", bytes: 100_000, run: |text| drop(secrets::scan(text)) },
    Parser { name: "redaction", bytes: 100_000, run: |text| drop(secrets::redact_strict(text)) },
    Parser {
        name: "entrypoint",
        bytes: 100_000,
        run: |text| {
            let files = EntrypointFiles::new("MEMORY.md", Some(text), []);
            let changes = [LineChange::Remove { path: "b.md".into() }, LineChange::Remove { path: "b1.md".into() }];
            drop(plan(&files, &changes, &|_| 0));
        },
    },
    Parser {
        name: "entrypoint in a prompt",
        bytes: 100_000,
        run: |text| {
            let tools = Some(ToolNames { write: "write", search: "search", log: None });
            drop(prompt::build(&PromptInput {
                tools,
                max_units: Some(9_000),
                ..PromptInput::new(&[SpacePart::new("", "/m", Some(text))])
            }));
        },
    },
];

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(name).unwrap()
}

#[test]
fn markdown_is_parsed_in_linear_time() {
    assert_eq!(slow(MARKDOWN_PARSERS, MARKDOWN), [""; 0]);
}

#[test]
fn frontmatter_is_parsed_and_patched_in_linear_time() {
    fn block(lines: String) -> String {
        format!("---\n{lines}\n---\nbody\n")
    }
    let texts: &[Hostile] = &[
        ("many keys", |n| block(numbered(n.min(n / 20 * 20), |i| format!("key{i}: some value of it and more, sixty bytes in all\n")))),
        ("one key", |n| block(repeated("description: a value of about sixty bytes, with the same key\n", n))),
        ("one nested key", |n| {
            block("metadata:\n".to_owned() + &repeated("  description: a value of about sixty bytes, the same key\n", n))
        }),
        ("lines without a key", |n| block("a: b\n".to_owned() + &repeated("no key\n", n))),
        ("comments", |n| block("a: b\n".to_owned() + &repeated("# c\n", n))),
        ("comments between keys", |n| {
            block(repeated("description: a value\n# a comment of about sixty bytes between two keys, and again\n\n", n))
        }),
        ("a list", |n| block("tags:\n".to_owned() + &repeated("  - a\n", n))),
        ("a flow list", |n| block(format!("tags: [{}]", repeated("a, ", n.min(15_000))))),
        ("brackets", |n| block(format!("tags: {}", repeated("[", n.min(15_000))))),
        ("nested dashes", |n| block(format!("tags:\n  {}", repeated("- ", n.min(15_000))))),
        ("quotes", |n| block(repeated("description: \"a\\\"b\\\"c, a value of sixty bytes with some escapes\"\n", n))),
        ("a block scalar", |n| block("description: |\n".to_owned() + &repeated("  text\n", n))),
        ("colons", |n| block(format!("a: {}", repeated("b:c", n.min(15_000))))),
        ("aliases", |n| block("a: &a [b]\n".to_owned() + &repeated("description: [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n", n))),
    ];
    let parsers = [
        Parser { name: "parse", bytes: 14_000, run: |text| drop(Memory::parse(text)) },
        Parser { name: "set", bytes: 14_000, run: |text| drop(Memory::parse(text).0.with_field("description", Some("new"))) },
        Parser { name: "add", bytes: 14_000, run: |text| drop(Memory::parse(text).0.with_field("last_verified", Some("2026-01-01"))) },
        Parser { name: "remove", bytes: 14_000, run: |text| drop(Memory::parse(text).0.with_field("description", None)) },
        Parser { name: "validity", bytes: 14_000, run: |text| drop(Memory::parse(&text.replace("tags:", "supersedes:")).0.validity()) },
        Parser {
            name: "names in fields",
            bytes: 14_000,
            run: |text| drop(links::references(&text.replace("tags:", "supersedes:"), &path("a/b/c"))),
        },
        Parser { name: "tripwires", bytes: 14_000, run: |text| drop(when::parse_field(&Memory::parse(text).0)) },
    ];
    assert_eq!(slow(&parsers, texts), [""; 0]);
}

#[test]
fn secrets_are_found_in_linear_time() {
    let texts: &[Hostile] = &[
        ("headers of keys", |n| repeated("-----BEGIN PRIVATE KEY-----\n", n)),
        ("headers of keys on one line", |n| repeated("-----BEGIN PRIVATE KEY-----", n)),
        ("headers of keys with comments", |n| repeated("-----BEGIN PRIVATE KEY-----\nComment: -----BEGIN PRIVATE KEY-----\n", n)),
        ("keys without an end", |n| repeated(&format!("-----BEGIN PRIVATE KEY-----\n{}\n", "Ab1/".repeat(16)), n)),
        ("tokens", |n| numbered(n, |i| format!("ghp_{i:08}aBcDeFgHiJkLmNoPqRsTuVwXyZ12\n"))),
        ("tokens on one line", |n| numbered(n, |i| format!("ghp_{i:08}aBcDeFgHiJkLmNoPqRsTuVwXyZ12 "))),
        ("one token", |n| repeated("ghp_A1B2C3D4aBcDeFgHiJkLmNoPqRsTuVwXyZ12\n", n)),
        ("passwords", |n| repeated("password=", n)),
        ("connection strings", |n| repeated("host=a;pwd=b1;", n)),
        ("addresses", |n| repeated("a://b:c", n)),
        ("addresses with passwords", |n| numbered(n, |i| format!("postgres://ada:x{i}Yz@db.internal/a\n"))),
        ("keyword strings", |n| repeated("host=a user=b password=", n)),
        ("queries", |n| repeated("postgres://a?password=", n)),
        ("headers of requests", |n| repeated("Authorization: Bearer ", n)),
        ("beginnings of tokens", |n| repeated("sk-ghp_xoxb-eyJAKIAhf_npm_", n)),
    ];
    let parsers = [
        Parser { name: "scan", bytes: 100_000, run: |text| drop(secrets::scan(text)) },
        Parser { name: "redact", bytes: 100_000, run: |text| drop(secrets::redact(text)) },
        Parser { name: "strict redaction", bytes: 100_000, run: |text| drop(secrets::redact_strict(text)) },
        Parser { name: "added to nothing", bytes: 100_000, run: |text| drop(secrets::added("", text)) },
        Parser { name: "added to the same", bytes: 100_000, run: |text| drop(secrets::added(text, text)) },
    ];
    assert_eq!(slow(&parsers, texts), [""; 0]);
}

#[test]
fn entrypoints_with_a_hundred_thousand_lines_are_parsed_in_linear_time() {
    let texts: &[Hostile] = &[
        ("pointers", |n| numbered(n, |i| format!("- [a](b{i}.md)\n"))),
        ("pointers to one memory", |n| repeated("- [a](b1.md)\n", n)),
        ("begin marks", |n| repeated("<!-- memdir: -->\n", n)),
        ("sections", |n| repeated("<!-- memdir: -->\n- [a](b.md)\n<!-- /memdir -->\nc\n", n)),
        ("open sections", |n| repeated("<!-- memdir: -->\n- [a](b.md)\nc\n", n)),
    ];
    let parsers = [
        Parser {
            name: "removal",
            bytes: 700_000,
            run: |text| {
                let files = EntrypointFiles::new("MEMORY.md", Some(text), []);
                drop(plan(&files, &[LineChange::Remove { path: "b1.md".into() }], &|_| 0));
            },
        },
        Parser {
            name: "repair",
            bytes: 700_000,
            run: |text| {
                // As many memories as the text has lines, in an entrypoint without pages, and then in one with all of them.
                let set = |n: usize| LineChange::Set { path: format!("notes/m{n}.md"), title: "Title".into(), hook: "a hook".into() };
                let changes: Vec<LineChange> = (0..text.lines().count()).map(set).collect();
                let planned = plan_many(&EntrypointFiles::new("MEMORY.md", None, []), &changes, &|_| 0);
                let pages =
                    planned.pages.iter().map(|(name, page)| (name.as_str(), Arc::new(Page::parse(page.as_deref().unwrap_or_default()))));
                let files = EntrypointFiles::new("MEMORY.md", planned.main.as_deref(), pages);
                drop(plan_many(&files, &changes, &|_| 0));
            },
        },
        Parser {
            name: "save",
            bytes: 700_000,
            run: |text| {
                let files = EntrypointFiles::new("MEMORY.md", Some(text), []);
                let set = LineChange::Set { path: "new.md".into(), title: "New".into(), hook: "a hook".into() };
                drop(plan(&files, &[set], &|_| 0));
            },
        },
    ];
    assert_eq!(slow(&parsers, texts), [""; 0]);
}

#[test]
fn patterns_take_steps_in_proportion_to_each_input() {
    let commands: &[Hostile] = &[
        ("words", |n| repeated("a ", n)),
        ("chains", |n| repeated("a; ", n)),
        ("git options", |n| format!("git {}", repeated("-c a ", n))),
        ("quotes", |n| repeated("\"a ", n)),
        ("shells", |n| format!("bash -c '{}'", repeated("eval a; ", n))),
        ("the letter a", |n| repeated("a", n)),
    ];
    fn trips(when: &str, text: &str) {
        let memory = Memory::parse(&format!("---\nwhen:\n  {when}\n---\n")).0;
        let action = Action { tool: Some("Bash"), command: Some(text), paths: vec![text], text: Some(text) };
        let _ = when::parse_field(&memory).0.trips(&action);
    }
    let parsers = [
        Parser { name: "many stars", bytes: 20_000, run: |text| trips("command: '*a*a*a*a*a*a*a*b'", text) },
        Parser { name: "a plain command", bytes: 20_000, run: |text| trips("command: git push", text) },
        Parser { name: "a path", bytes: 20_000, run: |text| trips("path: '**/*a*a*a*b'", text) },
        Parser { name: "words", bytes: 20_000, run: |text| trips("words: a a a a a a b", text) },
    ];
    assert_eq!(slow(&parsers, commands), [""; 0]);
    let globs: &[Hostile] = &[
        ("stars", |n| repeated("*a", n) + "b"),
        ("folders", |n| repeated("**/", n) + "b"),
        ("sets", |n| "*".to_owned() + &repeated("[a-z]", n)),
    ];
    let matcher =
        [Parser { name: "glob", bytes: 500, run: |pattern| assert!(!Glob::text(pattern).unwrap().matches(&("a".repeat(1_000) + "!"))) }];
    assert_eq!(slow(&matcher, globs), [""; 0]);
    for pattern in ["{".repeat(100_000) + &"}".repeat(100_000), "{a}".repeat(200), "*".repeat(2_000)] {
        assert!(Glob::path(&pattern).is_err(), "{} bytes", pattern.len());
    }
}

#[test]
fn edits_and_imports_take_linear_time() {
    let texts: &[Hostile] = &[
        ("many matches", |n| repeated("a\n", n)),
        ("no match", |n| repeated("b c\n", n)),
        ("near matches", |n| repeated("A a A\n", n)),
        ("headers of a bundle", |n| "<!-- memdir bundle 1 -->\n".to_owned() + &repeated("<!-- memory x -->\n", n)),
        ("memories of a bundle", |n| "<!-- memdir bundle 1 -->\n".to_owned() + &repeated("<!-- memory 3 a.md -->\nab\n\n", n)),
        ("wrong sizes in a bundle", |n| {
            format!("<!-- memdir bundle 1 -->\n{}{}x", repeated("<!-- memory 99999 a.md -->\n", n / 2), "\n".repeat(n / 2))
        }),
    ];
    let parsers = [
        Parser {
            name: "literal",
            bytes: 100_000,
            run: |text| {
                drop(edit::edit(text, &Needle::Literal("a\na".into()), "b", true));
            },
        },
        Parser {
            name: "regular expression",
            bytes: 100_000,
            run: |text| {
                drop(edit::edit(text, &Needle::Regex("a.".into()), "b", true));
            },
        },
        Parser {
            name: "bundle",
            bytes: 100_000,
            run: |text| {
                drop(import::parse("x.md", text));
            },
        },
        Parser {
            name: "notes of basic-memory",
            bytes: 100_000,
            run: |text| {
                let note = |name: &str, text: &str| Incoming { name: name.into(), text: text.into() };
                drop(import::basic_memory::convert(vec![note("a.md", text), note("b.md", "[[a]]\n")]));
            },
        },
        Parser {
            name: "lines",
            bytes: 100_000,
            run: |text| {
                let mut lines = LineCounter::new(text);
                text.match_indices('\n').for_each(|(at, _)| assert!(lines.line_at(at) > 0));
            },
        },
    ];
    assert_eq!(slow(&parsers, texts), [""; 0]);
}
