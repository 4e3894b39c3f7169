//! The documentation is true: every link resolves, every page is in the table of contents, and every console example in
//! README.md, docs/getting-started.md and docs/guides prints what it shows.
//! `UPDATE_DOCS=1 cargo test -p memdir documentation` writes the outputs of the examples into the pages.
//!
//! A ```` ```console ```` block holds commands (`$ command`) and their output, standard output and standard error together. The
//! examples of one page run in order, each in its own `sh`, with the working directory and the exported variables of the one
//! before. Each page has a home of its own with a git repository `~/shop`, which is where it starts. A comment that begins with
//! the line `<!-- setup` holds shell commands that run at its place without being shown. Blocks of other languages are not run.
//!
//! What differs from run to run is replaced: see [`Session::canonical`].

use regex::{Captures, Regex};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The home directory in the pages. The real one has the same length, so that columns keep their width.
const HOME: &str = "/home/ada";
/// The day and time in the pages.
const DAY: &str = "2026-03-02";
const TIME: &str = "14:05";
/// Where the program is in the pages.
const PROGRAM: &str = "/home/ada/.local/bin/memdir";

#[test]
fn every_console_example_prints_what_it_shows() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let failures: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = example_pages().into_iter().map(|page| scope.spawn(move || run_page(&page, update))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(
        failures.is_empty(),
        "UPDATE_DOCS=1 cargo test -p memdir documentation writes the outputs\n\n{}",
        failures.join("\n\n")
    );
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
    let listed = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap());
    let mut pages: Vec<String> = markdown_below(&docs).iter().map(|page| relative(page, &docs)).collect();
    pages.retain(|page| page != "SUMMARY.md");
    let mut sorted = listed.clone();
    sorted.sort();
    pages.sort();
    assert_eq!(sorted, pages);
}

#[test]
fn guides_begin_with_the_commands() {
    for guide in markdown_below(&root().join("docs/guides")) {
        let text = fs::read_to_string(&guide).unwrap();
        let text = Regex::new(r"(?s)<!-- setup\n.*?\n-->").unwrap().replace_all(&text, "");
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        assert!(lines.next().unwrap().starts_with("# "), "{} has no title", shown(&guide));
        assert!(lines.next().unwrap().starts_with("```"), "{} does not begin with the commands", shown(&guide));
    }
}

/// The guide to the library shows the example of the library's own documentation, which is compiled and run as a doc test.
#[test]
fn the_guide_to_the_library_shows_the_compiled_example() {
    let source = fs::read_to_string(root().join("crates/memdir-core/src/lib.rs")).unwrap();
    let header: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//!")).collect();
    let mut lines = header.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).skip_while(|line| !line.starts_with("```")).skip(1);
    let example: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).filter(|line| !line.starts_with("# ")).collect();
    let path = root().join("docs/guides/use-as-a-library.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("```rust\n").unwrap();
    let (block, after) = rest.split_once("```\n").unwrap();
    if example.is_empty() || block.lines().eq(example.iter().copied()) {
        return;
    }
    assert!(std::env::var_os("UPDATE_DOCS").is_some(), "the guide shows\n{block}\n-- but lib.rs has\n{}", example.join("\n"));
    fs::write(&path, format!("{before}```rust\n{}\n```\n{after}", example.join("\n"))).unwrap();
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

#[test]
fn a_page_is_split_into_commands_and_outputs() {
    let page = "Text.\n<!-- setup\nmkdir a\n-->\n```console\n$ one\nout\n\n$ two <<'END'\n> in\n> END\n> quoted\n```\n\
                ```sh\n$ not run\n```\n```console\n$ three\n```\n";
    let steps: Vec<(String, String)> = parse(page).into_iter().filter_map(Piece::into_step).collect();
    let expected = [("one", "out"), ("two <<'END'\nin\nEND", "> quoted"), ("three", "")];
    assert_eq!(steps, expected.map(|(command, output)| (command.to_owned(), output.to_owned())));
}

#[test]
fn what_varies_is_replaced_and_restored() {
    let mut session = Session::new();
    let home = session.home();
    let actual = format!("undid 8z38z4zp in {home}/x\n8z38z4zp  1999-12-31 23:59  ada\ncreated shop-a0127cc5a2 (version c0375045a9c7)");
    let shown = session.canonical(&actual, &["1999-12-31".to_owned()]);
    let id = pseudo(0, 8, IDS);
    let project = pseudo(0, 10, HEX);
    let expected = format!("undid {id} in /home/ada/x\n{id}  {DAY} {TIME}  ada\ncreated shop-{project} (version c0375045a9c7)");
    assert_eq!(shown, expected);
    let command = session.actual(&format!("memdir undo {id} --project shop-{project} --dir /home/ada/x"));
    assert_eq!(command, format!("memdir undo 8z38z4zp --project shop-a0127cc5a2 --dir {home}/x"));
}

/// A page's text in order.
enum Piece {
    Line(String),
    Setup(String),
    Step(Example),
}

/// A command and its output as the page shows it.
struct Example {
    /// The lines of the page that hold the command.
    source: Vec<String>,
    command: String,
    output: Vec<String>,
}

impl Piece {
    fn into_step(self) -> Option<(String, String)> {
        match self {
            Piece::Step(example) => Some((example.command, trimmed(&example.output.join("\n")))),
            Piece::Line(_) | Piece::Setup(_) => None,
        }
    }
}

fn parse(page: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        pieces.push(Piece::Line(line.to_owned()));
        if line == "<!-- setup" {
            let script: Vec<&str> = std::iter::from_fn(|| lines.next_if(|line| *line != "-->")).collect();
            pieces.extend(script.iter().map(|line| Piece::Line((*line).to_owned())));
            pieces.push(Piece::Setup(script.join("\n")));
        } else if line == "```console" {
            while let Some(line) = lines.next_if(|line| *line != "```") {
                let Some(command) = line.strip_prefix("$ ") else {
                    panic!("a console block begins with a command, not with: {line}");
                };
                let (mut source, mut command) = (vec![line.to_owned()], command.to_owned());
                while is_incomplete(&command) {
                    let line = lines.next().unwrap_or_else(|| panic!("the command does not end: {command}"));
                    source.push(line.to_owned());
                    command = format!("{command}\n{}", line.strip_prefix("> ").unwrap_or_else(|| line.trim_start_matches('>')));
                }
                let output = std::iter::from_fn(|| lines.next_if(|line| *line != "```" && !line.starts_with("$ ")));
                let output = output.map(str::to_owned).collect();
                pieces.push(Piece::Step(Example { source, command, output }));
            }
            pieces.extend(lines.next().map(|line| Piece::Line(line.to_owned())));
        } else if line.starts_with("```") {
            while let Some(line) = lines.next_if(|line| *line != "```") {
                pieces.push(Piece::Line(line.to_owned()));
            }
            pieces.extend(lines.next().map(|line| Piece::Line(line.to_owned())));
        }
    }
    pieces
}

/// Whether the shell would read another line: after a backslash, and until a here-document ends.
fn is_incomplete(command: &str) -> bool {
    let heredoc = Regex::new(r"<<'?([A-Z]+)'?").unwrap();
    match heredoc.captures(command) {
        Some(found) => command.lines().last() != found.get(1).map(|word| word.as_str()),
        None => command.ends_with('\\'),
    }
}

/// Runs a page's examples and returns what differs. In update mode the page gets the real outputs instead.
fn run_page(path: &Path, update: bool) -> Vec<String> {
    let page = fs::read_to_string(path).unwrap();
    let mut session = Session::new();
    let (mut written, mut failures) = (Vec::new(), Vec::new());
    let pieces = parse(&page);
    for (n, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Line(line) => written.push(line.clone()),
            Piece::Setup(script) => {
                let (output, status) = session.run(script);
                assert_eq!(status, 0, "{}: the setup fails: {output}", shown(path));
            }
            Piece::Step(example) => {
                let (output, status) = session.run(&example.command);
                let expected = trimmed(&example.output.join("\n"));
                // An example may fail if the page shows it: with an error, or with the exit status in the next command. An update
                // does not turn a success into a failure.
                let is_shown = matches!(pieces.get(n + 1), Some(Piece::Step(next)) if next.command == "echo $?");
                let has_error = |text: &str| text.lines().any(|line| line.starts_with("error:"));
                let is_expected = has_error(&output) && (expected.is_empty() || has_error(&expected));
                if status != 0 && !is_shown && !is_expected {
                    failures.push(format!("{}: `{}` exits with {status}:\n{output}", shown(path), example.command));
                }
                if output != expected && !update {
                    failures.push(format!(
                        "{}: `{}` prints\n{output}\n-- but the page shows\n{expected}",
                        shown(path),
                        example.command
                    ));
                }
                written.extend(example.source.iter().cloned());
                written.extend(output.lines().map(str::to_owned));
                // A blank line separates an output from the next command.
                if !output.is_empty() && matches!(pieces.get(n + 1), Some(Piece::Step(_))) {
                    written.push(String::new());
                }
            }
        }
    }
    if update {
        fs::write(path, written.join("\n") + "\n").unwrap();
    }
    failures
}

/// A machine of its own for one page: a home, a repository, and a shell whose state lasts from command to command.
struct Session {
    home: TempDir,
    state: TempDir,
    last_status: i32,
    /// The real values of identifiers, in the order of their first appearance; the page shows pseudo values.
    ids: Vec<String>,
    projects: Vec<String>,
    journals: Vec<String>,
}

impl Session {
    fn new() -> Session {
        let rand = HOME.len() - "/tmp/".len();
        let home = tempfile::Builder::new().prefix("").rand_bytes(rand).tempdir_in("/tmp").unwrap();
        let session = Session {
            home,
            state: TempDir::new().unwrap(),
            last_status: 0,
            ids: Vec::new(),
            projects: Vec::new(),
            journals: Vec::new(),
        };
        let bin = session.home.path().join(".local/bin");
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_memdir"), bin.join("memdir")).unwrap();
        fs::write(
            session.home.path().join(".gitconfig"),
            "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n[advice]\ndetachedHead = false\n",
        )
        .unwrap();
        fs::create_dir(session.home.path().join("shop")).unwrap();
        let git = session.command().args(["-c", "git init --quiet"]).current_dir(session.home.path().join("shop")).status();
        assert!(git.unwrap().success());
        fs::write(session.state.path().join("cwd"), session.home.path().join("shop").to_str().unwrap()).unwrap();
        fs::write(session.state.path().join("env"), "").unwrap();
        session
    }

    fn home(&self) -> String {
        self.home.path().to_str().unwrap().to_owned()
    }

    /// A shell with a fixed environment.
    fn command(&self) -> Command {
        let mut command = Command::new("sh");
        let path = format!("{}/.local/bin:/usr/local/bin:/usr/bin:/bin", self.home());
        command.env_clear().env("HOME", self.home.path()).env("USER", "ada").env("TZ", "UTC").env("LC_ALL", "C.UTF-8").env("PATH", path);
        command.stdin(Stdio::null());
        command
    }

    /// Runs a command of a page; returns its output as the page shows it, and its exit status.
    fn run(&mut self, command: &str) -> (String, i32) {
        let state = self.state.path().to_str().unwrap();
        let mut days = vec![today()];
        let command = self.actual(command).replace(DAY, &days[0]);
        let script = format!(
            ". {state}/env\ncd \"$(cat {state}/cwd)\"\nTODAY={}\nexec 2>&1\n(exit {})\n{command}\nstatus=$?\npwd > {state}/cwd\nexport -p > {state}/env\nexit $status\n",
            days[0], self.last_status
        );
        let output = self.command().arg("-c").arg(script).output().unwrap();
        days.push(today());
        self.last_status = output.status.code().unwrap_or_else(|| panic!("`{command}` was killed"));
        let output = String::from_utf8(output.stdout).unwrap();
        (trimmed(&self.canonical(&output, &days)), self.last_status)
    }

    /// An output as a page shows it: the home and the program's path, the time and today's date, and identifiers (of changes,
    /// tokens, projects and journals) and durations in milliseconds replaced by fixed ones. Versions are hashes of the content and stay.
    fn canonical(&mut self, output: &str, days: &[String]) -> String {
        let mut text = output.replace(env!("CARGO_BIN_EXE_memdir"), PROGRAM).replace(&self.home(), HOME);
        text = text.replace(&slug(&self.home()), &slug(HOME));
        let column = Regex::new(r"(?m)^([0-9a-z]{8})  \d{4}-\d\d-\d\d \d\d:\d\d").unwrap();
        let context = Regex::new(r"\b(?:change|undo|redo|undid|redid|revoke) ([0-9a-z]{8})\b|today \(([0-9a-z]{8})\)").unwrap();
        let mixed = Regex::new(r"\b([0-9a-z]{8})\b").unwrap();
        let is_mixed = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_ascii_lowercase());
        let named = |found: Captures<'_>| found.iter().skip(1).flatten().next().map(|word| word.as_str().to_owned());
        let mut ids: Vec<(usize, String)> = Vec::new();
        for found in column.captures_iter(&text).chain(context.captures_iter(&text)).filter_map(named) {
            ids.push((text.find(&found).unwrap(), found));
        }
        ids.extend(mixed.find_iter(&text).filter(|word| is_mixed(word.as_str())).map(|word| (word.start(), word.as_str().to_owned())));
        ids.sort();
        text = replaced(&text, &mut self.ids, ids.into_iter().map(|(_, id)| id), 8, IDS);
        let has_digit = |hash: &String| hash.contains(|c: char| c.is_ascii_digit());
        let hashes = |text: &str, pattern: &str| -> Vec<String> {
            Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).filter(has_digit).collect()
        };
        let projects = hashes(&text, r"-([0-9a-f]{10})\b");
        text = replaced(&text, &mut self.projects, projects.into_iter(), 10, HEX);
        let journals = hashes(&text, r"-([0-9a-f]{12})\b");
        text = replaced(&text, &mut self.journals, journals.into_iter(), 12, HEX);
        text = Regex::new(r"mdt_[0-9a-f]{64}").unwrap().replace_all(&text, format!("mdt_{}", pseudo(0, 64, HEX))).into_owned();
        for day in days {
            text = text.replace(&format!("{}/{day}", day[..7].replace('-', "/")), &format!("{}/{DAY}", DAY[..7].replace('-', "/")));
            let timed = Regex::new(&format!(r"{day}([ T])\d\d:\d\d(:\d\d(?:\.\d+)?)?")).unwrap();
            text = timed
                .replace_all(&text, |found: &Captures<'_>| {
                    format!("{DAY}{}{TIME}{}", &found[1], if found.get(2).is_some() { ":00" } else { "" })
                })
                .into_owned();
            text = text.replace(day, DAY);
        }
        text = Regex::new(r"\b\d+ ms\b").unwrap().replace_all(&text, "8 ms").into_owned();
        Regex::new(r"(?m)^- \d\d:\d\d ").unwrap().replace_all(&text, format!("- {TIME} ")).into_owned()
    }

    /// A text of a page with the real home and identifiers.
    fn actual(&self, shown: &str) -> String {
        let mut text = shown.replace(&slug(HOME), &slug(&self.home())).replace(HOME, &self.home());
        for (known, length, alphabet) in [(&self.ids, 8, IDS), (&self.projects, 10, HEX), (&self.journals, 12, HEX)] {
            for (n, id) in known.iter().enumerate() {
                text = text.replace(&pseudo(n, length, alphabet), id);
            }
        }
        text
    }
}

/// A path as Claude Code names a project's directory.
fn slug(path: &str) -> String {
    format!("{}-", path.replace('/', "-"))
}

const IDS: &[u8] = b"23456789abcdefghijkmnpqrstuvwxyz";
const HEX: &[u8] = b"0123456789abcdef";

/// The identifier that a page shows for the n-th real one. It always has a digit and a letter.
fn pseudo(n: usize, length: usize, alphabet: &[u8]) -> String {
    let mut state = u64::try_from(n).unwrap().wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x5851_F42D_4C95_7F2D);
    let mut id: Vec<u8> = Vec::new();
    while id.len() < length {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        id.push(alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()]);
    }
    (id[0], id[1]) = (b'a' + u8::try_from(n % 6).unwrap(), b'2' + u8::try_from(n % 8).unwrap());
    String::from_utf8(id).unwrap()
}

/// The text with every identifier replaced by the pseudo one of its place in `known`, which gets the new ones.
fn replaced(text: &str, known: &mut Vec<String>, found: impl Iterator<Item = String>, length: usize, alphabet: &[u8]) -> String {
    for id in found {
        if !known.contains(&id) {
            known.push(id);
        }
    }
    if known.is_empty() {
        return text.to_owned();
    }
    let any = Regex::new(&format!(r"\b(?:{})\b", known.join("|"))).unwrap();
    let place = |id: &str| known.iter().position(|known| known == id).unwrap();
    any.replace_all(text, |found: &Captures<'_>| pseudo(place(&found[0]), length, alphabet)).into_owned()
}

fn today() -> String {
    jiff::Timestamp::now().to_string()[..DAY.len()].to_owned()
}

/// Without blanks at the end of each line and blank lines at the end.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
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

/// The lines outside of code blocks and comments, with inline code replaced by a word.
fn prose(text: &str) -> Vec<String> {
    let text = Regex::new(r"(?s)<!-- setup\n.*?\n-->").unwrap().replace_all(text, "");
    let code = Regex::new("`[^`]*`").unwrap();
    let mut fence = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        let mark = line.trim_start().chars().take_while(|c| *c == '`').count();
        match fence {
            None if mark >= 3 => fence = Some(mark),
            Some(open) if mark >= open => fence = None,
            Some(_) => {}
            None => lines.push(code.replace_all(line, "code").into_owned()),
        }
    }
    lines
}

/// The targets of inline links, images and reference definitions.
fn links(text: &str) -> Vec<String> {
    let link = Regex::new(r#"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)|(?:src|href)="([^"]+)""#).unwrap();
    let text = prose(text);
    let found = text.iter().flat_map(|line| link.captures_iter(line));
    found.filter_map(|found| found.iter().skip(1).flatten().next().map(|target| target.as_str().to_owned())).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !in_code) else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        anchors.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
    }
    anchors
}

/// Paragraphs and list items, each on one line. Tables, headings and comments are left out.
fn paragraphs(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in prose(text) {
        let line = line.trim();
        let begins = line.starts_with("- ") || line.starts_with("* ") || line.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        if line.is_empty() || line.starts_with(['|', '#', '<']) {
            open = false;
        } else if open && !begins {
            let last = out.last_mut().unwrap();
            last.push(' ');
            last.push_str(line);
        } else {
            out.push(line.trim_start_matches(['-', '*', ' ']).to_owned());
            open = true;
        }
    }
    out
}

/// A full stop inside of a word, as in a file name, ends no sentence.
fn sentences(paragraph: &str) -> Vec<String> {
    let end = Regex::new(r"[.!?](?:\s+|$)").unwrap();
    end.split(paragraph).filter(|sentence| !sentence.trim().is_empty()).map(str::to_owned).collect()
}
