-- Who may do what: people, groups with roles, projects, tokens. Every key begins with the tenant.

-- Counts the changes of the tables below, so that replicas notice each of them.
alter table memdir.tenants add column revision bigint not null default 0;

-- After names in the history were forgotten, what changed before is found by a listing only.
alter table memdir.namespaces add column names_forgotten_at bigint not null default 0;

create table memdir.people (
  tenant text collate "C" not null references memdir.tenants on delete cascade,
  person text collate "C" not null check (person <> '' and octet_length(person) <= 200),
  created_at timestamptz not null default now(),
  primary key (tenant, person)
);

create table memdir.groups (
  tenant text collate "C" not null references memdir.tenants on delete cascade,
  name text collate "C" not null check (name <> '' and octet_length(name) <= 200),
  created_at timestamptz not null default now(),
  primary key (tenant, name)
);

create table memdir.members (
  tenant text collate "C" not null,
  group_name text collate "C" not null,
  person text collate "C" not null,
  role text not null check (role in ('reader', 'writer', 'reviewer', 'admin')),
  primary key (tenant, group_name, person),
  foreign key (tenant, group_name) references memdir.groups on delete cascade,
  foreign key (tenant, person) references memdir.people on delete cascade
);
create index on memdir.members (tenant, person);

-- A project belongs to a group: the roles of its members are those in the project.
create table memdir.projects (
  tenant text collate "C" not null,
  project text collate "C" not null check (project <> '' and octet_length(project) <= 200),
  group_name text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (tenant, project),
  foreign key (tenant, group_name) references memdir.groups
);
create index on memdir.projects (tenant, group_name);

-- Only the hash of a token is stored. `token` is a short public id.
create table memdir.tokens (
  tenant text collate "C" not null,
  token text collate "C" not null,
  hash text collate "C" not null,
  person text collate "C" not null,
  agent text,
  created_at timestamptz not null default now(),
  primary key (tenant, token),
  unique (tenant, hash),
  foreign key (tenant, person) references memdir.people on delete cascade
);
create index on memdir.tokens (tenant, person);

create function memdir.count_revision() returns trigger language plpgsql as $$
begin
  update memdir.tenants set revision = revision + 1 where tenant = coalesce(new.tenant, old.tenant);
  return null;
end $$;

do $$
declare
  name text;
begin
  foreach name in array array['people', 'groups', 'members', 'projects', 'tokens'] loop
    execute format('alter table memdir.%I enable row level security', name);
    execute format('alter table memdir.%I force row level security', name);
    execute format('create policy own_tenant on memdir.%I using (tenant = current_setting(''memdir.tenant'', true))
      with check (tenant = current_setting(''memdir.tenant'', true))', name);
    execute format('grant select, insert, update, delete on memdir.%I to memdir_app', name);
    execute format('create trigger count_revision after insert or update or delete on memdir.%I
      for each row execute function memdir.count_revision()', name);
  end loop;
end $$;

-- The owner of the schema may list the names of tenants; no other table of a tenant is visible to it.
do $$ begin
  execute format('create policy operator on memdir.tenants for select to %I using (true)', current_user);
end $$;
