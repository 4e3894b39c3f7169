//! scratch
use memdir_core::{Mount, Vault, search::Searcher, store::Access, tantivy_index::TantivyIndex, time::SystemClock};
use memdir_embed::StaticModel;
use std::{path::PathBuf, sync::Arc};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let unknown: f32 = a[1].parse().unwrap();
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read("/tmp/scratch/ev/rows.json").unwrap()).unwrap();
    let mut open: std::collections::HashMap<String, (Vault, Searcher)> = Default::default();
    let mut out = vec![];
    let w = memdir_core::time::Stopwatch::start();
    for row in &rows {
        let scope = row["scope"].as_str().unwrap();
        let (store, searcher) = open.entry(scope.into()).or_insert_with(|| {
            let dir = PathBuf::from("/work/shared/eval/data").join(scope).join("memory");
            let cache = PathBuf::from("/tmp/scratch/cache");
            let mut m = Mount::new("", dir.canonicalize().unwrap(), cache.join("journal"));
            m.access = Access::ReadOnly;
            let store = Vault::open(&[m]).unwrap();
            let e: Option<Arc<dyn memdir_core::embed::Embedder>> = Some(Arc::new(StaticModel::new()));
            let id = e.as_ref().map(|e| (e.id().clone(), e.dim()));
            let s = Searcher::new(&store, e, Arc::new(SystemClock), |i| Arc::new(TantivyIndex::of_mount(&cache, &i.root, id.clone())));
            s.index(&store, false, &|_| {}).unwrap();
            (store, s)
        });
        let met = searcher.about(store, row["text"].as_str().unwrap(), unknown, 0.0).unwrap();
        out.push(met.iter().take(8).map(|m| serde_json::json!([m.path.as_str(), m.score, m.debug])).collect::<Vec<_>>());
    }
    eprintln!("{:?} per prompt", w.elapsed() / rows.len() as u32);
    std::fs::write(&a[2], serde_json::to_vec(&out).unwrap()).unwrap();
}
