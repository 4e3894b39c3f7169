//! Help: the keys.

use crate::page::{
    params::Params,
    reply::{Page, Reply, ViewContext},
};
use maud::html;
use memdir_core::Result;

/// The keys, which need the script.
const KEYS: [(&str, &str); 12] = [
    ("/", "search"),
    ("j, k", "select the next or previous row"),
    ("Enter", "open the selected row"),
    ("e", "edit the memory on this page or in the selected row"),
    ("n", "create a memory or a plan"),
    ("u", "undo the selected change"),
    ("a, m, r", "in the inbox: accept, merge or reject the selected candidate"),
    ("x, a", "in a plan: check or uncheck the selected operation; apply the checked operations"),
    ("g h, g m, g i, g d", "go to home, memories, inbox or dream"),
    ("g t, g c, g r, g p", "go to timeline, chats, rules or prompt"),
    ("Escape", "leave a field or clear the selection"),
    ("?", "show this page"),
];

/// Shows the keys.
pub(in crate::page) fn show(_: &ViewContext<'_>, _: &str, _: &Params) -> Result<Reply> {
    let body = html! {
        h1 { "Help and shortcuts" }
        p { "Everything on these pages also works without keyboard shortcuts or JavaScript." }
        dl.keys { @for (key, what) in KEYS { dt { @for one in key.split(", ") { kbd { (one) } " " } } dd { (what) } } }
        p { "Memories are plain Markdown files. Every change can be undone on the timeline, or with " code { "memdir undo" } "." }
    };
    Ok(Page::reply("Help and shortcuts", "/help", body))
}
