//! `memdir install` with what it offers afterwards: the commands that mount memories and index conversations.

use super::{adopt, chats::sync::sync_now, install};
use crate::{
    args::{GlobalArgs, InstallArgs},
    config::Settings,
    exit::Failure,
    output::{CommandOutput, OutputOptions},
    scope::Scope,
};

pub(super) fn run(
    args: &InstallArgs,
    global: &GlobalArgs,
    settings: &Settings,
    scope: &Scope,
    output: OutputOptions,
) -> Result<CommandOutput, Failure> {
    let index = || {
        // Not the settings that were loaded at the start: conversations may have been turned on since.
        let settings = Settings::load(global)?;
        sync_now(&settings, &Scope::resolve(&settings)?, output)
    };
    let actions = install::Actions { adopt: &|name| adopt::mount(name, global, settings), index: &index };
    install::run(args, &actions, settings, scope, output)
}
