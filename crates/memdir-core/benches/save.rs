//! What saving costs, as ratios to one bare durable write of the same bytes in the same run.
//! `cargo bench -p memdir-core --bench save`

use memdir_core::{Actor, FileStore, Memdir, MemoryPath, Mount, Write, WriteMode, internal::base::time::Stopwatch};
use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    sync::Arc,
    time::Duration,
};

const ROUNDS: usize = 200;

#[expect(clippy::print_stdout, reason = "a bench talks to the person who runs it")]
fn main() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let text = "Push the tag, wait for the green build, then tell the channel.\n".repeat(8);
    let (mut at_100, mut at_10_000) = (space(scratch.path(), 100), space(scratch.path(), 10_000));
    let (mut bare, mut small, mut large, mut again) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let dir = scratch.path().join("bare");
    fs::create_dir(&dir).expect("a directory");
    // Interleaved, so that a slow moment of the machine hits all alike.
    for n in 0..ROUNDS {
        bare.push(time(|| durable(&dir, &format!("bare-{n}.md"), text.as_bytes())));
        small.push(time(|| save(&mut at_100, &format!("new-{n}"), &text, WriteMode::Create)));
        large.push(time(|| save(&mut at_10_000, &format!("new-{n}"), &text, WriteMode::Create)));
        again.push(time(|| save(&mut at_10_000, &format!("memory-{:05}", n * 37), &format!("{text}{n}\n"), WriteMode::Replace)));
    }
    let bare = median(bare);
    let row = |what: &str, took: Duration, of: Duration| {
        println!("{what:<44} {:>8.3} ms {:>6.2} x", took.as_secs_f64() * 1e3, took.as_secs_f64() / of.as_secs_f64());
    };
    let (small, large, again) = (median(small), median(large), median(again));
    println!("medians of {ROUNDS}");
    row("one bare durable write", bare, bare);
    row("saving a new memory beside 100 (limit 6 x)", small, bare);
    row("saving a new memory beside 10,000", large, bare);
    row("replacing one of 10,000", again, bare);
    row("10,000 against 100 (limit 1.5 x)", large, small);
}

fn space(scratch: &Path, memories: usize) -> Memdir {
    let root = scratch.join(format!("with-{memories}"));
    fs::create_dir(&root).expect("a directory");
    for n in 0..memories {
        let mut file = File::create(root.join(format!("memory-{n:05}.md"))).expect("a file");
        writeln!(file, "---\ndescription: What number {n} is about, in one ordinary line\n---\nBody of {n}.").expect("a file");
    }
    let mount = Mount::new("", &root, scratch.join(format!("journal-{memories}")));
    let memdir = Memdir::new(Arc::new(FileStore::open(&[mount]).expect("a store")), Actor { name: "bench".into(), session: None });
    memdir.repair(true).expect("an entrypoint");
    memdir
}

fn save(memdir: &mut Memdir, name: &str, text: &str, mode: WriteMode) {
    memdir.write(&Write::create(MemoryPath::parse(name).expect("a name"), text).mode(mode)).expect("a save");
}

#[expect(clippy::disallowed_methods, reason = "the baseline: the same steps by hand")]
fn durable(dir: &Path, name: &str, bytes: &[u8]) {
    let temp = dir.join("temp");
    let mut file = File::create(&temp).expect("a file");
    file.write_all(bytes).expect("a write");
    file.sync_all().expect("a sync");
    fs::rename(&temp, dir.join(name)).expect("a rename");
    File::open(dir).and_then(|dir| dir.sync_all()).expect("a sync");
}

fn time(work: impl FnOnce()) -> Duration {
    let watch = Stopwatch::start();
    work();
    watch.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
