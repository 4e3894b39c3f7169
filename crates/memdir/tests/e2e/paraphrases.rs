//! Repeats in other words, which only vectors find: precision and recall with the built-in model over pairs of sentences that were typed
//! in two conversations. Most pairs of the second table share words and mean something else.

use crate::home::Home;
use memdir_chats::{
    ChatArchive, ChatSettings, Retention, Roots, SyncLimits, SyncMemo, Syncer,
    candidates::{FindRequest, find_all},
    open_sources,
};
use memdir_core::{CandidateKind, Embedder, SystemClock};
use memdir_embed::StaticModel;
use serde_json::json;
use std::{borrow::Cow, fs, sync::Arc};

/// The same rule or fact in other words.
const SAME: &[(&str, &str)] = &[
    ("Never commit directly to the main branch", "Direct commits on the main branch are never allowed"),
    ("All timestamps must be stored in UTC", "Store every timestamp in UTC, always"),
    ("Use pnpm instead of npm in this repository", "This repository uses pnpm, not npm"),
    ("The staging database is called shop_stage", "shop_stage is the name of the staging database"),
    ("Prices are integers in cents, no floats", "No floats for prices, they are integers in cents"),
    ("Always run the linter before you commit", "Before you commit, the linter must always run"),
    ("Migrations that were applied must not be edited", "Do not edit migrations after they were applied"),
    ("Answer in German unless I write English", "Unless I write English, answer in German"),
    ("Tests should use the fake clock and not the system time", "Use the fake clock in tests, not the system time"),
    ("The generated client must not be edited by hand", "Do not edit the generated client by hand"),
    ("Only Dora may change the payment gateway", "The payment gateway may only be changed by Dora"),
    ("Log messages should not contain customer names", "Customer names should not be in log messages"),
];

/// Other rules and facts, with many of the same words.
const OTHER: &[(&str, &str)] = &[
    ("Never commit directly to the main branch", "Never delete the main branch of the mirror"),
    ("All timestamps must be stored in UTC", "All timestamps must be shown in local time"),
    ("Use pnpm instead of npm in this repository", "Use npm instead of pnpm in this repository"),
    ("The staging database is called shop_stage", "The production database is called shop_prod"),
    ("Prices are integers in cents, no floats", "Weights are integers in grams, no floats"),
    ("Always run the linter before you commit", "Always run the formatter before you push"),
    ("Migrations that were applied must not be edited", "Migrations that fail must not be retried by hand"),
    ("Answer in German unless I write English", "Write the documentation in English and not in German"),
    ("Tests should use the fake clock and not the system time", "Tests should use the fake mailer and not the real one"),
    ("The generated client must not be edited by hand", "The generated schema must be checked in by hand"),
    ("Only Dora may change the payment gateway", "Only Max may change the search gateway"),
    ("Log messages should not contain customer names", "Error messages should not contain stack traces"),
    ("Deploys only happen on Tuesdays before noon", "Deploys never happen on Fridays after noon"),
    ("The importer must keep the order of the rows", "The exporter must keep the names of the columns"),
    ("Never use force push on shared branches", "Never use squash merges on shared branches"),
    ("The cart service listens on port 8080", "The stock service listens on port 8081"),
    ("Keep functions below forty lines in the billing module", "Keep comments out of the billing module"),
    ("The nightly job must not run on the replica", "The nightly job must not write to the archive"),
    ("Use the design tokens instead of plain colours", "Use the design system instead of plain buttons"),
    ("Ask me before you add a dependency", "Ask me before you remove a migration"),
    ("Retries should be limited to three attempts", "Uploads should be limited to three megabytes"),
    ("The feature flag must stay off in production", "The feature flag must stay on in staging"),
    ("Do not change the public interface of the parser", "Do not change the public interface of the printer"),
    ("Invoices are numbered per year and country", "Orders are numbered per shop and currency"),
];

/// The cosines at which pairs are compared, around the one that is used.
const COSINES: [f32; 7] = [0.70, 0.75, 0.80, 0.85, 0.90, 0.93, 0.96];

/// Whether two sentences become one candidate, each typed in a conversation of its own.
fn is_found(pair: &(&str, &str), embedder: Option<&dyn Embedder>) -> bool {
    let home = Home::new();
    for (number, text) in [pair.0, pair.1].into_iter().enumerate() {
        let file = home.path(&format!(".claude/projects/-w/s{number}.jsonl"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let record = |kind: &str, id: String, content: serde_json::Value| json!({ "type": kind, "cwd": "/w", "uuid": id, "timestamp": "2026-01-15T10:00:00Z", "message": { "role": kind, "content": content } });
        let typed = record("user", format!("u{number}"), json!(text));
        let answer = record("assistant", format!("a{number}"), json!([{ "type": "text", "text": "All right." }]));
        fs::write(&file, format!("{typed}\n{answer}\n")).unwrap();
    }
    let syncer = Syncer {
        sources: open_sources(&Roots::under(home.path(""))),
        archive: ChatArchive::new(home.path("archive")),
        settings: ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() },
        redact: Box::new(|text| Cow::Borrowed(text)),
        clock: Arc::new(SystemClock),
        project: None,
        memo: SyncMemo::default(),
    };
    syncer.sync(SyncLimits::default(), &mut |_| {}).unwrap();
    let request = FindRequest { project: None, stopped: None, embedder, until: None, clock: &SystemClock };
    let found = find_all(&syncer.archive, &request).unwrap();
    assert!(found.iter().all(|candidate| candidate.kind == CandidateKind::Repeat), "{found:?}");
    !found.is_empty()
}

#[test]
fn repeats_in_other_words_are_found_and_other_rules_are_not() {
    let model = StaticModel::new();
    let embedder: &dyn Embedder = &model;
    let cosine = |pair: &(&str, &str)| {
        let vectors = embedder.embed(memdir_core::internal::search::embed::EmbedRole::Passage, &[pair.0, pair.1]).unwrap();
        vectors[0].cosine(&vectors[1])
    };
    // The table from which the threshold was chosen, for the message.
    let mut table = String::new();
    for (name, pairs) in [("same", SAME), ("other", OTHER)] {
        for pair in pairs {
            table += &format!(
                "{name} {:.3} {}{} {pair:?}\n",
                cosine(pair),
                u8::from(is_found(pair, None)),
                u8::from(is_found(pair, Some(embedder)))
            );
        }
    }
    for limit in COSINES {
        let over = |pairs: &[(&str, &str)]| pairs.iter().filter(|pair| cosine(pair) >= limit).count();
        table += &format!("{limit:.2}: same {} of {}, other {} of {}\n", over(SAME), SAME.len(), over(OTHER), OTHER.len());
    }
    let by_words = SAME.iter().filter(|pair| is_found(pair, None)).count();
    let found = SAME.iter().filter(|pair| is_found(pair, Some(embedder))).count();
    let wrong = OTHER.iter().filter(|pair| is_found(pair, Some(embedder))).count();
    let precision = found as f64 / (found + wrong).max(1) as f64;
    assert!(precision >= 0.9 && found > by_words, "by words {by_words}, with vectors {found} of {}, wrong {wrong}\n{table}", SAME.len());
}
