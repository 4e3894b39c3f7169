//! Rules: the memories with tripwires, what they do, and how often they fired, were followed and were violated.

use crate::page::{
    layout,
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::html;
use memdir_core::Result;

/// Lists the rules.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let rules = context.space.machine()?.rules(&context.space.memdir)?;
    let has_counts = rules.iter().any(|rule| rule.counts.is_some());
    let body = html! {
        h1 { "Rules" }
        p.quiet { "A memory with " code { "when:" } " in its frontmatter is a rule: if an agent's action matches, the agent is shown the memory, the host asks you, or the action is stopped." }
        @if rules.is_empty() { p { "There are no rules yet." } }
        @else {
            table.list {
                caption.hidden { "Rules" }
                thead { tr {
                    th scope="col" { "Rule" } th scope="col" { "When" } th scope="col" { "Effect" } th scope="col" { "State" }
                    @if has_counts { th.number scope="col" { "Fired" } th.number scope="col" { "Followed" } th.number scope="col" { "Violated" } }
                } }
                tbody {
                    @for rule in &rules {
                        tr data-row {
                            td { (layout::memory_link(context, &rule.name)) }
                            td.wide { @for one in &rule.conditions { div { (one.over) " " code { (one.pattern) } } } }
                            td data-label="Effect" { @for one in &rule.conditions { div { (one.effect) } } }
                            td data-label="State" { @if rule.state.is_empty() { "your own" } @else { (rule.state) } }
                            @if has_counts {
                                @let counts = rule.counts.unwrap_or_default();
                                td.number data-label="Fired" { (counts[0]) }
                                td.number data-label="Followed" { (counts[1]) }
                                td.number data-label="Violated" { (counts[2]) }
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply("Rules", "/rules", body))
}
