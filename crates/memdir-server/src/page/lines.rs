//! Lines of text on a page: unified diffs, and lines with highlighted words.

use maud::{Markup, html};
use memdir_core::internal::{
    base::visible::visible,
    search::{
        analysis::Analyser,
        query::{self, Query},
    },
    secrets,
};
use std::ops::Range;

/// Maximum number of lines of a diff on one page.
pub(super) const MAX_DIFF_LINES: usize = 2_000;

/// Renders the unified diff of one file without its two header lines, with secrets redacted.
pub(super) fn diff(unified: &str) -> Markup {
    let lines = DiffLines::new(unified);
    html! {
        @if unified.is_empty() {
            p.quiet { "No differences." }
        } @else {
            (lines.render(0..MAX_DIFF_LINES))
            @if lines.count() > MAX_DIFF_LINES {
                p.quiet { "Lines not shown: " (lines.count() - MAX_DIFF_LINES) }
            }
        }
    }
}

/// The lines of a unified diff of one file without its two header lines, with secrets redacted and control characters shown.
pub(super) struct DiffLines(Vec<String>);

impl DiffLines {
    pub(super) fn new(unified: &str) -> Self {
        DiffLines(secrets::redact(unified).lines().skip(2).map(|line| visible(line).into_owned()).collect())
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// Renders the lines in a range, which may end after the last one.
    pub(super) fn render(&self, range: Range<usize>) -> Markup {
        html! {
            div.scroll tabindex="0" role="group" aria-label="Differences" {
                pre.diff {
                    @for line in self.0.iter().take(range.end).skip(range.start) {
                        @match line.as_bytes().first() {
                            Some(b'+') => ins { (line) },
                            Some(b'-') => del { (line) },
                            Some(b'@') => span.place { (line) },
                            _ => span { (line) },
                        }
                        "\n"
                    }
                }
            }
        }
    }
}

/// Highlights the words of a query in lines.
pub(super) struct Highlighter {
    analyser: Analyser,
    query: Query,
}

impl Highlighter {
    pub(super) fn new(text: &str) -> Self {
        let mut analyser = Analyser::default();
        let query = Query::parse(text, &mut analyser);
        Highlighter { analyser, query }
    }

    /// Renders one line.
    pub(super) fn line(&mut self, line: &str) -> Markup {
        let ranges = query::highlights(line, &self.query, &mut self.analyser);
        let mut parts: Vec<(bool, &str)> = Vec::new();
        let mut at = 0;
        for range in ranges {
            parts.push((false, &line[at..range.start]));
            parts.push((true, &line[range.clone()]));
            at = range.end;
        }
        parts.push((false, &line[at..]));
        html! {
            @for (is_match, part) in parts {
                @if is_match { mark { (part) } } @else { (part) }
            }
        }
    }
}
