//! The speed and memory use of a sync: `cargo bench -p memdir-chats --bench chats [megabytes]`; of finding candidates:
//! `cargo bench -p memdir-chats --bench chats candidates [kilobytes of each conversation]`. A plain program that prints megabytes per
//! second, ratios and its own peak memory. `… --bench chats transcripts DIRECTORY` writes 1,000 conversations of 1 MB as the home
//! directory of a person, for measurements of the program: their project is DIRECTORY/shop.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench creates files and prints what it measured"
)]

use memdir_chats::{
    ChatArchive, ChatSettings, Flow, Retention, Roots, SyncLimits, SyncMemo, Syncer, TranscriptCursor,
    candidates::{FindRequest, FoundCandidates, find_new},
    generate::{GeneratorPlan, PROJECT_DIR, generate},
    open_sources,
};
use memdir_core::{
    SystemClock,
    internal::{base::time::Stopwatch, secrets},
};
use memdir_embed::StaticModel;
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    sync::Arc,
};

fn main() {
    let mut args = std::env::args();
    if args.any(|arg| arg == "transcripts") {
        let home = std::path::PathBuf::from(args.next().expect("a directory"));
        return write_home(&home);
    }
    if std::env::args().any(|arg| arg == "candidates") {
        let kilobytes: usize = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(1024);
        // About 100 and 1,000 conversations: with tool output and 5 % typed text, as in real ones; and of nothing but talk, of which a
        // person types a quarter.
        let bytes = kilobytes << 10;
        for per_kind in [7, 70] {
            candidates("real", real_plan(per_kind, bytes));
            candidates("talk", GeneratorPlan { per_kind, filler_bytes: 0, talk_bytes: bytes });
        }
        return;
    }
    let megabytes: u64 = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(500);
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-home-ada-app");
    fs::create_dir_all(&project).unwrap();
    let path = project.join("big.jsonl");
    write_transcript(&path, megabytes << 20);
    let size = fs::metadata(&path).unwrap().len() as f64 / f64::from(1 << 20);
    let sources = open_sources(&Roots::under(home.path()));
    let session = sources[0].sessions().sessions.remove(0);

    let before = peak_memory();
    let watch = Stopwatch::start();
    let mut turns = 0_u64;
    sources[0]
        .turns(&session, &TranscriptCursor::default(), &mut |_| {
            turns += 1;
            Ok(Flow::Continue)
        })
        .unwrap();
    let read = watch.elapsed().as_secs_f64();
    println!("read   {size:.0} MB, {turns} events: {:.0} MB/s, peak memory {} kB (before: {before} kB)", size / read, peak_memory());

    let syncer = new_syncer(home.path());
    let (elapsed, turns) = timed_sync(&syncer);
    println!("sync   {size:.0} MB, {turns} sections: {:.0} MB/s, peak memory {} kB", size / elapsed, peak_memory());

    let small = fs::read(&path).unwrap();
    let small = &small[..small.len().min(100_000)];
    let small = &small[..small.iter().rposition(|&byte| byte == b'\n').unwrap() + 1];
    fs::remove_file(&path).unwrap();
    for i in 0..1000 {
        fs::write(project.join(format!("s{i}.jsonl")), small).unwrap();
    }
    let (first, _) = timed_sync(&syncer);
    let again = (0..10).map(|_| timed_sync(&syncer).0).fold(f64::MAX, f64::min);
    println!("1,000 sessions of {} kB: first {:.0} ms, unchanged {:.1} ms", small.len() / 1000, first * 1000.0, again * 1000.0);
}

/// The plan for conversations with tool output and 5 % typed text.
fn real_plan(per_kind: usize, bytes: usize) -> GeneratorPlan {
    GeneratorPlan { per_kind, filler_bytes: bytes / 5 * 4, talk_bytes: bytes / 5 }
}

/// Writes about 1,000 conversations of 1 MB below a home directory.
fn write_home(home: &Path) {
    let project = home.join("shop");
    fs::create_dir_all(&project).unwrap();
    let generated = generate(1, real_plan(70, 1 << 20));
    for (path, text) in &generated.files {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.replace(PROJECT_DIR, &project.display().to_string())).unwrap();
    }
    println!("{} conversations in {}", generated.conversations, project.display());
}

/// Prints what finding candidates costs beside reading: in all conversations, in none that changed, and in one that did.
fn candidates(shape: &str, plan: GeneratorPlan) {
    let home = tempfile::tempdir().unwrap();
    let generated = generate(1, plan);
    let mut bytes = 0;
    for (path, text) in &generated.files {
        let path = home.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        bytes += text.len();
        fs::write(path, text).unwrap();
    }
    let syncer = new_syncer(home.path());
    let read_all = || {
        let started = cpu_seconds();
        for source in &syncer.sources {
            for session in source.sessions().sessions {
                source.turns(&session, &TranscriptCursor::default(), &mut |_| Ok(Flow::Continue)).unwrap();
            }
        }
        cpu_seconds() - started
    };
    // The first time, the pages of the files are new to the process.
    let read = read_all().min(read_all());
    let (sync, _) = timed_sync(&syncer);
    let (first, found) = timed_find(&syncer);
    found.save().unwrap();
    let unchanged = (0..5).map(|_| timed_find(&syncer).0).fold(f64::MAX, f64::min);
    let (path, text) = &generated.files[1];
    fs::write(home.path().join(path), format!("{text}{}\n", text.lines().last().unwrap())).unwrap();
    timed_sync(&syncer);
    let (changed, _) = timed_find(&syncer);
    println!(
        "{shape}, {} conversations, {:.0} MB: read {:.0} ms, sync {:.0} ms, candidates {:.0} ms ({:.2} of reading; {} found), unchanged {:.1} ms, one changed {:.1} ms",
        generated.conversations,
        bytes as f64 / f64::from(1 << 20),
        read * 1000.0,
        sync * 1000.0,
        first * 1000.0,
        first / read,
        found.candidates.len(),
        unchanged * 1000.0,
        changed * 1000.0,
    );
}

/// Returns the seconds that this thread has run: other programs do not change them.
fn cpu_seconds() -> f64 {
    let times = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

fn timed_find(syncer: &Syncer) -> (f64, FoundCandidates) {
    let started = cpu_seconds();
    // With the built-in model, as the program does it.
    let model = StaticModel::new();
    let request = FindRequest { project: None, stopped: None, embedder: Some(&model), until: None, clock: &SystemClock };
    let found = find_new(&syncer.archive, &request).unwrap();
    (cpu_seconds() - started, found)
}

fn new_syncer(home: &Path) -> Syncer {
    Syncer {
        sources: open_sources(&Roots::under(home)),
        archive: ChatArchive::new(home.join("archive")),
        settings: ChatSettings { on: true, retention: Retention { days: 0, bytes: 0 }, ..ChatSettings::default() },
        redact: Box::new(secrets::redact_strict),
        clock: Arc::new(SystemClock),
        project: None,
        memo: SyncMemo::default(),
    }
}

/// Syncs and returns the seconds it took and the number of archived sections.
fn timed_sync(syncer: &Syncer) -> (f64, u64) {
    let watch = Stopwatch::start();
    let outcome = syncer.sync(SyncLimits::default(), &mut |_| {}).unwrap();
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    (watch.elapsed().as_secs_f64(), outcome.turns)
}

/// Writes a transcript in the proportions of real ones: about half of it progress records, then tool output, then turns.
fn write_transcript(path: &Path, bytes: u64) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let code = "fn main() {\\n    println!(\\\"hello, {}\\\", name);\\n}\\n";
    let words = "The lock is taken before the index is read, which is why the second writer waits. ";
    let (mut written, mut i) = (0, 0_u64);
    while written < bytes {
        let head = format!(
            r#"{{"parentUuid":"{i:036}","isSidechain":false,"userType":"external","cwd":"/home/ada/app","sessionId":"1af7fc5e-8455-4414-9ccd-011d40f70b2a","version":"2.1.202","gitBranch":"main","#
        );
        let secs = i % 60;
        let foot = format!(
            r#""uuid":"{:036}","timestamp":"2026-01-{:02}T{:02}:{:02}:{secs:02}.{:03}Z"}}"#,
            i + 1,
            1 + i / 86_400 % 28,
            i / 3600 % 24,
            i / 60 % 60,
            i % 1000
        );
        let line = match i % 16 {
            0..=6 => format!(r#"{head}"type":"progress","data":{{"type":"bash_progress","fullOutput":"{}"}},{foot}"#, code.repeat(60)),
            7..=10 => format!(
                r#"{head}"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"toolu_1","type":"tool_result","content":"{}"}}]}},"toolUseResult":{{"stdout":"{}"}},{foot}"#,
                code.repeat(40),
                code.repeat(20)
            ),
            11 | 12 => format!(
                r#"{head}"message":{{"id":"msg_{i}","type":"message","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{i}","name":"Edit","input":{{"file_path":"src/main.rs","old_string":"{code}","new_string":"{}"}}}}],"usage":{{"input_tokens":3}}}},"requestId":"req","type":"assistant",{foot}"#,
                code.repeat(10)
            ),
            13 => format!(
                r#"{head}"message":{{"id":"msg_{i}","type":"message","role":"assistant","content":[{{"type":"thinking","thinking":"{}","signature":"x"}}]}},"type":"assistant",{foot}"#,
                words.repeat(20)
            ),
            14 => format!(
                r#"{head}"message":{{"id":"msg_{i}","type":"message","role":"assistant","content":[{{"type":"text","text":"{}\n\n```rust\n{code}```"}}]}},"type":"assistant",{foot}"#,
                words.repeat(4)
            ),
            _ => format!(r#"{head}"type":"user","message":{{"role":"user","content":"{words}"}},{foot}"#),
        };
        written += line.len() as u64 + 1;
        writeln!(out, "{line}").unwrap();
        i += 1;
    }
    out.flush().unwrap();
}

/// Returns the peak memory of this process in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
