//! [`PageSpace`]: everything a view gets.

use super::{backlinks::Backlinks, source::PageSource};
use crate::{catalog::PromptSection, subscriptions::proposals_mark};
use memdir_core::{DreamShelf, Embedder, Error, Memdir, Project, Result};
use std::{path::PathBuf, sync::Arc};

/// Who looks at the pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Viewer {
    /// The name that changes are recorded for.
    pub name: String,
    /// Whether the viewer may change memories.
    pub may_write: bool,
}

/// The plans to tidy a space, and what making one uses.
#[derive(Clone)]
pub struct PageDreams {
    /// Where plans are kept.
    pub shelf: DreamShelf,
    /// Finds texts of the same meaning. Only an instant embedder is used.
    pub embedder: Option<Arc<dyn Embedder>>,
}

/// A space of memories as one viewer sees it on pages. Cloning it is cheap.
#[derive(Clone)]
pub struct PageSpace {
    /// The memories, for the viewer as the actor.
    pub memdir: Memdir,
    /// Who looks.
    pub viewer: Viewer,
    /// A short name of what is shown, such as that of a project's directory.
    pub title: Option<String>,
    /// What only the program around the pages knows; `None` on a server, which is not the viewer's machine.
    pub machine: Option<Arc<dyn PageSource>>,
    /// Renders the memory section exactly as an agent gets it.
    pub section: Option<PromptSection>,
    /// The project that the viewer selected, on a server.
    pub selected_project: Option<String>,
    /// The project that the memories are about, if there is one.
    pub project: Option<Project>,
    /// The file for the cached table of tripwires.
    pub tripwires: Option<PathBuf>,
    /// The plans to tidy it; `None` if none are kept for the viewer.
    pub dreams: Option<PageDreams>,
    pub(super) backlinks: Arc<Backlinks>,
}

impl PageSpace {
    /// Creates a space for pages.
    pub fn new(memdir: Memdir, viewer: Viewer, section: Option<PromptSection>) -> Self {
        PageSpace {
            memdir,
            viewer,
            title: None,
            machine: None,
            section,
            selected_project: None,
            project: None,
            tripwires: None,
            dreams: None,
            backlinks: Arc::default(),
        }
    }

    /// Returns what the program on this machine knows. Fails on a server, where no route leads to a view that needs it.
    pub(super) fn machine(&self) -> Result<&dyn PageSource> {
        self.machine.as_deref().ok_or_else(|| Error::unavailable("this page", "it is available only in `memdir ui`, not on a server"))
    }
}

impl PageSpace {
    /// Returns the cursor of a page that is rendered now: what the page shows is not older.
    pub(super) fn cursor(&self) -> String {
        let cursor = self.memdir.store().newest_cursor().map(|cursor| cursor.to_string()).unwrap_or_default();
        match proposals_mark(&self.memdir) {
            Some(mark) if !cursor.is_empty() => format!("{cursor}~{mark}"),
            _ => cursor,
        }
    }
}
