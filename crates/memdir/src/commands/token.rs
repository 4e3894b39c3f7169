//! `memdir token`: manages the bearer tokens of HTTP clients. A token is printed once; only its hash is stored.

use crate::{
    args::{TokenArgs, TokenWhat},
    config::{self, Settings, TokenSetting},
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::internal::store::space::{self, new_token, token_hash};
use serde::Serialize;
use std::io;
use toml_edit::{ArrayOfTables, Item, Table, TableLike, Value, value};

/// Number of hash digits in the id of a token.
const ID_LEN: usize = 8;

/// Minimum number of digits that revoke a token: an empty variable in a script must not name the only one.
const MIN_ID_LEN: usize = 3;

#[derive(Serialize)]
struct Added {
    id: String,
    person: String,
    token: String,
}

#[derive(Serialize)]
struct Listed {
    tokens: Vec<TokenRow>,
}

#[derive(Serialize)]
struct TokenRow {
    id: String,
    person: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    projects: Vec<String>,
}

pub(crate) fn run(args: &TokenArgs, settings: &Settings) -> Result<CommandOutput, Failure> {
    match &args.what {
        TokenWhat::Add { person, projects } => add(settings, person, settings.agent.as_ref().map(|agent| agent.value.as_str()), projects),
        TokenWhat::List => Ok(CommandOutput::new(Listed { tokens: settings.config.tokens.iter().map(token_row).collect() }, show_list)),
        TokenWhat::Revoke { id } => revoke(settings, id),
    }
}

fn add(settings: &Settings, person: &str, agent: Option<&str>, projects: &[String]) -> Result<CommandOutput, Failure> {
    config::check_id("person", person)?;
    space::person(person)?;
    projects.iter().try_for_each(|project| config::check_id("project", project))?;
    let token = new_token()?;
    let hash = token_hash(&token);
    let mut table = Table::new();
    table.insert("person", value(person));
    if let Some(agent) = agent {
        table.insert("agent", value(agent));
    }
    if !projects.is_empty() {
        table.insert("projects", value(projects.iter().collect::<toml_edit::Array>()));
    }
    table.insert("hash", value(&hash));
    config::edit::change(&settings.file, |document| {
        match document.entry("tokens").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new())) {
            Item::ArrayOfTables(tokens) => tokens.push(table),
            Item::Value(Value::Array(tokens)) => tokens.push(table.into_inline_table()),
            _ => return Err(not_a_list(settings)),
        }
        Ok(())
    })?;
    Ok(CommandOutput::new(Added { id: hash[..ID_LEN].to_owned(), person: person.to_owned(), token }, |added, printer| {
        printer.line(&added.token)?;
        printer.note(format!("{}'s token is printed only once; to revoke it, run: memdir token revoke {}", added.person, added.id));
        Ok(())
    }))
}

fn token_row(token: &TokenSetting) -> TokenRow {
    let id = token.hash.get(..ID_LEN).unwrap_or(&token.hash).to_owned();
    TokenRow { id, person: token.person.clone(), agent: token.agent.clone(), projects: token.projects.clone() }
}

fn show_list(listed: &Listed, printer: &mut Printer<'_>) -> io::Result<()> {
    if listed.tokens.is_empty() {
        return printer.line("no tokens");
    }
    let mut rows = vec![["id", "person", "agent", "projects"].map(str::to_owned).to_vec()];
    rows.extend(listed.tokens.iter().map(|one| {
        let agent = one.agent.clone().unwrap_or_else(|| "-".into());
        vec![one.id.clone(), one.person.clone(), agent, one.projects.join(", ")]
    }));
    printer.table(&rows)
}

fn revoke(settings: &Settings, id: &str) -> Result<CommandOutput, Failure> {
    if id.len() < MIN_ID_LEN {
        let message = format!("token id {id:?} is too short: use at least {MIN_ID_LEN} characters");
        return Err(Failure::Usage { message, hint: "list the tokens with: memdir token list".into() });
    }
    let row = config::edit::change(&settings.file, |document| {
        let Some(tokens) = document.get_mut("tokens") else { return Err(no_such_token(id, 0)) };
        let mut revoked = Vec::new();
        let mut keeps = |table: &dyn TableLike| {
            let token = token_setting(table);
            let is_kept = !token.hash.starts_with(id);
            if !is_kept {
                revoked.push(token_row(&token));
            }
            is_kept
        };
        match tokens {
            Item::ArrayOfTables(tokens) => tokens.retain(|table| keeps(table)),
            Item::Value(Value::Array(tokens)) => tokens.retain(|token| token.as_inline_table().is_none_or(|table| keeps(table))),
            _ => return Err(not_a_list(settings)),
        }
        // After an error nothing is written.
        let count = revoked.len();
        revoked.pop().filter(|_| count == 1).ok_or_else(|| no_such_token(id, count))
    })?;
    Ok(CommandOutput::new(row, |row, printer| printer.line(format!("revoked {}'s token {}", row.person, row.id))))
}

fn token_setting(table: &dyn TableLike) -> TokenSetting {
    let text = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    let projects = table.get("projects").and_then(Item::as_array).into_iter().flatten();
    TokenSetting {
        hash: text("hash").unwrap_or_default(),
        person: text("person").unwrap_or_default(),
        agent: text("agent"),
        projects: projects.filter_map(|project| project.as_str().map(str::to_owned)).collect(),
    }
}

fn no_such_token(id: &str, count: usize) -> Failure {
    let (message, hint) = match count {
        0 => (format!("token {id:?} not found"), "list the tokens with: memdir token list"),
        _ => (format!("token {id:?} is ambiguous: it matches {count} tokens"), "use a longer id; list the tokens with: memdir token list"),
    };
    Failure::Usage { message, hint: hint.into() }
}

fn not_a_list(settings: &Settings) -> Failure {
    let message = format!("{}: `tokens` must be an array of tables", settings.file.display());
    Failure::Settings { message, hint: "fix the file, then run the command again; nothing was changed".into() }
}
