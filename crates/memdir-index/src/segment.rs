//! One immutable segment: postings by Tantivy, and a table of our own columns. Written once, opened by mapping, merged explicitly.

use crate::{
    directory::SegmentDir,
    errors::{corrupt, corrupt_index, tantivy_error},
    files::Mark,
    hash::path_hash,
    schema::{self, Doc},
    state::{FileRow, PARTS, SegmentRow},
    table::{ColumnTable, SegmentColumns},
    vectors::Key,
};
use memdir_core::{
    Error, Result,
    internal::{
        base::disk,
        search::{
            embed::Vector,
            index::{IndexFile, IndexUnit},
        },
    },
};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};
use tantivy::{
    Directory, Index, InvertedIndexReader, Segment as TantivySegment, SegmentReader, SingleSegmentIndexWriter, directory::RamDirectory,
    index::SegmentId, indexer::merge_filtered_segments, schema::Field,
};

/// The memory a writer uses before it finishes a segment and starts the next. A first index of some thousand files stays in
/// one segment per thread.
const WRITER_BYTES: usize = 400 << 20;
/// The size of a writer's term table for many files, and for a handful: a large one costs milliseconds to allocate.
const MANY_FILES: usize = 100;
const LARGE_TABLE: usize = 15_000_000;
const SMALL_TABLE: usize = 200_000;

/// An open segment.
pub(super) struct Segment {
    pub(super) row: SegmentRow,
    pub(super) table: ColumnTable,
    /// The index directory, for errors.
    pub(super) root: Box<Path>,
    tantivy: TantivySegment,
    fields: [Arc<InvertedIndexReader>; 5],
}

impl Segment {
    /// Opens a segment after comparing its files with their recorded marks.
    pub(super) fn open(root: &Path, index: &Index, row: &SegmentRow) -> Result<Segment> {
        for (part, mark) in PARTS.iter().zip(&row.marks) {
            let path = part_path(root, row.name(), part);
            if Mark::read(&path) != *mark {
                return Err(corrupt_index(format!("{} is missing or was modified after memdir wrote it", path.display())));
            }
        }
        let id = SegmentId::from_uuid_string(row.name()).map_err(|error| corrupt(root, error.to_string()))?;
        let segment = index.segment(index.new_segment_meta(id, row.docs));
        Segment::with(root, segment, *row, ColumnTable::open(&part_path(root, row.name(), "units"), row.docs)?)
    }

    fn with(root: &Path, tantivy: TantivySegment, row: SegmentRow, table: ColumnTable) -> Result<Segment> {
        let reader = SegmentReader::open(&tantivy).map_err(tantivy_error("open", root))?;
        let field = |field: Field| reader.inverted_index(field).map_err(tantivy_error("open", root));
        let fields = [field(schema::BODY)?, field(schema::TITLE)?, field(schema::CODE)?, field(schema::FILE)?, field(schema::CUE)?];
        Ok(Segment { row, table, root: root.into(), tantivy, fields })
    }

    /// Compares every byte of its files with their checksums.
    pub(super) fn verify(&self, root: &Path) -> Result<()> {
        let directory = self.tantivy.index().directory();
        for part in &PARTS[..PARTS.len() - 1] {
            let name = format!("{}.{part}", self.row.name());
            if !directory.validate_checksum(Path::new(&name)).is_ok_and(|whole| whole) {
                return Err(corrupt(&root.join(name), "checksum mismatch"));
            }
        }
        if self.table.is_whole() { Ok(()) } else { Err(corrupt(&part_path(root, self.row.name(), "units"), "checksum mismatch")) }
    }

    pub(super) fn field(&self, field: Field) -> &InvertedIndexReader {
        &self.fields[field.field_id() as usize]
    }

    pub(super) fn docs(&self) -> usize {
        self.table.docs()
    }
}

/// The index directory as errors show it; an index in memory has none.
fn shown(root: Option<&Path>) -> &Path {
    root.unwrap_or(Path::new("(in memory)"))
}

pub(super) fn part_path(root: &Path, name: &str, part: &str) -> PathBuf {
    root.join(format!("{name}.{part}"))
}

/// Opens the Tantivy index to which the segments of a directory belong.
pub(super) fn tantivy_index(root: &Path) -> Result<Index> {
    let dir = SegmentDir::open(root).map_err(|error| tantivy_error("open", root)(error.into()))?;
    Index::create(dir, schema::schema(), schema::settings()).map_err(tantivy_error("open", root))
}

/// A finished segment that no state lists yet.
pub(super) struct NewSegment {
    pub(super) segment: Arc<Segment>,
    /// Its files with their names; the number of the segment is not set yet.
    pub(super) rows: Vec<(FileRow, String)>,
}

/// Writes files into segments: on disk, or in memory for an overlay.
pub(super) struct SegmentWriter {
    root: Option<PathBuf>,
    embedder: u64,
    table_bytes: usize,
    open: Option<Open>,
    done: Vec<NewSegment>,
    vectors: Vec<(Key, Vector)>,
}

struct Open {
    root: Box<Path>,
    writer: SingleSegmentIndexWriter<Doc>,
    columns: SegmentColumns,
    rows: Vec<(FileRow, String)>,
}

impl SegmentWriter {
    /// Creates a writer for about `files` files, in a directory or, without one, in memory.
    pub(super) fn new(root: Option<&Path>, embedder: u64, files: usize) -> Self {
        let table_bytes = if files < MANY_FILES { SMALL_TABLE } else { LARGE_TABLE };
        SegmentWriter { root: root.map(Path::to_owned), embedder, table_bytes, open: None, done: Vec::new(), vectors: Vec::new() }
    }

    pub(super) fn add(&mut self, file: &Arc<IndexFile>) -> Result<()> {
        if self.open.is_none() {
            self.open = Some(Open::new(self.root.as_deref(), self.table_bytes)?);
        }
        let Some(open) = &mut self.open else { return Ok(()) };
        open.add(file, self.embedder)?;
        self.vectors.extend(file.units.iter().filter_map(|unit| Some((unit.key, unit.vector.clone()?))));
        if open.writer.mem_usage() > WRITER_BYTES {
            self.finish_one()?;
        }
        Ok(())
    }

    /// Returns the written segments and the vectors of their units.
    pub(super) fn finish(mut self) -> Result<(Vec<NewSegment>, Vec<(Key, Vector)>)> {
        self.finish_one()?;
        Ok((self.done, self.vectors))
    }

    pub(super) fn finish_one(&mut self) -> Result<()> {
        if let Some(open) = self.open.take() {
            self.done.push(open.finish(self.root.as_deref())?);
        }
        Ok(())
    }
}

impl Open {
    fn new(root: Option<&Path>, table: usize) -> Result<Open> {
        let dir: Box<dyn Directory> = match root {
            Some(root) => Box::new(SegmentDir::open(root).map_err(|error| tantivy_error("open", root)(error.into()))?),
            None => Box::new(RamDirectory::create()),
        };
        let builder = Index::builder().schema(schema::schema()).settings(schema::settings()).tokenizers(schema::tokenizers());
        let writer = builder.single_segment_index_writer(dir, table).map_err(tantivy_error("write", shown(root)))?;
        Ok(Open { root: shown(root).into(), writer, columns: SegmentColumns::default(), rows: Vec::new() })
    }

    fn add(&mut self, file: &Arc<IndexFile>, embedder: u64) -> Result<()> {
        let hash = path_hash(&file.path);
        let first_doc = self.columns.len() as u32;
        let sum = |count: fn(&IndexUnit) -> u32| file.units.iter().map(count).fold(0u32, u32::saturating_add);
        let file_words = file.head.count + sum(|unit| if unit.in_file { unit.body.count } else { 0 });
        self.columns.push_file(file, hash, file_words);
        self.writer.add_document(Doc::File(file.clone())).map_err(tantivy_error("write", &self.root))?;
        for at in 0..file.units.len() {
            self.writer.add_document(Doc::Unit(file.clone(), at)).map_err(tantivy_error("write", &self.root))?;
        }
        let embedded = file.units.iter().all(|unit| unit.vector.is_some() || unit.points_to.is_some());
        let mut row = FileRow {
            version: file.version.to_bytes(),
            hash,
            embedder: if embedded { embedder } else { 0 },
            first_doc,
            units: file.units.len() as u32,
            body: sum(|unit| unit.body.count),
            pairs: sum(|unit| unit.body.kept.saturating_sub(1)),
            title: sum(|unit| unit.title.count),
            file: file_words,
            kind: FileRow::kind_number(file.kind, file.validity),
            counted_files: u32::from(file.is_counted()),
            counted_units: file.counted_units(),
            ..bytemuck::Zeroable::zeroed()
        };
        row.set_stamp(file.stamp, file.seen_ns);
        self.rows.push((row, file.path.clone()));
        Ok(())
    }

    fn finish(self, root: Option<&Path>) -> Result<NewSegment> {
        let index = self.writer.finalize().map_err(tantivy_error("write", &self.root))?;
        let segment = index.searchable_segments().map_err(tantivy_error("read", &self.root))?.into_iter().next();
        let segment = segment.ok_or_else(|| corrupt_index("a newly written segment is empty"))?;
        Ok(NewSegment { segment: Arc::new(close(segment, &self.columns, root)?), rows: self.rows })
    }
}

/// Adds the table to a segment that Tantivy has finished, and records the marks of its files.
fn close(segment: TantivySegment, columns: &SegmentColumns, root: Option<&Path>) -> Result<Segment> {
    let name = segment.id().uuid_string();
    let mut row = SegmentRow { docs: columns.len() as u32, ..bytemuck::Zeroable::zeroed() };
    row.id.copy_from_slice(name.as_bytes());
    let Some(root) = root else { return Segment::with(shown(None), segment, row, ColumnTable::owned(columns)) };
    let path = part_path(root, &name, "units");
    let mut file = disk::create_private_file(&path).map_err(|source| Error::io("create", &path, source))?;
    file.write_all(bytemuck::cast_slice(&columns.finish())).map_err(|source| Error::io("write", &path, source))?;
    drop(file);
    for (mark, part) in row.marks.iter_mut().zip(PARTS) {
        *mark = Mark::read(&part_path(root, &name, part));
    }
    let table = ColumnTable::open(&path, row.docs)?;
    Segment::with(root, segment, row, table)
}

/// Merges the live documents of several segments into one, in order. Each part is a segment and its deletion bits.
pub(super) fn merge(root: &Path, parts: &[(&Segment, &[u64])]) -> Result<Segment> {
    let segments: Vec<TantivySegment> = parts.iter().map(|(segment, _)| segment.tantivy.clone()).collect();
    let alive = parts.iter().map(|(segment, dead)| alive_bits(segment.docs(), dead)).collect::<std::io::Result<_>>();
    let alive = alive.map_err(|source| Error::io("merge", root, source))?;
    let dir = SegmentDir::open(root).map_err(|error| tantivy_error("open", root)(error.into()))?;
    let index = merge_filtered_segments(&segments, schema::settings(), alive, dir).map_err(tantivy_error("merge", root))?;
    let mut columns = SegmentColumns::default();
    for (segment, dead) in parts {
        (0..segment.docs()).filter(|doc| !is_dead(dead, *doc)).for_each(|doc| columns.push_doc(&segment.table, doc));
    }
    let merged = index.searchable_segments().map_err(tantivy_error("read", root))?.into_iter().next();
    let merged = merged.filter(|segment| segment.meta().max_doc() as usize == columns.len());
    let merged = merged.ok_or_else(|| corrupt(root, "a merge lost documents"))?;
    close(merged, &columns, Some(root))
}

/// Whether a document is deleted. `dead` has one bit per document, or is empty if none is deleted.
#[inline]
pub(super) fn is_dead(dead: &[u64], doc: usize) -> bool {
    dead.get(doc / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
}

fn alive_bits(docs: usize, dead: &[u64]) -> std::io::Result<Option<tantivy::fastfield::AliveBitSet>> {
    if dead.is_empty() {
        return Ok(None);
    }
    let mut bits = tantivy::BitSet::with_max_value_and_full(docs as u32);
    (0..docs).filter(|doc| is_dead(dead, *doc)).for_each(|doc| bits.remove(doc as u32));
    let mut bytes = Vec::new();
    tantivy::fastfield::write_alive_bitset(&bits, &mut bytes)?;
    Ok(Some(tantivy::fastfield::AliveBitSet::open(tantivy::directory::OwnedBytes::new(bytes))))
}
