//! Help: the keys.

use crate::page::{
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::html;
use memdir_core::Result;

/// The keys, which need the script.
const KEYS: [(&str, &str); 5] = [
    ("/", "search"),
    ("j, k", "select the next or previous row"),
    ("Enter", "open the selected row"),
    ("e", "edit the memory on this page or in the selected row"),
    ("u", "undo or redo the change on this page or in the selected row"),
];
/// The keys on the machine that the pages are about.
const MACHINE_KEYS: [(&str, &str); 5] = [
    ("n", "Memories: create a memory; Dream: make a plan"),
    ("a, m, r", "Inbox: accept, merge or reject the selected candidate"),
    ("x, a", "a plan: check or uncheck the selected operation; apply the checked operations"),
    ("g h, g m, g i, g d", "go to Home, Memories, Inbox or Dream"),
    ("g t, g c, g r, g p", "go to Timeline, Chats, Rules or Prompt"),
];
/// The keys on a server.
const SERVER_KEYS: [(&str, &str); 2] =
    [("n", "Memories: create a memory"), ("g h, g m, g t, g p", "go to Home, Memories, Timeline or Prompt")];
/// The last keys of the list.
const LAST_KEYS: [(&str, &str); 2] = [("Escape", "leave a field or clear the selection"), ("?", "show this page")];

/// Shows the keys.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let is_machine = context.space.machine.is_some();
    let own: &[(&str, &str)] = if is_machine { &MACHINE_KEYS } else { &SERVER_KEYS };
    let keys = KEYS.iter().chain(own).chain(&LAST_KEYS);
    let body = html! {
        h1 { "Help and shortcuts" }
        p { "Everything on these pages also works without keyboard shortcuts or JavaScript." }
        dl.keys { @for (key, what) in keys { dt { @for one in key.split(", ") { kbd { (one) } " " } } dd { (what) } } }
        @if is_machine {
            p { "Memories are plain Markdown files. Every change can be undone on the timeline, or with " code { "memdir undo" } "." }
        } @else {
            p { "Every change can be undone on the timeline." }
        }
    };
    Ok(ShellPage::reply("Help and shortcuts", "/help", body))
}
