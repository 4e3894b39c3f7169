//! Vectors on disk: the cost of opening them, and of the rows of a search's candidates.

use divan::{Bencher, counter::ItemsCount};
use memdir_core::internal::search::embed::{EmbedderId, Vector};
use memdir_index::vectors::{Key, Vectors};

fn main() {
    divan::main();
}

const DIM: usize = 256;
const COUNT: u32 = 100_000;

/// A directory of 100,000 rows.
struct Filled {
    dir: tempfile::TempDir,
    embedder: EmbedderId,
}

impl Filled {
    fn new() -> Self {
        let filled = Filled { dir: tempfile::tempdir().expect("a temporary directory"), embedder: EmbedderId::new("bench", "1") };
        let mut noise = blake3::Hasher::new().finalize_xof();
        let mut entry = |n: u32| {
            let mut bytes = [0; DIM];
            noise.fill(&mut bytes);
            (key(n), Vector::from_row(bytes.map(|b| b as i8).into()))
        };
        let rows: Vec<_> = (0..COUNT).map(&mut entry).collect();
        filled.open().add(&rows).expect("a writable directory");
        filled
    }

    fn open(&self) -> Vectors {
        Vectors::open(self.dir.path(), &self.embedder, DIM).expect("sound files")
    }
}

fn key(n: u32) -> Key {
    Key::from_text(&n.to_string())
}

#[divan::bench]
fn open(bencher: Bencher<'_, '_>) {
    let filled = Filled::new();
    bencher.bench_local(|| filled.open());
}

#[divan::bench]
fn find_and_compare_400(bencher: Bencher<'_, '_>) {
    let filled = Filled::new();
    let vectors = filled.open();
    let keys: Vec<Key> = (0..400).map(|n| key(n * 249)).collect();
    let query = Vector::from_row([3; DIM].into());
    let cosine = |key: &Key| vectors.find(key).and_then(|row| vectors.cosine(&query, row).ok());
    bencher.counter(ItemsCount::new(400usize)).bench_local(|| keys.iter().filter_map(cosine).sum::<f32>());
}

#[divan::bench]
fn nearest_100(bencher: Bencher<'_, '_>) {
    let filled = Filled::new();
    let vectors = filled.open();
    let query = Vector::from_row([3; DIM].into());
    bencher.bench_local(|| vectors.nearest(&query, 100, &mut |_| true));
}

#[divan::bench(sample_count = 20)]
fn add_one(bencher: Bencher<'_, '_>) {
    let filled = Filled::new();
    let mut vectors = filled.open();
    let mut n = COUNT;
    bencher.bench_local(|| {
        n += 1;
        vectors = vectors.add(&[(key(n), Vector::from_row([n as i8; DIM].into()))]).expect("a writable directory");
    });
}
