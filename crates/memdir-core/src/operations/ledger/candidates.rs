//! What the ledger shows about rules: one that is violated repeatedly needs a higher strength, one that never fires can be removed. Both
//! are proposed to the person and never done. Pure.

use super::{SpaceUses, tripwire_id};
use crate::{
    memory::Kind,
    operations::{
        inbox::candidate::{Candidate, CandidateKind},
        rules::Rule,
    },
    recall::when::{Strength, TripwireKind},
    store::{MountInfo, mounts},
};
use jiff::Timestamp;
use serde_json::{Map, Value};

/// Violations after which a higher strength is proposed.
const VIOLATIONS: u64 = 2;
/// Days without firing after which the removal of a rule is proposed.
pub const UNUSED_DAYS: i64 = 90;
/// Conversations that must have been counted before a rule that never fired is called unused.
pub const RULE_MIN_SESSIONS: u64 = 10;

/// Proposes what the counts say about rules, in their order. `modified` returns when a rule was last changed, if that is known: a new
/// text is watched from its beginning.
pub fn rule_candidates(
    mounts: &[MountInfo],
    rules: &[Rule],
    uses: &SpaceUses,
    modified: &dyn Fn(&Rule) -> Option<Timestamp>,
    now: Timestamp,
) -> Vec<Candidate> {
    rules.iter().filter_map(|rule| violated(rule, uses).or_else(|| unused(mounts, rule, uses, modified(rule)?, now))).collect()
}

/// Proposes a higher strength for a rule that was violated twice with the one it has.
fn violated(rule: &Rule, uses: &SpaceUses) -> Option<Candidate> {
    let wires = || rule.when.tripwires.iter().map(|wire| (wire, rule.when.strength_of(wire)));
    let counts: Vec<_> = wires().map(|(wire, strength)| (strength, uses.tripwire(&rule.name, wire, strength))).collect();
    let sum = |count: fn(&super::TripwireCounts) -> u64| counts.iter().fold(0, |sum: u64, (_, row)| sum.saturating_add(count(row)));
    let (fired, violated) = (sum(|row| row.fired), sum(|row| row.violated));
    if violated < VIOLATIONS {
        return None;
    }
    let strength = counts.iter().filter(|(_, row)| row.violated > 0).map(|(strength, _)| *strength).max()?;
    let higher = Strength::ALL.into_iter().find(|other| *other > strength)?;
    let ids: Vec<String> = wires().map(|(wire, strength)| tripwire_id(wire, strength)).collect();
    let description = format!("{} was violated {violated} times; proposed strength: {}", rule.name, higher.name());
    let has_fired = |strength: &Strength| counts.iter().any(|(own, row)| own == strength && row.fired.max(row.violated) > 0);
    let fired_with: Vec<&str> = Strength::ALL.into_iter().filter(has_fired).map(Strength::name).collect();
    let text = format!(
        "{} fired {fired} times with strength {}. In {violated} of these cases, the next tool call was identical.\n",
        rule.name,
        fired_with.join(" or ")
    );
    Some(Candidate {
        kind: CandidateKind::Violated,
        name: rule.name.clone(),
        memory_type: Kind::Feedback,
        description,
        text,
        when: Some(when_fields(rule, higher)),
        words: String::new(),
        turns: Vec::new(),
        sessions: Vec::new(),
        at: counts.iter().filter_map(|(_, row)| row.last_fired).max(),
        key: key(&["violated", &rule.name, &ids.join(" ")]),
        other_keys: Vec::new(),
        weight: (0.4 + 0.1 * violated.min(6) as f32).min(1.0),
    })
}

/// Proposes the removal of a rule that was watched for 90 days and did not fire.
fn unused(mounts: &[MountInfo], rule: &Rule, uses: &SpaceUses, modified: Timestamp, now: Timestamp) -> Option<Candidate> {
    let mount = mounts::locate(mounts, rule.path.as_str()).map(|(mount, _)| mount.prefix.as_str())?;
    let counted = uses.counted.get(mount)?;
    let is_old = |at: Timestamp| now.as_second().saturating_sub(at.as_second()) >= UNUSED_DAYS * 24 * 60 * 60;
    let fires = uses.last_fired(&rule.name).is_some_and(|at| !is_old(at));
    if fires || counted.sessions < RULE_MIN_SESSIONS || !is_old(modified) || !counted.since.is_some_and(is_old) {
        return None;
    }
    let last = uses.last_fired(&rule.name).map_or_else(|| "has not fired on this machine".to_owned(), |at| format!("last fired at {at}"));
    Some(Candidate {
        kind: CandidateKind::Unused,
        name: rule.name.clone(),
        memory_type: Kind::Feedback,
        description: format!("{} has not fired in {UNUSED_DAYS} days; proposed change: remove it", rule.name),
        text: format!("{} {last} (conversations counted: {}).\n", rule.name, counted.sessions),
        when: None,
        words: String::new(),
        turns: Vec::new(),
        sessions: Vec::new(),
        at: None,
        key: key(&["unused", &rule.name, &rule.text.to_string()]),
        other_keys: Vec::new(),
        weight: 0.2,
    })
}

/// The tripwires of a rule by the keys of `when:`, with another strength.
fn when_fields(rule: &Rule, strength: Strength) -> Map<String, Value> {
    let mut fields = Map::new();
    for over in [TripwireKind::Command, TripwireKind::Path, TripwireKind::Words, TripwireKind::Tools] {
        let own = rule.when.tripwires.iter().filter(|wire| wire.over == over);
        let patterns: Vec<Value> = own.map(|wire| Value::from(wire.pattern.as_str())).collect();
        if !patterns.is_empty() {
            fields.insert(over.name().to_owned(), Value::from(patterns));
        }
    }
    fields.insert("strength".to_owned(), Value::from(strength.name()));
    fields
}

fn key(parts: &[&str]) -> String {
    blake3::hash(parts.join("\0").as_bytes()).to_hex()[..32].to_owned()
}
