-- Outgoing webhooks: the deliveries to do, and those that are done.

-- The work list: only deliveries that are not finished.
create table deliveries (
  -- The webhook-id: derived from event, name and endpoint, so a batch that is read twice inserts nothing twice.
  id uuid primary key,
  -- The endpoint.
  node text not null,
  event text not null,
  mode text not null check (mode in ('raw', 'canonical', 'legacy')),
  provider text not null,
  -- The exact text that is signed and sent; text and not json, because every byte counts.
  body text not null,
  source_stream text not null,
  source_revision bigint not null,
  source_event_id uuid not null,
  correlation_id text not null,
  causation_id text not null,
  payment_id text,
  user_id text,
  -- A webhook test or simulation. Tests wait behind real deliveries and are never late.
  is_test boolean not null default false,
  -- The W3C trace context of the request, so that later attempts join its trace. Null without one.
  traceparent text,
  created_at timestamptz not null,
  -- Finished attempts. The number of an attempt is its fence.
  attempts integer not null default 0,
  -- Of each attempt an array: start in ms since 1970, duration in ms, HTTP status, error, and at most the first 16 KiB of the
  -- response.
  attempts_made jsonb not null default '[]',
  -- The attempts before the present series of retries: a redelivery starts a new series.
  series_start integer not null default 0,
  last_attempt_at timestamptz,
  last_http_status integer,
  last_error text,
  next_attempt_at timestamptz not null,
  -- The worker that makes the next attempt, until its lease ends. These columns are in no index, so that a claim changes none.
  claimed_by uuid,
  claimed_until timestamptz
-- Half of each page is free for the claimed versions of its rows. Rows live for milliseconds, so the size does not matter.
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

-- Starts with the endpoint, so that a backlog of one never slows down another.
create index deliveries_due on deliveries (node, is_test, next_attempt_at);
-- For the order of a stream's first attempts, and for all deliveries of a payment.
create index deliveries_of_stream on deliveries (source_stream, node, source_revision);
-- For the webhook log. A delivery whose first attempt succeeds is in none of them.
create index retried on deliveries (created_at, id) where attempts > 0 and last_error is not null;
create index retried_of_user on deliveries (user_id, created_at, id) include (event, provider)
  where attempts > 0 and last_error is not null and user_id is not null;
create index retried_of_event on deliveries (event, created_at, id) include (provider)
  where attempts > 0 and last_error is not null;
create index retried_of_provider on deliveries (provider, created_at, id) where attempts > 0 and last_error is not null;
-- These succeeded before.
create index redelivered on deliveries (created_at, id) where attempts > 0 and last_error is null;

-- Deliveries that succeeded, or failed after their last retry. Rows are inserted once and never updated; a redelivery moves
-- them back. Each day has a partition, and retention drops it. An id is in one of the two tables only; no constraint says so,
-- because the key of a partitioned table would have to include the day.
create table finished_deliveries (
  id uuid not null,
  node text not null,
  event text not null,
  mode text not null,
  provider text not null,
  body text not null,
  source_stream text not null,
  source_revision bigint not null,
  source_event_id uuid not null,
  correlation_id text not null,
  causation_id text not null,
  payment_id text,
  user_id text,
  is_test boolean not null,
  traceparent text,
  created_at timestamptz not null,
  attempts integer not null,
  attempts_made jsonb not null,
  last_attempt_at timestamptz not null,
  last_http_status integer,
  -- Null for a success.
  last_error text,
  -- By the clock of the database: all workers agree on the partition.
  ended_at timestamptz not null
) partition by range (ended_at);

create index finished_id on finished_deliveries (id);
-- For all deliveries of a payment. By stream, because raw webhooks have no payment_id.
create index finished_of_stream on finished_deliveries (source_stream);
-- For redelivery, in the order in which they failed.
create index failed on finished_deliveries (node, last_attempt_at, id) where last_error is not null;

-- The webhook log shows attempted deliveries, newest first. Succeeded and failed ones have separate indexes, so that both
-- are found at once, however rare one kind is. Each index includes the columns of its filter; otherwise Postgres prefers to
-- walk the whole log.
create index log_arrived on finished_deliveries (created_at, id) include (ended_at) where last_error is null;
create index log_arrived_of_user on finished_deliveries (user_id, created_at, id) include (event, provider, ended_at)
  where last_error is null and user_id is not null;
create index log_arrived_of_event on finished_deliveries (event, created_at, id) include (provider, ended_at)
  where last_error is null;
create index log_arrived_of_provider on finished_deliveries (provider, created_at, id) include (ended_at)
  where last_error is null;
create index log_failed on finished_deliveries (created_at, id) include (ended_at) where last_error is not null;
create index log_failed_of_user on finished_deliveries (user_id, created_at, id) include (event, provider, ended_at)
  where last_error is not null and user_id is not null;
create index log_failed_of_event on finished_deliveries (event, created_at, id) include (provider, ended_at)
  where last_error is not null;
create index log_failed_of_provider on finished_deliveries (provider, created_at, id) include (ended_at)
  where last_error is not null;

-- Creates the missing partitions of some days. A partition is attached, which blocks no query, and not created in place. There
-- is no default partition: it would have to be searched, and locked, for every new one.
create function create_partitions(first_day date, last_day date) returns void language plpgsql as $$
declare
  day date;
  name text;
begin
  perform pg_advisory_xact_lock(hashtext('webhooks.create_partitions'));
  for day in select generate_series(first_day, last_day, interval '1 day') loop
    name := 'finished_deliveries_' || to_char(day, 'YYYYMMDD');
    continue when to_regclass('webhooks.' || name) is not null;
    execute format('create table webhooks.%I (like webhooks.finished_deliveries including all)', name);
    execute format('alter table webhooks.finished_deliveries attach partition webhooks.%I for values from (%L) to (%L)',
      name, to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
  end loop;
end $$;

revoke execute on function create_partitions from public;

-- The state of an endpoint. Its configuration is only in the environment.
create table nodes (
  name text primary key,
  -- Whether the worker that started last has it. Deliveries of other endpoints wait and do not count as late.
  is_configured boolean not null default true,
  -- When the endpoint returned that it is gone. Its deliveries wait for an operator.
  disabled_at timestamptz
);

-- The running workers. A worker that was not seen for a while counts as stopped.
create table workers (
  id uuid primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- How far each subscription of the workers has handled the log.
create table checkpoints (
  name text primary key,
  -- Position and id of the last handled event; null for the start of the log.
  commit_position bigint,
  prepare_position bigint,
  event_id uuid,
  updated_at timestamptz not null
);

-- The id of this installation, for names elsewhere (Redis keys). A connection string cannot identify it: one database has
-- several names, and the same name may be another database on another machine.
create table installation (
  id uuid not null default gen_random_uuid(),
  -- One row only.
  singleton boolean primary key default true check (singleton)
);

insert into installation default values;

-- Unfinished payments and notifications, for the reconciler. Derived from the log alone, in one transaction with the
-- checkpoint `follow-ups`.
create table follow_ups (
  -- The stream of the payment or of the notification.
  subject text primary key,
  provider_id text not null,
  -- Null for a notification.
  payment_id text,
  -- When to finish something that began and has no known end: a provider call, the application of a notification.
  finish_at timestamptz,
  -- When to query the provider, because its notifications leave something undecided or undone.
  ask_at timestamptz,
  -- When to query the provider although nothing is known to be wrong.
  watch_at timestamptz,
  -- When to cancel the payment if nobody has paid it.
  expire_at timestamptz,
  -- These do not wait behind the watched ones, of which there may be very many.
  soon_at timestamptz generated always as (least(finish_at, ask_at, expire_at)) stored,
  -- Pauses in a row between queries of the same urgency; each is longer than the one before.
  pauses integer not null,
  -- Raised by every event: a follow-up that began before the event must not overwrite what the event set.
  version integer not null default 0,
  -- The worker that processes it, until the lease ends.
  lease uuid,
  leased_until timestamptz,
  correlation_id text not null,
  -- The event that set the present times.
  event_id uuid not null,
  check (num_nonnulls(finish_at, ask_at, watch_at, expire_at) > 0)
);

create index follow_ups_soon on follow_ups (provider_id, soon_at) where soon_at is not null;
create index follow_ups_watched on follow_ups (provider_id, watch_at) where watch_at is not null;

-- The pending deliveries of each endpoint that was ever configured. The counts have limits, and their order makes Postgres
-- use an index, whatever it believes about the table.
create view backlog as
select name as node, is_configured, disabled_at, pending, due, oldest_created_at,
  (select min(next_attempt_at) from deliveries where node = name and not is_test) as oldest_due_at
from nodes, lateral (
  select count(*)::integer as pending, min(created_at) as oldest_created_at from (
    select created_at from deliveries where node = name order by is_test, next_attempt_at limit 10000
  ) as up_to_10000
) as counted, lateral (
  select count(*)::integer as due from (
    select from deliveries where node = name and not is_test and next_attempt_at <= now()
    order by next_attempt_at limit 1000
  ) as up_to_1000
) as counted_due;

-- Whether a worker runs. Each updates its row every few seconds.
create view worker_activity as
select count(*) filter (where seen_at > now() - interval '30 seconds')::integer as running,
  extract(epoch from now() - max(seen_at))::float8 as last_seen_seconds
from workers;

-- The webhook log for the query API: the deliveries, and how the last attempt ended. Queries leave out those without an attempt:
-- with the condition here, Postgres could not read this part in the order of an index.
create view log as
select id, provider, event, body, user_id, created_at, node, attempts, attempts_made, last_http_status as http_status,
  last_error as error,
  -- No attempt is planned while the endpoint is paused or not configured.
  case when not exists (select from nodes where name = node and (disabled_at is not null or not is_configured))
    then next_attempt_at end as next_attempt_at,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test,
  timestamptz 'infinity' as ended_at, attempts > 0 as is_attempted
from deliveries
union all
select id, provider, event, body, user_id, created_at, node, attempts, attempts_made, last_http_status, last_error, null,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test, ended_at, true
from finished_deliveries;

-- All deliveries, with the state that the two tables express.
create view all_deliveries as
select id, node, event, mode, provider, body, source_stream, source_revision, source_event_id, correlation_id, causation_id,
  payment_id, user_id, is_test, created_at, 'pending' as status, attempts, attempts_made, series_start, last_attempt_at,
  last_http_status, last_error,
  -- After 410 no attempt is planned until the endpoint is enabled.
  case when last_error is distinct from 'gone' then next_attempt_at end as next_attempt_at
from deliveries
union all
select id, node, event, mode, provider, body, source_stream, source_revision, source_event_id, correlation_id, causation_id,
  payment_id, user_id, is_test, created_at, case when last_error is null then 'succeeded' else 'failed' end, attempts,
  attempts_made, null, last_attempt_at, last_http_status, last_error, null
from finished_deliveries;
