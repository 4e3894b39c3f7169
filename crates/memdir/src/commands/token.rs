//! `memdir token`: who may call over HTTP. A token is shown once, when it is made; only its hash is kept.

use crate::{
    args::{Token as Typed, TokenWhat},
    config::{self, Settings, TokenSetting},
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::store::space::{new_token, token_hash};
use serde::Serialize;
use std::io;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Digits of a hash by which people name a token.
const ID: usize = 8;

#[derive(Serialize)]
struct Added {
    id: String,
    person: String,
    token: String,
}

#[derive(Serialize)]
struct Listed {
    tokens: Vec<One>,
}

#[derive(Serialize)]
struct One {
    id: String,
    person: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    projects: Vec<String>,
}

pub(crate) fn run(args: &Typed, settings: &Settings) -> Result<Answer, Failure> {
    match &args.what {
        TokenWhat::Add { person, projects } => add(settings, person, settings.agent.as_ref().map(|agent| agent.value.as_str()), projects),
        TokenWhat::List => Ok(Answer::new(Listed { tokens: settings.config.tokens.iter().map(one).collect() }, show_list)),
        TokenWhat::Revoke { id } => revoke(settings, id),
    }
}

fn add(settings: &Settings, person: &str, agent: Option<&str>, projects: &[String]) -> Result<Answer, Failure> {
    config::one_part("person", person)?;
    projects.iter().try_for_each(|project| config::one_part("project", project))?;
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
    Ok(Answer::new(Added { id: hash[..ID].to_owned(), person: person.to_owned(), token }, |added, page| {
        page.line(&added.token)?;
        page.note(format!("this is the only time the token of {} is shown; memdir token revoke {} takes it back", added.person, added.id));
        Ok(())
    }))
}

fn one(token: &TokenSetting) -> One {
    let id = token.hash.get(..ID).unwrap_or(&token.hash).to_owned();
    One { id, person: token.person.clone(), agent: token.agent.clone(), projects: token.projects.clone() }
}

fn show_list(listed: &Listed, page: &mut Page<'_>) -> io::Result<()> {
    if listed.tokens.is_empty() {
        return page.line("There are no tokens");
    }
    let mut rows = vec![["id", "person", "agent", "projects"].map(str::to_owned).to_vec()];
    rows.extend(listed.tokens.iter().map(|one| {
        let agent = one.agent.clone().unwrap_or_else(|| "-".into());
        vec![one.id.clone(), one.person.clone(), agent, one.projects.join(", ")]
    }));
    page.table(&rows)
}

fn revoke(settings: &Settings, id: &str) -> Result<Answer, Failure> {
    let named: Vec<&TokenSetting> = settings.config.tokens.iter().filter(|token| token.hash.starts_with(id)).collect();
    let [token] = named[..] else {
        let message = if named.is_empty() { format!("there is no token {id:?}") } else { format!("{id:?} begins several tokens") };
        return Err(Failure::Usage { message, hint: "memdir token list shows them.".into() });
    };
    let hash = token.hash.clone();
    config::edit::change(&settings.file, |document| remove(document, &hash))?;
    Ok(Answer::new(one(token), |one, page| page.line(format!("The token {} of {} is no longer accepted", one.id, one.person))))
}

fn remove(document: &mut DocumentMut, hash: &str) {
    if let Some(tokens) = document.get_mut("tokens").and_then(Item::as_array_of_tables_mut) {
        tokens.retain(|table| table.get("hash").and_then(Item::as_str) != Some(hash));
    }
}
