//! The fields of the Tantivy index, and how analysed terms are indexed. Splits at blanks: the text was analysed before.

use memdir_core::internal::search::index::{IndexFile, STOP_MARK};
use std::sync::Arc;
use tantivy::{
    Document, IndexSettings,
    schema::{
        Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions,
        document::{ReferenceValue, ReferenceValueLeaf, Value},
    },
    store::Compressor,
    tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager},
};

/// The text of units, with positions for pairs and phrases.
pub(super) const BODY: Field = Field::from_field_id(0);
/// The titles of units.
pub(super) const TITLE: Field = Field::from_field_id(1);
/// The codes of units.
pub(super) const CODE: Field = Field::from_field_id(2);
/// The text of whole files. Only the documents of files have it, and they have no field of units, so that the statistics of files and
/// units never mix.
pub(super) const FILE: Field = Field::from_field_id(3);

/// The cues of files, in the documents of files.
pub(super) const CUE: Field = Field::from_field_id(4);

/// Returns the schema. It has no field norms, because the table has the lengths, and stores no values.
pub(super) fn schema() -> Schema {
    let mut schema = Schema::builder();
    let text = |record| {
        let indexing = TextFieldIndexing::default().set_tokenizer("stems").set_fieldnorms(false).set_index_option(record);
        TextOptions::default().set_indexing_options(indexing)
    };
    schema.add_text_field("body", text(IndexRecordOption::WithFreqsAndPositions));
    schema.add_text_field("title", text(IndexRecordOption::WithFreqs));
    schema.add_text_field("code", text(IndexRecordOption::WithFreqs));
    schema.add_text_field("file", text(IndexRecordOption::WithFreqs));
    schema.add_text_field("cue", text(IndexRecordOption::WithFreqs));
    schema.build()
}

pub(super) fn settings() -> IndexSettings {
    IndexSettings { docstore_compression: Compressor::None, docstore_compress_dedicated_thread: false, ..IndexSettings::default() }
}

pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register("stems", TextAnalyzer::from(Stems::default()));
    manager
}

/// Splits at blanks. Only words that are not stop words advance the position; a stop word has the position of the next such word.
#[derive(Clone, Default)]
struct Stems {
    token: Token,
}

impl Tokenizer for Stems {
    type TokenStream<'a> = StemStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> StemStream<'a> {
        self.token.reset();
        StemStream { rest: text, next: 0, token: &mut self.token }
    }
}

struct StemStream<'a> {
    rest: &'a str,
    next: usize,
    token: &'a mut Token,
}

impl TokenStream for StemStream<'_> {
    fn advance(&mut self) -> bool {
        if self.rest.is_empty() {
            return false;
        }
        let (word, rest) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
        self.rest = rest;
        let stem = word.strip_prefix(STOP_MARK);
        self.token.text.clear();
        self.token.text.push_str(stem.unwrap_or(word));
        self.token.position = self.next;
        self.next += usize::from(stem.is_none());
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// A document of the index, borrowed from the file it belongs to.
pub(super) enum Doc {
    /// The whole file.
    File(Arc<IndexFile>),
    /// One of its units.
    Unit(Arc<IndexFile>, usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(&'a str);

impl<'a> Value<'a> for Text<'a> {
    type ArrayIter = std::iter::Empty<Self>;
    type ObjectIter = std::iter::Empty<(&'a str, Self)>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(ReferenceValueLeaf::Str(self.0))
    }
}

impl Document for Doc {
    type Value<'a> = Text<'a>;
    type FieldsValuesIter<'a> = Box<dyn Iterator<Item = (Field, Text<'a>)> + 'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        match self {
            Doc::File(file) => {
                let units = file.units.iter().filter(|unit| unit.in_file).map(|unit| unit.body.stems.as_str());
                let words = std::iter::once(file.head.stems.as_str()).chain(units).map(|stems| (FILE, Text(stems)));
                let cues = (!file.cues.is_empty()).then_some((CUE, Text(&file.cues)));
                Box::new(words.chain(cues))
            }
            Doc::Unit(file, at) => {
                let unit = &file.units[*at];
                let fields = [(BODY, &unit.body.stems), (TITLE, &unit.title.stems), (CODE, &unit.codes)];
                Box::new(fields.into_iter().map(|(field, stems)| (field, Text(stems))))
            }
        }
    }
}
