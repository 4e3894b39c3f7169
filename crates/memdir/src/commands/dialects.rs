//! `memdir dialects`: the memory systems whose tools memdir emulates.

use crate::output::{CommandOutput, Printer};
use memdir_core::internal::dialects::DIALECTS;
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct DialectRow {
    name: &'static str,
    stands_for: &'static str,
    needs: &'static str,
    tools: Vec<&'static str>,
}

pub(crate) fn run() -> CommandOutput {
    let rows: Vec<DialectRow> = DIALECTS
        .iter()
        .map(|dialect| DialectRow {
            name: dialect.name,
            stands_for: dialect.stands_for,
            needs: dialect.needs,
            tools: (dialect.tools)().iter().map(|tool| tool.name).collect(),
        })
        .collect();
    CommandOutput::new(rows, show)
}

fn show(rows: &Vec<DialectRow>, printer: &mut Printer<'_>) -> io::Result<()> {
    for (n, row) in rows.iter().enumerate() {
        if n > 0 {
            printer.line("")?;
        }
        let name = printer.strong(row.name);
        printer.line(format!("{name}: {}", row.stands_for))?;
        printer.line(format!("  tools: {}", row.tools.join(", ")))?;
        printer.line(format!("  directory: {}", row.needs))?;
    }
    Ok(())
}
