//! `memdir token`: manages the bearer tokens of HTTP clients. A token is printed once; only its hash is stored.

use crate::{
    args::{Token as Typed, TokenWhat},
    config::{self, Settings, TokenSetting},
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::internal::store::space::{self, new_token, token_hash};
use serde::Serialize;
use std::io;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Number of hash digits in the id of a token.
const ID_LEN: usize = 8;

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

pub(crate) fn run(args: &Typed, settings: &Settings) -> Result<CommandOutput, Failure> {
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
        let tokens = document.entry("tokens").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        if let Some(tokens) = tokens.as_array_of_tables_mut() {
            tokens.push(table);
        }
    })?;
    Ok(CommandOutput::new(Added { id: hash[..ID_LEN].to_owned(), person: person.to_owned(), token }, |added, printer| {
        printer.line(&added.token)?;
        printer.note(format!("the token of {} is printed only once; revoke it with: memdir token revoke {}", added.person, added.id));
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
    let matching: Vec<&TokenSetting> = settings.config.tokens.iter().filter(|token| token.hash.starts_with(id)).collect();
    let [token] = matching[..] else {
        let message = if matching.is_empty() { format!("token {id:?} not found") } else { format!("token {id:?} is ambiguous") };
        return Err(Failure::Usage { message, hint: "run `memdir token list` to see all ids".into() });
    };
    let hash = token.hash.clone();
    config::edit::change(&settings.file, |document| remove(document, &hash))?;
    Ok(CommandOutput::new(token_row(token), |row, printer| printer.line(format!("revoked token {} of {}", row.id, row.person))))
}

fn remove(document: &mut DocumentMut, hash: &str) {
    if let Some(tokens) = document.get_mut("tokens").and_then(Item::as_array_of_tables_mut) {
        tokens.retain(|table| table.get("hash").and_then(Item::as_str) != Some(hash));
    }
}
