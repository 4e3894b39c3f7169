//! The schema and its migrations. A migration only adds, so that the previous release keeps working while replicas are upgraded one by
//! one.

use crate::failure::{DatabaseFailure, NO_SCHEMA};
use memdir_core::Error;
use tokio_postgres::Client;

/// The role that owns nothing and has the grants. Every connection of a store uses it.
pub const APP_ROLE: &str = "memdir_app";

/// One step of the schema.
struct Migration {
    version: i32,
    /// The oldest release, by its newest migration, that works with this schema.
    works_since: i32,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, works_since: 1, sql: include_str!("migrations/001.sql") },
    Migration { version: 2, works_since: 1, sql: include_str!("migrations/002.sql") },
    Migration { version: 3, works_since: 1, sql: include_str!("migrations/003.sql") },
    Migration { version: 4, works_since: 1, sql: include_str!("migrations/004.sql") },
    Migration { version: 5, works_since: 1, sql: include_str!("migrations/005.sql") },
];

/// Two replicas that start together must not migrate at the same time.
const MIGRATION_LOCK: i64 = 0x6d65_6d64_6972;

/// The role is shared by all databases of a server; another one may be creating it.
const PREPARE: &str = "
do $$ begin
  if not exists (select from pg_roles where rolname = 'memdir_app') then
    create role memdir_app nologin;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
  if not pg_has_role(current_user, 'memdir_app', 'member') then
    execute format('grant memdir_app to %I', current_user);
  end if;
end $$;
create schema if not exists memdir;
grant usage on schema memdir to memdir_app;
create table if not exists memdir.migrations (
  version int primary key,
  works_since int not null,
  applied_at timestamptz not null default now()
);
grant select on memdir.migrations to memdir_app;
";

/// Applies the missing migrations, each in a transaction. Returns their number.
pub(crate) async fn migrate(client: &Client) -> Result<usize, DatabaseFailure> {
    client.execute("select pg_advisory_lock($1)", &[&MIGRATION_LOCK]).await?;
    let applied = apply_missing(client).await;
    client.execute("select pg_advisory_unlock($1)", &[&MIGRATION_LOCK]).await?;
    applied
}

async fn apply_missing(client: &Client) -> Result<usize, DatabaseFailure> {
    client.batch_execute(PREPARE).await?;
    let known: i32 = client.query_one("select coalesce(max(version), 0) from memdir.migrations", &[]).await?.get(0);
    let missing: Vec<&Migration> = MIGRATIONS.iter().filter(|migration| migration.version > known).collect();
    for Migration { version, works_since, sql } in &missing {
        let record = format!("insert into memdir.migrations (version, works_since) values ({version}, {works_since})");
        client.batch_execute(&format!("begin;\n{sql};\n{record};\ncommit")).await?;
    }
    Ok(missing.len())
}

/// Fails if the schema is older than this release needs, or too new for it.
pub(crate) async fn check(client: &Client) -> Result<(), DatabaseFailure> {
    let wanted = MIGRATIONS.last().map_or(0, |migration| migration.version);
    let unavailable = |why: String| DatabaseFailure::from(Error::explained_unavailable("the database", why));
    let exists: bool = client.query_one("select to_regclass('memdir.migrations') is not null", &[]).await?.get(0);
    if !exists {
        return Err(unavailable(NO_SCHEMA.into()));
    }
    let sql = "select coalesce(max(version), 0), coalesce(max(works_since), 0) from memdir.migrations";
    let row = client.query_one(sql, &[]).await?;
    let (version, works_since): (i32, i32) = (row.get(0), row.get(1));
    if version < wanted {
        return Err(unavailable(format!(
            "the schema has version {version}, but this release needs version {wanted}; upgrade the schema with: memdir admin migrate"
        )));
    }
    if works_since > wanted {
        let why = format!("the schema has version {version}, which is too new for this release; upgrade memdir");
        return Err(unavailable(why));
    }
    Ok(())
}
