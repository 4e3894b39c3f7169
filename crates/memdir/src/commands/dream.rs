//! `memdir dream`: makes a plan to tidy the memory, applies one, shows what became of them, and lets a model propose operations. Nothing is
//! changed unless a plan is applied.

mod model;

use super::{OpenSpace, counted, input_text};
use crate::{
    args::Dream as Typed,
    config::{Settings, edit, is_in_dream},
    dreams,
    exit::{Exit, Failure},
    output::{CommandOutput, OutputOptions, Printer},
    spaces,
};
use indicatif::{ProgressBar, ProgressStyle};
use memdir_core::{
    ApplyDream, Clock as _, Dream, DreamApplied, DreamPlan, DreamProgress, DreamPrompt, DreamShelf, DreamState, KeptPlan, LeftOut,
    LogProgress, PlanState, SystemClock,
    internal::{
        base::{disk::LockWait, time},
        operations::dream::parse,
    },
};
use serde::Serialize;
use std::{
    cell::OnceCell,
    io,
    path::{Path, PathBuf},
};

/// The argument that means the newest plan that was not applied.
const LATEST: &str = "latest";

pub(crate) fn run(args: &Typed, space: &OpenSpace<'_>, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let Some((settings, scope)) = space.origin else {
        return Err(Failure::Usage {
            message: "this command cannot run inside an open space".into(),
            hint: "run the command in a shell".into(),
        });
    };
    let shelf = dreams::shelf_of(settings, space.memdir.store());
    if let Some(on) = &args.auto {
        return switch(settings, on == "on");
    }
    if args.status {
        return status(settings, &shelf);
    }
    if let Some(plan) = &args.apply {
        return apply(space, &shelf, plan, args.limit);
    }
    if let Some(file) = &args.operations {
        let (plan, left_out) = space.memdir.plan_from_operations(&input_text(file)?)?;
        return made(&shelf, plan, left_out, args);
    }
    let request = Dream {
        project: Some(&scope.project),
        logs_through: shelf.state().logs_through(space.memdir.store())?,
        logs_only: args.logs,
        ..Dream::default()
    };
    if args.prompt {
        return prompt(space, &request, args.piece);
    }
    if let Some(host) = args.with {
        return model::run(host, space, &shelf, &request, args, &settings.config.dream);
    }
    plan(args, space, &shelf, request, output)
}

fn plan(
    args: &Typed,
    space: &OpenSpace<'_>,
    shelf: &DreamShelf,
    request: Dream<'_>,
    output: OutputOptions,
) -> Result<CommandOutput, Failure> {
    // Two processes would keep the same plan twice.
    let lock = shelf.lock_making().map_err(|source| Failure::File { doing: "lock", path: shelf.dir().to_owned(), source })?;
    if lock.is_none() {
        return Err(Failure::Negative {
            code: "busy",
            message: "another process is making a plan".into(),
            hint: "look for it with: memdir dream --status".into(),
        });
    }
    let embedder = space.origin.and_then(|(settings, _)| spaces::instant_embedder(settings));
    let bar: OnceCell<ProgressBar> = OnceCell::new();
    let progress = |step: DreamProgress| {
        if output.terminal && !output.json && step.of > 500 {
            bar.get_or_init(|| new_bar(step.of)).set_position(step.done as u64);
        }
    };
    let plan = space.memdir.dream(&Dream { embedder: embedder.as_deref(), progress: Some(&progress), ..request });
    if let Some(bar) = bar.get() {
        bar.finish_and_clear();
    }
    made(shelf, plan?, Vec::new(), args)
}

fn new_bar(of: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("reading memories {bar:30} {pos}/{len}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(of as u64).with_style(style)
}

/// A plan that was made and kept.
#[derive(Serialize)]
struct MadePlan {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    plan: DreamPlan,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
}

fn made(shelf: &DreamShelf, plan: DreamPlan, left_out: Vec<LeftOut>, args: &Typed) -> Result<CommandOutput, Failure> {
    let file = match (plan.operations.is_empty(), &args.output) {
        (true, _) => None,
        (false, Some(file)) => {
            super::export::write_new(file, &memdir_core::internal::operations::dream::render(&plan))?;
            Some(file.clone())
        }
        (false, None) => Some(shelf.keep(&plan)?),
    };
    let (now, count) = (plan.made, plan.operations.len());
    let remembered = shelf.update(LockWait::COMMAND, |state| {
        (state.last_plan, state.last_operations, state.sessions, state.last_error) = (Some(now), count, 0, None);
    });
    remembered.map_err(|source| Failure::File { doing: "write", path: shelf.dir().to_owned(), source })?;
    Ok(CommandOutput::new(MadePlan { file, plan, left_out }, show_made))
}

fn show_made(made: &MadePlan, printer: &mut Printer<'_>) -> io::Result<()> {
    made.plan.notes.iter().for_each(|note| printer.note(note));
    for left in &made.left_out {
        printer.note(format!("left out: {}: {}", left.operation, left.why));
    }
    let Some(file) = &made.file else { return printer.line(format!("nothing to tidy in {} memories", made.plan.memories)) };
    for (number, operation) in (1..).zip(made.plan.operations.iter().take(20)) {
        let title = printer.strong(&operation.title());
        let rest = printer.dim(&format!("({}, {} %)", operation.reason.as_str(), operation.confidence));
        printer.line(format!("{number:>3}. {title} {rest}"))?;
    }
    let count = made.plan.operations.len() as u64;
    if count > 20 {
        printer.line(format!("     and {} more", count - 20))?;
    }
    printer.line(format!("{}: {}", counted(count, "operation", "operations"), file.display()))?;
    printer.note(format!("nothing is changed yet; read and edit the plan, then: memdir dream --apply {}", quoted(file)));
    Ok(())
}

fn quoted(file: &Path) -> String {
    memdir_core::internal::base::shell::quote_posix(&file.display().to_string())
}

#[derive(Serialize)]
struct Applied {
    #[serde(flatten)]
    applied: DreamApplied,
    plan: PathBuf,
}

fn apply(space: &OpenSpace<'_>, shelf: &DreamShelf, plan: &Path, limit: Option<u64>) -> Result<CommandOutput, Failure> {
    let file = match plan.as_os_str() == LATEST {
        false => plan.to_owned(),
        true => shelf.newest_open().map(|plan| plan.file).ok_or_else(|| Failure::Negative {
            code: "not_found",
            message: "no plan is waiting to be applied".into(),
            hint: "make one with: memdir dream".into(),
        })?,
    };
    let plan = parse(&input_text(&file)?)?;
    let applied = space.memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: limit })?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(change) = &applied.change {
        let progress = LogProgress {
            at: space.memdir.context().clock.now(),
            plan: name,
            change: change.0.clone(),
            operations: applied.applied.len(),
            logs_through: plan.logs_through,
        };
        // The change is made; a state that cannot be written only forgets how far the logs were read.
        let _ = shelf.update(LockWait::COMMAND, |state| state.applied.push(progress));
    }
    let exit = if applied.is_failure() || applied.applied.is_empty() { Exit::Negative } else { Exit::Success };
    Ok(CommandOutput::new(Applied { applied, plan: file }, show_applied).exit(exit))
}

fn show_applied(done: &Applied, printer: &mut Printer<'_>) -> io::Result<()> {
    let applied = &done.applied;
    for title in &applied.applied {
        printer.line(title)?;
    }
    for left in &applied.left_out {
        printer.line(format!("left out: {}: {}", left.operation, left.why))?;
    }
    applied.notes.iter().for_each(|note| printer.note(note));
    let count = applied.applied.len() as u64;
    let left = if applied.left_out.is_empty() { String::new() } else { format!(", {} left out", applied.left_out.len()) };
    let undo = applied.change.as_ref().map_or(String::new(), |change| format!(" (undo: memdir undo {change})"));
    printer.line(format!("{} applied{left}{}", counted(count, "operation", "operations"), printer.dim(&undo)))?;
    if count == 0 {
        printer.note("nothing was changed; make a new plan with: memdir dream");
    }
    Ok(())
}

fn prompt(space: &OpenSpace<'_>, request: &Dream<'_>, piece: Option<usize>) -> Result<CommandOutput, Failure> {
    let mut prompt = space.memdir.dream_prompt(request)?;
    let total = prompt.pieces.len();
    let Some(number) = piece.or((total == 1).then_some(1)) else {
        return Ok(CommandOutput::new(prompt, show_sizes));
    };
    let out_of_range =
        || Failure::Usage { message: format!("piece {number} does not exist"), hint: format!("use a number from 1 to {total}") };
    let chosen = number.checked_sub(1).filter(|at| *at < total).ok_or_else(out_of_range)?;
    prompt.pieces = vec![prompt.pieces.swap_remove(chosen)];
    Ok(CommandOutput::new(prompt, |prompt: &DreamPrompt, printer| {
        prompt.pieces.iter().try_for_each(|piece| printer.content(&piece.text))?;
        let tokens: usize = prompt.pieces.iter().map(|piece| piece.tokens).sum();
        printer.note(format!("about {tokens} tokens; save the answer and validate it with: memdir dream --operations FILE"));
        Ok(())
    }))
}

fn show_sizes(prompt: &DreamPrompt, printer: &mut Printer<'_>) -> io::Result<()> {
    for (number, piece) in (1..).zip(&prompt.pieces) {
        printer.line(format!("piece {number}: {}, about {} tokens", counted(piece.memories as u64, "memory", "memories"), piece.tokens))?;
    }
    if prompt.left_out > 0 {
        printer.note(format!("{} memories are in no piece because there are too many", prompt.left_out));
    }
    match prompt.pieces.is_empty() {
        true => printer.line("no memories")?,
        false => printer.note("print one with: memdir dream --prompt --piece N"),
    }
    Ok(())
}

/// What `memdir dream --status` shows.
#[derive(Serialize)]
struct Status {
    auto: bool,
    #[serde(flatten)]
    state: DreamState,
    min_hours: i64,
    min_sessions: u64,
    /// What keeps an automatic plan from being made now; `None` if it is due.
    waiting: Option<String>,
    plans: Vec<KeptPlan>,
    dir: PathBuf,
    #[serde(skip)]
    now: jiff::Timestamp,
}

fn status(settings: &Settings, shelf: &DreamShelf) -> Result<CommandOutput, Failure> {
    let setting = &settings.config.dream;
    let (state, now) = (shelf.state(), SystemClock.now());
    let status = Status {
        auto: setting.auto,
        waiting: dreams::gate(setting, &state, now).err(),
        min_hours: setting.hours,
        min_sessions: setting.sessions,
        plans: shelf.plans(),
        dir: shelf.dir().to_owned(),
        state,
        now,
    };
    Ok(CommandOutput::new(status, show_status))
}

fn show_status(status: &Status, printer: &mut Printer<'_>) -> io::Result<()> {
    let ago = |at: Option<jiff::Timestamp>| at.map_or("never".to_owned(), |at| time::relative(status.now, at));
    let state = &status.state;
    printer.line(format!("automatic plans: {}", if status.auto { "on" } else { "off; turn them on with: memdir dream --auto on" }))?;
    printer.line(format!(
        "last plan: {}{}",
        ago(state.last_plan),
        state.last_plan.map_or(String::new(), |_| format!(", {} operations", state.last_operations))
    ))?;
    let applied = state.applied.last();
    let what = applied.map_or(String::new(), |last| format!(", {} operations (change {})", last.operations, last.change));
    printer.line(format!("last applied: {}{what}", ago(applied.map(|last| last.at))))?;
    printer.line(format!("sessions since the last plan: {}", state.sessions))?;
    match &status.waiting {
        Some(why) => printer.line(format!("next automatic plan: {why}"))?,
        None => printer.line("next automatic plan: due at the end of the next session")?,
    }
    if let Some(error) = &state.last_error {
        printer.line(format!("the last automatic plan failed: {error}"))?;
    }
    for plan in &status.plans {
        let state = match &plan.state {
            PlanState::Open => format!("{} operations, not applied", plan.operations),
            PlanState::Applied(change) => format!("applied as {change}"),
            PlanState::Invalid(why) => format!("invalid: {why}"),
        };
        printer.line(format!("{}: {state}", plan.file.display()))?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Switched {
    auto: bool,
    file: PathBuf,
}

fn switch(settings: &Settings, on: bool) -> Result<CommandOutput, Failure> {
    edit::change(&settings.file, |document| {
        edit::set(document, "dream.auto", on.into());
        Ok(())
    })?;
    Ok(CommandOutput::new(Switched { auto: on, file: settings.file.clone() }, |switched, printer| {
        printer.line(format!("automatic plans are {}", if switched.auto { "on" } else { "off" }))?;
        if switched.auto {
            printer.note("the hook at the end of a session makes a plan when one is due; it never applies one");
        }
        Ok(())
    }))
}

/// Fails inside of a model that memdir started, which must not start another one.
fn refuse_recursion() -> Result<(), Failure> {
    match is_in_dream() {
        false => Ok(()),
        true => Err(Failure::Usage {
            message: "memdir was started by a program that memdir dream --with started".into(),
            hint: "unset MEMDIR_DREAM to start a model from here".into(),
        }),
    }
}
