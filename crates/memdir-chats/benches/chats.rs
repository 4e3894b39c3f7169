//! How fast chats are taken in, and in how much memory: `cargo bench -p memdir-core --bench chats [megabytes]`.
//! A plain program: its numbers are megabytes a second and the peak of its own memory.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a bench lays out files and prints what it measured"
)]

use memdir_chats::{
    ChatSource, Cursor, Flow, Roots,
    forget::Retention,
    keep::Keep,
    sync::{Bounds, Settings, sync},
};
use memdir_core::{
    base::time::{Stopwatch, SystemClock},
    secrets,
};
use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
};

fn main() {
    let megabytes: u64 = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(500);
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join(".claude/projects/-home-ada-app");
    fs::create_dir_all(&project).unwrap();
    let path = project.join("big.jsonl");
    write_transcript(&path, megabytes << 20);
    let size = fs::metadata(&path).unwrap().len() as f64 / f64::from(1 << 20);
    let sources = Roots::under(home.path()).sources();
    let session = sources[0].sessions().sessions.remove(0);

    let before = peak_memory();
    let watch = Stopwatch::start();
    let mut turns = 0_u64;
    sources[0]
        .turns(&session, &Cursor::default(), &mut |_| {
            turns += 1;
            Ok(Flow::Continue)
        })
        .unwrap();
    let read = watch.elapsed().as_secs_f64();
    println!("read   {size:.0} MB, {turns} events: {:.0} MB/s, peak memory {} kB (before: {before} kB)", size / read, peak_memory());

    let keep = Keep::new(home.path().join("kept"));
    let (elapsed, turns) = synced(&sources, &keep);
    println!("sync   {size:.0} MB, {turns} sections: {:.0} MB/s, peak memory {} kB", size / elapsed, peak_memory());

    let small = fs::read(&path).unwrap();
    let small = &small[..small.len().min(100_000)];
    let small = &small[..small.iter().rposition(|&byte| byte == b'\n').unwrap() + 1];
    fs::remove_file(&path).unwrap();
    for i in 0..1000 {
        fs::write(project.join(format!("s{i}.jsonl")), small).unwrap();
    }
    let (first, _) = synced(&sources, &keep);
    let again = (0..10).map(|_| synced(&sources, &keep).0).fold(f64::MAX, f64::min);
    println!("1,000 sessions of {} kB: first {:.0} ms, unchanged {:.1} ms", small.len() / 1000, first * 1000.0, again * 1000.0);
}

fn synced(sources: &[Box<dyn ChatSource>], keep: &Keep) -> (f64, u64) {
    let settings = Settings { on: true, retention: Retention { days: 0, bytes: 0 }, ..Settings::default() };
    let watch = Stopwatch::start();
    let synced = sync(sources, keep, &settings, &secrets::mask_all, &SystemClock, Bounds::default(), &mut |_| {}).unwrap();
    assert!(synced.problems.is_empty(), "{:?}", synced.problems);
    (watch.elapsed().as_secs_f64(), synced.turns)
}

/// A transcript in the proportions of real ones: about half of it progress records, then tool output, then what was said.
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

/// The most memory this process has held, in kB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok()).unwrap_or(0)
}
