//! `memdir recall`: selects the memories relevant to a message, or the tripwires of an action.

use crate::rules::{self, RuleDecisions};
use crate::{
    args::RecallArgs,
    config::Settings,
    exit::Failure,
    output::{CommandOutput, Printer},
    scope::Scope,
    spaces,
};
use memdir_core::{
    Action, MatchedRule, Memdir, MemoryPath, Recall, RecallBudget, RecallExplanation, Recalled, RuleOrigin, ShownRule, Strength,
};
use serde::Serialize;
use std::io;

pub(crate) fn run(args: &RecallArgs, settings: &Settings, scope: &Scope) -> Result<CommandOutput, Failure> {
    if scope.off.is_some() {
        return Ok(CommandOutput::new(Recalled::default(), show).with_notes(scope.off_note()));
    }
    let opened = spaces::open_lazy(settings, scope)?;
    let text = args.text.join(" ");
    let paths: Vec<String> = args.path.iter().map(|path| scope.in_project(&settings.cwd, path)).collect();
    let in_use: Vec<&str> = args.in_use.iter().map(String::as_str).collect();
    let cache = scope.tripwires_file(&settings.cache);
    let request = Recall {
        message: if args.action { None } else { Some(&text) },
        action: None,
        rules: &[],
        room: RecallBudget { memories: args.limit, tokens: args.budget, ..RecallBudget::default() },
        shown: &args.shown,
        tools: &in_use,
        project: Some(&scope.project),
        cache: Some(&cache),
    };
    if args.explain || args.why_not.is_some() {
        let name = args.why_not.as_deref().map(MemoryPath::parse).transpose()?;
        let mut explained = opened.memdir.explain_recall(&request, name.as_ref())?;
        if let Some(name) = &name {
            let resolved = opened.memdir.name(name);
            explained.retain(|one| one.name == resolved.name());
        }
        explained.truncate(EXPLAINED);
        return Ok(CommandOutput::new(explained, show_explained).with_notes(opened.notes));
    }
    if args.action {
        let action = Action {
            tool: args.tool.as_deref(),
            command: args.command.as_deref(),
            paths: paths.iter().map(String::as_str).collect(),
            text: Some(text.as_str()).filter(|text| !text.is_empty()),
        };
        let recalled = recall_rules(&opened.memdir, &RuleDecisions::load(&settings.home.value)?, &action, &request)?;
        let notes = recalled.rules.iter().map(explain_rule).chain(opened.notes).collect();
        return Ok(CommandOutput::new(recalled, |recalled, printer| show(&recalled.recalled, printer)).with_notes(notes));
    }
    let recalled = opened.memdir.recall(&request)?;
    Ok(CommandOutput::new(recalled, show).with_notes(opened.notes))
}

/// The rules that match an action, and what a hook would show.
#[derive(Serialize)]
struct RecalledRules {
    #[serde(flatten)]
    recalled: Recalled,
    rules: Vec<RuleMatch>,
}

#[derive(Serialize)]
struct RuleMatch {
    name: String,
    why: String,
    strength: Strength,
    /// What it does, after the person's decision; `None` if the person rejected it.
    effect: Option<Strength>,
}

fn recall_rules(memdir: &Memdir, decisions: &RuleDecisions, action: &Action<'_>, request: &Recall<'_>) -> Result<RecalledRules, Failure> {
    let matched = memdir.matched_rules(action, request.cache)?;
    let matched: Vec<MatchedRule> = matched.into_iter().filter(|rule| !request.shown.contains(&rule.name)).collect();
    let mut shown = Vec::new();
    let mut rules = Vec::new();
    for rule in matched {
        let decision = decisions.get(memdir, &rule.path, rule.text);
        let effect = rules::effect(rule.strength, decision);
        if effect.is_some() {
            let is_foreign = decision.is_none() && memdir.rule_origin(&rule.path)? != RuleOrigin::Own;
            shown.push(ShownRule { path: rule.path.clone(), why: rule.reason(), is_foreign, is_repeated: false });
        }
        rules.push(RuleMatch { name: rule.name.clone(), why: rule.reason(), strength: rule.strength, effect });
    }
    let recalled = memdir.recall(&Recall { rules: &shown, ..request.clone() })?;
    Ok(RecalledRules { recalled, rules })
}

/// What a rule does to the action.
fn explain_rule(rule: &RuleMatch) -> String {
    let effect = match rule.effect {
        None => "has no effect: you rejected it".to_owned(),
        Some(Strength::Tell) => "tells: it does not stop the action; the model reads the rule with the result".to_owned(),
        Some(Strength::Hold) => {
            let when = "the first time in a conversation, nor the first time after 30 minutes or a compaction";
            format!("holds: such an action does not run {when}; the model reads the rule instead")
        }
        Some(Strength::Ask) => "asks: you decide whether the action runs".to_owned(),
        Some(Strength::Deny) => "denies: the action does not run".to_owned(),
    };
    let pending = match rule.effect {
        Some(effect) if effect < rule.strength => format!(
            "; to enable `{}`, run: {}",
            rule.strength.name(),
            memdir_core::internal::base::shell::name_command("memdir rules accept", &rule.name, "")
        ),
        _ => String::new(),
    };
    format!("{} {effect}; {}{pending}", rule.name, rule.why)
}

/// Memories that `--explain` shows: the five that may be recalled, and those that nearly were.
const EXPLAINED: usize = 10;

fn show_explained(explained: &Vec<RecallExplanation>, printer: &mut Printer<'_>) -> io::Result<()> {
    if explained.is_empty() {
        printer.note("no memory shares a word with the message".to_owned());
    }
    for one in explained {
        printer.line(format!("{}  {}", printer.strong(&one.name), one.verdict_text()))?;
        if one.matched.is_empty() {
            continue;
        }
        let f = &one.features;
        printer.line(format!(
            "  score {:.2}: cover {:.2}, mass {:.2}, name {:.2}, cue {:.2}, sentences {}",
            f.score, f.cover, f.mass, f.name, f.cue, f.sentences
        ))?;
        let words: Vec<String> = one.matched.iter().map(|(stem, weight)| format!("{stem} {weight:.2}")).collect();
        printer.line(printer.dim(&format!("  words: {}", words.join(", "))))?;
    }
    Ok(())
}

fn show(recalled: &Recalled, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.content(&recalled.text)
}
