//! Searches one plain directory from the command line: the smallest program around the library.
//!
//! `search_dir --dir DIR search (--batch FILE | QUERY) --json [--max-results N] [--min-score S] [--embedder none] [--cache DIR] [--repeat N]`

use memdir_core::{
    MemoryPath, Mount, Vault,
    search::{Answer, Search, Searcher},
    store::{Access, View as _},
    tantivy_index::TantivyIndex,
    time::{Stopwatch, SystemClock},
};
use memdir_embed::StaticModel;
use serde_json::{Value, json};
use std::{io::Write as _, path::PathBuf, sync::Arc};

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).map(String::as_str);
    let dir = PathBuf::from(option("--dir").unwrap_or("."));
    let cache = option("--cache").map(PathBuf::from).unwrap_or_else(default_cache);
    let mut mount = Mount::new("", dir.canonicalize()?, cache.join("journal"));
    mount.access = Access::ReadOnly;
    let store = Vault::open(&[mount])?;
    let embedder: Option<Arc<dyn memdir_core::embed::Embedder>> = match option("--embedder") {
        Some("none") => None,
        _ => Some(Arc::new(StaticModel::new())),
    };
    let identity = embedder.as_ref().map(|e| (e.id().clone(), e.dim()));
    let searcher = Searcher::new(&store, embedder, Arc::new(SystemClock), |info| {
        Arc::new(TantivyIndex::of_mount(&cache, &info.root, identity.clone()))
    });
    let searcher = if option("--repeat").is_some() { searcher.watching() } else { searcher };
    let search = |query: &str| {
        let mut search = Search::new(query);
        search.max_results = option("--max-results").and_then(|n| n.parse().ok()).unwrap_or(10);
        search.min_score = option("--min-score").and_then(|n| n.parse().ok()).unwrap_or(search.min_score);
        search.explain = args.iter().any(|arg| arg == "--explain");
        search
    };
    let queries: Vec<(Value, String)> = match option("--batch") {
        Some(file) => {
            std::fs::read_to_string(file)?.lines().filter(|line| !line.trim().is_empty()).map(read_line).collect::<anyhow::Result<_>>()?
        }
        None => vec![(Value::Null, args.last().cloned().unwrap_or_default())],
    };
    if let Some(name) = option("--why-not") {
        let why = searcher.why_not(&store, &search(&queries[0].1), &MemoryPath::parse(name)?)?;
        writeln!(std::io::stdout(), "{}", why.say())?;
        return Ok(());
    }
    if let Some(times) = option("--repeat").and_then(|n| n.parse::<usize>().ok()) {
        return repeat(&searcher, &store, queries.iter().map(|(_, query)| search(query)).collect(), times);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout());
    let searches: Vec<Search> = queries.iter().map(|(_, query)| search(query)).collect();
    for ((id, _), answer) in queries.iter().zip(searcher.batch(&store, searches)?) {
        let Answer { hits, method, notes, .. } = answer?;
        writeln!(out, "{}", json!({ "id": id, "results": hits, "method": method, "notes": notes }))?;
    }
    out.flush()?;
    searcher.settle(&store)?;
    Ok(())
}

fn read_line(line: &str) -> anyhow::Result<(Value, String)> {
    let line: Value = serde_json::from_str(line)?;
    Ok((line["id"].clone(), line["query"].as_str().unwrap_or_default().to_owned()))
}

fn default_cache() -> PathBuf {
    std::env::var_os("XDG_CACHE_HOME").map_or_else(std::env::temp_dir, PathBuf::from).join("memdir")
}

/// Times the queries, each on its own look at the files.
fn repeat(searcher: &Searcher, store: &Vault, searches: Vec<Search>, times: usize) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    let mut took = Vec::new();
    for _ in 0..times {
        for search in &searches {
            let watch = Stopwatch::start();
            searcher.search(store, search)?;
            took.push(watch.elapsed().as_secs_f64() * 1e3);
        }
    }
    let mut batch = Vec::new();
    for _ in 0..times {
        let mut watch = Stopwatch::start();
        for answer in searcher.batch(store, searches.clone())? {
            answer?;
            batch.push(watch.elapsed().as_secs_f64() * 1e3);
            watch = Stopwatch::start();
        }
    }
    for (name, times) in [("search", &mut took), ("without a look at the files", &mut batch)] {
        times.sort_by(f64::total_cmp);
        writeln!(
            out,
            "{name}: p50 {:.3} ms, p99 {:.3} ms over {} ({} mounts)",
            times[times.len() / 2],
            times[times.len() * 99 / 100],
            times.len(),
            store.mounts().len()
        )?;
    }
    Ok(())
}
