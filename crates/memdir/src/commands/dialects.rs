//! `memdir dialects`: the systems whose tools memdir serves.

use crate::output::{Answer, Page};
use memdir_core::dialects::DIALECTS;
use serde::Serialize;
use std::io;

#[derive(Serialize)]
struct Row {
    name: &'static str,
    stands_for: &'static str,
    needs: &'static str,
    tools: Vec<&'static str>,
}

pub(crate) fn run() -> Answer {
    let rows: Vec<Row> = DIALECTS
        .iter()
        .map(|dialect| Row {
            name: dialect.name,
            stands_for: dialect.stands_for,
            needs: dialect.needs,
            tools: (dialect.tools)().iter().map(|tool| tool.name).collect(),
        })
        .collect();
    Answer::new(rows, show)
}

fn show(rows: &Vec<Row>, page: &mut Page<'_>) -> io::Result<()> {
    for (n, row) in rows.iter().enumerate() {
        if n > 0 {
            page.line("")?;
        }
        let name = page.strong(row.name);
        page.line(format!("{name}: {}", row.stands_for))?;
        page.line(format!("  tools: {}", row.tools.join(", ")))?;
        page.line(format!("  directory: {}", row.needs))?;
    }
    Ok(())
}
