//! A small picture of a memory and its neighbours, as SVG. Pure.

use maud::{Markup, html};
use memdir_core::internal::base::text::ellipsis;

/// How a neighbour is related to the memory in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// The memory refers to it.
    Link,
    /// It refers to the memory.
    Backlink,
    /// It is near in meaning.
    Near,
}

impl Relation {
    /// All of them, in the order of the picture.
    pub(super) const ALL: [Relation; 3] = [Relation::Link, Relation::Backlink, Relation::Near];

    /// The heading of a list of them.
    pub(super) fn title(self) -> &'static str {
        match self {
            Relation::Link => "Refers to",
            Relation::Backlink => "Referred to by",
            Relation::Near => "Similar in meaning",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Relation::Link => "link",
            Relation::Backlink => "backlink",
            Relation::Near => "near",
        }
    }
}

/// A memory beside the one in the middle.
pub(super) struct Neighbour {
    pub(super) name: String,
    pub(super) url: String,
    pub(super) relation: Relation,
}

/// The width of the picture; the stylesheet scales it. On a phone it is as wide as the page, so that names stay readable.
const WIDTH: usize = 400;
/// The height of one row.
const ROW: usize = 34;
/// Characters of a name that fit.
const MAX_CHARS: usize = 38;

/// Draws the memory above its neighbours, one in each row, so that no label can overlap another.
pub(super) fn draw(name: &str, neighbours: &[Neighbour]) -> Markup {
    let height = neighbours.len() * ROW + 2 * ROW;
    html! {
        svg.graph viewBox=(format!("0 0 {WIDTH} {height}")) role="group" aria-label=(format!("Memories related to {name}")) {
            @for (n, one) in neighbours.iter().enumerate() {
                @let y = 2 * ROW + n * ROW;
                path class=(one.relation.class()) fill="none" d=(format!("M 12 {ROW} C 12 {y} 20 {y} 52 {y}")) {}
            }
            circle.own cx="12" cy=(ROW) r="6" {}
            text.own x="26" y=(ROW + 5) { (ellipsis(name, MAX_CHARS)) }
            @for (n, one) in neighbours.iter().enumerate() {
                @let y = 2 * ROW + n * ROW;
                a href=(one.url) {
                    circle class=(one.relation.class()) cx="52" cy=(y) r="6" {}
                    text x="66" y=(y + 5) { (ellipsis(&one.name, MAX_CHARS)) }
                }
            }
        }
    }
}
