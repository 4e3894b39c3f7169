-- A tenant that is created again, or imported, must not have a revision that its name had before: replicas know callers by it.
alter table memdir.tenants alter column revision set default (extract(epoch from clock_timestamp()) * 1000000)::bigint
