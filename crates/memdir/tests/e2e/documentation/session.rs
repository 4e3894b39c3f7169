//! The machine on which a page's examples run, and the replacement of what differs from run to run.

use regex::{Captures, Regex};
use std::{
    fs,
    process::{Command, Stdio},
};
use tempfile::TempDir;

/// The home directory in the pages. The real one has the same length, so that columns keep their width.
const HOME: &str = "/home/ada";
/// The day and time in the pages.
const DAY: &str = "2026-03-02";
const TIME: &str = "14:05";
/// The name of a plan in the pages, without `.md`.
const PLAN: &str = "plan-20260302T140500Z";
/// The name of a receipt in the pages, without `.json`.
const RECEIPT: &str = "2026-03-02T140500Z";
/// Where the program is in the pages.
const PROGRAM: &str = "/home/ada/.local/bin/memdir";

/// A machine of its own for one page: a home, a repository, and a shell whose state lasts from command to command.
pub(super) struct Session {
    home: TempDir,
    state: TempDir,
    last_status: i32,
    /// The real values of identifiers, in the order of their first appearance; the page shows pseudo values.
    ids: Vec<String>,
    projects: Vec<String>,
    journals: Vec<String>,
}

impl Session {
    pub(super) fn new() -> Session {
        let rand = HOME.len() - "/tmp/".len();
        let home = tempfile::Builder::new().prefix("").rand_bytes(rand).tempdir_in("/tmp").unwrap();
        let session =
            Session { home, state: TempDir::new().unwrap(), last_status: 0, ids: Vec::new(), projects: Vec::new(), journals: Vec::new() };
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
    pub(super) fn run(&mut self, command: &str) -> (String, i32) {
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

    /// An output as a page shows it. Replaced by fixed values are: the home and the program's path, today's date, times, durations in
    /// milliseconds, the scores of conversations, the names of plans and receipts, and the ids of changes, tokens, projects and journals. Versions are hashes of the
    /// content and stay.
    fn canonical(&mut self, output: &str, days: &[String]) -> String {
        let text = output.replace(env!("CARGO_BIN_EXE_memdir"), PROGRAM).replace(&self.home(), HOME);
        let text = text.replace(&slug(&self.home()), &slug(HOME));
        let text = replaced(&text, &mut self.ids, short_ids(&text), 8, IDS);
        let text = replaced(&text, &mut self.projects, hashes(&text, r"-([0-9a-f]{10})\b"), 10, HEX);
        let text = replaced(&text, &mut self.journals, hashes(&text, r"-([0-9a-f]{12})\b"), 12, HEX);
        let text = Regex::new(r"mdt_[0-9a-f]{64}").unwrap().replace_all(&text, format!("mdt_{}", pseudo(0, 64, HEX))).into_owned();
        let text = days.iter().fold(text, |text, day| with_fixed_day(&text, day));
        let text =
            Regex::new(r"/dreams/[0-9a-f]{32}/").unwrap().replace_all(&text, format!("/dreams/{}/", pseudo(0, 32, HEX))).into_owned();
        let text = Regex::new(r"plan-\d{8}T\d{6}Z").unwrap().replace_all(&text, PLAN).into_owned();
        let text = Regex::new(&format!(r"{DAY}T\d{{6}}Z")).unwrap().replace_all(&text, RECEIPT).into_owned();
        let text = Regex::new(r"\b\d+ ms\b").unwrap().replace_all(&text, "8 ms").into_owned();
        // The text of a conversation has the day in its headings, which moves its vector: .48 on one day, .49 on another.
        let text = Regex::new(r"(?m)(^chats/\S+  )0\.\d\d").unwrap().replace_all(&text, "${1}0.67").into_owned();
        let text = Regex::new(r"\(score 0\.\d\d\)").unwrap().replace_all(&text, "(score 0.49)").into_owned();
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

/// The ids of changes and tokens, in the order of their first appearance: what is in a place where ids are printed, and every other
/// word of their length that has both a digit and a letter.
fn short_ids(text: &str) -> Vec<String> {
    let printed =
        r"(?m)^([0-9a-z]{8})  (?:just now|1 minute ago)|\b(?:change|undo|redo|undid|redid|revoke) ([0-9a-z]{8})\b|now \(([0-9a-z]{8})\)";
    let mut ids: Vec<(usize, String)> = Vec::new();
    for found in Regex::new(printed).unwrap().captures_iter(text) {
        let id = found.iter().skip(1).flatten().next().unwrap();
        ids.push((id.start(), id.as_str().to_owned()));
    }
    for word in Regex::new(r"\b[0-9a-z]{8}\b").unwrap().find_iter(text) {
        if has_digit(word.as_str()) && word.as_str().contains(|c: char| c.is_ascii_lowercase()) {
            ids.push((word.start(), word.as_str().to_owned()));
        }
    }
    ids.sort();
    ids.into_iter().map(|(_, id)| id).collect()
}

/// The hashes that the pattern's group matches.
fn hashes(text: &str, pattern: &str) -> Vec<String> {
    let found = Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    found.into_iter().filter(|hash| has_digit(hash)).collect()
}

fn has_digit(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
}

/// Returns the text with another date and time for this day, including in the path of a log: `2026/03/2026-03-02`.
fn with_fixed_day(text: &str, day: &str) -> String {
    let path = |day: &str| format!("{}/{day}", day[..7].replace('-', "/"));
    let text = text.replace(&path(day), &path(DAY));
    let time = Regex::new(&format!(r"{day}([ T])\d\d:\d\d(:\d\d(?:\.\d+)?)?")).unwrap();
    let fixed = |found: &Captures<'_>| format!("{DAY}{}{TIME}{}", &found[1], if found.get(2).is_some() { ":00" } else { "" });
    time.replace_all(&text, fixed).replace(day, DAY)
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
fn replaced(text: &str, known: &mut Vec<String>, found: Vec<String>, length: usize, alphabet: &[u8]) -> String {
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
pub(super) fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_owned()
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

    let actual = "/dreams/82ff81e8b63f8f01944407ebc69826c9/plan-19991231T235959Z.md, /forgotten/1999-12-31T235959Z.json";
    let shown = session.canonical(actual, &["1999-12-31".to_owned()]);
    assert_eq!(shown, format!("/dreams/{}/{PLAN}.md, /forgotten/{RECEIPT}.json", pseudo(0, 32, HEX)));
}
