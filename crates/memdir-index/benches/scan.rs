//! The nearest 100 of many rows of dimension 256, with every SIMD implementation of this machine.

use divan::{Bencher, counter::ItemsCount};
use memdir_core::internal::{base::raw::Simd, search::embed::Vector};
use memdir_index::scan::nearest_with;

fn main() {
    divan::main();
}

const DIM: usize = 256;

#[divan::bench(args = Simd::all().into_iter().flat_map(|s| [(s.name(), 10_000), (s.name(), 100_000)]))]
fn nearest(bencher: Bencher<'_, '_>, (name, count): (&str, usize)) {
    let simd = Simd::all().into_iter().find(|s| s.name() == name).unwrap_or(Simd::PORTABLE);
    let (rows, scales) = rows(count);
    let query = Vector::from_row(rows[..DIM].into());
    bencher.counter(ItemsCount::new(count)).bench_local(|| nearest_with(simd, &query, &rows, &scales, 100, &mut |_| true));
}

/// Pseudorandom rows, the same in every run.
fn rows(count: usize) -> (Vec<i8>, Vec<f32>) {
    let mut bytes = vec![0u8; count * DIM];
    blake3::Hasher::new().finalize_xof().fill(&mut bytes);
    let rows: Vec<i8> = bytes.into_iter().map(|b| (b as i8).max(-127)).collect();
    let scales = rows.chunks(DIM).map(memdir_core::internal::search::embed::unit_scale).collect();
    (rows, scales)
}
