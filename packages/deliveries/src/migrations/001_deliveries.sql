-- Outgoing webhooks: the deliveries and their attempts. The queue only says what to do next.

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
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  -- Finished attempts. The number of an attempt is its fence.
  attempts integer not null default 0,
  -- Null once the delivery is finished.
  next_attempt_at timestamptz,
  -- From then on the job of a pending row counts as lost.
  requeue_at timestamptz not null,
  last_attempt_at timestamptz,
  last_http_status integer,
  last_error text,
  created_at timestamptz not null,
  -- A webhook test or simulation. Tests wait behind real deliveries and are never late.
  is_test boolean not null default false,
  -- The attempts before the present series of retries: a redelivery starts a new series.
  series_start integer not null default 0,
  -- The W3C trace context of the request, so that later attempts join its trace. Null without one.
  traceparent text
);

-- The indexes of the queue start with the endpoint, so that a backlog of one never slows down another.
create index deliveries_pending on deliveries (node, requeue_at) where status = 'pending';
create index deliveries_undelivered on deliveries (node, created_at) where status = 'pending';
create index deliveries_due on deliveries (node, next_attempt_at) where status = 'pending';
create index deliveries_pending_tests on deliveries (node, created_at) where status = 'pending' and is_test;
-- For redelivery, in the order in which they failed.
create index deliveries_failed on deliveries (node, last_attempt_at, id) where status = 'failed';
-- For all deliveries of a payment, whatever their status and endpoint. By stream, because raw webhooks have no payment_id.
create index deliveries_of_stream on deliveries (source_stream);

-- The webhook log shows attempted deliveries, newest first. Succeeded and failed ones have separate indexes, so that both
-- are found at once, however rare one kind is. Each index includes the columns of its filter; otherwise Postgres prefers to
-- walk the whole log.
create index log_arrived on deliveries (created_at, id) where attempts > 0 and last_error is null;
create index log_arrived_of_user on deliveries (user_id, created_at, id) include (event, provider)
  where attempts > 0 and last_error is null and user_id is not null;
create index log_arrived_of_event on deliveries (event, created_at, id) include (provider)
  where attempts > 0 and last_error is null;
create index log_arrived_of_provider on deliveries (provider, created_at, id)
  where attempts > 0 and last_error is null;
create index log_failed on deliveries (created_at, id) where attempts > 0 and last_error is not null;
create index log_failed_of_user on deliveries (user_id, created_at, id) include (event, provider)
  where attempts > 0 and last_error is not null and user_id is not null;
create index log_failed_of_event on deliveries (event, created_at, id) include (provider)
  where attempts > 0 and last_error is not null;
create index log_failed_of_provider on deliveries (provider, created_at, id)
  where attempts > 0 and last_error is not null;

-- No foreign key: a row is only inserted by the statement that updates its delivery.
create table attempts (
  delivery_id uuid not null,
  attempt integer not null,
  at timestamptz not null,
  ms integer not null,
  http_status integer,
  error text,
  -- At most the first 16 KiB.
  response_body text,
  primary key (delivery_id, attempt)
);

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
  -- When to finish something that began and has no known end: a create call, the application of a notification.
  finish_at timestamptz,
  -- When to query the provider, because its notifications leave something undecided or undone.
  ask_at timestamptz,
  -- When to query the provider although nothing is known to be wrong.
  watch_at timestamptz,
  -- The first two do not wait behind the third, of which there may be very many.
  soon_at timestamptz generated always as (least(finish_at, ask_at)) stored,
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
  check (num_nonnulls(finish_at, ask_at, watch_at) > 0)
);

create index follow_ups_soon on follow_ups (provider_id, soon_at) where soon_at is not null;
create index follow_ups_watched on follow_ups (provider_id, watch_at) where watch_at is not null;

-- The pending deliveries of each endpoint that was ever configured. The counts have limits, and their order makes Postgres
-- use an index, whatever share of the table it believes to be pending.
create view backlog as
select name as node, is_configured, disabled_at,
  (select count(*)::integer from (
    select from deliveries where node = name and status = 'pending' order by created_at limit 10000
  ) as up_to_10000) as pending,
  (select count(*)::integer from (
    select from deliveries where node = name and status = 'pending' and not is_test and next_attempt_at <= now()
    order by next_attempt_at limit 1000
  ) as up_to_1000) as due,
  (select min(created_at) from deliveries where node = name and status = 'pending') as oldest_created_at,
  (select min(next_attempt_at) from deliveries where node = name and status = 'pending' and not is_test) as oldest_due_at
from nodes;

-- Whether a worker runs. Each updates its row every few seconds.
create view worker_activity as
select count(*) filter (where seen_at > now() - interval '30 seconds')::integer as running,
  extract(epoch from now() - max(seen_at))::float8 as last_seen_seconds
from workers;

-- The webhook log for the query API: the deliveries that were attempted, and how the last attempt ended.
create view log as
select id, provider, event, body, user_id, created_at, node, attempts, last_http_status as http_status,
  last_error as error,
  -- No attempt is planned for a finished delivery, nor while its endpoint is paused or not configured.
  case when status = 'pending' and not exists (
    select from nodes where name = node and (disabled_at is not null or not is_configured)
  ) then next_attempt_at end as next_attempt_at,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test
from deliveries
where attempts > 0;

create view log_attempts as
select delivery_id, attempt, at, ms, http_status, error, response_body from attempts;
