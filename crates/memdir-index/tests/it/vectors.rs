//! Vectors on disk.

use memdir_core::{
    Error,
    internal::search::embed::{EmbedderId, Vector},
};
use memdir_index::{
    scan::Near,
    vectors::{Key, Vectors},
};
use proptest::prelude::*;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

const DIM: usize = 37;

fn embedder() -> EmbedderId {
    EmbedderId::new("test", "1")
}

fn open(dir: &Path) -> Vectors {
    Vectors::open(dir, &embedder(), DIM).expect("sound files")
}

/// The row of text number `n`, the same in every run. There are few distinct rows, so that many are equally near.
fn entry(n: u32) -> (Key, Vector) {
    let mut bytes = [0; DIM];
    blake3::Hasher::new().update(&(n % 50).to_le_bytes()).finalize_xof().fill(&mut bytes);
    (Key::from_text(&format!("text {n}")), Vector::from_row(bytes.iter().map(|&b| b as i8).collect()))
}

fn entries(range: std::ops::Range<u32>) -> Vec<(Key, Vector)> {
    range.map(entry).collect()
}

/// The files of a directory with an extension.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(dir).expect("a directory").map(|e| e.expect("an entry").path());
    paths.filter(|p| p.extension().is_some_and(|e| e == extension)).collect()
}

#[track_caller]
fn assert_corrupt<T: std::fmt::Debug>(result: memdir_core::Result<T>, why: &str) {
    match result {
        Err(Error::Corrupt { why: found, .. }) => assert_eq!(found, why),
        other => panic!("expected damage ({why}), got {other:?}"),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Add(u32, u32),
    Compact(u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![6 => (0u32..400, 0u32..60).prop_map(|(first, count)| Step::Add(first, count)), 1 => (1u32..5).prop_map(Step::Compact)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn every_added_row_is_found_and_ranked_as_by_a_full_sort(steps in prop::collection::vec(step(), 1..25), query in 0u32..50) {
        let dir = tempfile::tempdir().unwrap();
        let mut vectors = open(dir.path());
        let mut model: BTreeMap<Key, Vector> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Add(first, count) => {
                    vectors = vectors.add(&entries(first..first + count)).unwrap();
                    model.extend(entries(first..first + count));
                }
                Step::Compact(n) => {
                    vectors = vectors.compact(&mut |key| u32::from(key.0[0]).is_multiple_of(n)).unwrap();
                    model.retain(|key, _| u32::from(key.0[0]).is_multiple_of(n));
                }
            }
        }
        prop_assert!(vectors.is_current());
        prop_assert!(files(dir.path(), "rows").len() <= 8);
        let query = entry(query).1;
        for vectors in [vectors, open(dir.path())] {
            prop_assert_eq!(vectors.len(), model.len());
            prop_assert_eq!(vectors.is_empty(), model.is_empty());
            vectors.verify().unwrap();
            for n in 0..460 {
                let (key, _) = entry(n);
                let row = vectors.find(&key);
                prop_assert_eq!(row.is_some(), model.contains_key(&key));
                if let Some(row) = row {
                    prop_assert_eq!(vectors.key(row), Some(key));
                    prop_assert_eq!(vectors.cosine(&query, row).unwrap(), query.cosine(&model[&key]));
                }
            }
            let mut expected: Vec<(Key, f32)> = model.iter().map(|(key, vector)| (*key, query.cosine(vector))).collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            expected.truncate(30);
            let found = vectors.nearest(&query, 30, &mut |_| true).unwrap();
            let found: Vec<(Key, f32)> = found.iter().map(|n| (vectors.key(n.row).unwrap(), n.cosine)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn a_missing_directory_is_empty_and_not_created() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("a/b");
    let vectors = open(&inside);
    assert_eq!((vectors.len(), vectors.bytes(), vectors.find(&entry(1).0)), (0, 0, None));
    assert_eq!(vectors.nearest(&entry(1).1, 10, &mut |_| true).unwrap(), []);
    Vectors::clear(&inside).unwrap();
    assert!(!dir.path().join("a").exists());
}

#[test]
fn many_small_additions_make_few_files() {
    let dir = tempfile::tempdir().unwrap();
    let mut vectors = open(dir.path());
    for n in 0..500 {
        vectors = vectors.add(&entries(n..n + 1)).unwrap();
        assert!(files(dir.path(), "rows").len() <= 8);
    }
    assert_eq!(vectors.len(), 500);
    assert!(vectors.bytes() < 500 * (DIM as u64 + 20) + 8 * 192);
    assert_eq!(files(dir.path(), "tmp"), [] as [PathBuf; 0]);
}

#[test]
fn the_filter_gets_the_numbers_of_the_rows() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = open(dir.path()).add(&entries(0..100)).unwrap().add(&entries(100..110)).unwrap();
    let wanted = vectors.find(&entry(105).0).unwrap();
    let found = vectors.nearest(&entry(3).1, 10, &mut |row| row == wanted).unwrap();
    assert_eq!(found, [Near { row: wanted, cosine: vectors.cosine(&entry(3).1, wanted).unwrap() }]);
}

#[test]
fn an_open_snapshot_stays_valid_when_the_files_are_replaced_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let old = open(dir.path()).add(&entries(0..100)).unwrap();
    let new = old.compact(&mut |key| *key == entry(7).0).unwrap();
    assert_eq!((new.len(), old.is_current(), new.is_current()), (1, false, true));
    assert_ne!(old.generation(), new.generation());
    Vectors::clear(dir.path()).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    old.verify().unwrap();
    assert!(old.find(&entry(99).0).is_some());
    assert_eq!(open(dir.path()).len(), 0);
}

#[test]
fn an_old_snapshot_adds_to_the_current_one() {
    let dir = tempfile::tempdir().unwrap();
    let old = open(dir.path());
    old.add(&entries(0..10)).unwrap();
    assert_eq!(old.add(&entries(5..20)).unwrap().len(), 20);
}

#[test]
fn readers_find_everything_while_files_are_merged_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while done.load(Ordering::SeqCst) < 300 {
                    let before = done.load(Ordering::SeqCst);
                    let vectors = open(dir.path());
                    (0..before).for_each(|n| assert!(vectors.find(&entry(n).0).is_some(), "{n} of {before}"));
                }
            });
        }
        let mut vectors = open(dir.path());
        for n in 0..300 {
            vectors = vectors.add(&entries(n..n + 1)).unwrap();
            done.store(n + 1, Ordering::SeqCst);
        }
    });
}

#[test]
fn vectors_of_another_embedder_or_dimension_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = open(dir.path()).add(&entries(0..3)).unwrap();
    assert_corrupt(Vectors::open(dir.path(), &EmbedderId::new("test", "2"), DIM), "its embedder or dimension does not match the index");
    assert_corrupt(Vectors::open(dir.path(), &embedder(), DIM + 1), "its embedder or dimension does not match the index");
    let foreign = Vector::zero(DIM + 1);
    assert_eq!(vectors.add(&[(Key::from_text("x"), foreign.clone())]).unwrap_err().code(), "bad_input");
    assert_eq!(vectors.nearest(&foreign, 1, &mut |_| true).unwrap_err().code(), "bad_input");
    assert_eq!(vectors.cosine(&foreign, 0).unwrap_err().code(), "bad_input");
    assert_eq!(vectors.cosine(&entry(0).1, 3).unwrap_err().code(), "bad_input");
}

#[test]
fn every_truncation_and_every_damaged_byte_of_list_and_header_is_detected_at_open() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).add(&entries(0..5)).unwrap();
    let list = files(dir.path(), "list").remove(0);
    let rows = files(dir.path(), "rows").remove(0);
    for (path, damaged) in [(&list, fs::metadata(&list).unwrap().len()), (&rows, 72)] {
        let good = fs::read(path).unwrap();
        for cut in 0..good.len() {
            replace(path, &good[..cut]);
            assert!(matches!(Vectors::open(dir.path(), &embedder(), DIM), Err(Error::Corrupt { .. })), "{} cut at {cut}", path.display());
        }
        for at in 0..damaged as usize {
            for flip in [1, 0x80] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                replace(path, &bad);
                assert!(matches!(Vectors::open(dir.path(), &embedder(), DIM), Err(Error::Corrupt { .. })), "{} at {at}", path.display());
            }
        }
        replace(path, &good);
    }
    open(dir.path()).verify().unwrap();
    fs::remove_file(rows).unwrap();
    assert_corrupt(Vectors::open(dir.path(), &embedder(), DIM), "a vector file is missing");
}

#[test]
fn damaged_rows_are_detected_when_they_would_be_results() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).add(&entries(0..20)).unwrap();
    let path = files(dir.path(), "rows").remove(0);
    let mut bytes = fs::read(&path).unwrap();
    let rows = bytes.len() - 20 * DIM;
    bytes[rows..].iter_mut().for_each(|b| *b = b.wrapping_mul(3).wrapping_add(1));
    replace(&path, &bytes);
    let vectors = open(dir.path());
    assert_corrupt(vectors.nearest(&entry(1).1, 5, &mut |_| true), "a vector does not match its quantization scale");
    assert_corrupt(vectors.cosine(&entry(1).1, 0), "a vector does not match its quantization scale");
    assert_corrupt(vectors.verify(), "checksum mismatch in a vector file");
}

#[test]
fn a_damaged_key_table_only_misses_rows() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).add(&entries(0..200)).unwrap();
    let path = files(dir.path(), "rows").remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes[128..128 + 200 * 16].reverse();
    replace(&path, &bytes);
    let vectors = open(dir.path());
    let found = (0..200).filter(|n| vectors.find(&entry(*n).0).is_some()).count();
    assert_eq!(found, 0);
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = open(dir.path()).add(&entries(0..3)).unwrap();
    for name in ["00000077.rows", "00000002.rows.4242.tmp", "vectors.list.4242.tmp"] {
        replace(&dir.path().join(name), b"half");
    }
    replace(&dir.path().join("notes.txt"), b"not ours");
    vectors.add(&entries(3..6)).unwrap();
    assert_eq!((files(dir.path(), "rows").len(), files(dir.path(), "tmp").len(), files(dir.path(), "txt").len()), (1, 0, 1));
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("vectors");
    open(&inside).add(&entries(0..3)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let modes: Vec<u32> = fs::read_dir(&inside).unwrap().map(|e| mode(&e.unwrap().path())).collect();
    assert_eq!((mode(&inside), modes), (0o700, vec![0o600, 0o600]));
}

#[test]
fn a_write_that_fails_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let vectors = open(dir.path()).add(&entries(0..100)).unwrap();
    // A directory at the path of the next file makes the rename fail for every user.
    fs::create_dir_all(dir.path().join(format!("{:08}.rows/x", vectors.generation()))).unwrap();
    assert_eq!(vectors.add(&entries(100..101)).unwrap_err().code(), "io");
    assert_eq!((open(dir.path()).len(), files(dir.path(), "tmp").len()), (100, 0));
}

/// Replaces a file under a new inode, because no mapping of this process may shrink.
#[expect(clippy::disallowed_methods, reason = "the test plays the part of the world")]
fn replace(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).expect("a writable directory");
}
