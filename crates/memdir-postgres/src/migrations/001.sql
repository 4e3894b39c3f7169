-- The first schema: documents, versions, history and claims of tenants. Every key and index begins with the tenant.

create table memdir.tenants (
  tenant text collate "C" primary key check (tenant <> '' and octet_length(tenant) <= 200),
  created_at timestamptz not null default now()
);

-- One row per namespace. Its lock is the lock of a change; its sequence numbers the changes without gaps. `recorded_us` grows with every
-- change, also if the clock goes back, so that changes of several namespaces have one place in the order of each of them.
create table memdir.namespaces (
  tenant text collate "C" not null references memdir.tenants,
  namespace text collate "C" not null check (namespace <> '' and octet_length(namespace) <= 1024),
  sequence bigint not null default 0,
  recorded_us bigint not null default 0,
  primary key (tenant, namespace)
);

create table memdir.documents (
  tenant text collate "C" not null,
  namespace text collate "C" not null,
  path text collate "C" not null,
  version bytea not null check (octet_length(version) = 16),
  bytes bytea not null,
  size bigint not null,
  modified_ns bigint not null,
  changed_ns bigint not null,
  sequence bigint not null,
  primary key (tenant, namespace, path),
  foreign key (tenant, namespace) references memdir.namespaces
) partition by hash (tenant);

-- `bytes` is null if the text was forgotten.
create table memdir.versions (
  tenant text collate "C" not null,
  namespace text collate "C" not null,
  path text collate "C" not null,
  version bytea not null check (octet_length(version) = 16),
  bytes bytea,
  size bigint not null,
  primary key (tenant, namespace, path, version),
  foreign key (tenant, namespace) references memdir.namespaces
) partition by hash (tenant);

-- A change of several namespaces has one row in each of them, with the same id.
create table memdir.changes (
  tenant text collate "C" not null,
  namespace text collate "C" not null,
  sequence bigint not null,
  change_id text collate "C" not null,
  recorded_us bigint not null,
  at_ms bigint not null,
  actor text not null,
  session text,
  verb text not null,
  undoes text,
  namespaces text[] not null,
  primary key (tenant, namespace, sequence),
  unique (tenant, namespace, change_id),
  foreign key (tenant, namespace) references memdir.namespaces
) partition by hash (tenant);

create table memdir.change_files (
  tenant text collate "C" not null,
  namespace text collate "C" not null,
  sequence bigint not null,
  path text collate "C" not null,
  role text not null,
  before bytea check (octet_length(before) = 16),
  after bytea check (octet_length(after) = 16),
  primary key (tenant, namespace, sequence, path),
  foreign key (tenant, namespace, sequence) references memdir.changes
) partition by hash (tenant);
create index on memdir.change_files (tenant, namespace, path, sequence);

-- Idempotency keys. The row is inserted before anything else of its change.
create table memdir.claims (
  tenant text collate "C" not null references memdir.tenants,
  caller text collate "C" not null,
  key text collate "C" not null,
  request bytea not null,
  change_id text collate "C" not null,
  claimed_at timestamptz not null default now(),
  primary key (tenant, caller, key)
) partition by hash (tenant);
create index on memdir.claims (tenant, claimed_at);

do $$
declare
  name text;
begin
  foreach name in array array['documents', 'versions', 'changes', 'change_files', 'claims'] loop
    for n in 0..7 loop
      execute format('create table memdir.%I partition of memdir.%I for values with (modulus 8, remainder %s)', name || '_' || n, name, n);
      -- A policy of the parent does not protect direct reads of a partition. Without grants and with row security that has no policy, a
      -- partition can be read through its parent only, also by the owner.
      execute format('alter table memdir.%I enable row level security', name || '_' || n);
      execute format('alter table memdir.%I force row level security', name || '_' || n);
    end loop;
  end loop;
  -- The second wall. Without a tenant `current_setting` is null or empty, and no row has such a tenant.
  foreach name in array array['tenants', 'namespaces', 'documents', 'versions', 'changes', 'change_files', 'claims'] loop
    execute format('alter table memdir.%I enable row level security', name);
    execute format('alter table memdir.%I force row level security', name);
    execute format('create policy own_tenant on memdir.%I using (tenant = current_setting(''memdir.tenant'', true))
      with check (tenant = current_setting(''memdir.tenant'', true))', name);
    execute format('grant select, insert, update, delete on memdir.%I to memdir_app', name);
  end loop;
end $$;
