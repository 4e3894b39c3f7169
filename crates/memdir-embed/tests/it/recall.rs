//! Recall on whole prompts: a question inside 20, 60 or 300 words recalls its memory, and a prompt without a related memory
//! recalls nothing.

use memdir_core::{Actor, Embedder, FileStore, Memdir, Mount, Recall, Searcher, SystemClock};
use memdir_embed::StaticModel;
use memdir_index::TantivyIndex;
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A memory with a question that it answers.
const PLANTED: [(&str, &str, &str); 24] = [
    (
        "deploy",
        "Deploys go out on Tuesday mornings, never on Fridays; Ada approves each of them.",
        "On which day may I deploy the shop, and who approves it?",
    ),
    (
        "database",
        "The staging database is restored every night from the production snapshot at 02:00.",
        "When does the staging database get restored?",
    ),
    (
        "indent",
        "Use tabs for indentation in this repository; the formatter is rustfmt with hard_tabs.",
        "Which indentation does the formatter want here, tabs or spaces?",
    ),
    (
        "payments",
        "The payments webhook retries five times and then parks the event in the dead letter queue.",
        "What happens to a payments webhook event after the retries?",
    ),
    (
        "flaky",
        "test_checkout_total is flaky because it depends on the local time zone; set TZ=UTC.",
        "Why is test_checkout_total flaky on my laptop?",
    ),
    (
        "release-notes",
        "Release notes are written by hand in docs/changes and reviewed by Priya.",
        "Who reviews the release notes before we publish?",
    ),
    (
        "cache",
        "The Redis cache keys carry the tenant id as a prefix, tenant:42:cart.",
        "What prefix do our Redis cache keys carry for a tenant?",
    ),
    ("oncall", "The on-call rotation changes on Monday at noon and is kept in PagerDuty.", "Where is the on-call rotation kept?"),
    (
        "migrations",
        "Schema migrations must be backward compatible for one release, so columns are dropped one release later.",
        "Can I drop the column in the same release as the schema migration?",
    ),
    (
        "api-limits",
        "The public API allows 600 requests a minute per key and answers 429 with Retry-After.",
        "How many requests a minute does the public API allow per key?",
    ),
    (
        "images",
        "Product images are resized by the thumbnailer service to 320, 640 and 1280 pixels.",
        "Which sizes does the thumbnailer make of product images?",
    ),
    ("search-index", "The search index is rebuilt with make reindex; it takes twenty minutes.", "How do I rebuild the search index?"),
    (
        "secrets",
        "Secrets live in FileStore under kv/shop and are mounted as files, never as environment variables.",
        "Where do the secrets of the shop live, in FileStore or in environment variables?",
    ),
    (
        "accessibility",
        "Every dialog must trap focus and close on Escape; the audit is with axe.",
        "Does a dialog have to trap focus and close on Escape?",
    ),
    (
        "currency",
        "Amounts are stored in minor units as integers; never use floats for currency.",
        "Should I store amounts as floats or as integers of minor units?",
    ),
    (
        "feature-flags",
        "Feature flags are read from LaunchDarkly and default to off when it is unreachable.",
        "What do feature flags default to when LaunchDarkly is unreachable?",
    ),
    (
        "legal",
        "Customer exports must be deleted after 30 days because of the data processing agreement.",
        "After how many days must customer exports be deleted?",
    ),
    ("team", "Priya owns the checkout, Jonas owns the catalogue, Ada owns infrastructure.", "Who owns the catalogue these days?"),
    (
        "logging",
        "Log lines are JSON with trace_id and span_id; printing to stdout is forbidden in services.",
        "Which ids must a JSON log line have?",
    ),
    (
        "emails",
        "Transactional emails go through Postmark; the sandbox token swallows everything.",
        "Do transactional emails go through Postmark?",
    ),
    (
        "windows",
        "The Windows build needs the long path setting, otherwise node_modules breaks it.",
        "Which setting does the Windows build need for node_modules?",
    ),
    (
        "graphql",
        "GraphQL mutations return a userErrors list and never throw for validation.",
        "What do our GraphQL mutations return when validation fails?",
    ),
    (
        "kafka",
        "The orders topic in Kafka has twelve partitions keyed by customer id.",
        "How many partitions does the orders topic in Kafka have?",
    ),
    (
        "mobile",
        "The mobile app supports two versions back; older ones get the upgrade screen.",
        "Which mobile app versions get the upgrade screen?",
    ),
];

/// Text around a question, without a related memory.
const AROUND: [&str; 24] = [
    "Good morning, I hope the weekend was relaxing and the weather treated you kindly.",
    "I have just brewed a pot of green tea and finally found some quiet to concentrate.",
    "Please take a careful look and think before answering, there is no hurry whatsoever.",
    "My colleague sketched an idea on the whiteboard yesterday but the photograph is blurry.",
    "I would like the explanation to be short, friendly and free of jargon if possible.",
    "Yesterday evening I walked along the river and listened to a podcast about medieval castles.",
    "The train was late again, so I am typing this from a noisy platform.",
    "Feel free to challenge my assumptions, because I am probably overlooking something obvious.",
    "Somebody mentioned a similar puzzle at lunch, yet nobody remembered the punch line.",
    "I already tried turning it off and on, which sadly improved nothing at all.",
    "Let us go step by step, and tell me whenever you are unsure about a detail.",
    "The designer sent a lovely illustration of a whale wearing a tiny bowler hat.",
    "Afterwards we can tidy everything up and celebrate with a slice of carrot cake.",
    "My notebook is full of doodles, so forgive me if this sounds slightly scattered.",
    "It reminds me of a crossword where the last corner simply refuses to fit.",
    "Honestly, I expected this to be trivial and now half the afternoon is gone.",
    "If anything is ambiguous, choose the simplest interpretation and mention it briefly.",
    "The neighbours are drilling into the wall, which does not help my patience.",
    "I promised my sister an update tonight, she is curious how it turns out.",
    "Nothing here is urgent, but curiosity keeps nagging me like a mosquito.",
    "Think of it as explaining chess to a clever child who asks many follow-ups.",
    "There was a rainbow over the stadium earlier and everybody stopped to stare.",
    "Use bullet points only where they truly help, otherwise plain prose reads better.",
    "Thanks a lot in advance, your patience with my rambling is much appreciated.",
];

/// Prompts that ask for something without a related memory.
const NOTHING: [&str; 24] = [
    "Could you write a haiku about autumn leaves falling on a pond?",
    "Translate this paragraph into Portuguese for my aunt.",
    "How tall is the Eiffel Tower, including its antenna?",
    "Explain the rules of cricket to somebody from Iceland.",
    "Suggest a vegetarian dinner with chickpeas and spinach.",
    "Draw an ASCII picture of a sleeping hedgehog.",
    "What is the difference between a violin and a viola?",
    "Summarise the plot of Macbeth in three sentences.",
    "Recommend a hiking route in the Dolomites for beginners.",
    "How does a refrigerator move heat from inside to outside?",
    "Compose a limerick about a pirate who fears parrots.",
    "Which planets have rings besides Saturn?",
    "Give me five names for a bakery run by twins.",
    "Why do cats knead blankets before lying down?",
    "Convert twelve fluid ounces to millilitres.",
    "Plan a birthday party with an astronaut theme.",
    "Prove that the square root of two is irrational.",
    "What is the capital of Mongolia and how cold does it get?",
    "Describe how glaciers carve valleys.",
    "Teach me to juggle three oranges.",
    "Who painted the ceiling of the Sistine Chapel?",
    "Make up a riddle whose solution is a shadow.",
    "How do bees find their way back to the hive?",
    "Rewrite this apology so that it sounds sincere.",
];

/// A prompt of about `words` words, with the question somewhere in it.
fn prompt(question: &str, words: usize, turn: usize) -> String {
    let mut around: Vec<&str> = Vec::new();
    let mut count = question.split_whitespace().count();
    for n in 0.. {
        let next = AROUND[(turn * 5 + n) % AROUND.len()];
        count += next.split_whitespace().count();
        if count > words + 6 || n == AROUND.len() {
            break;
        }
        around.push(next);
    }
    let at = turn % (around.len() + 1);
    around.insert(at, question);
    around.join(" ")
}

/// Messages of people at work that ask for no memory.
const SMALL_TALK: [&str; 36] = [
    "yes",
    "continue",
    "ok",
    "go on",
    "no, the other one",
    "thanks, looks good",
    "do it",
    "why?",
    "try again",
    "sounds good, go ahead",
    "what do you think?",
    "Can you explain that again?",
    "There is no hurry at all.",
    "Do not touch anything that is unrelated.",
    "I spent the morning looking at various things and would like to go on from where we stopped.",
    "Please keep the change small and explain each step.",
    "Once you are done tell me what you did.",
    "I had some coffee and talked to a colleague for a while.",
    "It would be nice if this could be finished before lunch.",
    "If something is unclear just ask me first.",
    "We can always clean it up later.",
    "Let me know what you think about the plan in general.",
    "I am writing this from my phone so please excuse typing mistakes.",
    "Generally speaking I prefer short answers with one example.",
    "Have a look at the loop in the parser and the helper that formats the output.",
    "It returns the wrong value when the list is empty.",
    "The second argument could be renamed to something better.",
    "Hmm, that is not what I meant, go back one step.",
    "My manager keeps asking when this will be ready, so let us be pragmatic.",
    "I will be in a meeting until four and read your answer afterwards.",
    "The diff is a bit long for my taste, can you split it?",
    "Weird, it worked on Friday and nobody has changed anything since.",
    "Wait, stop, I think we are going in circles here.",
    "Great job on the last one, that saved me hours.",
    "Sorry for the confusion, I pasted the wrong snippet.",
    "Could you say that in simpler words, as if I were new here?",
];

/// Memory files of real projects, among which planted ones must still be found; none if the corpus is missing.
fn real_files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/memory-files");
    let Ok(projects) = std::fs::read_dir(folder) else { return Vec::new() };
    let files = projects.flatten().flat_map(|project| std::fs::read_dir(project.path()).into_iter().flatten().flatten());
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    files.retain(|path| path.file_name().is_some_and(|name| name != "MEMORY.md"));
    files.sort();
    files
}

fn space(folder: &Path, beside: &[PathBuf]) -> Memdir {
    let notes = PLANTED.map(|(name, text, _)| (name.to_owned(), format!("---\nname: {name}\ntype: project\n---\n\n{text}\n")));
    space_of(folder, &notes.into(), beside)
}

fn space_of(folder: &Path, notes: &BTreeMap<String, String>, beside: &[PathBuf]) -> Memdir {
    let memory = folder.join("memory");
    std::fs::create_dir(&memory).expect("a directory");
    for (n, file) in beside.iter().enumerate() {
        std::fs::copy(file, memory.join(format!("real-{n}.md"))).expect("a real file");
    }
    for (name, text) in notes {
        std::fs::write(memory.join(format!("{name}.md")), text).expect("a note");
    }
    let store = FileStore::open(&[Mount::new("", memory, folder.join("journal"))]).expect("a store");
    let model: Arc<dyn Embedder> = Arc::new(StaticModel::new());
    let identity = Some((model.id().clone(), model.dim()));
    let searcher = Searcher::new(&store, Some(model), Arc::new(SystemClock), |info| {
        Arc::new(TantivyIndex::for_mount(&folder.join("cache"), &info.root, &info.rules, identity.clone()))
    });
    Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None }).with_searcher(searcher)
}

fn recalled(memdir: &Memdir, message: &str) -> Vec<String> {
    let recalled = memdir.recall(&Recall { message: Some(message), ..Recall::default() }).expect("a recall");
    assert_eq!(recalled.text.is_empty(), recalled.shown.is_empty());
    recalled.shown.into_iter().map(|shown| shown.name).collect()
}

/// Small talk of about `words` words.
fn small_talk(words: usize, turn: usize) -> String {
    let mut phrases: Vec<&str> = Vec::new();
    let mut count = 0;
    for n in 0..SMALL_TALK.len() {
        if count >= words && n > 0 {
            break;
        }
        let next = SMALL_TALK[(turn + n * 7) % SMALL_TALK.len()];
        count += next.split_whitespace().count();
        phrases.push(next);
    }
    phrases.join("\n")
}

fn false_recalls(memdir: &Memdir, prompts: impl Iterator<Item = String>) -> Vec<(String, Vec<String>)> {
    prompts.map(|prompt| (recalled(memdir, &prompt), prompt)).filter(|(shown, _)| !shown.is_empty()).map(|(a, b)| (b, a)).collect()
}

#[expect(clippy::print_stderr, reason = "the numbers are worth seeing")]
fn measure(memdir: &Memdir, among: &str) {
    for words in [0, 20, 60, 300] {
        let missed: Vec<&str> = PLANTED
            .iter()
            .enumerate()
            .filter(|(turn, (name, _, question))| !recalled(memdir, &prompt(question, words, *turn)).iter().any(|shown| shown == name))
            .map(|(_, (name, ..))| *name)
            .collect();
        let asked = false_recalls(memdir, NOTHING.iter().enumerate().map(|(turn, question)| prompt(question, words, turn)));
        let talked = false_recalls(memdir, (0..SMALL_TALK.len()).map(|turn| small_talk(words, turn)));
        eprintln!(
            "{among}, {words} words: found {}/{}, nothing for nothing {}/{}, for small talk {}/{}",
            PLANTED.len() - missed.len(),
            PLANTED.len(),
            NOTHING.len() - asked.len(),
            NOTHING.len(),
            SMALL_TALK.len() - talked.len(),
            SMALL_TALK.len()
        );
        assert!(missed.len() * 100 <= PLANTED.len() * 15, "{among}, {words} words: missed {missed:?}");
        assert!(asked.len() * 100 <= NOTHING.len() * 15, "{among}, {words} words: unwanted: {asked:#?}");
        assert!(talked.len() * 100 <= SMALL_TALK.len() * 15, "{among}, {words} words: unwanted: {talked:#?}");
    }
}

#[test]
fn a_question_in_a_long_prompt_brings_its_memory_and_nothing_brings_nothing() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    measure(&space(folder.path(), &[]), "alone");
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn the_same_holds_among_the_memories_of_real_projects() {
    let beside = real_files();
    if beside.is_empty() {
        eprintln!("skipped: no real memory files at hand");
        return;
    }
    let folder = tempfile::tempdir().expect("a scratch directory");
    measure(&space(folder.path(), &beside), "among real files");
}

/// The memories of a project with what people at work on it wrote.
#[derive(Deserialize)]
struct Project {
    memories: BTreeMap<String, String>,
    planted: Vec<Planted>,
    nothing: Vec<String>,
}

#[derive(Deserialize)]
struct Planted {
    memory: String,
    /// Whether the question has no rare word of its memory: then only meaning can find it, which it often does not.
    other_words: bool,
    /// The question alone, and in 20, 60 and 300 words.
    prompts: [String; 4],
}

/// An entrypoint with one line for each memory.
fn entrypoint(memories: &BTreeMap<String, String>) -> String {
    let line = |(name, text): (&String, &String)| {
        let description = text.lines().find_map(|line| line.strip_prefix("description: ")).unwrap_or_default();
        format!("- [{name}]({name}.md): {description}\n")
    };
    memories.iter().map(line).collect()
}

#[expect(clippy::print_stderr, reason = "the numbers are worth seeing")]
fn holds_in(project: &str, beside: &[PathBuf]) {
    let project: Project = serde_json::from_str(project).expect("a project");
    let folder = tempfile::tempdir().expect("a scratch directory");
    let mut files = project.memories.clone();
    files.insert("MEMORY".into(), entrypoint(&project.memories));
    let memdir = space_of(folder.path(), &files, beside);
    for at in 0..4 {
        let found = |one: &&Planted| recalled(&memdir, &one.prompts[at]).contains(&one.memory);
        let (other, same): (Vec<&Planted>, Vec<&Planted>) = project.planted.iter().partition(|one| one.other_words);
        let (found_same, found_other) = (same.iter().copied().filter(found).count(), other.iter().copied().filter(found).count());
        eprintln!("{}: found {found_same}/{}, in other words {found_other}/{}", ["alone", "20", "60", "300"][at], same.len(), other.len());
        assert!(found_same * 100 >= same.len() * 85, "found {found_same} of {}", same.len());
    }
    let unwanted = false_recalls(&memdir, project.nothing.iter().cloned());
    eprintln!("nothing for nothing {}/{}", project.nothing.len() - unwanted.len(), project.nothing.len());
    assert!(unwanted.len() * 100 <= project.nothing.len() * 15, "unwanted: {unwanted:#?}");
}

#[test]
fn what_people_write_at_work_brings_what_matters() {
    for project in [include_str!("../data/recall-shipping.json"), include_str!("../data/recall-game.json")] {
        holds_in(project, &[]);
        holds_in(project, &real_files());
    }
}

/// Filler phrases that are in no word list seldom change what is recalled.
#[test]
#[expect(clippy::print_stderr, reason = "the numbers are worth seeing")]
fn filler_phrases_seldom_change_a_decision() {
    let around: Vec<(&str, &str)> =
        include_str!("../data/recall-fillers.txt").lines().map(|line| line.split_once('|').expect("before | after")).collect();
    let (mut flips, mut asked) = (0, 0);
    for project in [include_str!("../data/recall-shipping.json"), include_str!("../data/recall-game.json")] {
        let project: Project = serde_json::from_str(project).expect("a project");
        let folder = tempfile::tempdir().expect("a scratch directory");
        let memdir = space_of(folder.path(), &project.memories, &[]);
        let table = memdir.recall_table(None).expect("a table");
        let shown = |message: &str| {
            let recalled = memdir.recall_from(&Recall { message: Some(message), ..Recall::default() }, &table).expect("a recall");
            recalled.shown.into_iter().map(|shown| shown.name).collect::<std::collections::BTreeSet<_>>()
        };
        for prompt in project.planted.iter().map(|one| &one.prompts[0]).chain(&project.nothing) {
            let expected = shown(prompt);
            asked += around.len();
            flips += around.iter().filter(|(before, after)| shown(&format!("{before}{prompt}{after}")) != expected).count();
        }
    }
    eprintln!("{flips} of {asked} decisions changed");
    assert!(flips * 100 <= asked * 5, "{flips} of {asked}");
}

/// Many notes that differ only in a number: the number decides. A number alone is not a question.
#[test]
fn a_small_number_distinguishes_similar_notes() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let tuned = ["amber", "basalt", "cobalt", "dune", "ember", "fjord", "garnet"];
    let note = |n: usize| (format!("n{n:03}"), format!("The frobnicator number {n} is tuned to {} {}.\n", tuned[n % 7], tuned[n / 7 % 7]));
    let memdir = space_of(folder.path(), &(1..=200).map(note).collect(), &[]);
    for n in [3, 17, 42, 99, 117] {
        let shown = recalled(&memdir, &format!("what is the frobnicator number {n} tuned to?"));
        assert_eq!(shown.first(), Some(&format!("n{n:03}")), "{shown:?}");
    }
    for nothing in ["7 |", "17", "do step 17 next", "see line 42, please"] {
        assert_eq!(recalled(&memdir, nothing), [""; 0], "{nothing}");
    }
}

/// In a pasted log line or stack trace only the words of the message count, not names, ids and frames of libraries.
#[test]
fn a_pasted_log_line_or_stack_trace_brings_what_it_is_about() {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let notes = [
        ("orders-db", "The orders-db host moved to port 6543; connection refused means the pgbouncer sidecar is down."),
        ("gateway", "PaymentGatewayClient times out after 3 s; the webhook retries five times."),
        ("ledger", "The stock ledger service drops reservations older than ten minutes."),
        ("checkout", "test_checkout_total is flaky because it depends on the local time zone; set TZ=UTC."),
        ("cart", "cart::pricing::apply_discount panics with index out of bounds when the coupon list is empty."),
        ("images", "Product images are resized by the thumbnailer service to 320, 640 and 1280 pixels."),
        ("emails", "Transactional emails go through Postmark; the sandbox token swallows everything."),
        ("oncall", "The on-call rotation changes on Monday at noon and is kept in PagerDuty."),
    ];
    let notes = notes.map(|(name, text)| (name.to_owned(), format!("---\nname: {name}\ntype: project\n---\n\n{text}\n")));
    let memdir = space_of(folder.path(), &notes.into(), &[]);
    let pasted = [
        ("orders-db", r#"{"level":"error","msg":"connection refused to orders-db","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"#),
        (
            "orders-db",
            r#"{"timestamp":"2026-11-16T10:22:33.123Z","level":"ERROR","logger":"com.acme.shop.Repository","thread":"http-nio-8080-exec-7","message":"Could not open JDBC Connection: connection refused to orders-db:6543","span_id":"00f067aa0ba902b7","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","host":"ip-10-2-3-4"}"#,
        ),
        ("orders-db", "{\n  \"level\": \"error\",\n  \"msg\": \"connection refused\",\n  \"host\": \"orders-db\"\n}"),
        (
            "orders-db",
            r#"{"log":"{\"level\":\"warn\",\"msg\":\"connection refused:\\n\\torders-db:6543\"}\n","stream":"stderr","time":"2026-11-16T10:22:33Z"}"#,
        ),
        (
            "gateway",
            "java.net.SocketTimeoutException: Read timed out\n\tat com.acme.pay.PaymentGatewayClient.post(PaymentGatewayClient.java:88)\n\tat com.acme.pay.WebhookHandler.handle(WebhookHandler.java:31)\n\tat java.base/java.lang.Thread.run(Thread.java:829)",
        ),
        ("ledger", "TypeError: undefined is not a function\n    at StockLedgerService.drop (/srv/app/dist/main.js:12:7)"),
        (
            "checkout",
            "Traceback (most recent call last):\n  File \"/home/ci/app/tests/test_checkout.py\", line 41, in test_checkout_total\n    assert total == expected\nAssertionError",
        ),
        ("cart", "thread 'main' panicked at src/cart/pricing.rs:142:17:\nindex out of bounds: the len is 0 but the index is 0"),
    ];
    for (name, text) in pasted {
        for message in [text.to_owned(), format!("why does this happen?\n\n{text}")] {
            assert_eq!(recalled(&memdir, &message), [name], "{message}");
        }
    }
    for nothing in [
        r#"{"level":"info","msg":"request served in 12ms","path":"/health","status":200,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736"}"#,
        r#"{"name":"left-pad","version":"1.3.0","license":"WTFPL","dependencies":{}}"#,
        "Traceback (most recent call last):\n  File \"/usr/lib/python3/dist-packages/foo/render.py\", line 12, in draw\n    canvas.blit(sprite)\nValueError: sprite has no surface",
    ] {
        assert_eq!(recalled(&memdir, nothing), [""; 0], "{nothing}");
    }
}
