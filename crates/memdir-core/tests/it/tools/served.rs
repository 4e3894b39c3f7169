//! Every word a model reads about the tools is a committed file: the JSON of each tool as served, and `docs/reference/tools.md`.
//! `UPDATE_DOCS=1 cargo test -p memdir-core served` writes them anew.

use memdir_core::{
    FileStore, Mount,
    internal::{
        dialects::DIALECTS,
        prompt::{InstructionsRequest, instructions},
        tools::{PROMPTS, Tool, native, native_with_log},
    },
};
use serde_json::{Value, json};
use std::{fmt::Write as _, fs, path::PathBuf};

fn check(path: &str, wanted: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    assert!(there == wanted, "{} is not current; UPDATE_DOCS=1 cargo test -p memdir-core served writes it", path.display());
}

#[test]
fn every_tool_is_served_as_committed() {
    for tool in native_with_log() {
        check(&format!("tests/golden/tools/{}.json", tool.name), &pretty(tool));
    }
    for dialect in DIALECTS {
        for tool in (dialect.tools)() {
            check(&format!("tests/golden/dialects/{}/{}.json", dialect.name, tool.name), &pretty(tool));
        }
    }
}

fn pretty(tool: &Tool) -> String {
    serde_json::to_string_pretty(&tool.json()).unwrap() + "\n"
}

#[test]
fn the_page_on_tools_is_current() {
    check("../../docs/reference/tools.md", &page());
}

#[test]
fn the_native_list_is_small_and_its_schemas_are_self_contained() {
    let tools: Vec<Value> = native().iter().map(Tool::json).collect();
    let list = json!({ "tools": tools }).to_string();
    assert!(list.len() < 7_000, "tools/list has {} bytes", list.len());
    assert!(!list.contains("$ref") && !list.contains("additionalProperties"));
    assert!(served(false).len() < 2_000, "the instructions have {} bytes", served(false).len());
    assert!(served(true).len() < 300, "the brief instructions have {} bytes", served(true).len());
}

/// The instructions for a space with a project and a person.
fn served(brief: bool) -> String {
    let dir = tempfile::TempDir::new().unwrap();
    let mount = |prefix: &str| Mount::new(prefix, dir.path().join(format!("m{prefix}")), dir.path().join(format!("journal{prefix}")));
    let store = FileStore::open(&[mount(""), mount("user")]).unwrap();
    instructions(&store, InstructionsRequest { brief, guidelines: &[] })
}

/// Words that each description must contain: what distinguishes the tool, and when to use another.
#[test]
fn the_descriptions_contain_the_required_phrases() {
    let owed: &[(&str, &[&str])] = &[
        ("memory_read", &["Without arguments", "Judge by name", "none twice", "memory_search", "memory_get", "host's files"]),
        (
            "memory_search",
            &[
                "Required step before answering",
                "earlier work, decisions, dates, people, preferences or todos",
                "Describe the need",
                "memory_get",
                "do not guess",
            ],
        ),
        ("memory_get", &["around a memory_search hit", "memory_read", "nextLine"]),
        ("memory_write", &["one subject", "append", "memory_edit", "Never save secrets", "Refuses"]),
        ("memory_edit", &["Fails and changes nothing", "memory_write"]),
        ("memory_move", &["every reference", "Fails if"]),
        ("memory_delete", &["Only when the user asks", "memory_edit", "memory_undo"]),
        ("memory_undo", &["never anyone else's", "Fails"]),
        ("memory_stats", &["not for its content"]),
        ("memory_log", &["as soon as you learn it", "memory_write"]),
    ];
    for tool in native_with_log() {
        let (_, words) = owed.iter().find(|(name, _)| *name == tool.name).unwrap_or_else(|| panic!("{} owes nothing?", tool.name));
        for word in *words {
            assert!(tool.description.contains(word), "{} does not say {word:?}", tool.name);
        }
    }
    let full = served(false);
    for word in [
        "memory_search", "memory_read", "memory_write", "memory_delete", "memory_undo", "Never save secrets", "act as if it were empty",
        "`user/…`",
    ] {
        assert!(full.contains(word), "the instructions do not say {word:?}");
    }
    for word in ["memory_read without arguments", "memory_write", "`user/…`"] {
        assert!(served(true).contains(word), "the brief instructions do not say {word:?}");
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Tools\n\nGenerated from the tool tables; every text is exactly what a model reads.\n\n\
         Levels: **safe** tools only read. Tools of level **changes** add or change text; `memory_undo` restores the earlier text \
         from the journal. Tools of level **destroys** delete or overwrite text, so hosts ask before they call them; the journal keeps \
         the earlier text of these, too.\n\n\
         A result of a native tool has at most about 8,000 characters and says how to read the rest; a dialect's read returns up to \
         150,000 characters. A failed call returns a result with the error flag and a hint about what to do next.\n\n## Native\n\n",
    );
    let _ = writeln!(page, "Instructions that the server sends when a client connects:\n\n{}\n", quoted(&served(false)));
    let _ = writeln!(
        page,
        "The guidelines of the settings follow them. A host in which `memdir install` also installed a session hook gets the memory \
         section from the hook, so its server is started with `--session-hook` and sends only:\n\n{}\n",
        quoted(&served(true))
    );
    native_with_log().iter().for_each(|tool| section(&mut page, tool));
    page.push_str("`memory_log` is served only with the setting `log = true`.\n\n## Resources and prompts\n\nThe native tools come with resources (`memory:///NAME`, and `memory:///NAME?lines=42-56`; `memdir://prompt` is the memory section of a system prompt), notifications of changes for clients that subscribe, and these prompts:\n\n");
    for prompt in PROMPTS {
        let needed = if prompt.required { "" } else { ", optional" };
        let _ = writeln!(
            page,
            "### {}\n\n{}. Argument `{}`: {}{needed}.\n\n{}\n",
            prompt.name,
            prompt.description,
            prompt.argument,
            prompt.argument_description,
            quoted(prompt.text)
        );
    }
    page.push_str("### memory\n\nThe memory section for a system prompt, as `memdir prompt --tools` prints it. No argument.\n\n");
    page.push_str("## Dialects\n\n`memdir mcp --dialect NAME` serves another memory system's tools, backed by that system's own directory. `--dialect a,b` serves several; the server does not start if two of them have a tool with the same name.\n\n");
    for dialect in DIALECTS {
        let _ = writeln!(page, "### Dialect {}\n\nEmulates {}. Directory: {}.\n", dialect.name, dialect.stands_for, dialect.needs);
        (dialect.tools)().iter().for_each(|tool| section(&mut page, tool));
    }
    page.trim_end().to_owned() + "\n"
}

fn section(page: &mut String, tool: &Tool) {
    let _ = writeln!(page, "#### {}\n\n{}. Level: {}.\n\n{}\n", tool.name, tool.title, tool.level.as_str(), quoted(tool.description));
    let schema = tool.input_schema();
    let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else { return };
    page.push_str("| parameter | type | |\n|---|---|---|\n");
    for (name, property) in properties {
        let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|needed| needed == name));
        let mut about = Vec::new();
        if required {
            about.push("required".to_owned());
        }
        if let Some(text) = property["description"].as_str() {
            about.push(text.to_owned());
        }
        for (key, words) in [("default", "default"), ("minimum", "at least"), ("maximum", "at most")] {
            if !property[key].is_null() {
                about.push(format!("{words} `{}`", property[key]));
            }
        }
        let _ = writeln!(page, "| `{name}` | {} | {} |", kind(property), about.join("; ").replace('|', "\\|"));
    }
    page.push('\n');
}

fn kind(property: &Value) -> String {
    if let Some(values) = property["enum"].as_array() {
        return values.iter().map(|value| format!("`{}`", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(", ");
    }
    match &property["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        kind => match kind.as_str().unwrap_or("any") {
            "array" => format!("list of {}", property["items"]["type"].as_str().unwrap_or("anything")),
            other => other.to_owned(),
        },
    }
}

fn quoted(text: &str) -> String {
    text.trim_end().lines().map(|line| format!("> {line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
