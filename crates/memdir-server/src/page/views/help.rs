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
    ("j, k", "next and previous row"),
    ("Enter", "open the row"),
    ("e", "edit the memory, or the one in the selected row"),
    ("n", "new memory, new plan"),
    ("u", "undo the selected change"),
    ("a, m, r", "in the inbox: accept, merge, reject"),
    ("x, a", "in a plan: check or uncheck the operation, apply the checked ones"),
    ("g h, g m, g i, g d", "go to home, memories, inbox, dream"),
    ("g t, g c, g r, g p", "go to timeline, chats, rules, prompt"),
    ("Escape", "leave a field, clear the selection"),
    ("?", "this page"),
];

/// Shows the keys.
pub(in crate::page) fn show(_: &ViewContext<'_>, _: &str, _: &Params) -> Result<Reply> {
    let body = html! {
        h1 { "Help and keys" }
        p { "Everything on these pages also works without keyboard shortcuts and without JavaScript." }
        dl.keys { @for (key, what) in KEYS { dt { @for one in key.split(", ") { kbd { (one) } " " } } dd { (what) } } }
        p { "Memories are plain Markdown files. Every change can be undone on the timeline, or with " code { "memdir undo" } "." }
    };
    Ok(Page::reply("Help and keys", "/help", body))
}
