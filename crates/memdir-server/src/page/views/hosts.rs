//! Agent programs: where memdir is installed, whether it works, and the command that fixes what does not.

use crate::page::{
    layout,
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
    source::HostFindings,
};
use maud::{Markup, html};
use memdir_core::{Result, internal::base::visible::visible};

/// Lists the hosts. Starts nothing.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    page(context, &[])
}

/// Checks the installations, which starts the configured servers and hooks.
pub(in crate::page) fn check(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let findings = context.space.machine()?.check_hosts()?;
    page(context, &findings)
}

fn page(context: &ViewContext<'_>, findings: &[HostFindings]) -> Result<ViewReply> {
    let hosts = context.space.machine()?.hosts()?;
    let body = html! {
        div.head {
            h1 { "Hosts" }
            @if context.space.viewer.may_write {
                form method="post" action=(context.url("/hosts/check")) {
                    (layout::form_token(context))
                    button type="submit" { "Check installations" }
                }
            }
        }
        @for host in findings { (checked(host)) }
        table.list {
            caption { "Agent programs" }
            thead { tr { th scope="col" { "Program" } th scope="col" { "Found" } th scope="col" { "memdir" } th scope="col" { "Next step" } } }
            tbody {
                @for host in &hosts {
                    tr data-row {
                        td { (host.title) }
                        td.wide data-label="Found" { (host.found.as_deref().unwrap_or("–")) }
                        td data-label="memdir" { @if host.installed.is_empty() { "not installed" } @else { (host.installed) } }
                        td data-label="Next step" { @if let Some(next) = &host.next { code { (next) } } }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply("Hosts", "/hosts", body))
}

fn checked(host: &HostFindings) -> Markup {
    html! {
        section.card {
            h2 { (host.title) }
            ul.checks {
                @for finding in &host.findings {
                    li class=(finding.level) {
                        strong { (finding.level) } " " (visible(&finding.what)) ": " (visible(&finding.seen))
                        @if let Some(fix) = &finding.fix { br; code { (visible(fix)) } }
                    }
                }
            }
        }
    }
}
