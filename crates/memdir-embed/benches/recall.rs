//! What a recall costs in a process that lives long: messages of 20, 60 and 300 words on 1,000 memories.
//! `cargo bench -p memdir-embed --bench recall`.

#![expect(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, reason = "a bench lays out files and prints numbers")]

use memdir_core::{Actor, Embedder, FileStore, Memdir, Mount, Recall, Searcher, SystemClock, internal::base::time::Stopwatch};
use memdir_embed::StaticModel;
use memdir_index::TantivyIndex;
use std::{sync::Arc, time::Duration};

const MEMORIES: usize = 1_000;
const TIMES: usize = 200;
const AROUND: &str = "I have been thinking about the new dashboard all morning and would like your opinion on it. \
    The colours looked fine to me, yet the customers complained about the contrast of the small labels. \
    Could you also have a look at the tests, since two of them became slow after the last upgrade of the compiler. ";

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    std::fs::create_dir(&memory).unwrap();
    for n in 0..MEMORIES {
        let text = format!(
            "---\nname: Module {n}\ntype: project\n---\n\nThe release of module {n} goes out on day {} after the review by team {}.\n\nIts database lives on host-{n} and its cache keys begin with m{n}.\n",
            n % 28,
            n % 13
        );
        std::fs::write(memory.join(format!("m{n}.md")), text).unwrap();
    }
    std::thread::sleep(Duration::from_millis(2_100));
    let store = FileStore::open(&[Mount::new("", memory, folder.path().join("journal"))]).unwrap();
    let model: Arc<dyn Embedder> = Arc::new(StaticModel::new());
    let identity = Some((model.id().clone(), model.dim()));
    let searcher = Searcher::new(&store, Some(model), Arc::new(SystemClock), |info| {
        Arc::new(TantivyIndex::for_mount(&folder.path().join("cache"), &info.root, &info.rules, identity.clone()))
    });
    searcher.index(&store, false, &|_| {}).unwrap();
    let memdir = Memdir::new(Arc::new(store), Actor { name: "ada".into(), session: None }).with_searcher(searcher.watching());
    let cache = folder.path().join("wires.json");
    for words in [20, 60, 300] {
        let mut took = Vec::new();
        let mut recalled_some = 0;
        for n in 0..TIMES {
            let around: Vec<&str> = AROUND.split_whitespace().cycle().take(words).collect();
            let message = format!("{} On which day does the release of module {} go out?", around.join(" "), n * 5 % MEMORIES);
            let watch = Stopwatch::start();
            let recalled = memdir.recall(&Recall { message: Some(&message), cache: Some(&cache), ..Recall::default() }).unwrap();
            took.push(watch.elapsed());
            recalled_some += usize::from(!recalled.shown.is_empty());
        }
        took.sort();
        let ms = |at: usize| took[at].as_secs_f64() * 1e3;
        println!(
            "{words:>3} words: {:.2} ms median, {:.2} ms 99th (limit 5); {recalled_some} of {TIMES} recalled something",
            ms(TIMES / 2),
            ms(TIMES * 99 / 100)
        );
    }
}
