//! Exact nearest-neighbour search: every row is compared. Pure; the same rows give the same result on every machine.

use memdir_core::internal::{base::raw::Simd, search::embed::Vector};
use std::cmp::Ordering;

/// A row and its similarity to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    /// The number of the row, from 0.
    pub row: u32,
    /// The cosine with the query.
    pub cosine: f32,
}

/// The number of rows whose dot products are computed together: few enough for the L1 cache.
const BLOCK: usize = 256;

/// Returns the `max` rows nearest to the query, nearest first; of equally near rows the earlier one first.
///
/// `filter` is called only for rows that would be among the best so far, a few hundred to a thousand independent of the number
/// of rows, so it may be slow. Rows that it rejects do not count.
///
/// # Panics
/// If `rows` is not one row of the query's dimension for each of `scales`.
pub fn nearest(query: &Vector, rows: &[i8], scales: &[f32], max: usize, filter: &mut dyn FnMut(u32) -> bool) -> Vec<Near> {
    nearest_with(Simd::best(), query, rows, scales, max, filter)
}

/// The number of rows above which a second thread pays off.
const MANY_ROWS: usize = 32 << 10;

/// As [`nearest`] without a filter, on two threads if there are many rows.
pub fn nearest_of_all(query: &Vector, rows: &[i8], scales: &[f32], max: usize) -> Vec<Near> {
    let scan = |rows: &[i8], scales: &[f32]| nearest(query, rows, scales, max, &mut |_| true);
    if scales.len() < MANY_ROWS {
        return scan(rows, scales);
    }
    let half = scales.len() / 2;
    let ((rows, more_rows), (scales, more_scales)) = (rows.split_at(half * query.dim()), scales.split_at(half));
    let mut found = std::thread::scope(|scope| {
        let other = std::thread::Builder::new().spawn_scoped(scope, || scan(more_rows, more_scales));
        let mut found = scan(rows, scales);
        // If no thread can be started, or it panicked, the work is done here.
        let more = other.ok().and_then(|other| other.join().ok()).unwrap_or_else(|| scan(more_rows, more_scales));
        found.extend(more.into_iter().map(|near| Near { row: near.row + half as u32, ..near }));
        found
    });
    found.sort_by(nearer_first);
    found.truncate(max);
    found
}

/// As [`nearest`], with a given SIMD implementation.
pub fn nearest_with(simd: Simd, query: &Vector, rows: &[i8], scales: &[f32], max: usize, filter: &mut dyn FnMut(u32) -> bool) -> Vec<Near> {
    assert_eq!(rows.len(), scales.len() * query.dim(), "the rows and scales differ in number");
    let mut best = NearestRows::new(max);
    if query.is_zero() || max == 0 {
        return best.near;
    }
    let (mut dots, mut cosines) = ([0i32; BLOCK], [0f32; BLOCK]);
    for (block, scales) in scales.chunks(BLOCK).enumerate() {
        let (first, count) = (block * BLOCK, scales.len());
        simd.dots(query.row(), &rows[first * query.dim()..(first + count) * query.dim()], &mut dots[..count]);
        for ((cosine, scale), dot) in cosines.iter_mut().zip(scales).zip(&dots) {
            *cosine = query.scale() * scale * *dot as f32;
        }
        for (i, &cosine) in cosines[..count].iter().enumerate() {
            // A damaged scale may be NaN, which is never greater than the threshold.
            if cosine > best.threshold && filter((first + i) as u32) {
                best.push(Near { row: (first + i) as u32, cosine });
            }
        }
    }
    best.finish()
}

/// Orders by similarity, then by row.
pub fn nearer_first(a: &Near, b: &Near) -> Ordering {
    b.cosine.total_cmp(&a.cosine).then(a.row.cmp(&b.row))
}

/// Collects the nearest rows: stores a few times more than needed and truncates rarely, which is faster than a heap.
struct NearestRows {
    near: Vec<Near>,
    max: usize,
    threshold: f32,
}

impl NearestRows {
    fn new(max: usize) -> Self {
        NearestRows { near: Vec::new(), max, threshold: f32::NEG_INFINITY }
    }

    fn push(&mut self, near: Near) {
        self.near.push(near);
        if self.near.len() >= self.max.saturating_mul(4) {
            self.truncate();
        }
    }

    /// Rows come in order, so a row that is only as near as the last one comes after it: the threshold may be strict.
    fn truncate(&mut self) {
        if self.near.len() > self.max {
            let (_, last, _) = self.near.select_nth_unstable_by(self.max - 1, nearer_first);
            self.threshold = last.cosine;
            self.near.truncate(self.max);
        }
    }

    fn finish(mut self) -> Vec<Near> {
        self.truncate();
        self.near.sort_unstable_by(nearer_first);
        self.near
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value() -> impl Strategy<Value = i8> {
        prop_oneof![4 => -127i8..=127, 1 => Just(127i8), 1 => Just(-127i8), 1 => Just(0i8)]
    }

    /// A query and rows of one dimension; few distinct rows, so that many are equally near.
    fn case() -> impl Strategy<Value = (Vec<i8>, Vec<Vec<i8>>, Vec<usize>)> {
        (1usize..200).prop_flat_map(|dim| {
            let row = || prop::collection::vec(value(), dim);
            (row(), prop::collection::vec(row(), 1..12), prop::collection::vec(any::<usize>(), 0..900))
        })
    }

    proptest! {
        #[test]
        fn every_kernel_gives_the_portable_numbers((query, rows, _) in case(), factor in -2f32..2.0) {
            let flat = rows.concat();
            let mut expected = vec![0; rows.len()];
            Simd::PORTABLE.dots(&query, &flat, &mut expected);
            let plain: Vec<i32> = rows.iter().map(|r| r.iter().zip(&query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()).collect();
            prop_assert_eq!(&expected, &plain);
            for simd in Simd::all() {
                let mut out = vec![i32::MIN; rows.len()];
                simd.dots(&query, &flat, &mut out);
                prop_assert_eq!(&out, &expected, "{}", simd.name());
                let (mut sum, mut plain) = (vec![0.1f32; query.len()], vec![0.1f32; query.len()]);
                for row in &rows {
                    simd.add_scaled(&mut sum, row, factor);
                    plain.iter_mut().zip(row).for_each(|(s, &v)| *s += factor * f32::from(v));
                }
                prop_assert_eq!(sum, plain, "{}", simd.name());
            }
        }

        #[test]
        fn the_nearest_are_those_of_a_full_sort((query, rows, picks) in case(), most in 0usize..130, refused in any::<u32>()) {
            let query = Vector::from_row(query.into());
            let rows: Vec<Vector> = picks.iter().map(|p| Vector::from_row(rows[p % rows.len()].clone().into())).collect();
            let flat: Vec<i8> = rows.iter().flat_map(|r| r.row().to_vec()).collect();
            let scales: Vec<f32> = rows.iter().map(Vector::scale).collect();
            let mut keep = |row: u32| row % 7 != refused % 7;

            let mut expected: Vec<Near> = (0u32..).zip(&rows).map(|(row, r)| Near { row, cosine: query.cosine(r) }).collect();
            expected.retain(|n| keep(n.row));
            expected.sort_by(nearer_first);
            expected.truncate(most);
            if query.is_zero() {
                expected.clear();
            }
            for simd in Simd::all() {
                prop_assert_eq!(&nearest_with(simd, &query, &flat, &scales, most, &mut keep), &expected, "{}", simd.name());
            }
        }
    }

    #[test]
    fn the_filter_is_called_for_few_rows() {
        let query = Vector::from_row([100, 3].into());
        let rows: Vec<i8> = (0..40_000).flat_map(|i: i32| [(i * 7919 % 127) as i8, 50]).collect();
        let scales: Vec<f32> = rows.chunks(2).map(memdir_core::internal::search::embed::unit_scale).collect();
        let mut asked = 0;
        let near = nearest(&query, &rows, &scales, 100, &mut |_| {
            asked += 1;
            true
        });
        assert_eq!(near.len(), 100);
        assert!(asked < 2_000, "{asked}");
    }

    #[test]
    fn a_scale_that_is_nan_is_never_near() {
        let query = Vector::from_row([1, 1].into());
        let near = nearest(&query, &[1, 1, 2, 1], &[f32::NAN, 0.4], 10, &mut |_| true);
        assert_eq!(near.iter().map(|n| n.row).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn two_threads_find_what_one_finds() {
        let (dim, count) = (8, MANY_ROWS + 101);
        let rows: Vec<i8> = (0..count * dim).map(|n| ((n * 7_919 + n / 13) % 251) as u8 as i8).collect();
        let scales: Vec<f32> = (0..count).map(|n| 1.0 / (1.0 + (n % 97) as f32)).collect();
        let query = Vector::from_values(&[3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, -6.0]).unwrap();
        for most in [1, 10, 500] {
            assert_eq!(nearest_of_all(&query, &rows, &scales, most), nearest(&query, &rows, &scales, most, &mut |_| true));
        }
    }
}
