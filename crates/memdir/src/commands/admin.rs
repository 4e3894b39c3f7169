//! `memdir admin`: manages the database of a team server. Each command is one transaction, which all replicas notice at once.

mod reindex;
mod tenant_data;

pub(super) use reindex::run as reindex;

use super::counted;
use crate::{
    args::{
        AdminArgs, AdminGroup, AdminPerson, AdminProject, AdminReview, AdminTenant, AdminToken, AdminWhat, DatabaseArgs, GlobalArgs,
        TenantArgs,
    },
    exit::Failure,
    output::{CommandOutput, Printer},
    serve::{connect, database_failure, database_settings},
};
use memdir_core::internal::base::shell::quote_posix;
use memdir_postgres::{Database, GroupRow, MemberRole, PersonAccess, ProjectRow, TokenRow};
use serde::Serialize;
use std::{collections::BTreeMap, io};

/// The result of a command that changes something.
#[derive(Serialize)]
struct AdminChange {
    /// What was changed: `tenant`, `person`, `group`, `project`, `token`.
    kind: &'static str,
    name: String,
    /// What was done, such as `added`, `updated`, `moved` or `removed`; or `unchanged`.
    outcome: &'static str,
}

#[derive(Serialize)]
struct ReviewSet {
    namespace: String,
    /// `on`, `off` or `unchanged`.
    outcome: &'static str,
}

#[derive(Serialize)]
struct Migrated {
    migrations: usize,
}

#[derive(Serialize)]
struct AddedToken {
    #[serde(flatten)]
    row: TokenRow,
    tenant: String,
    token: String,
}

#[derive(Serialize)]
struct ListedPerson {
    person: String,
    groups: BTreeMap<String, MemberRole>,
}

pub(crate) fn run(args: &AdminArgs, global: &GlobalArgs) -> Result<CommandOutput, Failure> {
    match &args.what {
        AdminWhat::Migrate { database } => {
            let migrations = Database::migrate(&database_settings(database)?).map_err(database_failure)?;
            Ok(CommandOutput::new(Migrated { migrations }, |migrated, printer| match migrated.migrations {
                0 => printer.line("unchanged: the schema is up to date"),
                many => printer.line(format!("applied {}", counted(many as u64, "migration", "migrations"))),
            }))
        }
        AdminWhat::Tenant { what, database } => tenant(what, database),
        AdminWhat::Person { what, tenant } => person(what, &Managed::open(tenant)?),
        AdminWhat::Group { what, tenant } => group(what, &Managed::open(tenant)?),
        AdminWhat::Project { what, tenant } => project(what, &Managed::open(tenant)?),
        AdminWhat::Token { what, tenant } => token(what, &Managed::open(tenant)?, global.agent.as_deref()),
        AdminWhat::Review { what, tenant } => review(what, &Managed::open(tenant)?),
        AdminWhat::Quota { memories, bytes, tenant } => tenant_data::quota(memories.as_deref(), bytes.as_deref(), &Managed::open(tenant)?),
        AdminWhat::Audit { limit, tenant } => tenant_data::audit(*limit, &Managed::open(tenant)?),
        AdminWhat::ErasePerson { person, yes, tenant } => tenant_data::erase_person(person, *yes, &Managed::open(tenant)?),
        AdminWhat::Export { file, tenant } => tenant_data::export(file, &Managed::open(tenant)?),
        AdminWhat::Import { file, tenant } => {
            let hint = "pass --tenant NAME, with the name of the tenant to create";
            tenant_data::import(file, &Managed::connect(tenant, hint)?)
        }
        AdminWhat::Reindex { .. } => {
            let message = "`admin reindex` was called without settings";
            Err(Failure::Usage { message: message.into(), hint: "this is a bug in memdir; please report it".into() })
        }
    }
}

/// A tenant and its database.
struct Managed {
    database: Database,
    tenant: String,
}

impl Managed {
    /// Opens a tenant that exists.
    fn open(args: &TenantArgs) -> Result<Managed, Failure> {
        let managed = Managed::connect(args, "pass --tenant NAME; list the tenants with: memdir admin tenant list")?;
        if !managed.database.has_tenant(&managed.tenant)? {
            return Err(not_found("tenant", &managed.tenant, "list the tenants with: memdir admin tenant list".into()));
        }
        Ok(managed)
    }

    /// Opens the database. `hint` names the option to pass if the tenant is missing.
    fn connect(args: &TenantArgs, hint: &str) -> Result<Managed, Failure> {
        let Some(tenant) = args.tenant.clone() else {
            return Err(Failure::Usage { message: "missing option --tenant".into(), hint: hint.into() });
        };
        let settings = database_settings(&args.database)?;
        let database = connect(&settings)?;
        Ok(Managed { database, tenant })
    }

    /// The error for a name that does not exist yet, with the command that adds it.
    fn must_add(&self, kind: &str, name: &str) -> Failure {
        let group = if kind == "project" { " --group GROUP" } else { "" };
        let add = format!("memdir admin {kind} add {}{group} --tenant {}", quote_posix(name), quote_posix(&self.tenant));
        not_found(kind, name, format!("add the {kind} with: {add}"))
    }

    /// Reports that something was removed, or fails if it did not exist.
    fn removed(&self, kind: &'static str, name: &str, existed: bool) -> Result<CommandOutput, Failure> {
        if existed {
            return Ok(changed(kind, name, "removed"));
        }
        Err(self.unknown(kind, name))
    }

    /// The error for a name that does not exist, with the command that lists the names.
    fn unknown(&self, kind: &str, name: &str) -> Failure {
        let all = if kind == "person" { "people".to_owned() } else { format!("{kind}s") };
        not_found(kind, name, format!("list the {all} with: memdir admin {kind} list --tenant {}", quote_posix(&self.tenant)))
    }
}

fn tenant(what: &AdminTenant, database: &DatabaseArgs) -> Result<CommandOutput, Failure> {
    let settings = database_settings(database)?;
    match what {
        AdminTenant::Add { tenant } => {
            let database = connect(&settings)?;
            let is_new = !database.has_tenant(tenant)?;
            database.create_tenant(tenant)?;
            Ok(added("tenant", tenant, is_new))
        }
        AdminTenant::List => {
            Ok(CommandOutput::new(Database::tenants(&settings).map_err(database_failure)?, |tenants, printer| match tenants.as_slice() {
                [] => printer.line("no tenants"),
                tenants => tenants.iter().try_for_each(|tenant| printer.line(tenant)),
            }))
        }
        AdminTenant::Remove { tenant, with_memories } => {
            let database = connect(&settings)?;
            if !*with_memories && database.has_memories(tenant)? {
                let hint = "nothing was removed; to remove the tenant and its memories permanently, add --with-memories";
                return Err(Failure::Negative { code: "conflict", message: format!("tenant {tenant:?} has memories"), hint: hint.into() });
            }
            if database.remove_tenant(tenant)? {
                return Ok(changed("tenant", tenant, "removed"));
            }
            Err(not_found("tenant", tenant, "list the tenants with: memdir admin tenant list".into()))
        }
    }
}

fn person(what: &AdminPerson, managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    match what {
        AdminPerson::Add { person } => Ok(added("person", person, database.add_person(tenant, person)?)),
        AdminPerson::Remove { person } => managed.removed("person", person, database.remove_person(tenant, person)?),
        AdminPerson::List => {
            let listed = |(person, PersonAccess { groups, .. })| ListedPerson { person, groups };
            let people: Vec<ListedPerson> = database.people(tenant)?.into_iter().map(listed).collect();
            Ok(CommandOutput::new(people, |people, printer| {
                let row = |one: &ListedPerson| vec![one.person.clone(), roles(&one.groups)];
                table(printer, "no people", &["person", "groups"], people.iter().map(row).collect())
            }))
        }
    }
}

fn group(what: &AdminGroup, managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    match what {
        AdminGroup::Add { group, people, role } => {
            let role: MemberRole = role.parse()?;
            // Before anything is added.
            let known = database.people(tenant)?;
            if let Some(person) = people.iter().find(|person| !known.contains_key(*person)) {
                return Err(managed.must_add("person", person));
            }
            let is_new = database.add_group(tenant, group)?;
            people.iter().try_for_each(|person| database.set_member(tenant, group, person, role))?;
            Ok(if is_new || people.is_empty() { added("group", group, is_new) } else { changed("group", group, "updated") })
        }
        AdminGroup::Remove { group, people } if people.is_empty() => {
            let has_projects = |row: &GroupRow| row.group == *group && !row.projects.is_empty();
            if let Some(GroupRow { projects, .. }) = database.groups(tenant)?.into_iter().find(has_projects) {
                let message = format!("group {group:?} has projects: {}", projects.join(", "));
                let hint = format!(
                    "remove or move the projects first, for example: memdir admin project remove {} --tenant {}",
                    quote_posix(&projects[0]),
                    quote_posix(tenant)
                );
                return Err(Failure::Negative { code: "conflict", message, hint });
            }
            managed.removed("group", group, database.remove_group(tenant, group)?)
        }
        AdminGroup::Remove { group, people } => remove_members(group, people, managed),
        AdminGroup::List => Ok(CommandOutput::new(database.groups(tenant)?, |groups, printer| {
            let row = |one: &GroupRow| vec![one.group.clone(), roles(&one.members), one.projects.join(", ")];
            table(printer, "no groups", &["group", "members", "projects"], groups.iter().map(row).collect())
        })),
    }
}

fn remove_members(group: &str, people: &[String], managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    let Some(row) = database.groups(tenant)?.into_iter().find(|row| row.group == group) else {
        return Err(managed.unknown("group", group));
    };
    // Before anything is removed.
    if let Some(person) = people.iter().find(|person| !row.members.contains_key(*person)) {
        let hint = format!("list the members with: memdir admin group list --tenant {}", quote_posix(tenant));
        return Err(not_found(&format!("group {group:?}: member"), person, hint));
    }
    for person in people {
        database.remove_member(tenant, group, person)?;
    }
    let kind = if people.len() == 1 { "member" } else { "members" };
    Ok(changed(kind, &format!("{} from group {group}", people.join(", ")), "removed"))
}

fn project(what: &AdminProject, managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    match what {
        AdminProject::Add { group, .. } if database.groups(tenant)?.iter().all(|row| row.group != *group) => {
            Err(managed.must_add("group", group))
        }
        AdminProject::Add { id, group } => {
            let is_moved = database.projects(tenant)?.iter().any(|row| row.project == *id && row.group != *group);
            let is_new = database.add_project(tenant, id, group)?;
            Ok(if is_moved { changed("project", id, "moved") } else { added("project", id, is_new) })
        }
        AdminProject::Remove { id } => managed.removed("project", id, database.remove_project(tenant, id)?),
        AdminProject::List => Ok(CommandOutput::new(database.projects(tenant)?, |projects, printer| {
            let row = |one: &ProjectRow| vec![one.project.clone(), one.group.clone()];
            table(printer, "no projects", &["project", "group"], projects.iter().map(row).collect())
        })),
    }
}

fn review(what: &AdminReview, managed: &Managed) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    let (namespace, is_on) = match what {
        AdminReview::On { namespace } => (namespace, true),
        AdminReview::Off { namespace } => (namespace, false),
        AdminReview::List => {
            let reviewed: Vec<String> = database.reviewed_namespaces(tenant)?.into_iter().collect();
            return Ok(CommandOutput::new(reviewed, |reviewed, printer| match reviewed.as_slice() {
                [] => printer.line("no projects or groups require review"),
                reviewed => reviewed.iter().try_for_each(|namespace| printer.line(namespace)),
            }));
        }
    };
    let missing = |kind: &str, name: &str| if is_on { managed.must_add(kind, name) } else { managed.unknown(kind, name) };
    match namespace.split_once('/') {
        Some(("projects", project)) if database.projects(tenant)?.iter().all(|row| row.project != project) => {
            Err(missing("project", project))
        }
        Some(("groups", group)) if database.groups(tenant)?.iter().all(|row| row.group != group) => Err(missing("group", group)),
        Some(("projects" | "groups", _)) => {
            let outcome = match (database.set_review(tenant, namespace, is_on)?, is_on) {
                (false, _) => "unchanged",
                (true, true) => "on",
                (true, false) => "off",
            };
            Ok(CommandOutput::new(ReviewSet { namespace: namespace.clone(), outcome }, |set, printer| match set.outcome {
                "unchanged" => printer.line(format!("unchanged: review for {}", set.namespace)),
                outcome => printer.line(format!("turned {outcome} review for {}", set.namespace)),
            }))
        }
        _ => Err(Failure::Usage {
            message: format!("invalid project or group {namespace:?}"),
            hint: "use projects/PROJECT or groups/GROUP, such as projects/shop or groups/backend".into(),
        }),
    }
}

fn token(what: &AdminToken, managed: &Managed, agent: Option<&str>) -> Result<CommandOutput, Failure> {
    let Managed { database, tenant } = managed;
    match what {
        AdminToken::Add { person } if !database.people(tenant)?.contains_key(person) => Err(managed.must_add("person", person)),
        AdminToken::Add { person } => {
            let (row, token) = database.add_token(tenant, person, agent)?;
            Ok(CommandOutput::new(AddedToken { row, tenant: tenant.clone(), token }, |added, printer| {
                printer.line(&added.token)?;
                let (person, id, tenant) = (&added.row.person, &added.row.id, &added.tenant);
                let revoke = format!("memdir admin token remove {id} --tenant {}", quote_posix(tenant));
                printer.note(format!("{person}'s token is printed only once; to revoke it, run: {revoke}"));
                Ok(())
            }))
        }
        AdminToken::Remove { id } => managed.removed("token", id, database.remove_token(tenant, id)?.is_some()),
        AdminToken::List => Ok(CommandOutput::new(database.tokens(tenant)?, |tokens, printer| {
            let row = |one: &TokenRow| vec![one.id.clone(), one.person.clone(), one.agent.clone().unwrap_or_else(|| "-".into())];
            table(printer, "no tokens", &["id", "person", "agent"], tokens.iter().map(row).collect())
        })),
    }
}

fn added(kind: &'static str, name: &str, is_new: bool) -> CommandOutput {
    changed(kind, name, if is_new { "added" } else { "unchanged" })
}

fn changed(kind: &'static str, name: &str, outcome: &'static str) -> CommandOutput {
    CommandOutput::new(AdminChange { kind, name: name.to_owned(), outcome }, |change, printer| match change.outcome {
        "unchanged" => printer.line(format!("unchanged: {} {}", change.kind, change.name)),
        outcome => printer.line(format!("{outcome} {} {}", change.kind, change.name)),
    })
}

fn not_found(kind: &str, name: &str, hint: String) -> Failure {
    Failure::Negative { code: "not_found", message: format!("{kind} {name:?} not found"), hint }
}

fn roles(roles: &BTreeMap<String, MemberRole>) -> String {
    roles.iter().map(|(name, role)| format!("{name} ({role})")).collect::<Vec<_>>().join(", ")
}

fn table(printer: &mut Printer<'_>, none: &str, head: &[&str], rows: Vec<Vec<String>>) -> io::Result<()> {
    if rows.is_empty() {
        return printer.line(none);
    }
    let head = head.iter().map(|name| (*name).to_owned()).collect();
    printer.table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}
