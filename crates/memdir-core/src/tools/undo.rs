//! `memory_undo`: undoes the caller's own last change.

use super::{Level, Tool, ToolContext, ToolResult, args::ToolArguments, params::Param};
use crate::{
    base::error::{Error, Result},
    operations::undo::{self, UndoTarget},
};
use serde_json::json;

const CHANGE: Param = Param::text("change").aliases(&["id"]).describe("id returned by the change; required only without a session");

pub(super) const TOOL: Tool = Tool {
    name: "memory_undo",
    title: "Undo my last change",
    description: include_str!("../../texts/tools/undo.md"),
    params: &[CHANGE],
    closed: false,
    output: None,
    level: Level::Changes,
    idempotent: false,
    titled: false,
    always_load: false,
    run,
};

fn run(caller: &ToolContext, args: &ToolArguments<'_>) -> Result<ToolResult> {
    let which = match args.text(&CHANGE)? {
        Some(id) => UndoTarget::Own(id),
        None if caller.session => UndoTarget::Mine,
        None => {
            let why =
                "this connection has no session, so the last change of this conversation is unknown; pass the id that the change returned";
            return Err(Error::bad_input("change", why));
        }
    };
    args.reject_unknown()?;
    let undone = caller.memdir.undo(&which)?;
    let out =
        json!({ "undone": undone.undone.id, "change": undone.change.id, "what": undo::describe(&undone.undone), "notes": undone.notes });
    let sentence = format!("Undid: {}.", undo::describe(&undone.undone));
    let text = std::iter::once(sentence).chain(undone.notes.iter().cloned()).collect::<Vec<_>>().join("\n");
    Ok(ToolResult::new(out, text))
}
