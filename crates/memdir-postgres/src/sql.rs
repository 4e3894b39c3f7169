//! Every statement of the store. Each names the tenant itself: row-level security is only the second layer.

/// Sets the tenant until the end of the transaction, for row-level security.
pub(crate) const SET_TENANT: &str = "select set_config('memdir.tenant', $1, true)";

pub(crate) const SET_PARAMETER: &str = "select set_config($1, $2, true)";

/// Documents by namespace and exact path.
pub(crate) const GET: &str = "
    select d.namespace, d.path, d.bytes, d.version, d.size, d.modified_ns, d.changed_ns, d.sequence
    from unnest($2::text[], $3::text[]) as wanted (namespace, path)
    join memdir.documents d on d.tenant = $1 and d.namespace = wanted.namespace and d.path = wanted.path";

pub(crate) const STAMPS: &str = "
    select d.namespace, d.path, d.version, d.size, d.modified_ns, d.changed_ns, d.sequence
    from unnest($2::text[], $3::text[]) as wanted (namespace, path)
    join memdir.documents d on d.tenant = $1 and d.namespace = wanted.namespace and d.path = wanted.path";

/// Documents of a namespace.
pub(crate) const LIST: &str = "
    select path, size, modified_ns, changed_ns, sequence from memdir.documents
    where tenant = $1 and namespace = $2 order by path limit $3";

/// Documents of a namespace in a range of paths.
pub(crate) const LIST_UNDER: &str = "
    select path, size, modified_ns, changed_ns, sequence from memdir.documents
    where tenant = $1 and namespace = $2 and path >= $4 and path < $5 order by path limit $3";

/// Whether one of these paths exists as a file, or as a folder of files.
pub(crate) const TAKEN: &str = "
    select wanted.path, wanted.is_folder
    from unnest($2::text[], $3::text[], $4::bool[]) as wanted (namespace, path, is_folder)
    where exists (
      select from memdir.documents d
      where d.tenant = $1 and d.namespace = wanted.namespace
        and d.path >= case when wanted.is_folder then wanted.path || '/' else wanted.path end
        and d.path < case when wanted.is_folder then wanted.path || '0' else wanted.path || chr(1) end)";

/// Locks namespaces, always in the same order.
pub(crate) const LOCK: &str = "
    select namespace, sequence, recorded_us, coalesce(review, false) from memdir.namespaces
    where tenant = $1 and namespace = any($2) order by namespace for no key update";

pub(crate) const ADD_NAMESPACES: &str = "
    insert into memdir.namespaces (tenant, namespace)
    select $1, n from unnest($2::text[]) as n order by n on conflict do nothing";

pub(crate) const PUT_DOCUMENTS: &str = "
    insert into memdir.documents (tenant, namespace, path, version, bytes, size, modified_ns, changed_ns, sequence)
    select $1, f.namespace, f.path, f.version, f.bytes, octet_length(f.bytes), $6, $6, f.sequence
    from unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[], $7::bigint[]) as f (namespace, path, version, bytes, sequence)
    on conflict (tenant, namespace, path) do update set version = excluded.version, bytes = excluded.bytes, size = excluded.size,
      modified_ns = excluded.modified_ns, changed_ns = excluded.changed_ns, sequence = excluded.sequence";

/// A text that was forgotten and is written again is known again.
pub(crate) const PUT_VERSIONS: &str = "
    insert into memdir.versions (tenant, namespace, path, version, bytes, size)
    select $1, f.namespace, f.path, f.version, f.bytes, octet_length(f.bytes)
    from unnest($2::text[], $3::text[], $4::bytea[], $5::bytea[]) as f (namespace, path, version, bytes)
    on conflict (tenant, namespace, path, version) do update set bytes = excluded.bytes where versions.bytes is null";

pub(crate) const REMOVE_DOCUMENTS: &str = "
    delete from memdir.documents d using unnest($2::text[], $3::text[]) as f (namespace, path)
    where d.tenant = $1 and d.namespace = f.namespace and d.path = f.path";

pub(crate) const ADD_CHANGES: &str = "
    insert into memdir.changes (tenant, namespace, sequence, change_id, recorded_us, at_ms, actor, session, verb, undoes, namespaces, reviewer)
    select $1, n.namespace, n.sequence, $4, $5, $6, $7, $8, $9, $10, $2, $11
    from unnest($2::text[], $3::bigint[]) as n (namespace, sequence)";

pub(crate) const ADD_FILES: &str = "
    insert into memdir.change_files (tenant, namespace, sequence, path, role, before, after)
    select $1, f.namespace, f.sequence, f.path, f.role, f.before, f.after
    from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bytea[], $7::bytea[])
      as f (namespace, sequence, path, role, before, after)";

pub(crate) const ADVANCE: &str = "
    update memdir.namespaces s set sequence = n.sequence, recorded_us = $4
    from unnest($2::text[], $3::bigint[]) as n (namespace, sequence)
    where s.tenant = $1 and s.namespace = n.namespace";

/// The server's clock in microseconds, for the order among namespaces.
pub(crate) const CLOCK: &str = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";

pub(crate) const CLAIM: &str = "
    insert into memdir.claims (tenant, caller, key, request, change_id) values ($1, $2, $3, $4, $5) on conflict do nothing";

pub(crate) const CLAIMED: &str = "select request, change_id from memdir.claims where tenant = $1 and caller = $2 and key = $3";

/// Removes the oldest keys. Those that another change is removing are skipped, so that no change waits for another one.
pub(crate) const PURGE_CLAIMS: &str = "
    delete from memdir.claims c using (
      select caller, key from memdir.claims
      where tenant = $1 and claimed_at < now() - make_interval(hours => $2)
      order by claimed_at limit $3 for update skip locked) old
    where c.tenant = $1 and c.caller = old.caller and c.key = old.key";

pub(crate) const SET_REVIEW: &str =
    "update memdir.namespaces set review = $3 where tenant = $1 and namespace = $2 and coalesce(review, false) <> $3";

pub(crate) const REVIEWED: &str = "select namespace from memdir.namespaces where tenant = $1 and review order by namespace";

pub(crate) const PROPOSE: &str = "
    insert into memdir.proposals
      (tenant, namespace, proposal, at_ms, actor, session, verb, undoes, paths, roles, before, after, bytes, size)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";

/// Decided proposals that are older than a time.
pub(crate) const DROP_DECIDED: &str =
    "delete from memdir.proposals where tenant = $1 and namespace = $2 and state <> 'open' and decided_ms < $3";

/// The number of open proposals of a namespace, and those of one author.
pub(crate) const COUNT_OPEN: &str = "
    select count(*), count(*) filter (where actor = $3) from memdir.proposals
    where tenant = $1 and namespace = $2 and state = 'open'";

/// The proposals of namespaces, newest first, without their texts.
pub(crate) const PROPOSALS: &str = "
    select namespace, proposal, at_ms, actor, session, verb, undoes, paths, roles, before, after, null::bytea[] as bytes,
      state, decided_ms, decided_by, reason
    from memdir.proposals where tenant = $1 and namespace = any($2) and ($3::text is null or state = $3)
    order by at_ms desc, proposal limit $4";

/// One proposal, with its texts if they are wanted.
pub(crate) const PROPOSAL: &str = "
    select namespace, proposal, at_ms, actor, session, verb, undoes, paths, roles, before, after,
      case when $4 then bytes end as bytes, state, decided_ms, decided_by, reason
    from memdir.proposals where tenant = $1 and namespace = any($2) and proposal = $3";

/// Ends an open proposal, once. A rejected one keeps its texts, which do not count for the quota any more.
pub(crate) const CLOSE_PROPOSAL: &str = "
    update memdir.proposals set state = $4, decided_ms = $5, decided_by = $6, reason = $7,
      bytes = case when $8 then bytes end, size = 0
    where tenant = $1 and namespace = $2 and proposal = $3 and state = 'open'";

pub(crate) const PROPOSAL_STATE: &str =
    "select state, coalesce(decided_by, ''), decided_ms from memdir.proposals where tenant = $1 and namespace = $2 and proposal = $3";

/// Whether one of the namespaces is under review, or has an open proposal that the caller may see.
pub(crate) const HAS_REVIEWS: &str = "
    select exists (select from memdir.namespaces where tenant = $1 and namespace = any($2::text[] || $3::text[]) and review)
      or exists (select from memdir.proposals
        where tenant = $1 and state = 'open' and (namespace = any($2) or namespace = any($3) and actor = $4))";

/// The open proposals that a caller may see, in numbers that change with them: all in the first namespaces, its own in the second ones.
pub(crate) const PROPOSALS_MARK: &str = "
    select count(*), coalesce(max(at_ms), 0), coalesce(sum(hashtext(proposal)), 0)::bigint from memdir.proposals
    where tenant = $1 and namespace = any($2::text[] || $3::text[]) and state = 'open' and (namespace = any($2) or actor = $4)";

/// The newest changes of namespaces, each with its place in the order.
pub(crate) const NEWEST: &str = "
    select c.change_id, c.recorded_us from unnest($2::text[]) as n (namespace)
    cross join lateral (
      select change_id, recorded_us from memdir.changes
      where tenant = $1 and namespace = n.namespace order by sequence desc limit $3) c";

/// The oldest changes of namespaces after a sequence number in each of them, with their places in the order.
pub(crate) const SINCE: &str = "
    select c.change_id, c.recorded_us, n.namespace, c.sequence from unnest($2::text[], $3::bigint[]) as n (namespace, sequence)
    cross join lateral (
      select change_id, recorded_us, sequence from memdir.changes
      where tenant = $1 and namespace = n.namespace and sequence > n.sequence order by sequence limit $4) c";

/// The changes whose id is in a range.
pub(crate) const BY_ID: &str = "
    select change_id, recorded_us from memdir.changes
    where tenant = $1 and namespace = any($2) and change_id >= $3 and change_id < $4";

/// The changes of a file, newest first.
pub(crate) const OF_FILE: &str = "
    select c.change_id, c.recorded_us from memdir.change_files f
    join memdir.changes c on c.tenant = f.tenant and c.namespace = f.namespace and c.sequence = f.sequence
    where f.tenant = $1 and f.namespace = $2 and f.path = $3 order by f.sequence desc limit $4";

/// Changes by their ids, in the namespaces of a space.
pub(crate) const CHANGES: &str = "
    select change_id, recorded_us, at_ms, actor, session, verb, undoes, namespaces, namespace, sequence, reviewer
    from memdir.changes where tenant = $1 and namespace = any($2) and change_id = any($3)";

/// The files of those changes.
pub(crate) const CHANGED_FILES: &str = "
    select c.change_id, f.namespace, f.path, f.role, f.before, f.after
    from memdir.changes c
    join memdir.change_files f on f.tenant = c.tenant and f.namespace = c.namespace and f.sequence = c.sequence
    where c.tenant = $1 and c.namespace = any($2) and c.change_id = any($3)";

/// Which of these names the history has.
pub(crate) const RECORDED: &str = "
    select p from unnest($3::text[]) as p
    where exists (select from memdir.change_files f where f.tenant = $1 and f.namespace = $2 and f.path = p)";

pub(crate) const TEXT_AT: &str =
    "select path, bytes from memdir.versions where tenant = $1 and namespace = $2 and path = any($3) and version = $4";

/// The last text of a file, even if the file was removed.
pub(crate) const LAST_RECORDED: &str = "
    select coalesce(f.after, f.before), v.size from (
      select after, before from memdir.change_files
      where tenant = $1 and namespace = $2 and path = $3 order by sequence desc limit 1) f
    join memdir.versions v on v.tenant = $1 and v.namespace = $2 and v.path = $3 and v.version = coalesce(f.after, f.before)";

pub(crate) const SEQUENCES: &str =
    "select namespace, sequence, recorded_us from memdir.namespaces where tenant = $1 and namespace = any($2)";

/// Which of these positions the history still has. A namespace that was restored from a backup may have used a number again, and after
/// names were forgotten the names of older changes are incomplete.
pub(crate) const KNOWN_POSITIONS: &str = "
    select p.namespace from unnest($2::text[], $3::bigint[], $4::bigint[]) as p (namespace, sequence, recorded_us)
    join memdir.namespaces n on n.tenant = $1 and n.namespace = p.namespace and n.names_forgotten_at <= p.sequence
    where (p.sequence = 0 and p.recorded_us = 0) or exists (
      select from memdir.changes c
      where c.tenant = $1 and c.namespace = p.namespace and c.sequence = p.sequence and c.recorded_us = p.recorded_us)";

/// The files that changed since positions, as they are now. `sequence` is null for a file that was removed.
pub(crate) const CHANGED_SINCE: &str = "
    select distinct f.namespace, f.path, d.size, d.modified_ns, d.changed_ns, d.sequence
    from unnest($2::text[], $3::bigint[]) as p (namespace, sequence)
    join memdir.change_files f on f.tenant = $1 and f.namespace = p.namespace and f.sequence > p.sequence
    left join memdir.documents d on d.tenant = $1 and d.namespace = f.namespace and d.path = f.path
    limit $4";

/// Positions before the forgotten names are not used any more to find what changed.
pub(crate) const NAMES_FORGOTTEN: &str = "update memdir.namespaces set names_forgotten_at = sequence where tenant = $1 and namespace = $2";

pub(crate) const COUNT_CHANGES: &str = "select count(distinct change_id) from memdir.changes where tenant = $1 and namespace = any($2)";

pub(crate) const HISTORY_BYTES: &str =
    "select coalesce(sum(size), 0)::bigint from memdir.versions where tenant = $1 and namespace = any($2) and bytes is not null";

pub(crate) const SET_MODIFIED: &str = "
    update memdir.documents d set modified_ns = f.modified_ns
    from unnest($2::text[], $3::text[], $4::bytea[], $5::bigint[]) as f (namespace, path, version, modified_ns)
    where d.tenant = $1 and d.namespace = f.namespace and d.path = f.path and d.version = f.version";

/// Texts of the history, by pages in the order of the key.
pub(crate) const PAGE_OF_TEXTS: &str = "
    select path, version, bytes from memdir.versions
    where tenant = $1 and namespace = $2 and (path, version) > ($3, $4) order by path, version limit 64";

pub(crate) const FORGET_TEXT: &str =
    "update memdir.versions set bytes = null where tenant = $1 and namespace = $2 and path = $3 and version = $4";

pub(crate) const RECORDED_NAMES: &str = "select path, count(*) from memdir.change_files where tenant = $1 and namespace = $2 group by path";

pub(crate) const RENAME_FILES: &str = "update memdir.change_files set path = $4 where tenant = $1 and namespace = $2 and path = $3";

pub(crate) const RENAME_TEXTS: &str = "update memdir.versions set path = $4 where tenant = $1 and namespace = $2 and path = $3";

pub(crate) const ACTORS: &str = "select actor, count(*) from memdir.changes where tenant = $1 and namespace = $2 group by actor";

pub(crate) const RENAME_ACTOR: &str = "update memdir.changes set actor = $4 where tenant = $1 and namespace = $2 and actor = $3";

/// Proposals of a namespace by pages: everything in them that a person wrote.
pub(crate) const PAGE_OF_PROPOSALS: &str = "
    select proposal, array_to_string(paths || array[actor, coalesce(decided_by, ''), coalesce(reason, '')], chr(10)), bytes
    from memdir.proposals where tenant = $1 and namespace = $2 and proposal > $3 order by proposal limit 64";

pub(crate) const FORGET_PROPOSAL: &str = "delete from memdir.proposals where tenant = $1 and namespace = $2 and proposal = $3";

pub(crate) const REVIEWERS: &str =
    "select reviewer, count(*) from memdir.changes where tenant = $1 and namespace = $2 and reviewer is not null group by reviewer";

pub(crate) const RENAME_REVIEWER_IN: &str =
    "update memdir.changes set reviewer = $4 where tenant = $1 and namespace = $2 and reviewer = $3";

pub(crate) const ADD_PERSON: &str = "insert into memdir.people (tenant, person) values ($1, $2) on conflict do nothing";

pub(crate) const REMOVE_PERSON: &str = "delete from memdir.people where tenant = $1 and person = $2";

pub(crate) const PEOPLE: &str = "select person from memdir.people where tenant = $1 order by person";

pub(crate) const HAS_PERSON: &str = "select 1 from memdir.people where tenant = $1 and person = $2";

/// Locks a person against everything else: a removal waits for their changes, and changes wait for a removal. Locks of rows would not do:
/// new changes share the row with those that are being made, so that a removal could wait for ever. Advisory locks are granted in order.
pub(crate) const LOCK_PERSON_ALONE: &str = "select pg_advisory_xact_lock(hashtextextended($1 || chr(10) || $2, 0))";

/// Also waits for replicas of the previous release, whose changes lock only the row.
pub(crate) const LOCK_PERSON: &str = "select 1 from memdir.people where tenant = $1 and person = $2 for update";

/// Keeps people from being removed before the end of the transaction. Waits for removals that wait themselves.
pub(crate) const HOLD_PEOPLE: &str = "
    with held as materialized (
      select pg_advisory_xact_lock_shared(hashtextextended($1 || chr(10) || name, 0))
      from (select name from unnest($2::text[]) as name order by name) as names)
    select person from memdir.people
    where tenant = $1 and person = any($2) and (select count(*) from held) > 0 order by person for key share";

pub(crate) const MEMBER_ROLE: &str = "select role from memdir.members where tenant = $1 and group_name = $2 and person = $3";

pub(crate) const ADD_GROUP: &str = "insert into memdir.groups (tenant, name) values ($1, $2) on conflict do nothing";

pub(crate) const REMOVE_GROUP: &str = "delete from memdir.groups where tenant = $1 and name = $2";

pub(crate) const GROUPS: &str = "select name from memdir.groups where tenant = $1 order by name";

pub(crate) const HAS_GROUP: &str = "select 1 from memdir.groups where tenant = $1 and name = $2";

pub(crate) const SET_MEMBER: &str = "
    insert into memdir.members (tenant, group_name, person, role) values ($1, $2, $3, $4)
    on conflict (tenant, group_name, person) do update set role = excluded.role";

pub(crate) const REMOVE_MEMBER: &str = "delete from memdir.members where tenant = $1 and group_name = $2 and person = $3";

pub(crate) const MEMBERS: &str = "select group_name, person, role from memdir.members where tenant = $1 order by group_name, person";

/// Returns whether the row was inserted: an updated row has the transaction that replaced its older version.
pub(crate) const ADD_PROJECT: &str = "
    insert into memdir.projects (tenant, project, group_name) values ($1, $2, $3)
    on conflict (tenant, project) do update set group_name = excluded.group_name returning xmax = 0";

pub(crate) const REMOVE_PROJECT: &str = "delete from memdir.projects where tenant = $1 and project = $2";

pub(crate) const PROJECTS: &str = "select project, group_name from memdir.projects where tenant = $1 order by project";

pub(crate) const ADD_TOKEN: &str = "
    insert into memdir.tokens (tenant, token, hash, person, agent) values ($1, $2, $3, $4, $5) on conflict do nothing";

pub(crate) const REMOVE_TOKEN: &str = "delete from memdir.tokens where tenant = $1 and token = $2 returning token, person, agent";

pub(crate) const TOKENS: &str = "select token, person, agent from memdir.tokens where tenant = $1 order by person, created_at, token";

/// The caller with a token; no row if the token was revoked, also with its person.
pub(crate) const CALLER_BY_HASH: &str = "
    select k.token, k.person, k.agent, t.revision from memdir.tokens k join memdir.tenants t on t.tenant = k.tenant
    where k.tenant = $1 and k.hash = $2";

/// A person who signed in with the identity provider; no row if the person was removed.
pub(crate) const CALLER_BY_NAME: &str = "
    select t.revision from memdir.people p join memdir.tenants t on t.tenant = p.tenant where p.tenant = $1 and p.person = $2";

pub(crate) const GROUPS_OF_PERSON: &str = "select group_name, role from memdir.members where tenant = $1 and person = $2";

pub(crate) const PROJECTS_OF_PERSON: &str = "
    select p.project, p.group_name from memdir.members m
    join memdir.projects p on p.tenant = m.tenant and p.group_name = m.group_name where m.tenant = $1 and m.person = $2";

pub(crate) const HAS_TENANT: &str = "select 1 from memdir.tenants where tenant = $1";

pub(crate) const NAMESPACES: &str = "select namespace from memdir.namespaces where tenant = $1 order by namespace";

pub(crate) const HAS_MEMORIES: &str = "select 1 from memdir.documents where tenant = $1 limit 1";

pub(crate) const ADD_TENANT: &str = "insert into memdir.tenants (tenant) values ($1) on conflict do nothing";

pub(crate) const QUOTA: &str = "
    select t.max_memories, t.max_bytes, sum(u.memories)::bigint, sum(u.bytes)::bigint
    from memdir.tenants t left join memdir.usage u on u.tenant = t.tenant where t.tenant = $1 group by t.tenant";

pub(crate) const SET_QUOTA: &str = "update memdir.tenants set max_memories = $2, max_bytes = $3 where tenant = $1";

pub(crate) const AUDIT: &str = "
    select entry, (extract(epoch from at) * 1000000)::bigint, actor, action, details::text, result
    from memdir.audit where tenant = $1 order by entry desc limit $2";

pub(crate) const NAMESPACES_BELOW: &str = "
    select namespace from memdir.namespaces where tenant = $1 and (namespace = $2 or starts_with(namespace, $2 || '/'))";

/// Everything of namespaces, in the order of references. The numbers of changes, versions and documents are reported, by their places.
pub(crate) const ERASE_NAMESPACES: &[&str] = &[
    "delete from memdir.change_files where tenant = $1 and namespace = any($2)",
    "delete from memdir.changes where tenant = $1 and namespace = any($2)",
    "delete from memdir.versions where tenant = $1 and namespace = any($2)",
    "delete from memdir.documents where tenant = $1 and namespace = any($2)",
    "delete from memdir.proposals where tenant = $1 and namespace = any($2)",
    "delete from memdir.usage where tenant = $1 and namespace = any($2)",
    "delete from memdir.namespaces where tenant = $1 and namespace = any($2)",
];

pub(crate) const RENAME_IN_CHANGES: &str = "
    update memdir.changes set namespaces = array_replace(namespaces, $2, $3) where tenant = $1 and $2 = any(namespaces)";

pub(crate) const RENAME_ACTOR_EVERYWHERE: &str = "update memdir.changes set actor = $3, session = null where tenant = $1 and actor = $2";

/// In shared namespaces, the changes that the person accepted.
pub(crate) const RENAME_REVIEWER: &str = "update memdir.changes set reviewer = $3 where tenant = $1 and reviewer = $2";

/// What was accepted is in the history; what was not is the person's own text.
pub(crate) const ERASE_PROPOSALS: &str = "delete from memdir.proposals where tenant = $1 and actor = $2 and state <> 'accepted'";

pub(crate) const RENAME_IN_PROPOSALS: &str = "
    update memdir.proposals set
      actor = case when actor = $2 then $3 else actor end,
      session = case when actor = $2 then null else session end,
      decided_by = case when decided_by = $2 then $3 else decided_by end
    where tenant = $1 and (actor = $2 or decided_by = $2)";

pub(crate) const ERASE_CLAIMS: &str = "delete from memdir.claims where tenant = $1 and caller = $2";

pub(crate) const ERASE_TOKENS: &str = "delete from memdir.tokens where tenant = $1 and person = $2";

pub(crate) const ERASE_MEMBER: &str = "delete from memdir.members where tenant = $1 and person = $2";

pub(crate) const AUDIT_ERASURE: &str = "
    insert into memdir.audit (tenant, action, details) values ($1, 'people.erase', jsonb_build_object('person', $2::text))";

pub(crate) const RENAME_IN_AUDIT: &str = "
    update memdir.audit set details = details
      || case when details ->> 'person' = $2 then jsonb_build_object('person', $3::text) else '{}' end
      || case when details ->> 'reviewer' = $2 then jsonb_build_object('reviewer', $3::text) else '{}' end
    where tenant = $1 and (details ->> 'person' = $2 or details ->> 'reviewer' = $2)";

/// Locks the people, the tenant and its namespaces, in the order in which changes lock them.
pub(crate) const LOCK_TENANT: &[&str] = &[
    "select pg_advisory_xact_lock(hashtextextended($1 || chr(10) || person, 0))
      from (select person from memdir.people where tenant = $1 order by person) as names",
    "select 1 from memdir.tenants where tenant = $1 for update",
    "select 1 from memdir.namespaces where tenant = $1 order by namespace for update",
];

/// Everything of a tenant, in the order of references.
pub(crate) const REMOVE_TENANT: &[&str] = &[
    "delete from memdir.claims where tenant = $1",
    "delete from memdir.proposals where tenant = $1",
    "delete from memdir.change_files where tenant = $1",
    "delete from memdir.changes where tenant = $1",
    "delete from memdir.versions where tenant = $1",
    "delete from memdir.documents where tenant = $1",
    "delete from memdir.namespaces where tenant = $1",
    "delete from memdir.projects where tenant = $1",
    "delete from memdir.tokens where tenant = $1",
    "delete from memdir.members where tenant = $1",
    "delete from memdir.groups where tenant = $1",
    "delete from memdir.people where tenant = $1",
    "delete from memdir.tenants where tenant = $1",
];
