//! What memdir's own crates use besides the public API. Not for other programs: anything in here may change in any release.

pub mod base {
    //! Errors, paths, text, time, files.
    pub use crate::base::error::io_action;
    pub use crate::base::{day, disk, frame, glob, limits, line_diff, path, raw, shell, sort, stamp, steps, text, time, visible};
}

pub mod dialects {
    //! The tools of other memory systems.
    pub use crate::dialects::{DIALECTS, Dialect, DialectPlaces, find};
}

pub mod entrypoint {
    //! The plan of an entrypoint.
    pub use crate::entrypoint::{
        DeadLine, EntrypointFiles, EntrypointPlan, LineChange, LinePlace, LongLine, Page, dead, load, long_lines, plan, plan_many,
    };
}

pub mod memory {
    //! The format of a memory.
    pub use crate::memory::{compose, edit, lines, links, phrase, read_time, succession};
}

pub mod operations {
    //! Parts of operations that commands use directly.
    pub use crate::operations::{check, check_diff, cues, diff, dream, history, import, inbox, ledger, read, undo, verify};
}

pub mod project {
    //! The project of a directory.
    pub use crate::project::*;
}

pub mod prompt {
    //! The parts of a prompt.
    pub use crate::prompt::*;
}

pub mod recall {
    //! Recall before it reads a space.
    pub use crate::recall::*;
}

pub mod search {
    //! The seams to the index, the embedder and the conversations.
    pub use crate::search::*;
}

pub mod secrets {
    //! Rules and redaction.
    pub use crate::secrets::*;
}

pub mod store {
    //! Mounts, spaces and cancellation.
    pub use crate::store::{
        Entry, JournalSize, Plan, Walk, change_with, confirmation, files, if_readable, mount, mounts, rules, space, stop,
    };
}

pub mod tools {
    //! The tools agents see.
    pub use crate::tools::*;
}
