//! The arguments of `memdir admin`, the administration of a team server's database.

use super::DatabaseArgs;
use clap::Subcommand;
use std::path::PathBuf;

/// Manage a team server's database, tenants, people and tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A tenant has people, groups and projects. A project belongs to a group. A person's role in the
group (reader, writer, reviewer, admin) applies to all its projects. All commands need the URL
of the database.

Examples:
  memdir admin migrate
  memdir admin tenant add acme
  memdir admin person add ada --tenant acme
  memdir admin group add backend ada --role writer --tenant acme
  memdir admin project add shop --group backend --tenant acme
  memdir admin token add ada --tenant acme")]
pub(crate) struct AdminArgs {
    #[command(subcommand)]
    pub(crate) what: AdminWhat,
}

impl AdminArgs {
    /// Returns whether the command uses the indexes of this machine.
    pub(crate) fn uses_indexes(&self) -> bool {
        matches!(self.what, AdminWhat::Reindex { .. })
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminWhat {
    /// Create or upgrade the database schema
    #[command(after_help = "\
Examples:
  memdir admin migrate --database postgres:///memdir")]
    Migrate {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Add, list and remove tenants (organizations with separate data)
    #[command(after_help = "\
Examples:
  memdir admin tenant add acme
  memdir admin tenant list --json
  memdir admin tenant remove acme")]
    Tenant {
        #[command(subcommand)]
        what: AdminTenant,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Add, list and remove people in a tenant
    #[command(after_help = "\
Removing a person revokes their tokens. Their memories stay.

Examples:
  memdir admin person add ada --tenant acme
  memdir admin person list --tenant acme")]
    Person {
        #[command(subcommand)]
        what: AdminPerson,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove groups and their members
    #[command(after_help = "\
Examples:
  memdir admin group add backend ada ben --role writer --tenant acme
  memdir admin group remove backend ben --tenant acme
  memdir admin group list --tenant acme")]
    Group {
        #[command(subcommand)]
        what: AdminGroup,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove projects
    #[command(after_help = "\
Examples:
  memdir admin project add shop --group backend --tenant acme
  memdir admin project list --tenant acme")]
    Project {
        #[command(subcommand)]
        what: AdminProject,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Add, list and remove people's tokens
    #[command(after_help = "\
A token is printed once; only its hash is stored. Removing it revokes it at once, on all replicas.

Examples:
  memdir admin token add ada --tenant acme
  memdir admin token add ada --agent reviewer --tenant acme
  memdir admin token remove 3f2a91c0d1e2 --tenant acme")]
    Token {
        #[command(subcommand)]
        what: AdminToken,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Manage the review of changes made by writers and agents
    #[command(after_help = "\
While review is on, reviewers and admins of the group can still change its memories directly,
except with an agent's token. Open proposals remain after review is turned off, and can still be
accepted or rejected.

Examples:
  memdir admin review on projects/shop --tenant acme
  memdir admin review off groups/backend --tenant acme
  memdir admin review list --tenant acme")]
    Review {
        #[command(subcommand)]
        what: AdminReview,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Show a tenant's quotas and usage, or set the quotas
    #[command(after_help = "\
Without options, shows the quotas and the current usage. A tenant over its quota keeps its
memories, but cannot grow.

Examples:
  memdir admin quota --tenant acme
  memdir admin quota --memories 10000 --bytes 100000000 --tenant acme
  memdir admin quota --memories none --tenant acme")]
    Quota {
        /// Maximum number of memories, including `MEMORY.md` files, or `none` for no limit
        #[arg(long, value_name = "N")]
        memories: Option<String>,
        /// Maximum total size of the memories in bytes, or `none` for no limit
        #[arg(long, value_name = "N")]
        bytes: Option<String>,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Show the audit log: changes to people, groups, projects, tokens, quotas and review settings, and decisions on proposals
    #[command(after_help = "\
The log has names and roles, but never tokens or the texts of memories. Changes to memories are
in their history.

Examples:
  memdir admin audit --tenant acme
  memdir admin audit --limit 1000 --json --tenant acme")]
    Audit {
        /// Maximum number of entries to show, newest first
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Erase a person, their memories with all versions, their tokens and their roles
    #[command(after_help = "\
In shared memories, the person's changes remain, under another actor name; their proposals are
erased unless they were accepted. Without --yes, the command only reports what would be erased.
The receipt does not contain the name. Backups are not covered. Replicas remove the person's
search indexes within ten minutes.

Examples:
  memdir admin erase-person ada --tenant acme
  memdir admin erase-person ada --yes --json --tenant acme > receipt.json")]
    ErasePerson {
        /// Name of the person
        person: String,
        /// Erase permanently; without this option, only report what would be erased
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Export a tenant to a file: people, groups, projects, token hashes, memories, versions, history and proposals
    #[command(after_help = "\
Examples:
  memdir admin export acme.jsonl --tenant acme")]
    Export {
        /// File to create
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Create a tenant from a file written by `memdir admin export`
    #[command(after_help = "\
The tenant must not exist. Its tokens stay valid only if it keeps its name.

Examples:
  memdir admin import acme.jsonl --tenant acme")]
    Import {
        /// File to import
        file: PathBuf,
        #[command(flatten)]
        tenant: TenantArgs,
    },
    /// Rebuild a tenant's search indexes on this machine
    #[command(after_help = "\
Each replica has its own indexes below its cache directory: run this command on
each machine, as the user that runs the replica. Replicas can keep running.
Indexes of namespaces that no longer exist are removed, in all tenants.

Examples:
  memdir admin reindex --tenant acme
  memdir admin reindex --namespace projects/shop --tenant acme")]
    Reindex {
        /// Rebuild only the index of this project, group or person, such as `projects/shop` or `people/ada`
        #[arg(long, value_name = "NAME")]
        namespace: Option<String>,
        #[command(flatten)]
        tenant: TenantArgs,
    },
}

/// The tenant that is managed.
#[derive(Debug, clap::Args)]
pub(crate) struct TenantArgs {
    /// Name of the tenant; required
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) tenant: Option<String>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminTenant {
    /// Add a tenant
    #[command(after_help = "\
Examples:
  memdir admin tenant add acme")]
    Add {
        /// Name of the tenant
        tenant: String,
    },
    /// List tenants
    #[command(after_help = "\
Examples:
  memdir admin tenant list")]
    List,
    /// Remove a tenant
    #[command(after_help = "\
Examples:
  memdir admin tenant remove acme")]
    Remove {
        /// Name of the tenant
        tenant: String,
        /// Also permanently remove the tenant's memories and their history; required if the tenant has any
        #[arg(long)]
        with_memories: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminPerson {
    /// Add a person
    #[command(after_help = "\
Examples:
  memdir admin person add ada --tenant acme")]
    Add {
        /// Name of the person
        person: String,
    },
    /// List people with their groups
    #[command(after_help = "\
Examples:
  memdir admin person list --tenant acme")]
    List,
    /// Remove a person but keep their memories
    #[command(after_help = "\
Examples:
  memdir admin person remove ada --tenant acme")]
    Remove {
        /// Name of the person
        person: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminGroup {
    /// Add a group, or give people a role in it
    #[command(after_help = "\
Examples:
  memdir admin group add backend ada ben --role writer --tenant acme")]
    Add {
        /// Name of the group
        group: String,
        /// People to add to the group
        #[arg(value_name = "PERSON")]
        people: Vec<String>,
        /// Role of these people in the group: reader, writer, reviewer or admin
        #[arg(long, value_name = "ROLE", default_value = "writer")]
        role: String,
    },
    /// List groups with their members and projects
    #[command(after_help = "\
Examples:
  memdir admin group list --tenant acme")]
    List,
    /// Remove people from a group, or the group itself
    #[command(after_help = "\
Examples:
  memdir admin group remove backend ben --tenant acme")]
    Remove {
        /// Name of the group
        group: String,
        /// People to remove from the group [default: remove the group itself]
        #[arg(value_name = "PERSON")]
        people: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminProject {
    /// Add a project to a group, or move an existing project to it
    #[command(after_help = "\
Examples:
  memdir admin project add shop --group backend --tenant acme")]
    Add {
        /// Project id
        #[arg(value_name = "PROJECT")]
        id: String,
        /// Group that the project belongs to
        #[arg(long, value_name = "NAME")]
        group: String,
    },
    /// List projects with their groups
    #[command(after_help = "\
Examples:
  memdir admin project list --tenant acme")]
    List,
    /// Remove a project but keep its memories
    #[command(after_help = "\
Examples:
  memdir admin project remove shop --tenant acme")]
    Remove {
        /// Project id
        #[arg(value_name = "PROJECT")]
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminToken {
    /// Create a token for a person, or with --agent for an agent acting on their behalf, and print it
    #[command(after_help = "\
Examples:
  memdir admin token add ada --tenant acme")]
    Add {
        /// Owner of the token
        person: String,
    },
    /// List tokens
    #[command(after_help = "\
Examples:
  memdir admin token list --tenant acme")]
    List,
    /// Revoke a token
    #[command(after_help = "\
Examples:
  memdir admin token remove 3f2a91c0d1e2 --tenant acme")]
    Remove {
        /// Token id, as printed by `memdir admin token list`
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AdminReview {
    /// Turn review on
    #[command(after_help = "\
Examples:
  memdir admin review on projects/shop --tenant acme")]
    On {
        /// Project or group: `projects/PROJECT`, or `groups/GROUP` for the group's `team/` memories
        #[arg(value_name = "NAMESPACE")]
        namespace: String,
    },
    /// Turn review off
    #[command(after_help = "\
Examples:
  memdir admin review off groups/backend --tenant acme")]
    Off {
        /// Project or group: `projects/PROJECT`, or `groups/GROUP` for the group's `team/` memories
        #[arg(value_name = "NAMESPACE")]
        namespace: String,
    },
    /// List projects and groups under review
    #[command(after_help = "\
Examples:
  memdir admin review list --tenant acme")]
    List,
}
