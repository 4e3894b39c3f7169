-- Quotas, what they count, and the audit log. All of it is kept by triggers, so that it holds for every release and every client.

alter table memdir.tenants add column max_memories bigint check (max_memories >= 0);
alter table memdir.tenants add column max_bytes bigint check (max_bytes >= 0);

-- What the namespaces of a tenant contain. A row is changed only under the lock of its namespace.
create table memdir.usage (
  tenant text collate "C" not null references memdir.tenants on delete cascade,
  namespace text collate "C" not null,
  memories bigint not null,
  bytes bigint not null,
  primary key (tenant, namespace)
);

-- Who changed what of the administration. A row has names and roles, never a memory's text or a token. It cannot be removed without its
-- tenant; `details` may be changed, to erase a person.
create table memdir.audit (
  tenant text collate "C" not null references memdir.tenants on delete cascade,
  entry bigint generated always as identity,
  at timestamptz not null default clock_timestamp(),
  actor text not null default session_user,
  action text not null,
  details jsonb not null,
  result text not null default 'done',
  primary key (tenant, entry)
);

do $$
declare
  name text;
begin
  foreach name in array array['usage', 'audit'] loop
    execute format('alter table memdir.%I enable row level security', name);
    execute format('alter table memdir.%I force row level security', name);
    execute format('create policy own_tenant on memdir.%I using (tenant = current_setting(''memdir.tenant'', true))
      with check (tenant = current_setting(''memdir.tenant'', true))', name);
  end loop;
end $$;
grant select, insert, update, delete on memdir.usage to memdir_app;
grant select, insert, update (details) on memdir.audit to memdir_app;

-- Counts what a statement added and removed, and refuses growth beyond the quota of the tenant.
create function memdir.count_usage() returns trigger language plpgsql as $$
declare
  grows record;
  quota record;
  used record;
begin
  if tg_op = 'INSERT' then
    insert into memdir.usage as u (tenant, namespace, memories, bytes)
      select tenant, namespace, count(*), sum(size) from added group by tenant, namespace
      on conflict (tenant, namespace) do update set memories = u.memories + excluded.memories, bytes = u.bytes + excluded.bytes;
    select count(*) as memories, coalesce(sum(size), 0) as bytes into grows from added;
  elsif tg_op = 'UPDATE' then
    update memdir.usage u set bytes = u.bytes + d.bytes from (
      select tenant, namespace, sum(size) as bytes from (
        select tenant, namespace, size from added union all select tenant, namespace, -size from removed) both_ways
      group by tenant, namespace having sum(size) <> 0) d
      where u.tenant = d.tenant and u.namespace = d.namespace;
    select 0 as memories, (select coalesce(sum(size), 0) from added) - (select coalesce(sum(size), 0) from removed) as bytes into grows;
  else
    update memdir.usage u set memories = u.memories - d.memories, bytes = u.bytes - d.bytes from (
      select tenant, namespace, count(*) as memories, sum(size) as bytes from removed group by tenant, namespace) d
      where u.tenant = d.tenant and u.namespace = d.namespace;
    return null;
  end if;
  if grows.memories <= 0 and grows.bytes <= 0 then
    return null;
  end if;
  select max_memories, max_bytes into quota from memdir.tenants where tenant = current_setting('memdir.tenant', true);
  if quota.max_memories is null and quota.max_bytes is null then
    return null;
  end if;
  select sum(memories) as memories, sum(bytes) as bytes into used from memdir.usage where tenant = current_setting('memdir.tenant', true);
  if grows.memories > 0 and used.memories > quota.max_memories then
    raise exception using errcode = 'MDQ01', message = format('memories:%s', quota.max_memories);
  end if;
  if grows.bytes > 0 and used.bytes > quota.max_bytes then
    raise exception using errcode = 'MDQ01', message = format('bytes:%s', quota.max_bytes);
  end if;
  return null;
end $$;
create trigger usage_added after insert on memdir.documents referencing new table as added
  for each statement execute function memdir.count_usage();
create trigger usage_changed after update on memdir.documents referencing new table as added old table as removed
  for each statement execute function memdir.count_usage();
create trigger usage_removed after delete on memdir.documents referencing old table as removed
  for each statement execute function memdir.count_usage();

create function memdir.record_audit() returns trigger language plpgsql as $$
declare
  changed jsonb := case tg_op when 'DELETE' then to_jsonb(old) else to_jsonb(new) end;
begin
  -- A tenant takes its log with it.
  insert into memdir.audit (tenant, action, details)
    select tenant, tg_table_name || '.' || lower(tg_op), changed - '{tenant,hash,created_at,revision}'::text[]
    from memdir.tenants where tenant = changed ->> 'tenant';
  return null;
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['people', 'groups', 'members', 'projects', 'tokens'] loop
    execute format('create trigger record_audit after insert or update or delete on memdir.%I
      for each row execute function memdir.record_audit()', name);
  end loop;
  -- The memories that exist already. Row security shows one tenant at a time, to the owner too.
  for name in select tenant from memdir.tenants loop
    perform set_config('memdir.tenant', name, true);
    insert into memdir.usage (tenant, namespace, memories, bytes)
      select tenant, namespace, count(*), sum(size) from memdir.documents where tenant = name group by tenant, namespace;
  end loop;
  perform set_config('memdir.tenant', '', true);
end $$;
create trigger record_audit after insert or update of max_memories, max_bytes on memdir.tenants
  for each row execute function memdir.record_audit();
