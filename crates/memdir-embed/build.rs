//! Turns the vocabulary into sorted tables, and the model into the rows that texts can use, compiled in as they are: nothing is built when
//! the program starts.

use std::{collections::BTreeMap, error::Error, fmt::Write, fs, path::Path};

const MODEL: &str = "model/static-256-int8.bin";
const VOCAB: &str = "model/vocab.txt";
/// The layout of the model file: a header, then little-endian numbers. scripts/make-model writes it.
const HEADER: usize = 56;
const MAGIC: &[u8; 8] = b"MSTATIC2";
const DIM: usize = 256;
/// The first piece that is not a mark of the source model; of the marks, texts use only the unknown piece.
const FIRST: usize = 999;
const UNKNOWN: usize = 100;

#[expect(clippy::disallowed_methods, reason = "cargo passes the output directory of a build script in the environment")]
fn main() -> Result<(), Box<dyn Error>> {
    for path in ["build.rs", MODEL, VOCAB] {
        println!("cargo::rerun-if-changed={path}");
    }
    let (model, vocab) = (fs::read(MODEL)?, fs::read_to_string(VOCAB)?);
    let (mut starts, mut continuations) = (BTreeMap::new(), BTreeMap::new());
    for (id, piece) in vocab.lines().enumerate() {
        let id = u16::try_from(id)?;
        match piece.strip_prefix("##") {
            Some(rest) if !rest.is_empty() => continuations.insert(rest, id),
            // Marks of the source model such as [CLS]: no text may become one.
            _ if piece.len() > 2 && piece.starts_with('[') => None,
            _ => starts.insert(piece, id),
        };
    }
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("model.bin"), used_rows(&model, vocab.lines().count())?)?;
    let fingerprint = blake3::Hasher::new().update(&model).update(vocab.as_bytes()).finalize().to_hex();
    let mut code = format!(
        "pub(crate) const FINGERPRINT: &str = \"{}\";\npub(crate) const UNKNOWN: u16 = {UNKNOWN};\npub(crate) const FIRST: usize = {FIRST};\n",
        &fingerprint[..16]
    );
    write_table(&mut code, "STARTS", &starts)?;
    write_table(&mut code, "CONTINUATIONS", &continuations)?;
    fs::write(Path::new(&std::env::var("OUT_DIR")?).join("tables.rs"), code)?;
    Ok(())
}

/// The scales, then the rows, of the unknown piece and of all pieces from `FIRST` on. The other marks would be 0.3 MB that no text uses.
fn used_rows(model: &[u8], pieces: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let number = |at: usize| model.get(at..at + 4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize);
    let rows = HEADER + 4 * pieces;
    if model.get(..8) != Some(MAGIC) || number(12) != Some(DIM) || number(16) != Some(pieces) || model.len() < rows + DIM * pieces {
        return Err(format!("{MODEL} is not a model of {pieces} pieces with {DIM} values each").into());
    }
    let used = || std::iter::once(UNKNOWN).chain(FIRST..pieces);
    let scales = used().flat_map(|piece| &model[HEADER + 4 * piece..][..4]);
    let values = used().flat_map(|piece| &model[rows + DIM * piece..][..DIM]);
    Ok(scales.chain(values).copied().collect())
}

/// One table: the texts in order of their bytes, where each ends, its id, the longest other entry it begins with, and
/// for each first byte where its entries begin.
fn write_table(code: &mut String, name: &str, entries: &BTreeMap<&str, u16>) -> Result<(), Box<dyn Error>> {
    let texts: Vec<&str> = entries.keys().copied().collect();
    let place: BTreeMap<&str, usize> = texts.iter().enumerate().map(|(i, t)| (*t, i)).collect();
    let mut ends = Vec::new();
    let mut parents = Vec::new();
    let mut end = 0;
    for text in &texts {
        end += text.len();
        ends.push(end);
        let shorter = text.char_indices().rev().map(|(i, _)| &text[..i]);
        parents.push(shorter.into_iter().find_map(|t| place.get(t)).map_or(u16::MAX.into(), |i| *i));
    }
    let first: Vec<usize> = (0..=256).map(|b| texts.partition_point(|t| usize::from(t.as_bytes()[0]) < b)).collect();
    let ids: Vec<u16> = entries.values().copied().collect();
    writeln!(code, "pub(crate) static {name}: VocabTable = VocabTable {{")?;
    writeln!(
        code,
        "text: {:?}.as_bytes(),\nends: &{ends:?},\nids: &{ids:?},\nparents: &{parents:?},\nfirst: &{first:?} }};",
        texts.concat()
    )?;
    Ok(())
}
