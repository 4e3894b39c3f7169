//! `memdir rules`: lists the memories with tripwires, and records what the person decides about them. A decision is the person's
//! alone: it is asked for on a terminal or given with `--yes`, and refused where an agent runs the command.

use crate::{
    args::{RuleDecisionArgs, RulesArgs, RulesWhat},
    ask,
    config::{self, Settings},
    exit::Failure,
    output::{CommandOutput, OutputOptions, Printer},
    rules::{self, Decision, RuleDecisions},
    scope::Scope,
    spaces,
};
use memdir_core::{
    Clock as _, Memdir, MemoryPath, Read, Rule, RuleOrigin, Strength, SystemClock, TripwireKind,
    internal::{
        base::shell,
        operations::ledger::{SpaceUses, TripwireCounts},
    },
};
use serde::Serialize;
use std::io::{self, Write as _};

#[derive(Serialize)]
struct RuleList {
    rules: Vec<RuleListRow>,
}

#[derive(Serialize)]
pub(super) struct RuleListRow {
    pub(super) name: String,
    pub(super) conditions: Vec<ConditionRow>,
    /// What the person decided about exactly this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    /// Whether the person accepted an earlier text.
    changed: bool,
    origin: RuleOrigin,
}

#[derive(Serialize)]
pub(super) struct ConditionRow {
    pub(super) over: TripwireKind,
    pub(super) pattern: String,
    /// What the memory asks for.
    strength: Strength,
    /// What it does, after the person's decision; `None` if the rule is rejected.
    effect: Option<Strength>,
    /// How often it fired, and what the agent did then.
    #[serde(flatten)]
    pub(super) counts: TripwireCounts,
}

#[derive(Serialize)]
struct Decided {
    name: String,
    decision: Option<Decision>,
}

pub(crate) fn run(args: &RulesArgs, settings: &Settings, scope: &Scope, output: OutputOptions) -> Result<CommandOutput, Failure> {
    let opened = spaces::open_lazy(settings, scope)?;
    let all = opened.memdir.rules(Some(&scope.tripwires_file(&settings.cache)))?;
    let outcome = match &args.what {
        None | Some(RulesWhat::List) => list(&opened.memdir, settings, &all)?,
        Some(RulesWhat::Accept(args)) => decide(&opened.memdir, settings, &all, args, Decision::Accepted, output)?,
        Some(RulesWhat::Reject(args)) => decide(&opened.memdir, settings, &all, args, Decision::Rejected, output)?,
    };
    Ok(outcome.with_notes(opened.notes))
}

fn list(memdir: &Memdir, settings: &Settings, all: &[Rule]) -> Result<CommandOutput, Failure> {
    Ok(CommandOutput::new(RuleList { rules: rows(memdir, settings, all)? }, show))
}

/// Describes rules with what the person decided about them.
pub(super) fn rows(memdir: &Memdir, settings: &Settings, all: &[Rule]) -> Result<Vec<RuleListRow>, Failure> {
    let decisions = RuleDecisions::load(&settings.home.value)?;
    let uses = memdir.ledger().map(|ledger| ledger.read(memdir.store())).unwrap_or_default();
    all.iter().map(|rule| row(memdir, &decisions, &uses, rule)).collect()
}

fn row(memdir: &Memdir, decisions: &RuleDecisions, uses: &SpaceUses, rule: &Rule) -> Result<RuleListRow, Failure> {
    let decision = decisions.get(memdir, &rule.path, rule.text);
    let condition = |wire: &memdir_core::Tripwire| {
        let strength = rule.when.strength_of(wire);
        let counts = uses.tripwire(&rule.name, wire, strength);
        ConditionRow { over: wire.over, pattern: wire.pattern.clone(), strength, effect: rules::effect(strength, decision), counts }
    };
    Ok(RuleListRow {
        name: rule.name.clone(),
        conditions: rule.when.tripwires.iter().map(condition).collect(),
        decision,
        changed: decision.is_none() && decisions.had_accepted(memdir, &rule.path),
        origin: memdir.rule_origin(&rule.path)?,
    })
}

fn decide(
    memdir: &Memdir,
    settings: &Settings,
    all: &[Rule],
    args: &RuleDecisionArgs,
    decision: Decision,
    output: OutputOptions,
) -> Result<CommandOutput, Failure> {
    let verb = if decision == Decision::Accepted { "accept" } else { "reject" };
    let command = |options: &str| shell::name_command(&format!("memdir rules {verb}"), &args.name, options);
    if let Some(variable) = config::agent_variable() {
        return Err(Failure::Usage {
            message: format!("only a person can {verb} a rule, but an agent is running this command ({variable} is set)"),
            hint: format!("run the command yourself in a terminal: {}", command("")),
        });
    }
    let name = memdir.name(&MemoryPath::parse(&args.name)?);
    let Some(rule) = all.iter().find(|rule| rule.path == name || rule.name == name.name()) else {
        memdir.read(&Read::all(name.clone()))?;
        return Err(Failure::Usage {
            message: format!("{:?} is not a rule: it has no valid conditions (`when:`)", name.name()),
            hint: "list the rules with: memdir rules".into(),
        });
    };
    if !args.yes {
        if !output.can_ask() {
            return Err(Failure::Usage {
                message: format!("`memdir rules {verb}` needs confirmation, but {}", output.why_not_asked()),
                hint: format!(
                    "read the rule with `{}`, then run: {}",
                    shell::name_command("memdir read", &rule.name, ""),
                    command("--yes")
                ),
            });
        }
        if !confirm(rule, decision).map_err(|source| Failure::Output { source })? {
            return Ok(CommandOutput::new(Decided { name: rule.name.clone(), decision: None }, show_decided));
        }
    }
    RuleDecisions::record(&settings.home.value, memdir, &rule.path, rule.text, decision, SystemClock.now())?;
    Ok(CommandOutput::new(Decided { name: rule.name.clone(), decision: Some(decision) }, show_decided))
}

/// Shows exactly the text to accept or reject and asks, on standard error, because the result goes to standard output.
fn confirm(rule: &Rule, decision: Decision) -> io::Result<bool> {
    let mut err = anstream::stderr().lock();
    let mut page = Printer::new(&mut err, OutputOptions::for_stdout(false));
    page.content(&rule.content)?;
    let question = match decision {
        Decision::Accepted => "Accept this text? The rule will apply at full strength.",
        Decision::Rejected => "Reject this text? The rule will have no effect.",
    };
    writeln!(err)?;
    drop(err);
    ask::confirm(question)
}

fn show(list: &RuleList, page: &mut Printer<'_>) -> io::Result<()> {
    if list.rules.is_empty() {
        page.note("no rules; create one with: memdir write NAME TEXT --when-command GLOB");
        return Ok(());
    }
    let mut rows: Vec<Vec<String>> = list.rules.iter().flat_map(rule_rows).collect();
    if rows.iter().all(|row| row[USE].is_empty()) {
        rows.iter_mut().for_each(|row| drop(row.remove(USE)));
    }
    page.table(&rows)?;
    let pending: Vec<&RuleListRow> = list.rules.iter().filter(|rule| rule.conditions.iter().any(is_pending)).collect();
    if let [first, others @ ..] = pending.as_slice() {
        let name = if others.is_empty() { &first.name } else { "NAME" };
        let command = shell::name_command("memdir rules accept", name, "");
        page.note(format!("`ask` and `deny` take effect after you accept the rule with: {command}"));
    }
    Ok(())
}

/// Whether a condition does less than the memory asks for, because the person has not accepted it.
fn is_pending(condition: &ConditionRow) -> bool {
    condition.effect.is_some_and(|effect| effect < condition.strength)
}

/// The column with the counts, which is left out if nothing fired.
const USE: usize = 3;

/// What the person decided about a rule, and where its text came from.
pub(super) fn state(rule: &RuleListRow) -> String {
    match (rule.decision, rule.changed, rule.origin) {
        (Some(Decision::Accepted), ..) => "accepted".to_owned(),
        (Some(Decision::Rejected), ..) => "rejected".to_owned(),
        (None, true, _) => "changed since you accepted it".to_owned(),
        (None, false, RuleOrigin::Own) => String::new(),
        (None, false, RuleOrigin::Repository) => "not yet accepted (from the repository)".to_owned(),
        (None, false, RuleOrigin::Import) => "not yet accepted (from an import)".to_owned(),
        (None, false, RuleOrigin::Pull) => "not yet accepted (from a git pull)".to_owned(),
    }
}

/// What a condition does, after the person's decision.
pub(super) fn effect(condition: &ConditionRow) -> String {
    match condition.effect {
        None => "nothing".to_owned(),
        Some(_) if is_pending(condition) => format!("hold ({} when accepted)", condition.strength.name()),
        Some(effect) => effect.name().to_owned(),
    }
}

/// One row per condition, with the name of the rule in the first.
fn rule_rows(rule: &RuleListRow) -> Vec<Vec<String>> {
    let one = |(at, condition): (usize, &ConditionRow)| {
        let (name, state) = if at == 0 { (rule.name.clone(), state(rule)) } else { Default::default() };
        let counts = &condition.counts;
        let used = match counts.fired {
            0 => String::new(),
            fired => format!("fired {fired}, followed {}, violated {}", counts.followed, counts.violated),
        };
        vec![name, effect(condition), format!("{} {}", condition.over.name(), condition.pattern), used, state]
    };
    rule.conditions.iter().enumerate().map(one).collect()
}

fn show_decided(decided: &Decided, page: &mut Printer<'_>) -> io::Result<()> {
    page.line(match decided.decision {
        Some(Decision::Accepted) => format!("accepted {}", decided.name),
        Some(Decision::Rejected) => format!("rejected {}", decided.name),
        None => format!("unchanged: {}", decided.name),
    })
}
