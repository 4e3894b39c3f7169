//! The settings in effect and where each comes from. They are changed on the command line.

use crate::page::{
    params::Params,
    reply::{ShellPage, ViewContext, ViewReply},
};
use maud::html;
use memdir_core::{Access, Result};

/// Lists settings and mounts.
pub(in crate::page) fn show(context: &ViewContext<'_>, _: &str, _: &Params) -> Result<ViewReply> {
    let settings = context.space.machine()?.settings()?;
    let body = html! {
        h1 { "Settings" }
        p.quiet { "Change a setting with " code { "memdir config set KEY VALUE" } "." }
        table.list {
            caption { "Settings" }
            thead { tr { th scope="col" { "Setting" } th scope="col" { "Value" } th scope="col" { "Source" } } }
            tbody {
                @for row in &settings {
                    tr { td { code { (row.name) } } td.wide data-label="Value" { (row.value) } td data-label="Source" { (row.from) } }
                }
            }
        }
        table.list {
            caption { "Mounts" }
            thead { tr { th scope="col" { "Prefix" } th scope="col" { "Directory" } th scope="col" { "Access" } } }
            tbody {
                @for mount in context.space.memdir.store().mounts() {
                    tr {
                        td { code { @if mount.prefix.is_empty() { "(project)" } @else { (mount.prefix) "/" } } }
                        td.wide data-label="Directory" { (mount.root.display().to_string()) }
                        td data-label="Access" { @if mount.access == Access::ReadOnly { "read-only" } @else { "read-write" } }
                    }
                }
            }
        }
    };
    Ok(ShellPage::reply("Settings", "/settings", body))
}
