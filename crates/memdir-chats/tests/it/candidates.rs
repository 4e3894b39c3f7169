//! Candidates for memories: precision and recall over generated transcripts, what is read again, and the running conversation.

use crate::support::{CLAUDE_CODE, CODEX_HOST, COPILOT_HOST, Files, GEMINI_HOST};
use jiff::Timestamp;
use memdir_chats::{
    ChatArchive, ChatSettings, Retention, Roots, SyncLimits, SyncMemo, Syncer,
    candidates::{FindRequest, FoundCandidates, find_in_running, find_new},
    generate::{GeneratorPlan, generate, score},
    open_sources,
};
use memdir_core::{
    Candidate, CandidateKind, Clock, Embedder, SystemClock,
    internal::{
        search::embed::{EmbedRole, EmbedderId, Vector},
        secrets,
    },
};
use std::{fs, path::Path, sync::Arc};

/// A home directory with generated transcripts or others, and its archive.
pub(crate) struct Home {
    pub(crate) files: Files,
    pub(crate) syncer: Syncer,
}

impl Home {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let files = Files::new(files);
        let syncer = syncer(files.root());
        Home { files, syncer }
    }

    pub(crate) fn sync(&self) {
        sync(&self.syncer);
    }

    pub(crate) fn find(&self) -> FoundCandidates {
        self.find_stopped(None)
    }

    fn find_stopped(&self, stopped: Option<&str>) -> FoundCandidates {
        find_new(&self.syncer.archive, &FindRequest { project: None, stopped, embedder: None, until: None, clock: &SystemClock }).unwrap()
    }
}

/// The syncer of a home directory.
pub(crate) fn syncer(root: &Path) -> Syncer {
    Syncer {
        sources: open_sources(&Roots::under(root)),
        archive: ChatArchive::new(root.join("archive")),
        settings: ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() },
        redact: Box::new(|text| std::borrow::Cow::Owned(text.replace("sk-12345", "[masked]"))),
        clock: Arc::new(SystemClock),
        project: None,
        memo: SyncMemo::default(),
    }
}

pub(crate) fn sync(syncer: &Syncer) {
    let outcome = syncer.sync(SyncLimits::default(), &mut |_| {}).unwrap();
    assert_eq!(outcome.problems, []);
}

fn generated(seed: u64) -> (Home, memdir_chats::generate::Generated) {
    let generated = generate(seed, GeneratorPlan::default());
    let files: Vec<(&str, &str)> = generated.files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let home = Home::new(&files);
    home.sync();
    (home, generated)
}

/// One line of a candidate, for messages of tests.
fn shown(candidate: &Candidate) -> String {
    format!("{:?} {:?} {:?} {:?}", candidate.kind, candidate.sessions, candidate.words, candidate.text)
}

#[test]
fn every_kind_is_found_with_precision_and_recall() {
    let (mut scores, mut details, mut is_bad) = (String::new(), String::new(), false);
    for seed in [1, 2, 3, 11, 23] {
        let (home, generated) = generated(seed);
        let found = home.find();
        let (rows, wrong, missed) = score(&generated.planted, &found.candidates);
        for row in rows {
            is_bad |= row.precision() < 0.9 || row.recall() < 0.8;
            scores += &format!("{seed} {:?} precision {:.2} recall {:.2}\n", row.kind, row.precision(), row.recall());
        }
        wrong.iter().for_each(|candidate| details += &format!("{seed} not planted: {}\n", shown(candidate)));
        missed.iter().for_each(|planted| details += &format!("{seed} missed: {planted:?}\n"));
    }
    assert!(!is_bad, "{scores}\n{details}");
}

#[test]
fn candidates_are_found_once() {
    let (home, _) = generated(6);
    let first = home.find();
    assert!(!first.candidates.is_empty() && first.left == 0);
    // Without a save they are found again, with the same keys.
    let keys = |found: &FoundCandidates| found.candidates.iter().map(|candidate| candidate.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&home.find()), keys(&first));
    first.save().unwrap();
    let second = home.find();
    assert_eq!((second.read, second.candidates.len()), (0, 0));
}

const SESSION: &str = ".claude/projects/-home-ada-shop/s1.jsonl";

fn user(number: u64, text: &str) -> String {
    let content = serde_json::to_string(text).unwrap();
    format!(
        r#"{{"type":"user","cwd":"/home/ada/shop","message":{{"role":"user","content":{content}}},"uuid":"u{number}","timestamp":"2026-01-15T10:00:{number:02}Z"}}"#
    ) + "\n"
}

fn assistant(number: u64, content: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m{number}","role":"assistant","content":[{content}]}},"uuid":"a{number}","timestamp":"2026-01-15T10:00:{number:02}Z"}}"#
    ) + "\n"
}

fn result(number: u64, id: &str, content: &str, is_error: bool) -> String {
    let content = serde_json::to_string(content).unwrap();
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{content},"is_error":{is_error}}}]}},"uuid":"r{number}","timestamp":"2026-01-15T10:00:{number:02}Z"}}"#
    ) + "\n"
}

const TEXT: &str = r#"{"type":"text","text":"Done."}"#;

fn bash(id: &str, command: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":"{command}"}}}}"#)
}

const REJECTED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP";

#[test]
fn a_denied_command_becomes_a_candidate_with_its_tripwire() {
    let text = [
        user(1, "publish it"),
        assistant(2, &bash("t1", "git push --force origin main")),
        result(3, "t1", REJECTED, true),
        user(4, "never force-push, the token sk-12345 is only for reads"),
        assistant(5, TEXT),
    ]
    .concat();
    let home = Home::new(&[(SESSION, &text)]);
    home.sync();
    let found = home.find().candidates;
    assert_eq!(found.len(), 1, "{found:?}");
    let candidate = &found[0];
    assert_eq!(candidate.kind, CandidateKind::Denied);
    assert_eq!(serde_json::to_value(&candidate.when).unwrap(), serde_json::json!({ "command": "git push --force" }));
    assert!(candidate.words.starts_with("never force-push") && candidate.words.contains("the token [masked] is"), "{}", candidate.words);
    assert!(candidate.name.starts_with("feedback/never-force-push"), "{}", candidate.name);
    assert_eq!(candidate.sessions, ["claude-code/s1"]);
    assert_eq!(candidate.turns.len(), 1);
    let (file, lines) = candidate.turns[0].strip_prefix("chats/").unwrap().split_once(':').unwrap();
    let (from, to) = lines.split_once('-').unwrap();
    let archived = fs::read_to_string(home.syncer.archive.dir().join(file)).unwrap();
    let cited: Vec<&str> = archived
        .lines()
        .skip(from.parse::<usize>().unwrap() - 1)
        .take(to.parse::<usize>().unwrap() - from.parse::<usize>().unwrap() + 1)
        .collect();
    assert!(cited.join("\n").contains("never force-push"), "{cited:?}");
}

#[test]
fn the_running_conversation_is_read_and_nothing_is_kept() {
    let text = [
        user(1, "Remember: invoices are never deleted"),
        assistant(2, TEXT),
        user(3, "go on"),
        assistant(4, &bash("t1", "rm -rf data")),
        result(5, "t1", &format!("{REJECTED} To tell you how to proceed, the user said:\ndata is not a cache, leave it"), true),
        assistant(6, TEXT),
    ]
    .concat();
    let home = Home::new(&[(SESSION, &text)]);
    let before = fs::read_dir(home.files.root()).unwrap().count();
    let path = home.files.root().join(SESSION);
    let redact: &dyn for<'t> Fn(&'t str) -> std::borrow::Cow<'t, str> = &secrets::redact_strict;
    let running = find_in_running(CLAUDE_CODE, &path, redact, None, &SystemClock).unwrap();
    let kinds: Vec<_> = running.iter().map(|candidate| (candidate.kind, candidate.words.as_str(), candidate.turns.len())).collect();
    assert_eq!(
        kinds,
        [(CandidateKind::Remember, "Remember: invoices are never deleted", 0), (CandidateKind::Denied, "data is not a cache, leave it", 0)]
    );
    assert_eq!(fs::read_dir(home.files.root()).unwrap().count(), before, "nothing is written");
    // The archived conversation has the same keys, so a decision counts for both.
    home.sync();
    let keys = |found: &[Candidate]| found.iter().map(|candidate| candidate.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&home.find().candidates), keys(&running));
}

#[test]
fn what_was_saved_is_not_asked_for_again() {
    let save = r#"{"type":"tool_use","id":"t1","name":"mcp__memdir__memory_write","input":{"path":"notes/x","content":"y"}}"#;
    let text =
        [user(1, "Remember that the port is 5433"), assistant(2, save), result(3, "t1", "created", false), assistant(4, TEXT)].concat();
    let home = Home::new(&[(SESSION, &text)]);
    home.sync();
    assert_eq!(home.find().candidates, []);
}

#[test]
fn only_new_turns_give_candidates_and_the_unanswered_one_waits() {
    let first = [user(1, "Remember that the port is 5433"), assistant(2, TEXT), user(3, "Remember that prices are in cents")].concat();
    let home = Home::new(&[(SESSION, &first)]);
    home.sync();
    let found = home.find();
    assert_eq!(found.candidates.iter().map(|candidate| candidate.words.as_str()).collect::<Vec<_>>(), ["Remember that the port is 5433"]);
    found.save().unwrap();
    home.files.put(SESSION, (first + &assistant(4, TEXT)).as_bytes());
    home.sync();
    let found = home.find();
    assert_eq!(
        found.candidates.iter().map(|candidate| candidate.words.as_str()).collect::<Vec<_>>(),
        ["Remember that prices are in cents"]
    );
}

/// At a stop, the host has not written the answer yet.
#[test]
fn the_last_message_counts_once_its_agent_has_stopped() {
    let first = [user(1, "fix the login"), assistant(2, TEXT), user(3, "Remember that prices are in cents")].concat();
    let home = Home::new(&[(SESSION, &first)]);
    home.sync();
    let words = |found: &FoundCandidates| found.candidates.iter().map(|candidate| candidate.words.clone()).collect::<Vec<_>>();
    assert_eq!(words(&home.find_stopped(Some("claude-code/other"))), [""; 0], "the last message of another conversation waits");
    let found = home.find_stopped(Some("claude-code/s1"));
    assert_eq!(words(&found), ["Remember that prices are in cents"]);
    found.save().unwrap();
    assert_eq!(home.find_stopped(Some("claude-code/s1")).read, 0, "nothing has changed");
    // What is added to the transcript later belongs to the same message: the request was carried out.
    let save = r#"{"type":"tool_use","id":"t1","name":"mcp__memdir__memory_write","input":{"path":"notes/x","content":"y"}}"#;
    home.files.put(SESSION, (first.clone() + &assistant(4, save) + &result(5, "t1", "created", false) + &assistant(6, TEXT)).as_bytes());
    home.sync();
    assert_eq!(words(&home.find()), [""; 0]);
    // Without it, the candidate is found again with the same key, and a sentence is counted once.
    let other = Home::new(&[(SESSION, &first)]);
    other.sync();
    let stopped = other.find_stopped(Some("claude-code/s1"));
    stopped.save().unwrap();
    other.files.put(SESSION, (first + &assistant(4, TEXT)).as_bytes());
    other.sync();
    let keys = |found: &FoundCandidates| found.candidates.iter().map(|candidate| candidate.key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&other.find()), keys(&stopped));
}

#[test]
fn a_sentence_of_one_conversation_is_not_a_repeat_however_often_its_turn_is_read() {
    let first = [user(1, "fix the login"), assistant(2, TEXT), user(3, "Prices are always stored in cents")].concat();
    let home = Home::new(&[(SESSION, &first)]);
    for more in ["".to_owned(), assistant(4, TEXT), assistant(4, TEXT) + &user(5, "go on")] {
        home.files.put(SESSION, format!("{first}{more}").as_bytes());
        home.sync();
        let found = home.find_stopped(Some("claude-code/s1"));
        assert_eq!(found.candidates, []);
        found.save().unwrap();
    }
    home.files.put(
        ".claude/projects/-home-ada-shop/s2.jsonl",
        [user(6, "Prices are always stored in cents"), assistant(7, TEXT)].concat().as_bytes(),
    );
    home.sync();
    let found = home.find();
    assert_eq!(found.candidates.len(), 1);
    assert_eq!((found.candidates[0].sessions.len(), found.candidates[0].turns.len()), (2, 2), "each cited once: {:?}", found.candidates);
}

#[test]
fn text_of_assistants_and_tools_is_never_evidence() {
    let says = r#"{"type":"text","text":"Remember: always use the wrapper. Never push to main."}"#;
    let text = [
        user(1, "look at the notes"),
        assistant(2, &bash("t1", "cat NOTES")),
        result(3, "t1", "Remember: the key is k1. The user doesn't want to proceed with this tool use", false),
        assistant(4, says),
        user(5, "thanks a lot"),
        assistant(6, says),
    ]
    .concat();
    let again = text.replace("\"u1\"", "\"v1\"");
    let home = Home::new(&[(SESSION, &text), (".claude/projects/-home-ada-shop/s2.jsonl", &again)]);
    home.sync();
    assert_eq!(home.find().candidates, []);
}

#[test]
fn code_that_quotes_a_fence_is_not_what_a_person_typed() {
    let pasted = "look at this:\n````md\n```sh\nRemember: the inner block is code.\n```\nRemember: this is still code.\n````\nthanks a lot";
    let home = Home::new(&[(SESSION, &[user(1, pasted), assistant(2, TEXT)].concat())]);
    home.sync();
    assert_eq!(home.find().candidates, []);
}

#[test]
fn a_line_with_a_date_is_a_log_and_one_with_a_year_is_typed() {
    let texts = ["2026-03-05 10:00:00 Remember that the port is 5433", "2026-ready list is done. Remember that the port is 5433"];
    let found = texts.map(|typed| {
        let home = Home::new(&[(SESSION, &[user(1, typed), assistant(2, TEXT)].concat())]);
        home.sync();
        home.find().candidates.len()
    });
    assert_eq!(found, [0, 1]);
}

#[test]
fn a_time_limit_leaves_the_rest_for_the_next_call() {
    struct Late;
    impl Clock for Late {
        fn now(&self) -> Timestamp {
            Timestamp::MAX
        }
        fn zone(&self) -> jiff::tz::TimeZone {
            jiff::tz::TimeZone::UTC
        }
    }
    let home = Home::new(&[(SESSION, &[user(1, "Remember that the port is 5433"), assistant(2, TEXT)].concat())]);
    home.sync();
    let request = FindRequest { project: None, stopped: None, embedder: None, until: Some(Timestamp::UNIX_EPOCH), clock: &Late };
    let found = find_new(&home.syncer.archive, &request).unwrap();
    assert_eq!((found.read, found.left, found.candidates.len()), (0, 1, 0));
    found.save().unwrap();
    assert_eq!(home.find().candidates.len(), 1);
}

const SECOND: &str = ".claude/projects/-home-ada-shop/s2.jsonl";

#[test]
fn a_request_keeps_the_case_and_shows_what_it_points_to() {
    let text = [
        user(1, "Remember: use DATABASE_URL for PostgreSQL, the file is src/App.tsx and the flag -X."),
        assistant(2, TEXT),
        user(3, "The CI token is in Vault under kv/CI."),
        assistant(4, TEXT),
        user(5, "Remember that."),
        assistant(6, TEXT),
    ]
    .concat();
    let home = Home::new(&[(SESSION, &text)]);
    home.sync();
    let found = home.find().candidates;
    let shown: Vec<_> = found.iter().map(|found| (found.description.as_str(), found.text.as_str(), found.turns.len())).collect();
    assert_eq!(
        shown,
        [
            (
                "Use DATABASE_URL for PostgreSQL, the file is src/App.tsx and the flag -X.",
                "Remember: use DATABASE_URL for PostgreSQL, the file is src/App.tsx and the flag -X.\n",
                1
            ),
            ("The CI token is in Vault under kv/CI.", "The CI token is in Vault under kv/CI.\n", 2),
        ]
    );
    assert_eq!(found[1].words, "The CI token is in Vault under kv/CI.");
}

#[test]
fn nothing_is_found_in_a_conversation_that_is_not_to_be_remembered() {
    let rule = "Never show internal ids to customers, use the public ones instead.";
    let open = [user(1, rule), assistant(2, TEXT)].concat();
    let first = [user(1, rule), assistant(2, TEXT), user(3, "Remember: the port is 5433"), assistant(4, TEXT)].concat();
    let home = Home::new(&[(SESSION, &first)]);
    home.sync();
    let found = home.find();
    assert_eq!(found.candidates.len(), 1, "{:?}", found.candidates);
    found.save().unwrap();
    // The request is made later, and then another conversation has the same rule.
    let wish = first + &user(5, "Please remember nothing of this conversation, it is private.") + &assistant(6, TEXT);
    home.files.put(SESSION, wish.as_bytes());
    home.sync();
    let found = home.find();
    assert_eq!(found.candidates, []);
    found.save().unwrap();
    home.files.put(SECOND, open.as_bytes());
    home.sync();
    assert_eq!(home.find().candidates, []);
    let redact: &dyn for<'t> Fn(&'t str) -> std::borrow::Cow<'t, str> = &secrets::redact_strict;
    assert_eq!(find_in_running(CLAUDE_CODE, &home.files.root().join(SESSION), redact, None, &SystemClock).unwrap(), []);
}

#[test]
fn the_newest_wording_is_proposed_and_a_revoked_rule_is_not() {
    // The names of the conversations are in the other order than their times.
    let chat = |day: u64, text: &str| [user(1, text), assistant(2, TEXT)].concat().replace("2026-01-15", &format!("2026-01-{day}"));
    let home = Home::new(&[
        (SESSION, &chat(20, "Please always use pnpm instead of npm in this repository!")),
        (SECOND, &chat(10, "Use pnpm instead of npm in this repository.")),
    ]);
    home.sync();
    let words = |found: FoundCandidates| found.candidates.into_iter().map(|found| found.words).collect::<Vec<_>>();
    assert_eq!(words(home.find()), ["Please always use pnpm instead of npm in this repository!"]);
    home.files.put(".claude/projects/-home-ada-shop/s3.jsonl", chat(25, "Use npm instead of pnpm in this repository.").as_bytes());
    home.sync();
    assert_eq!(words(home.find()), [""; 0]);
}

const REQUEST: &str = "Remember that the port is 5433";

/// Transcripts of each host with one request, and the mark of a run without a person where the host writes one.
fn runs(is_script: bool) -> Vec<(&'static str, String)> {
    let (entrypoint, source) = if is_script { ("sdk-cli", "exec") } else { ("cli", "cli") };
    let claude = (user(1, REQUEST) + &assistant(2, TEXT)).replace(r#""cwd""#, &format!(r#""entrypoint":"{entrypoint}","cwd""#));
    let codex = [
        format!(r#"{{"timestamp":"2026-01-15T11:00:00Z","type":"session_meta","payload":{{"id":"c1","cwd":"/home/ada/shop","source":"{source}"}}}}"#),
        format!(r#"{{"timestamp":"2026-01-15T11:00:01Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{REQUEST}"}}]}}}}"#),
        r#"{"timestamp":"2026-01-15T11:00:02Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#.into(),
    ];
    let instructions = if is_script { "You are running in non-interactive mode and have no way to ask." } else { "You are an assistant." };
    let copilot = [
        r#"{"type":"session.start","data":{"sessionId":"p1","context":{"cwd":"/home/ada/shop"}},"id":"1","timestamp":"2026-01-15T13:00:00Z"}"#.into(),
        format!(r#"{{"type":"user.message","data":{{"content":"{REQUEST}"}},"id":"2","timestamp":"2026-01-15T13:00:01Z"}}"#),
        format!(r#"{{"type":"system.message","data":{{"role":"system","content":"{instructions}"}},"id":"3","timestamp":"2026-01-15T13:00:02Z"}}"#),
        r#"{"type":"assistant.message","data":{"messageId":"m","content":"Done."},"id":"4","timestamp":"2026-01-15T13:00:03Z"}"#.into(),
    ];
    // Gemini CLI has no mark: only a second message shows that it is not a script.
    let mut gemini = vec![
        r#"{"sessionId":"g1","projectHash":"x","startTime":"2026-01-15T12:00:00Z"}"#.to_owned(),
        format!(r#"{{"id":"1","timestamp":"2026-01-15T12:00:01Z","type":"user","content":[{{"text":"{REQUEST}"}}]}}"#),
        r#"{"id":"2","timestamp":"2026-01-15T12:00:02Z","type":"gemini","content":"Done."}"#.into(),
    ];
    if !is_script {
        gemini.push(r#"{"id":"3","timestamp":"2026-01-15T12:00:03Z","type":"user","content":[{"text":"go on"}]}"#.into());
        gemini.push(r#"{"id":"4","timestamp":"2026-01-15T12:00:04Z","type":"gemini","content":"Done."}"#.into());
    }
    let lines = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect();
    vec![
        (SESSION, claude),
        (".codex/sessions/2026/01/15/rollout-2026-01-15T11-00-00-c1.jsonl", lines(&codex)),
        (".copilot/session-state/p1/events.jsonl", lines(&copilot)),
        (".gemini/tmp/shop/chats/session-1.jsonl", lines(&gemini)),
    ]
}

#[test]
fn what_a_script_wrote_is_not_evidence_of_what_a_person_wants() {
    let redact: &dyn for<'t> Fn(&'t str) -> std::borrow::Cow<'t, str> = &secrets::redact_strict;
    let hosts = [CLAUDE_CODE, CODEX_HOST, COPILOT_HOST, GEMINI_HOST];
    for ((path, script), (_, conversation), host) in
        runs(true).into_iter().zip(runs(false)).zip(hosts).map(|((script, conversation), host)| (script, conversation, host))
    {
        let words = |found: &[Candidate]| found.iter().map(|found| found.words.clone()).collect::<Vec<_>>();
        let home = Home::new(&[(path, &script)]);
        home.sync();
        let found = home.find();
        assert_eq!((words(&found.candidates), found.read), (vec![], 1), "{path}");
        found.save().unwrap();
        let running = |home: &Home| find_in_running(host, &home.files.root().join(path), redact, None, &SystemClock).unwrap();
        assert_eq!(words(&running(&home)), [""; 0], "{path}");
        // The same conversation with a person; of Gemini CLI, the same transcript after the next message.
        let home = if host == GEMINI_HOST { home } else { Home::new(&[]) };
        home.files.put(path, conversation.as_bytes());
        home.sync();
        assert_eq!(words(&home.find().candidates), [REQUEST], "{path}");
        assert_eq!(words(&running(&home)), [REQUEST], "{path}");
    }
}

#[test]
fn a_script_of_opencode_denies_questions() {
    for (permission, expected) in [(r#"[{"permission":"question","pattern":"*","action":"deny"}]"#, 0), ("[]", 1)] {
        let home = Home::new(&[(".local/share/opencode/log/x", "")]);
        let owner = rusqlite::Connection::open(home.files.root().join(".local/share/opencode/opencode.db")).unwrap();
        owner
            .execute_batch(&format!(
                "CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL, permission TEXT, time_created INTEGER, time_updated INTEGER);
                 CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, data TEXT NOT NULL);
                 CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT NOT NULL);
                 INSERT INTO session VALUES ('ses_1', NULL, '/home/ada/shop', 'One', '{permission}', 1768471200000, 1768471260000);
                 INSERT INTO message VALUES ('m1', 'ses_1', 1768471200000, '{{\"role\":\"user\"}}'), ('m2', 'ses_1', 1768471201000, '{{\"role\":\"assistant\"}}');
                 INSERT INTO part VALUES ('p1', 'm1', 'ses_1', '{{\"type\":\"text\",\"text\":\"{REQUEST}\"}}'), ('p2', 'm2', 'ses_1', '{{\"type\":\"text\",\"text\":\"Done.\"}}');"
            ))
            .unwrap();
        home.sync();
        assert_eq!(home.find().candidates.len(), expected, "{permission}");
    }
}

/// An embedder with a vector for each text: its angle in degrees.
struct Angles(EmbedderId, &'static [(&'static str, f32)]);

impl Embedder for Angles {
    fn id(&self) -> &EmbedderId {
        &self.0
    }
    fn dim(&self) -> usize {
        2
    }
    fn embed(&self, _: EmbedRole, texts: &[&str]) -> memdir_core::Result<Vec<Vector>> {
        let angle = |text: &str| self.1.iter().find(|(known, _)| *known == text).map_or(90.0, |(_, angle)| *angle).to_radians();
        Ok(texts.iter().map(|text| Vector::from_values(&[angle(text).cos(), angle(text).sin()]).unwrap()).collect())
    }
    fn is_instant(&self) -> bool {
        true
    }
}

/// The words of one are among those of the other, which says much more: only their vectors are near.
#[test]
fn a_longer_repeat_is_found_by_its_vector() {
    const SHORT: &str = "Never import from the generated folder.";
    const LONG: &str = "Never import anything from the generated folder into handwritten packages, scripts, fixtures or notebooks.";
    const OTHER: &str = "Use the generated folder for fixtures only.";
    let chat = |text: &str| user(1, text) + &assistant(2, TEXT);
    let found = |second: &str, angle: f32, is_on: bool| {
        let home = Home::new(&[(SESSION, &chat(SHORT)), (SECOND, &chat(second))]);
        home.sync();
        let angles: &'static [(&str, f32)] = Box::leak(Box::new([(SHORT, 0.0), (LONG, angle), (OTHER, angle)]));
        let embedder = Angles(EmbedderId::new("angles", "1"), angles);
        let embedder: Option<&dyn Embedder> = if is_on { Some(&embedder) } else { None };
        let request = FindRequest { project: None, stopped: None, embedder, until: None, clock: &SystemClock };
        find_new(&home.syncer.archive, &request).unwrap().candidates.len()
    };
    assert_eq!(found(LONG, 20.0, true), 1, "a cosine of .94");
    assert_eq!(found(LONG, 20.0, false), 0, "its words alone are too different");
    assert_eq!(found(LONG, 30.0, true), 0, "a cosine of .87");
    assert_eq!(found(OTHER, 5.0, true), 0, "both have words of their own: another rule, however near");
}
