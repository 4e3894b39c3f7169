//! The request for a plan, and the progress of making it.

use crate::{base::path::MemoryPath, project::Project, search::embed::Embedder};
use jiff::civil::Date;

/// What a plan is made from.
#[derive(Clone, Copy, Default)]
pub struct Dream<'a> {
    /// The project that the memories are about, if known.
    pub project: Option<&'a Project>,
    /// Finds texts of the same meaning. Only an instant embedder is used.
    pub embedder: Option<&'a dyn Embedder>,
    /// How often each memory was used, if that is counted.
    pub uses: Option<&'a dyn Fn(&MemoryPath) -> u64>,
    /// The last day whose log an applied plan covered.
    pub logs_through: Option<Date>,
    /// Which part of the memory the plan is about.
    pub logs_only: bool,
    /// Called while memories are read.
    pub progress: Option<&'a dyn Fn(DreamProgress)>,
}

/// The progress of making a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DreamProgress {
    /// The number of files read so far.
    pub done: usize,
    /// The number of files to read.
    pub of: usize,
}

impl Dream<'_> {
    pub(super) fn report(&self, progress: DreamProgress) {
        if let Some(report) = self.progress {
            report(progress);
        }
    }
}
