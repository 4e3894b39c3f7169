-- Review: in a namespace that is marked, changes of callers who are not reviewers are stored as proposals and wait for a decision.

-- Nullable, because exports of earlier releases do not have it. Null means no review.
alter table memdir.namespaces add column review boolean default false;

-- The reviewer who accepted the change, if it was proposed.
alter table memdir.changes add column reviewer text;

-- A proposed change of one namespace: the arrays have one entry for each file. `proposal` is the id of the change that an acceptance makes.
-- `bytes` is null once the texts are not needed any more; `size` is what counts for the quota, until it is decided.
create table memdir.proposals (
  tenant text collate "C" not null,
  namespace text collate "C" not null,
  proposal text collate "C" not null,
  at_ms bigint not null,
  actor text not null,
  session text,
  verb text not null,
  undoes text,
  paths text[] not null,
  roles text[] not null,
  before bytea[] not null,
  after bytea[] not null,
  bytes bytea[],
  size bigint not null,
  state text not null default 'open' check (state in ('open', 'accepted', 'rejected', 'withdrawn')),
  decided_ms bigint,
  decided_by text,
  reason text,
  primary key (tenant, namespace, proposal),
  foreign key (tenant, namespace) references memdir.namespaces
);
create index on memdir.proposals (tenant, namespace, state, at_ms);

alter table memdir.proposals enable row level security;
alter table memdir.proposals force row level security;
create policy own_tenant on memdir.proposals using (tenant = current_setting('memdir.tenant', true))
  with check (tenant = current_setting('memdir.tenant', true));
grant select, insert, update, delete on memdir.proposals to memdir_app;

-- Proposed texts count for the quota as memories do.
create function memdir.count_proposal() returns trigger language plpgsql as $$
declare
  counted record;
  grows bigint;
  quota bigint;
begin
  if tg_op = 'DELETE' then
    counted := old;
    grows := -old.size;
  else
    counted := new;
    grows := new.size;
    if tg_op = 'UPDATE' then
      grows := new.size - old.size;
    end if;
  end if;
  if grows = 0 then
    return null;
  end if;
  -- A tenant takes its usage with it.
  insert into memdir.usage as u (tenant, namespace, memories, bytes)
    select tenant, counted.namespace, 0, grows from memdir.tenants where tenant = counted.tenant
    on conflict (tenant, namespace) do update set bytes = u.bytes + excluded.bytes;
  select max_bytes into quota from memdir.tenants where tenant = counted.tenant;
  if grows > 0 and quota is not null and (select sum(bytes) from memdir.usage where tenant = counted.tenant) > quota then
    raise exception using errcode = 'MDQ01', message = format('bytes:%s', quota);
  end if;
  return null;
end $$;
create trigger count_proposal after insert or update of size or delete on memdir.proposals
  for each row execute function memdir.count_proposal();

-- Decisions, and which namespaces are under review, are in the audit log.
create function memdir.audit_proposal() returns trigger language plpgsql as $$
begin
  insert into memdir.audit (tenant, action, details) values (new.tenant, 'proposals.' || new.state, jsonb_build_object(
    'proposal', new.proposal, 'namespace', new.namespace, 'person', new.actor, 'reviewer', new.decided_by));
  return null;
end $$;
create trigger audit_proposal after update of state on memdir.proposals
  for each row when (old.state is distinct from new.state) execute function memdir.audit_proposal();

create function memdir.audit_review() returns trigger language plpgsql as $$
begin
  insert into memdir.audit (tenant, action, details) values (new.tenant, 'namespaces.review',
    jsonb_build_object('namespace', new.namespace, 'review', coalesce(new.review, false)));
  return null;
end $$;
create trigger audit_review after update of review on memdir.namespaces
  for each row when (old.review is distinct from new.review) execute function memdir.audit_review();

-- A release that does not know reviews would make the change at once. It is refused while replicas are upgraded one by one.
create function memdir.refuse_unreviewed() returns trigger language plpgsql as $$
begin
  if current_setting('memdir.knows_review', true) is distinct from 'on'
    and exists (select from memdir.namespaces where tenant = new.tenant and namespace = new.namespace and review) then
    raise exception using errcode = 'MDR01', message = 'the namespace is under review, which this release does not know; upgrade memdir';
  end if;
  return new;
end $$;
create trigger refuse_unreviewed before insert on memdir.changes for each row execute function memdir.refuse_unreviewed();
