//! `memory_undo`: takes back the caller's own last change.

use super::{Caller, Level, Tool, ToolResult, args::Args};
use crate::{
    base::error::{Error, Result},
    operations::{
        history,
        undo::{self, Which},
    },
};
use serde_json::json;

pub(super) const TOOL: Tool = Tool {
    name: "memory_undo",
    title: "Undo my last change",
    description: include_str!("../../texts/tools/undo.md"),
    input: || {
        json!({ "type": "object", "properties": {
            "change": { "type": "string", "description": "the id a change returned; needed only without a session" }
        } })
    },
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    run,
};

fn run(caller: &Caller, args: &Args<'_>) -> Result<ToolResult> {
    let which = match args.text(&["change", "id"])? {
        Some(id) => Which::Id(own(caller, &id)?),
        None if caller.session => Which::Mine,
        None => {
            let why = "this connection has no session, so nobody's last change can be told from another's; give the id the change returned";
            return Err(Error::bad_input("change", why));
        }
    };
    args.finish()?;
    let undone = caller.memdir.undo(&which)?;
    let out =
        json!({ "undone": undone.undone.id, "change": undone.change.id, "what": undo::describe(&undone.undone), "notes": undone.notes });
    let sentence = format!("Took back: {}.", undo::describe(&undone.undone));
    let text = std::iter::once(sentence).chain(undone.notes.iter().cloned()).collect::<Vec<_>>().join("\n");
    Ok(ToolResult::new(out, text))
}

/// The id of a change this caller made. Only whoever made a change was told all of its id, so a beginning is not enough.
fn own(caller: &Caller, id: &str) -> Result<String> {
    let change = history::change(caller.memdir.store(), id)?;
    if change.id.0 != id.to_ascii_lowercase() || change.actor.name != caller.memdir.context().actor.name {
        return Err(Error::bad_input("change", format!("{id} is no whole id of a change of yours")));
    }
    Ok(change.id.0)
}
