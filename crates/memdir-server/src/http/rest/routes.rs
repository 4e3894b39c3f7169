//! The table of all routes of the REST API.

use super::{
    changes::{ListChanges, UndoChange},
    list::ListMemories,
    memories::{AppendMemory, DeleteMemory, GetMemory, MoveMemory, PutMemory},
    proposals::{DecideProposal, GetProposal, ListProposals},
    route::Route,
    search::{GetPrompt, RecallMemories, SearchMemories},
    stream::StreamChanges,
    versions::{GetVersion, ListVersions},
};

pub(super) static ROUTES: &[Route] = &[
    Route::new::<ListMemories>(),
    Route::new::<GetMemory>(),
    Route::new::<PutMemory>(),
    Route::new::<DeleteMemory>(),
    Route::new::<AppendMemory>(),
    Route::new::<MoveMemory>(),
    Route::new::<ListVersions>(),
    Route::new::<GetVersion>(),
    Route::new::<SearchMemories>(),
    Route::new::<RecallMemories>(),
    Route::new::<GetPrompt>(),
    Route::new::<ListChanges>(),
    Route::new::<StreamChanges>(),
    Route::new::<UndoChange>(),
    Route::new::<ListProposals>(),
    Route::new::<GetProposal>(),
    Route::new::<DecideProposal>(),
];

#[cfg(test)]
mod tests {
    use super::ROUTES;
    use crate::call::CallKind;
    use memdir_core::internal::tools::{Level, native};

    /// A route may do what its tool may do: otherwise `--read-only` would not apply to it.
    #[test]
    fn every_route_belongs_to_a_tool_of_its_kind() {
        for route in ROUTES {
            let tool = native().iter().find(|tool| tool.name == route.info.tool).unwrap_or_else(|| panic!("{}", route.info.tool));
            assert_eq!(tool.level == Level::Safe, route.info.kind == CallKind::Read, "{}", route.info.id);
        }
    }
}
