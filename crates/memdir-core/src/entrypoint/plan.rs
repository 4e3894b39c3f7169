//! Plans how the entrypoint and its pages change when memories are saved, renamed and removed. One change affects at most the
//! entrypoint and one page.

use super::{EntrypointFiles, Page, line, user_text};
use crate::base::sort::SharedSort as _;
use crate::{
    base::{
        limits,
        path::{MemoryPath, strip_md},
        steps,
        text::human_bytes,
    },
    entrypoint::{section::ParsedEntrypoint, user_text::Pointers},
    memory::links,
    store::mounts::page_name,
};
use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// A change of a memory. Paths are from the mount's root, with their extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineChange {
    /// It was written: its line is added or updated.
    Set {
        /// Its path.
        path: String,
        /// The title in the line.
        title: String,
        /// The description in the line.
        hook: String,
    },
    /// It was removed.
    Remove {
        /// Its path.
        path: String,
    },
    /// It was renamed.
    Rename {
        /// Its old path.
        from: String,
        /// Its new path.
        to: String,
        /// The title in the line.
        title: String,
        /// The description in the line.
        hook: String,
    },
    /// Its line moves from the entrypoint to a page.
    ToPage {
        /// Its path.
        path: String,
    },
    /// Its line is added to the entrypoint, or moves there from a page.
    ToFront {
        /// Its path.
        path: String,
        /// The title in the line.
        title: String,
        /// The description in the line.
        hook: String,
    },
    /// Another program removed it: memdir's own line is removed. The user's text stays as it is.
    Gone {
        /// Its path.
        path: String,
    },
    /// Another program renamed it: the links to it change, the text of its line stays.
    Moved {
        /// Its old path.
        from: String,
        /// Its new path.
        to: String,
    },
}

/// The new content of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntrypointPlan {
    /// The entrypoint's new text; `None` if it is unchanged.
    pub main: Option<String>,
    /// The changed pages by file name: the new text, or `None` to remove the file. At most one for one change.
    pub pages: BTreeMap<String, Option<String>>,
    /// What the writer should know.
    pub notes: Vec<String>,
}

/// The minimum number of generated lines in the entrypoint, even if the user's text alone fills it.
const FLOOR: usize = 20;
/// The number of lines up to which a page is filled.
const PAGE_LINES: usize = limits::ENTRYPOINT_LINES;
/// The maximum size of a page in bytes.
const PAGE_BYTES: usize = limits::ENTRYPOINT_BYTES;
/// The size up to which a page is filled, which leaves room for its lines to grow.
const PAGE_FILL_BYTES: usize = PAGE_BYTES - PAGE_BYTES / 10;

/// Plans one change, or a few that belong together (an undo). `age` returns the time of a memory's last change; it is called only
/// if lines have to move.
pub fn plan(entrypoint: &EntrypointFiles, changes: &[LineChange], age: &dyn Fn(&str) -> i64) -> EntrypointPlan {
    Work::new(entrypoint, changes.len() <= 1).run(changes, age)
}

/// Plans any number of changes at once (repair, import), with any number of pages.
pub fn plan_many(entrypoint: &EntrypointFiles, changes: &[LineChange], age: &dyn Fn(&str) -> i64) -> EntrypointPlan {
    let mut work = Work::new(entrypoint, false);
    if changes.len() > PAGE_LINES {
        work.index_pages();
    }
    work.run(changes, age)
}

/// The entrypoint while it is being changed.
struct Work<'a> {
    entrypoint: &'a EntrypointFiles,
    parsed: ParsedEntrypoint,
    pointers: Pointers,
    pages: BTreeMap<u32, Arc<Page>>,
    touched: BTreeSet<u32>,
    /// The pages of each path, if there are so many changes that searching every page for each would take quadratic time.
    page_paths: Option<HashMap<String, BTreeSet<u32>>>,
    /// Whether only one page may change.
    single: bool,
    /// The paths that were just set, which count as the newest whatever the times of their files.
    fresh: HashSet<String>,
    notes: Vec<String>,
}

impl<'a> Work<'a> {
    fn new(entrypoint: &'a EntrypointFiles, single: bool) -> Self {
        Work {
            entrypoint,
            parsed: entrypoint.parsed.clone(),
            pointers: entrypoint.pointers.clone(),
            pages: entrypoint.pages.clone(),
            touched: BTreeSet::new(),
            page_paths: None,
            single,
            fresh: HashSet::new(),
            notes: Vec::new(),
        }
    }

    fn run(mut self, changes: &[LineChange], age: &dyn Fn(&str) -> i64) -> EntrypointPlan {
        for change in changes {
            match change {
                LineChange::Set { path, title, hook } => self.set(path, title, hook),
                LineChange::Remove { path } => self.remove(path),
                LineChange::Rename { from, to, title, hook } => self.rename(from, to, title, hook),
                LineChange::Gone { path } => self.drop_ours(path),
                LineChange::ToPage { path } => self.move_out(path),
                LineChange::ToFront { path, title, hook } => {
                    self.drop_from_pages(path);
                    self.set(path, title, hook);
                }
                LineChange::Moved { from, to } => self.follow(from, to),
            }
        }
        let pointers = &self.pointers;
        self.parsed.lines.retain(|path, _| pointers.line_of(path).is_none());
        if !self.parsed.lines.is_empty() || !self.pages.is_empty() {
            self.parsed.mark(HEADING);
        }
        self.overflow(age);
        self.finish(changes)
    }

    fn set(&mut self, path: &str, title: &str, hook: &str) {
        self.fresh.insert(path.to_owned());
        if self.pointers.line_of(path).is_some() {
            return self.drop_ours(path);
        }
        if !self.parsed.lines.contains_key(path)
            && let Some(number) = self.page_of(path)
        {
            return self.set_in_page(number, None, path, title, hook);
        }
        self.drop_from_pages(path);
        self.set_in_section(path, title, hook);
    }

    /// Moves a generated line to the first page with room for it, or to a new one.
    fn move_out(&mut self, path: &str) {
        let Some(line) = self.parsed.lines.remove(path) else { return };
        let has_room = |page: &Page| page.lines < PAGE_LINES && page.bytes + page.parsed.cost(&line) <= PAGE_FILL_BYTES;
        let found = self.pages.iter().inspect(|_| steps::count(1)).find(|(_, page)| has_room(page)).map(|(&number, _)| number);
        let next = self.pages.last_key_value().map_or(Some(1), |(&number, _)| number.checked_add(1));
        let Some(number) = found.or(next) else { return drop(self.parsed.lines.insert(path.to_owned(), line)) };
        let mut page = self.pages.get(&number).map_or_else(|| new_page(number), |page| page.parsed.clone());
        page.lines.insert(path.to_owned(), line);
        self.put_page(number, page);
    }

    fn set_in_section(&mut self, path: &str, title: &str, hook: &str) {
        if let Some(line) = line::write(path, title, hook, usize::MAX) {
            self.parsed.lines.insert(path.to_owned(), line);
        }
    }

    /// Sets a line in the page that has it, in place of the line of `instead`. If the page is full, the line stays unchanged or moves
    /// to the entrypoint.
    fn set_in_page(&mut self, number: u32, instead: Option<&str>, path: &str, title: &str, hook: &str) {
        let Some(page) = self.pages.get(&number) else { return };
        let mut parsed = page.parsed.clone();
        let old = parsed.lines.remove(instead.unwrap_or(path));
        let (_, others) = parsed.size(&[]);
        let room = PAGE_BYTES.saturating_sub(others + parsed.cost(""));
        match (line::write(path, title, hook, room), old) {
            (Some(line), _) => drop(parsed.lines.insert(path.to_owned(), line)),
            (None, Some(line)) if instead.is_none() => drop(parsed.lines.insert(path.to_owned(), line)),
            (None, _) => self.set_in_section(path, title, hook),
        }
        self.put_page(number, parsed);
    }

    fn remove(&mut self, path: &str) {
        self.drop_ours(path);
        let removed = [&mut self.parsed.head, &mut self.parsed.tail].map(|text| user_text::remove_pointers(text, path));
        if removed.contains(&true) {
            self.pointers = Pointers::from_parsed(&self.parsed);
        }
    }

    fn rename(&mut self, from: &str, to: &str, title: &str, hook: &str) {
        self.fresh.insert(to.to_owned());
        self.rewrite_hand(from, to);
        if self.pointers.line_of(to).is_some() {
            self.drop_ours(from);
            return self.drop_ours(to);
        }
        let there = self.parsed.lines.contains_key(to) || self.page_of(to).is_some();
        match self.page_of(from) {
            Some(number) if !there && !self.parsed.lines.contains_key(from) => self.set_in_page(number, Some(from), to, title, hook),
            // A line for the new name exists elsewhere; changing its page too would exceed the limit of one page.
            Some(_) if there => self.drop_ours(from),
            _ => {
                self.drop_ours(from);
                self.set(to, title, hook);
            }
        }
    }

    /// Updates the link of a line after another program renamed its memory, and keeps the rest of the line.
    fn follow(&mut self, from: &str, to: &str) {
        self.rewrite_hand(from, to);
        let is_listed = self.pointers.line_of(to).is_some() || self.parsed.lines.contains_key(to) || self.page_of(to).is_some();
        let names = (MemoryPath::parse(&self.entrypoint.name), MemoryPath::parse(from), MemoryPath::parse(to));
        let (false, (Ok(holder), Ok(old), Ok(new))) = (is_listed, names) else { return self.drop_ours(from) };
        let rewritten = |line: String| links::rewrite_references(&line, &holder, &old, &new).unwrap_or(line);
        if let Some(line) = self.parsed.lines.remove(from) {
            self.parsed.lines.insert(to.to_owned(), rewritten(line));
        } else if let Some(number) = self.page_of(from) {
            let mut parsed = self.pages[&number].parsed.clone();
            if let Some(line) = parsed.lines.remove(from) {
                parsed.lines.insert(to.to_owned(), rewritten(line));
            }
            self.put_page(number, parsed);
        }
        self.drop_ours(from);
    }

    /// Updates the user's own links after a rename.
    fn rewrite_hand(&mut self, from: &str, to: &str) {
        let paths = (MemoryPath::parse(&self.entrypoint.name), MemoryPath::parse(from), MemoryPath::parse(to));
        let (Ok(holder), Ok(from), Ok(to)) = paths else { return };
        let mut changed = false;
        for text in [&mut self.parsed.head, &mut self.parsed.tail] {
            if let Some(new) = links::rewrite_references(text, &holder, &from, &to) {
                *text = new;
                changed = true;
            }
        }
        if changed {
            self.pointers = Pointers::from_parsed(&self.parsed);
        }
    }

    fn drop_ours(&mut self, path: &str) {
        self.parsed.lines.remove(path);
        self.drop_from_pages(path);
    }

    fn drop_from_pages(&mut self, path: &str) {
        while let Some(number) = self.page_of(path) {
            let mut parsed = self.pages[&number].parsed.clone();
            parsed.lines.remove(path);
            self.put_page(number, parsed);
        }
    }

    fn index_pages(&mut self) {
        let mut paths: HashMap<String, BTreeSet<u32>> = HashMap::new();
        for (number, page) in &self.pages {
            for path in page.paths() {
                paths.entry(path.to_owned()).or_default().insert(*number);
            }
        }
        self.page_paths = Some(paths);
    }

    fn page_of(&self, path: &str) -> Option<u32> {
        if let Some(paths) = &self.page_paths {
            steps::count(1);
            return paths.get(path).and_then(|numbers| numbers.first().copied());
        }
        steps::count(self.pages.len());
        self.pages.iter().find(|(_, page)| page.parsed.lines.contains_key(path)).map(|(&number, _)| number)
    }

    fn put_page(&mut self, number: u32, parsed: ParsedEntrypoint) {
        if self.pages.get(&number).is_some_and(|page| page.parsed == parsed) {
            return;
        }
        self.touched.insert(number);
        if let Some(paths) = &mut self.page_paths {
            steps::count(parsed.lines.len());
            let old = self.pages.get(&number).map(|page| &page.parsed.lines);
            for path in old.into_iter().flat_map(|lines| lines.keys()).filter(|path| !parsed.lines.contains_key(*path)) {
                paths.get_mut(path).map(|numbers| numbers.remove(&number));
            }
            for path in parsed.lines.keys().filter(|path| old.is_none_or(|lines| !lines.contains_key(*path))) {
                paths.entry(path.clone()).or_default().insert(number);
            }
        }
        if parsed.is_empty() {
            self.pages.remove(&number);
        } else {
            self.pages.insert(number, Arc::new(Page::from_parsed(parsed)));
        }
    }

    /// Moves the oldest lines to pages until the entrypoint is within its limits: half of them at once, so that it happens rarely.
    fn overflow(&mut self, age: &dyn Fn(&str) -> i64) {
        if self.excess(&self.page_names()).is_none() || self.parsed.lines.len() <= self.least() {
            return;
        }
        let mut oldest: Vec<(bool, i64, String)> =
            self.parsed.lines.keys().map(|path| (self.single && self.fresh.contains(path), age(path), path.clone())).collect();
        oldest.shared_sort();
        let mut oldest = oldest.into_iter().map(|(_, _, path)| path).peekable();
        // Pages before this one have no room.
        let mut from = 0;
        while self.is_over() && self.parsed.lines.len() > FLOOR {
            let Some(number) = self.page_with_room(from) else { break };
            from = number;
            let moved = self.move_to_page(number, &mut oldest);
            if moved == 0 {
                break;
            }
            let name = page_name(&self.entrypoint.name, number);
            let (lines, were) = if moved == 1 { ("oldest line".to_owned(), "was") } else { (format!("{moved} oldest lines"), "were") };
            self.notes.push(format!("{} was full, so its {lines} {were} moved to the linked page {name}", self.entrypoint.name));
            if self.single {
                break;
            }
        }
    }

    /// Returns the minimum number of lines that stay. If the user's text alone exceeds a limit, moving more does not help, so lines
    /// accumulate instead of one moving at every save.
    fn least(&self) -> usize {
        let (lines, bytes) = self.parsed.size(&self.page_names());
        let movable = self.parsed.lines.values().skip(FLOOR).map(|line| self.parsed.cost(line));
        let (count, size) = movable.fold((0, 0), |(count, size), cost| (count + 1, size + cost));
        let exceeds_alone = Excess { lines: lines - count, bytes: bytes - size }.over().is_some();
        if exceeds_alone { 2 * FLOOR } else { FLOOR }
    }

    /// Moves lines, oldest first, to a page; returns the number.
    fn move_to_page(&mut self, number: u32, oldest: &mut std::iter::Peekable<impl Iterator<Item = String>>) -> usize {
        let mut page = self.pages.get(&number).map_or_else(|| new_page(number), |page| page.parsed.clone());
        let (mut lines, mut bytes) = page.size(&[]);
        let half = self.parsed.lines.len() / 2;
        // A page takes at most `PAGE_LINES`, so that with twice as many lines half of them are never reached.
        let mut excess = if half > PAGE_LINES { None } else { self.excess(&self.page_names_with(number)) };
        let mut moved = 0;
        while self.parsed.lines.len() > FLOOR && (moved < half || excess.is_some()) {
            let Some(line) = oldest.peek().and_then(|path| self.parsed.lines.get(path)) else { break };
            if lines >= PAGE_LINES || bytes + page.cost(line) > PAGE_FILL_BYTES {
                break;
            }
            lines += 1;
            bytes += page.cost(line);
            excess = excess.and_then(|excess| excess.without(self.parsed.cost(line)));
            if let Some((path, line)) = oldest.next().and_then(|path| self.parsed.lines.remove_entry(&path)) {
                page.lines.insert(path, line);
                moved += 1;
            }
        }
        if moved > 0 {
            self.put_page(number, page);
        }
        moved
    }

    /// Whether the entrypoint exceeds the limits.
    fn is_over(&self) -> bool {
        // Every generated line is one of its lines.
        self.parsed.lines.len() > limits::ENTRYPOINT_LINES || self.excess(&self.page_names()).is_some()
    }

    /// Returns the first page from a number on that is at most about half full, else a new one.
    fn page_with_room(&self, from: u32) -> Option<u32> {
        let roomy = |page: &Page| page.lines <= PAGE_LINES / 2 + 5 && page.bytes <= PAGE_FILL_BYTES / 2 + 2_000;
        if self.single
            && let Some(number) = self.touched.first()
        {
            return Some(*number);
        }
        let found = self.pages.range(from..).inspect(|_| steps::count(1)).find(|(_, page)| roomy(page)).map(|(&number, _)| number);
        let last = self.pages.last_key_value().map_or(0, |(&number, _)| number);
        let has_gap = self.pages.len() < last as usize;
        let gap = || (1..last).filter(|_| has_gap).inspect(|_| steps::count(1)).find(|number| !self.pages.contains_key(number));
        found.or_else(gap).or_else(|| last.checked_add(1))
    }

    /// Returns the size of the entrypoint with these pages linked, if it exceeds the limits.
    fn excess(&self, pages: &[String]) -> Option<Excess> {
        steps::count(self.parsed.lines.len() + pages.len());
        let (lines, bytes) = self.parsed.size(pages);
        Excess { lines, bytes }.over()
    }

    /// Returns the names of all pages and this one.
    fn page_names_with(&self, number: u32) -> Vec<String> {
        let numbers: BTreeSet<u32> = self.pages.keys().copied().chain([number]).collect();
        numbers.into_iter().map(|number| page_name(&self.entrypoint.name, number)).collect()
    }

    fn page_names(&self) -> Vec<String> {
        self.pages.keys().map(|&number| page_name(&self.entrypoint.name, number)).collect()
    }

    fn finish(mut self, changes: &[LineChange]) -> EntrypointPlan {
        let names = self.page_names();
        let old = self.entrypoint.text.as_deref();
        let main = Some(self.parsed.render(&names)).filter(|new| old.unwrap_or_default() != new);
        let pages = self.touched.iter().map(|number| {
            let text = self.pages.get(number).map(|page| page.parsed.render(&[]));
            (page_name(&self.entrypoint.name, *number), text)
        });
        let pages = pages.collect();
        let text = main.as_deref().or(old).unwrap_or_default();
        for change in changes {
            if let LineChange::Remove { path } = change {
                self.notes.extend(mentions(&self.entrypoint.name, text, path));
            }
        }
        if let Some(new) = &main
            && new.len() > old.map_or(0, str::len)
        {
            self.notes.extend(size_note(&self.entrypoint.name, new));
        }
        EntrypointPlan { main, pages, notes: self.notes }
    }
}

/// The heading of a new entrypoint.
const HEADING: &str = "# Memory";
/// The heading of a page, before its number.
const PAGE_HEADING: &str = "# Memory, page ";

/// Whether a line is a generated heading.
pub(super) fn is_own_heading(line: &str) -> bool {
    let number = line.strip_prefix(PAGE_HEADING);
    line == HEADING || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn new_page(number: u32) -> ParsedEntrypoint {
    let mut parsed = ParsedEntrypoint::default();
    parsed.mark(&format!("{PAGE_HEADING}{number}"));
    parsed
}

/// A size that exceeds the limits.
#[derive(Clone, Copy)]
struct Excess {
    lines: usize,
    bytes: usize,
}

impl Excess {
    fn over(self) -> Option<Excess> {
        (self.lines > limits::ENTRYPOINT_LINES || self.bytes > limits::ENTRYPOINT_BYTES).then_some(self)
    }

    /// The size without one line.
    fn without(self, bytes: usize) -> Option<Excess> {
        Excess { lines: self.lines - 1, bytes: self.bytes - bytes }.over()
    }
}

/// Reports where the user's text still mentions a removed memory.
fn mentions(name: &str, text: &str, path: &str) -> Option<String> {
    let holder = MemoryPath::parse(name).ok()?;
    let lines: BTreeSet<u64> = links::references(text, &holder)
        .into_iter()
        .filter(|reference| strip_md(&reference.target) == strip_md(path))
        .map(|reference| reference.line)
        .collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let lines = lines.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    (!lines.is_empty()).then(|| format!("{name} still mentions {path} outside memdir's section ({word} {lines})"))
}

/// Returns a note if the entrypoint approaches or exceeds a limit.
fn size_note(name: &str, text: &str) -> Option<String> {
    let (lines, bytes) = (crate::base::text::lines(text) as usize, text.len());
    let caps = [
        (lines, limits::ENTRYPOINT_LINES, format!("{lines} lines (limit {})", limits::ENTRYPOINT_LINES)),
        (
            bytes,
            limits::ENTRYPOINT_BYTES,
            format!("{} (limit {})", human_bytes(bytes as u64), human_bytes(limits::ENTRYPOINT_BYTES as u64)),
        ),
    ];
    let reached = |percent: usize| {
        let sizes: Vec<&str> = caps.iter().filter(|(size, cap, _)| size * 100 >= cap * percent).map(|(.., text)| text.as_str()).collect();
        (!sizes.is_empty()).then(|| sizes.join(" and "))
    };
    if lines > limits::ENTRYPOINT_LINES || bytes > limits::ENTRYPOINT_BYTES {
        let sizes = reached(100)?;
        return Some(format!("{name} is at {sizes}, so only its beginning is loaded; shorten the text outside memdir's section"));
    }
    reached(limits::ENTRYPOINT_WARN_PERCENT)
        .map(|sizes| format!("{name} is at {sizes}; when it is full, its oldest lines are moved to an overflow page"))
}
