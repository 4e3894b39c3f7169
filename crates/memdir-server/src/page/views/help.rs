//! Help: the keys.

use crate::page::{
    params::Params,
    reply::{Page, Reply, ViewContext},
};
use maud::html;
use memdir_core::Result;

/// The keys, which need the script.
const KEYS: [(&str, &str); 10] = [
    ("/", "search"),
    ("j, k", "next and previous row"),
    ("Enter", "open the row"),
    ("e", "edit the memory"),
    ("n", "new memory"),
    ("u", "undo the selected change"),
    ("a, m, r", "in the inbox: accept, merge, reject"),
    ("g h, g m, g i, g t", "go to home, memories, inbox, timeline"),
    ("Escape", "leave a field"),
    ("?", "this page"),
];

/// Shows the keys.
pub(in crate::page) fn show(_: &ViewContext<'_>, _: &str, _: &Params) -> Result<Reply> {
    let body = html! {
        h1 { "Help and keys" }
        p { "Everything on these pages also works without keys and without a script." }
        dl.keys { @for (key, what) in KEYS { dt { kbd { (key) } } dd { (what) } } }
        p { "Memories are plain Markdown files. Every change can be undone on the timeline, or with " code { "memdir undo" } "." }
    };
    Ok(Page::reply("Help and keys", "/help", body))
}
