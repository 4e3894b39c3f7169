//! References between memories in Markdown: links, definitions, `[[wikilinks]]` and `mem:` names. Finds and rewrites them without
//! changing any other byte. Links in code are ignored; `mem:` names count everywhere, because they are usually written as code.

use super::{
    lines::FenceScanner,
    validity::{self, NameSpan},
};
use crate::base::sort::SharedSort as _;
use crate::base::{
    path::{MemoryPath, strip_md},
    steps,
    text::LineCounter,
};
use percent_encoding::{percent_decode_str, percent_encode_byte};
use rustc_hash::FxHashMap;
use std::{borrow::Cow, ops::Range};
use unicode_normalization::UnicodeNormalization as _;

/// One reference to another file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Reference {
    /// The line it is on, 1-based.
    pub line: u64,
    /// Its target: for links the path from the root, for wikilinks and `mem:` the name as written.
    pub target: String,
    /// Its form.
    pub kind: ReferenceKind,
}

/// The form of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReferenceKind {
    /// `[text](path.md)`
    Link,
    /// `[id]: path.md`
    Definition,
    /// `[[name]]`
    Wiki,
    /// `mem:name`
    Mem,
    /// A name in the fields `supersedes` and `superseded_by`, resolved like a wikilink.
    Field,
}

/// Returns every reference that may name a file in the root of `holder`. URLs and bare anchors are not references.
pub fn references(text: &str, holder: &MemoryPath) -> Vec<Reference> {
    let mut lines = LineCounter::new(text);
    let reference = |spot: ReferenceSpan| {
        let written = &text[spot.range.clone()];
        let target = match spot.kind {
            ReferenceKind::Link | ReferenceKind::Definition => resolve(written, holder.parent())?,
            ReferenceKind::Wiki | ReferenceKind::Mem => written.to_owned(),
            ReferenceKind::Field => spot.name.clone().unwrap_or_default(),
        };
        Some(Reference { line: lines.line_at(spot.range.start), target, kind: spot.kind })
    };
    spots(text).into_iter().filter_map(reference).collect()
}

/// Returns the text with every reference to `from` changed to `to`, in its form, or `None` if there is none.
pub fn rewrite_references(text: &str, holder: &MemoryPath, from: &MemoryPath, to: &MemoryPath) -> Option<String> {
    rewrite_all_references(text, holder, &|name| (name == from.name()).then_some((from, to)))
}

/// Returns the text with every reference to a renamed memory changed to its new name, in its form, or `None` if there is none. `renamed`
/// returns the old and the new path of the memory with a name.
pub fn rewrite_all_references<'a>(
    text: &str,
    holder: &MemoryPath,
    renamed: &dyn Fn(&str) -> Option<(&'a MemoryPath, &'a MemoryPath)>,
) -> Option<String> {
    replace(text, |spot, written| match spot.kind {
        ReferenceKind::Link | ReferenceKind::Definition => {
            let resolved = resolve(written, holder.parent())?;
            let (from, to) = renamed(strip_md(&resolved))?;
            Some(destination(written, &with_extension_as(&resolved, from, to), holder.parent(), spot.angle))
        }
        ReferenceKind::Wiki => renamed_name(written, holder, renamed),
        ReferenceKind::Field => renamed_name(spot.name.as_deref()?, holder, renamed).map(|name| validity::name_token(&name)),
        ReferenceKind::Mem => renamed(strip_md(written)).map(|(from, to)| with_extension_as(written, from, to)),
    })
}

/// The new form of a name that is resolved from the folders of `holder`, if it names a renamed memory.
fn renamed_name<'a>(
    written: &str,
    holder: &MemoryPath,
    renamed: &dyn Fn(&str) -> Option<(&'a MemoryPath, &'a MemoryPath)>,
) -> Option<String> {
    let (base, to) = ancestors(holder).find_map(|base| Some((base, renamed(&join(base, strip_md(written)))?.1)))?;
    let name = to.name().strip_prefix(base).and_then(|rest| if base.is_empty() { Some(rest) } else { rest.strip_prefix('/') });
    let md = if strip_md(written) == written { "" } else { ".md" };
    Some(format!("{}{md}", name.unwrap_or(to.name())))
}

/// Returns the text with the name in every `[[wikilink]]` changed to what `new` returns for it, or `None` if nothing changes.
pub(crate) fn rewrite_wikilinks(text: &str, new: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    replace(text, |spot, written| if spot.kind == ReferenceKind::Wiki { new(written) } else { None })
}

/// Returns the text of a memory that moves from `from` to `to`: relative links keep their targets, and links to itself follow it.
/// `None` if no link changes.
pub fn rebase_links(text: &str, from: &MemoryPath, to: &MemoryPath) -> Option<String> {
    replace(text, |spot, written| {
        if !matches!(spot.kind, ReferenceKind::Link | ReferenceKind::Definition) {
            return None;
        }
        let resolved = resolve(written, from.parent())?;
        let own = strip_md(&resolved) == from.name();
        if !own && (written.starts_with('/') || from.parent() == to.parent()) {
            return None;
        }
        let target = if own { with_extension_as(&resolved, from, to) } else { resolved };
        Some(destination(written, &target, to.parent(), spot.angle))
    })
}

/// Formats a path as the destination of a Markdown link: plain, or `<in angles>` if it has blanks or brackets.
pub fn link_destination(path: &str) -> String {
    let escaped = escape(path);
    if escaped.contains(needs_angles) { format!("<{escaped}>") } else { escaped }
}

/// Resolves a link destination in a memory of `folder` to a path from the root, percent-decoded and without anchor. A folder keeps its
/// final slash. `None` for URLs, bare anchors and paths that leave the root.
pub fn resolve(destination: &str, folder: Option<&str>) -> Option<String> {
    if destination.is_empty() || destination.starts_with("//") || has_scheme(destination) {
        return None;
    }
    let simple = |b: u8| b.is_ascii() && b != b'%';
    if folder.is_none() && destination.bytes().all(simple) && !destination.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Some(destination.to_owned());
    }
    let decoded = decode(destination);
    let mut parts: Vec<&str> = match decoded.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.into_iter().flat_map(|folder| folder.split('/')).collect(),
    };
    for part in decoded.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    let mut path: String = parts.join("/").nfc().collect();
    if decoded.ends_with('/') && !path.is_empty() {
        path.push('/');
    }
    (!path.is_empty()).then_some(path)
}

/// The range of a reference's target, without angles, anchor and alias.
pub(crate) struct ReferenceSpan {
    pub(crate) kind: ReferenceKind,
    pub(crate) range: Range<usize>,
    angle: bool,
    /// The name in a field of the frontmatter, without the quotes of its token.
    name: Option<String>,
}

/// Returns the spans of all references in a text, in order.
pub(crate) fn spots(text: &str) -> Vec<ReferenceSpan> {
    let mut found = Vec::new();
    let mut fences = FenceScanner::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if !fences.is_code(line) {
            line_spots(line, start, &mut found);
        }
        mem_spots(line, start, &mut found);
    }
    found.shared_sort_by_key(|spot| spot.range.start);
    let mut names = validity::name_spans(text);
    // A name may be written as `[[name]]` or `mem:name`, which is a reference already.
    names.retain(|token| {
        let next = found.partition_point(|spot| spot.range.end <= token.range.start);
        found.get(next).is_none_or(|spot| spot.range.start >= token.range.end)
    });
    if !names.is_empty() {
        let field =
            |token: NameSpan| ReferenceSpan { kind: ReferenceKind::Field, range: token.range, angle: false, name: Some(token.name) };
        found.extend(names.into_iter().map(field));
        found.shared_sort_by_key(|spot| spot.range.start);
    }
    found
}

/// Collects the links, definitions and wikilinks of a line that is not code.
fn line_spots(line: &str, start: usize, found: &mut Vec<ReferenceSpan>) {
    let mut scan = LineScan { line, start, found, last_runs: None, no_angle: false };
    if let Some(behind) = definition(line) {
        scan.push_destination(behind, ReferenceKind::Definition);
        return;
    }
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        steps::count(1);
        at += match bytes[at] {
            b'\\' => 2,
            b'`' => scan.code_span(at),
            b'[' if bytes.get(at + 1) == Some(&b'[') => scan.wiki(at),
            b']' if bytes.get(at + 1) == Some(&b'(') => scan.push_destination(at + 2, ReferenceKind::Link),
            _ => 1,
        };
    }
}

/// The position after the colon of `[id]:`, if the line is a definition; a footnote is not.
fn definition(line: &str) -> Option<usize> {
    let body = line.trim_start_matches(' ');
    let indent = line.len() - body.len();
    let inner = body.strip_prefix('[').filter(|inner| indent <= 3 && !inner.starts_with('^'))?;
    let close = inner.find(']').filter(|&close| close > 0)?;
    inner[close..].starts_with("]:").then_some(indent + 1 + close + 2)
}

/// A line that is searched for references. Remembers which searches to the end of the line were in vain, so that a line of
/// thousands of opening marks is not searched once for each.
struct LineScan<'a> {
    line: &'a str,
    start: usize,
    found: &'a mut Vec<ReferenceSpan>,
    /// The start of the last run of backticks of each length; known once a code span was not closed.
    last_runs: Option<FxHashMap<usize, usize>>,
    /// Whether the rest of the line has no `>`.
    no_angle: bool,
}

impl LineScan<'_> {
    /// The length of the code span at `at`, or of its opening marks if it is not closed on this line.
    fn code_span(&mut self, at: usize) -> usize {
        let text = &self.line[at..];
        let open = backticks(text);
        if self.last_runs.as_ref().is_some_and(|last| last.get(&open).is_none_or(|last| *last <= at)) {
            return open;
        }
        let closing = runs(text, open).find(|(_, run)| *run == open);
        if closing.is_none() {
            self.last_runs.get_or_insert_with(|| runs(self.line, 0).map(|(start, run)| (run, start)).collect());
        }
        closing.map_or(open, |(start, run)| start + run)
    }

    /// Collects the wikilink at `at`; returns the number of bytes to advance.
    fn wiki(&mut self, at: usize) -> usize {
        let inner = &self.line[at + 2..];
        let end = inner.bytes().zip(inner.bytes().skip(1).chain([0])).position(|two| two.0 == b'[' || two == (b']', b']'));
        steps::count(end.unwrap_or(inner.len()));
        let Some(close) = end.filter(|&end| inner[end..].starts_with(']') && !inner[end + 2..].starts_with('(')) else {
            return 1;
        };
        let name = &inner[..inner[..close].find(['|', '#']).unwrap_or(close)];
        let lead = name.len() - name.trim_start().len();
        let begin = self.start + at + 2 + lead;
        let range = begin..begin + name.trim().len();
        if !range.is_empty() {
            self.found.push(ReferenceSpan { kind: ReferenceKind::Wiki, range, angle: false, name: None });
        }
        close + 4
    }

    /// Collects the destination at `at`; returns the number of bytes to advance.
    fn push_destination(&mut self, at: usize, kind: ReferenceKind) -> usize {
        let rest = &self.line[at..];
        let lead = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let body = &rest[lead..];
        let (from, end, angle) = match body.strip_prefix('<') {
            Some(_) if self.no_angle => return 1,
            Some(inner) => match inner.find(['>', '\n']) {
                Some(close) if inner[close..].starts_with('>') => (1, 1 + close, true),
                _ => {
                    steps::count(inner.len());
                    self.no_angle = true;
                    return 1;
                }
            },
            None => (0, plain_end(body, kind), false),
        };
        steps::count(lead + end);
        let target = &body[from..end];
        let target = &target[..target.find(['#', '?']).unwrap_or(target.len())];
        let begin = self.start + at + lead + from;
        if !target.is_empty() {
            self.found.push(ReferenceSpan { kind, range: begin..begin + target.len(), angle, name: None });
        }
        (lead + end).max(1)
    }
}

/// The number of backticks at the start of a text.
fn backticks(text: &str) -> usize {
    text.len() - text.trim_start_matches('`').len()
}

/// The runs of backticks in a text from the byte `at`, each with its start and length.
fn runs(text: &str, mut at: usize) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let gap = text[at..].find('`');
        steps::count(gap.unwrap_or(text.len() - at));
        let start = at + gap?;
        let run = backticks(&text[start..]);
        steps::count(run);
        at = start + run;
        Some((start, run))
    })
}

/// The end of a plain destination: at a blank, or at the bracket that closes the link.
fn plain_end(body: &str, kind: ReferenceKind) -> usize {
    let mut depth = 0usize;
    for (at, c) in body.char_indices() {
        match c {
            c if c.is_whitespace() => return at,
            '(' => depth += 1,
            ')' if kind == ReferenceKind::Link && depth == 0 => return at,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    body.len()
}

/// Collects every `mem:name` of a line.
fn mem_spots(line: &str, start: usize, found: &mut Vec<ReferenceSpan>) {
    for (at, mark) in line.match_indices("mem:") {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| is_name_char(c) || c == ':') {
            continue;
        }
        let rest = &line[at + mark.len()..];
        let run = &rest[..rest.find(|c| !is_name_char(c)).unwrap_or(rest.len())];
        let quoted = if before == Some('`') { rest.find('`').map(|end| &rest[..end]) } else { None };
        steps::count(mark.len() + quoted.unwrap_or(run).len());
        let name = quoted.unwrap_or_else(|| run.trim_end_matches(['.', '/', '-']));
        if !name.is_empty() {
            let begin = start + at + mark.len();
            found.push(ReferenceSpan { kind: ReferenceKind::Mem, range: begin..begin + name.len(), angle: false, name: None });
        }
    }
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.')
}

/// Replaces the references for which `new` returns a text. `None` if nothing changes.
fn replace(text: &str, mut new: impl FnMut(&ReferenceSpan, &str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut done = 0;
    for spot in spots(text) {
        let written = &text[spot.range.clone()];
        if spot.range.start >= done
            && let Some(with) = new(&spot, written).filter(|with| with != written)
        {
            out.push_str(&text[done..spot.range.start]);
            out.push_str(&with);
            done = spot.range.end;
        }
    }
    (done > 0).then(|| out + &text[done..])
}

/// `to` with or without `.md`, as `written` names `from`.
fn with_extension_as(written: &str, from: &MemoryPath, to: &MemoryPath) -> String {
    let had = strip_md(written).len() < written.len();
    match (had, from.is_md()) {
        (true, true) => to.as_str().to_owned(),
        (true, false) => to.with_md().as_str().to_owned(),
        (false, _) => to.name().to_owned(),
    }
}

/// A destination for `target` as seen from `folder`, in the style of `written`.
fn destination(written: &str, target: &str, folder: Option<&str>, angle: bool) -> String {
    let path = if written.starts_with('/') { format!("/{target}") } else { relative(folder, target) };
    let path = if written.starts_with("./") && !path.starts_with("../") { format!("./{path}") } else { path };
    let escaped = escape(&path);
    if angle {
        return escaped;
    }
    let mut out = String::with_capacity(escaped.len());
    for c in escaped.chars() {
        if needs_angles(c) { percent(c, &mut out) } else { out.push(c) }
    }
    out
}

/// Characters that end a destination which is not in angles.
fn needs_angles(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')')
}

fn percent(c: char, out: &mut String) {
    c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| out.push_str(percent_encode_byte(byte)));
}

/// The relative path from a folder to a target.
fn relative(folder: Option<&str>, target: &str) -> String {
    let folder: Vec<&str> = folder.into_iter().flat_map(|folder| folder.split('/')).collect();
    let parts: Vec<&str> = target.split('/').collect();
    let shared = folder.iter().zip(&parts[..parts.len() - 1]).take_while(|(a, b)| a == b).count();
    let ups = std::iter::repeat_n("..", folder.len() - shared);
    ups.chain(parts[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// The names that a `[[wikilink]]` in `holder` may refer to, nearest folder first.
pub fn wiki_names<'a>(written: &'a str, holder: &'a MemoryPath) -> impl Iterator<Item = String> + 'a {
    ancestors(holder).map(move |base| join(base, strip_md(written)))
}

/// The folders of a memory, nearest first, the root (`""`) last.
fn ancestors(holder: &MemoryPath) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(holder.parent().unwrap_or("")), |folder| {
        (!folder.is_empty()).then(|| folder.rsplit_once('/').map_or("", |(parent, _)| parent))
    })
}

fn join(base: &str, name: &str) -> String {
    let name: String = name.nfc().collect();
    if base.is_empty() { name } else { format!("{base}/{name}") }
}

/// Percent-encodes the characters that have a meaning in a destination.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let scheme = has_scheme(path);
    for (at, c) in path.char_indices() {
        let coded = path.as_bytes().get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
        let is_special = matches!(c, '#' | '?' | '<' | '>') || (c == '%' && coded) || (c == ':' && scheme);
        if is_special { percent(c, &mut out) } else { out.push(c) }
    }
    out
}

/// Percent-decodes a destination; one that is not UTF-8 then stays as written.
fn decode(text: &str) -> Cow<'_, str> {
    percent_decode_str(text).decode_utf8().unwrap_or(Cow::Borrowed(text))
}

/// Whether a destination begins with a scheme (`https:`, `mailto:`).
fn has_scheme(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}
