-- What all read models share. The projections create their own tables (`projection.ts` in each folder), because a rebuild
-- creates them again.

create table checkpoints (
  -- `payments@3`: each table that follows the log has its own checkpoint.
  name text primary key,
  -- Position and id of the last event that is applied; null until the first batch.
  commit_position bigint,
  prepare_position bigint,
  event_id uuid,
  stopped_because text,
  updated_at timestamptz not null default now()
);

-- Every table of every projection: `payments_v3` is version 3 of `payments`.
create table tables (
  projection text not null,
  version integer not null,
  -- The schema version of the projection in the program that created the table.
  schema_version integer not null,
  -- building: filled by a rebuild; live: queries read it; retired: was live, kept until it is pruned; scratch: filled for a
  -- comparison.
  state text not null check (state in ('building', 'live', 'retired', 'scratch')),
  since timestamptz not null default now(),
  primary key (projection, version)
);
create unique index one_live_table on tables (projection) where state = 'live';

-- How far each projection is behind the log. Its projector updates the row every few seconds.
create table lag (
  projection text primary key,
  -- Events for it that are not in its table yet, counted up to a limit, beyond which `is_more`. Null if not counted.
  events bigint,
  is_more boolean not null,
  -- The age of the first of them.
  seconds double precision,
  reported_at timestamptz not null default now()
);

-- The positions of the live tables, and the lags that their projector reported.
create view live_checkpoints as
select
  tables.projection,
  tables.version,
  tables.schema_version,
  commit_position,
  prepare_position,
  event_id,
  stopped_because,
  updated_at,
  lag.events as lag_events,
  lag.is_more as lag_is_more,
  lag.seconds as lag_seconds,
  round(extract(epoch from now() - lag.reported_at))::integer as reported_seconds_ago
from tables
join checkpoints on checkpoints.name = tables.projection || '@' || tables.version
left join lag on lag.projection = tables.projection
where tables.state = 'live';

-- Only an index over trigrams finds parts of words. The extension comes with Postgres and is trusted, so any role that may
-- create objects in the database may create it. It may be installed already, in any schema. If it cannot be created, the
-- migration fails and the error names the remedy.
do $$
begin
  create extension if not exists pg_trgm with schema read_models;
exception when others then
  raise exception using
    errcode = sqlstate,
    message = 'searching products needs the extension pg_trgm, which could not be created ('
      || sqlerrm || '): install it on the server (Debian: postgresql-contrib), have its administrator run '
      || '"create extension pg_trgm" in this database, then migrate again';
end
$$;
