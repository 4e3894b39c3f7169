//! Lines of text on a page: unified diffs, and lines with highlighted words.

use maud::{Markup, html};
use memdir_core::internal::{
    search::{
        analysis::Analyser,
        query::{self, Query},
    },
    secrets,
};

/// Maximum number of lines of a diff on one page.
const MAX_DIFF_LINES: usize = 2_000;

/// Renders the unified diff of one file without its two header lines, with secrets redacted.
pub(super) fn diff(unified: &str) -> Markup {
    render(unified, 2)
}

fn render(unified: &str, skipped: usize) -> Markup {
    let redacted = secrets::redact(unified);
    let count = redacted.lines().count();
    html! {
        @if unified.is_empty() {
            p.quiet { "No differences." }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Differences" {
                pre.diff {
                    @for line in redacted.lines().skip(skipped).take(MAX_DIFF_LINES) {
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
            @if count > MAX_DIFF_LINES {
                p.quiet { "Lines not shown: " (count - MAX_DIFF_LINES) }
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
