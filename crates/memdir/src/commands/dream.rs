//! `memdir dream`: makes a plan to tidy the memory, applies one, shows their state, and lets a model propose operations. Nothing is
//! changed unless a plan is applied.

mod model;

use super::{OpenSpace, counted, input_text};
use crate::{
    args::DreamArgs,
    config::{Settings, edit, is_in_dream},
    dreams,
    exit::{Exit, Failure},
    output::{CommandOutput, OutputOptions, Printer},
    spaces,
};
use indicatif::{ProgressBar, ProgressStyle};
use memdir_core::{
    ApplyDream, Clock as _, Dream, DreamApplied, DreamPlan, DreamProgress, DreamPrompt, DreamShelf, DreamState, Error, KeptPlan, LeftOut,
    MemoryPath, PlanState, Store, SystemClock, Version,
    internal::{base::time, operations::dream::parse},
};
use serde::Serialize;
use std::{
    cell::OnceCell,
    io,
    path::{Path, PathBuf},
};

/// What to do about a list of operations that is refused.
const OPERATIONS_HINT: &str = "see the expected format with: memdir dream --prompt --piece 1";
/// What to do about a plan that cannot be parsed.
const PLAN_HINT: &str = "correct the plan, or make a new one with: memdir dream";
/// What to do about a plan that is refused. A new plan might be the same.
const APPLY_HINT: &str = "to skip an operation, delete its section in the plan; then apply the plan again";

/// An error about a plan or a list, with a hint where the error itself has none.
fn explained(error: Error, hint: &'static str) -> Failure {
    // The hint about a text that is too large is for memories.
    let hint = (error.command_hint().is_empty() || matches!(error, Error::TooLarge { .. })).then_some(hint);
    Failure::Core { error, hint }
}

/// The argument that means the newest plan that was not applied.
const LATEST: &str = "latest";

pub(crate) fn run(args: &DreamArgs, space: &OpenSpace<'_>, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let Some((settings, scope)) = space.origin else {
        return Err(Failure::Usage {
            message: "this command is not available in the demo".into(),
            hint: "run the command in a shell".into(),
        });
    };
    let shelf = dreams::shelf_of(settings, space.memdir.store());
    if let Some(on) = &args.auto {
        return switch(settings, on == "on");
    }
    if args.status {
        return status(settings, &shelf, space.memdir.store());
    }
    if let Some(plan) = &args.apply {
        return apply(space, &shelf, plan, args.limit);
    }
    if let Some(file) = &args.operations {
        let list = input_text(file)?;
        let (plan, left_out) = space.memdir.plan_from_operations(&list).map_err(|error| explained(error, OPERATIONS_HINT))?;
        return keep_plan(&shelf, space, plan, left_out, args);
    }
    let counts = space.memdir.ledger().map(|ledger| ledger.read(space.memdir.store())).unwrap_or_default();
    let uses = |path: &MemoryPath| counts.memory(path.name()).uses();
    let request = Dream {
        project: Some(&scope.project),
        uses: Some(&uses),
        logs_through: shelf.state().logs_through(space.memdir.store())?,
        logs_only: args.logs,
        ..Dream::default()
    };
    if args.prompt {
        return prompt(space, &request, args.piece);
    }
    if let Some(host) = args.with {
        return model::run(host, space, &shelf, &request, args, settings);
    }
    plan(args, space, &shelf, request, output)
}

fn plan(
    args: &DreamArgs,
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
            hint: "wait until it finishes, then list the plans with: memdir dream --status".into(),
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
    // An automatic plan has no other place to report an error.
    let plan = plan.inspect_err(|error| shelf.record_failure(&error.command_message()))?;
    keep_plan(shelf, space, plan, Vec::new(), args)
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
    /// The options that select the memory.
    #[serde(skip)]
    options: String,
}

fn keep_plan(
    shelf: &DreamShelf,
    space: &OpenSpace<'_>,
    plan: DreamPlan,
    left_out: Vec<LeftOut>,
    args: &DreamArgs,
) -> Result<CommandOutput, Failure> {
    let file = match (plan.operations.is_empty(), &args.output) {
        (true, _) => None,
        (false, Some(file)) => {
            super::export::write_new(file, &memdir_core::internal::operations::dream::render(&plan))?;
            Some(file.clone())
        }
        (false, None) => Some(shelf.keep(&plan)?),
    };
    shelf.record_made(&plan, space.memdir.store())?;
    let exit = if file.is_none() && !left_out.is_empty() { Exit::Negative } else { Exit::Success };
    let options = space.origin.map_or_else(String::new, |(settings, _)| settings.typed_options());
    Ok(CommandOutput::new(MadePlan { file, plan: plan.redacted(), left_out, options }, show_made).exit(exit))
}

fn show_made(made: &MadePlan, printer: &mut Printer<'_>) -> io::Result<()> {
    made.plan.notes.iter().for_each(|note| printer.note(note));
    for left in &made.left_out {
        printer.note(format!("left out: {}: {}", left.operation, left.why));
    }
    let Some(file) = &made.file else {
        if !made.left_out.is_empty() {
            return printer.line("no plan was made: all operations were left out");
        }
        return printer.line(format!("nothing to tidy in {}", counted(made.plan.memories as u64, "memory", "memories")));
    };
    for (number, operation) in (1..).zip(made.plan.operations.iter().take(20)) {
        let title = printer.strong(&operation.title());
        let rest = printer.dim(&format!("({}, {} % confidence)", operation.reason.as_str(), operation.confidence));
        printer.line(format!("{number:>3}. {title} {rest}"))?;
    }
    let count = made.plan.operations.len() as u64;
    if count > 20 {
        printer.line(format!("     and {} more", count - 20))?;
    }
    printer.line(format!("{}: {}", counted(count, "operation", "operations"), file.display()))?;
    printer.note(format!(
        "nothing has changed yet; review the plan, edit it if needed, then apply it with: memdir {}dream --apply {}",
        made.options,
        quoted(file)
    ));
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
        true => shelf.newest_open(space.memdir.store())?.map(|plan| plan.file).ok_or_else(|| Failure::Negative {
            code: "not_found",
            message: "no plan is waiting to be applied".into(),
            hint: "make a plan with: memdir dream".into(),
        })?,
    };
    let text = input_text(&file)?;
    let plan = parse(&text).map_err(|error| explained(error, PLAN_HINT))?;
    let digest = Version::from_content(text.as_bytes()).to_string();
    let _lock = shelf.lock_applying().map_err(|source| Failure::File { doing: "lock", path: shelf.dir().to_owned(), source })?;
    if let Some(change) = shelf.applied_as(&digest, space.memdir.store())? {
        return Err(Failure::Negative {
            code: "conflict",
            message: format!("the plan was already applied as change {change}"),
            hint: format!("undo the change with: memdir undo {change}, or make a new plan with: memdir dream"),
        });
    }
    let applied =
        space.memdir.apply_dream(&ApplyDream { plan: &plan, limit_percent: limit }).map_err(|error| explained(error, APPLY_HINT))?;
    shelf.record_applied(&file, digest, &applied, space.memdir.context().clock.now());
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
    let out_of_range = || Failure::Usage {
        message: format!("piece {number} does not exist; the prompt has {}", counted(total as u64, "piece", "pieces")),
        hint: match total {
            0 => String::new(),
            1 => "omit --piece".into(),
            _ => "list the pieces with: memdir dream --prompt".into(),
        },
    };
    let chosen = number.checked_sub(1).filter(|at| *at < total).ok_or_else(out_of_range)?;
    prompt.pieces = vec![prompt.pieces.swap_remove(chosen)];
    Ok(CommandOutput::new(prompt, |prompt: &DreamPrompt, printer| {
        prompt.pieces.iter().try_for_each(|piece| printer.content(&piece.text))?;
        let tokens: usize = prompt.pieces.iter().map(|piece| piece.tokens).sum();
        printer.note(format!(
            "about {tokens} tokens; save the model's answer to a file, then make a plan from it with: memdir dream --operations FILE"
        ));
        Ok(())
    }))
}

/// The note about memories that no piece of a prompt has.
fn left_out_note(left_out: usize) -> Option<String> {
    (left_out > 0).then(|| format!("{} not fit into the prompt", counted(left_out as u64, "memory does", "memories do")))
}

fn show_sizes(prompt: &DreamPrompt, printer: &mut Printer<'_>) -> io::Result<()> {
    for (number, piece) in (1..).zip(&prompt.pieces) {
        printer.line(format!("piece {number}: {}, about {} tokens", counted(piece.memories as u64, "memory", "memories"), piece.tokens))?;
    }
    left_out_note(prompt.left_out).iter().for_each(|note| printer.note(note));
    match prompt.pieces.is_empty() {
        true => printer.line("nothing to tidy")?,
        false => printer.note("print a piece with: memdir dream --prompt --piece N"),
    }
    Ok(())
}

/// What `memdir dream --status` shows.
#[derive(Serialize)]
struct DreamStatus {
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

fn status(settings: &Settings, shelf: &DreamShelf, store: &dyn Store) -> Result<CommandOutput, Failure> {
    let setting = &settings.config.dream;
    let (state, now) = (shelf.state().without_undone(store)?, SystemClock.now());
    let status = DreamStatus {
        auto: setting.auto,
        waiting: dreams::gate(setting, &state, now).err(),
        min_hours: setting.hours,
        min_sessions: setting.sessions,
        plans: shelf.plans(store)?,
        dir: shelf.dir().to_owned(),
        state,
        now,
    };
    Ok(CommandOutput::new(status, show_status))
}

fn show_status(status: &DreamStatus, printer: &mut Printer<'_>) -> io::Result<()> {
    let ago = |at: Option<jiff::Timestamp>| at.map_or("never".to_owned(), |at| time::relative(status.now, at));
    let state = &status.state;
    printer.line(format!("automatic plans: {}", if status.auto { "on" } else { "off; turn them on with: memdir dream --auto on" }))?;
    printer.line(format!(
        "last plan: {}{}",
        ago(state.last_plan),
        state.last_plan.map_or(String::new(), |_| format!(", {}", counted(state.last_operations as u64, "operation", "operations")))
    ))?;
    let applied = state.applied.last();
    let what = applied
        .map_or(String::new(), |last| format!(", {} (change {})", counted(last.operations as u64, "operation", "operations"), last.change));
    printer.line(format!("last applied: {}{what}", ago(applied.map(|last| last.at))))?;
    // Sessions are counted only for automatic plans.
    if status.auto {
        printer.line(format!("sessions since the last plan: {}", state.sessions))?;
        match &status.waiting {
            Some(why) => printer.line(format!("next automatic plan: {why}"))?,
            None => printer.line("next automatic plan: due at the end of the next session")?,
        }
    }
    if let Some(error) = &state.last_error {
        printer.line(format!("the last attempt to make a plan failed: {error}"))?;
    }
    for plan in &status.plans {
        let state = match &plan.state {
            PlanState::Open => format!("{}, not applied", counted(plan.operations as u64, "operation", "operations")),
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
            printer.note("if a plan is due, a hook makes it at the end of a session; plans are never applied automatically");
        }
        Ok(())
    }))
}

/// Fails inside of a model that memdir started, which must not start another one.
fn refuse_recursion() -> Result<(), Failure> {
    match is_in_dream() {
        false => Ok(()),
        true => Err(Failure::Usage {
            message: "`memdir dream --with` cannot run inside a program that it started".into(),
            hint: "to start a model anyway, unset MEMDIR_DREAM".into(),
        }),
    }
}
