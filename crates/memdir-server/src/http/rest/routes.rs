//! The table of all routes of the REST API.

use super::{
    changes::{ListChanges, UndoChange},
    list::ListMemories,
    memories::{AppendMemory, DeleteMemory, GetMemory, MoveMemory, PutMemory},
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
];
