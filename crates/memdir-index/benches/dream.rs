//! The cost of a plan for 10,000 memories beside the cost of indexing them, in one run: `cargo bench -p memdir-index --bench dream`. A plan
//! may cost three times as much.

use memdir_core::{
    Actor, Clock, Dream, FileStore, Memdir, Mount, Searcher, SystemClock, internal::base::time::Stopwatch, testing::DreamCorpus,
};
use memdir_index::TantivyIndex;
use std::{fs, sync::Arc};

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench writes its memories by hand and prints what it measured")]
fn main() {
    let top = tempfile::tempdir().expect("a directory");
    let corpus = DreamCorpus::clean(1, 10_000);
    for (path, text) in &corpus.files {
        let file = top.path().join("memory").join(path);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file");
    }
    let mount = Mount::new("", top.path().join("memory"), top.path().join("journal"));
    let store = Arc::new(FileStore::open(&[mount]).expect("a store"));
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let cache = top.path().join("cache");
    let searcher = Searcher::new(&*store, None, clock, |info| Arc::new(TantivyIndex::for_mount(&cache, &info.root, &info.rules, None)));
    let memdir = Memdir::new(store, Actor { name: "bench".into(), session: None }).with_searcher(searcher);
    for round in 1..=3 {
        let watch = Stopwatch::start();
        memdir.searcher().and_then(|searcher| searcher.index(memdir.store(), true, &|_| {})).expect("an index");
        let index = watch.elapsed();
        let watch = Stopwatch::start();
        let plan = memdir.dream(&Dream::default()).expect("a plan");
        let dream = watch.elapsed();
        let ratio = dream.as_secs_f64() / index.as_secs_f64();
        println!(
            "round {round}: {} memories, index {index:.2?}, plan {dream:.2?} ({} operations), ratio {ratio:.2}",
            plan.memories,
            plan.operations.len()
        );
    }
}
