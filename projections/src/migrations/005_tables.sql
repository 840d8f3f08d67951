-- What the read models have in common. Their tables are made by the projections themselves (`table.ts` in the folder of
-- each), for a rebuild makes them again; the migrations before this one made the first ones.

create table if not exists checkpoints (
  -- `payments@3`: every table that is kept up with the log has one of its own.
  name text primary key,
  -- Both null until the first batch is applied.
  commit_position bigint,
  prepare_position bigint,
  stopped_because text,
  updated_at timestamptz not null default now()
);

-- Every table of every projection: `payments_v3` is version 3 of `payments`.
create table tables (
  projection text not null,
  version integer not null,
  -- What the program that made it meant by this projection.
  definition integer not null,
  -- building: filled by a rebuild; live: what queries see; retired: was live, kept until it is pruned; scratch: filled by
  -- somebody who only wants to compare.
  state text not null check (state in ('building', 'live', 'retired', 'scratch')),
  since timestamptz not null default now(),
  primary key (projection, version)
);
create unique index one_live_table on tables (projection) where state = 'live';

-- How far behind the log each projection is, told by its projector every few seconds.
create table lag (
  projection text primary key,
  -- That many events are for it and not in its table yet; counted up to a limit, beyond which `is_more`. Null when it could
  -- not be counted.
  events bigint,
  is_more boolean not null,
  -- For how long the first of them had been recorded.
  seconds double precision,
  told_at timestamptz not null default now()
);

insert into tables (projection, version, definition, state)
select projection, 1, 1, 'live'
from unnest(array['payments', 'payment_methods', 'addresses', 'products']) as projection
where to_regclass('read_models.' || projection || '_v1') is not null;

insert into checkpoints (name)
select projection || '@1' from tables
on conflict do nothing;

drop view if exists payments_checkpoint, payment_methods_checkpoint, addresses_checkpoint, products_checkpoint;

-- Where the tables stand that queries see, and what their projector has told of them.
create view live_checkpoints as
select
  tables.projection,
  tables.version,
  tables.definition,
  commit_position,
  prepare_position,
  stopped_because,
  updated_at,
  lag.events as lag_events,
  lag.is_more as lag_is_more,
  lag.seconds as lag_seconds,
  round(extract(epoch from now() - lag.told_at))::integer as told_seconds_ago
from tables
join checkpoints on checkpoints.name = tables.projection || '@' || tables.version
left join lag on lag.projection = tables.projection
where tables.state = 'live';

-- Searches look for parts of words, which only an index over trigrams finds. The extension comes with Postgres and is a
-- trusted one, so that whoever may create something in the database may create it. It is installed here unless somebody
-- has installed it already, wherever that may be; a server without it, or one that refuses it, ends the migration, with
-- words that say what to do.
do $$
begin
  create extension if not exists pg_trgm with schema read_models;
exception when others then
  raise exception using
    errcode = sqlstate,
    message = 'products are searched with the extension pg_trgm, and it could not be created ('
      || sqlerrm || '): install it on the server (Debian: postgresql-contrib), have its administrator run '
      || '"create extension pg_trgm" in this database, then migrate again';
end
$$;
