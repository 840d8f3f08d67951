-- What operators steer deliveries with, and what the log of deliveries shows.

alter table deliveries drop constraint deliveries_mode_check;
alter table deliveries add constraint deliveries_mode_check check (mode in ('raw', 'canonical', 'legacy'));

-- Asked for by somebody who tries his endpoints out.
alter table deliveries add column is_test boolean not null default false;
-- How many attempts were made before the present series of retries: redelivery begins a new one.
alter table deliveries add column series_start integer not null default 0;

-- What is known of a node beside its configuration, which only the environment has.
create table nodes (
  name text primary key,
  -- Whether the worker that started last has it. Deliveries of others wait and are not counted as late.
  is_configured boolean not null default true,
  -- Since when nothing is sent to it, because it answered that it is gone. Its deliveries wait for an operator.
  disabled_at timestamptz
);

-- Which workers run, so that those who cannot see them can tell. A worker that is not seen for a while is gone.
create table workers (
  id uuid primary key,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Those that had deliveries before this table was there; the worker that starts next says which ones it has.
insert into nodes (name, is_configured) select distinct node, false from deliveries where status = 'pending';

-- The oldest that waits, and the one that waits longest for its turn, found without walking over a backlog.
create index deliveries_undelivered on deliveries (node, created_at) where status = 'pending';
create index deliveries_due on deliveries (node, next_attempt_at) where status = 'pending';

-- What waits to be delivered, for each node that ever was configured. The counts go no further than they say; their order
-- is there to be found by an index, whatever share of the table the planner believes to be pending.
create view backlog as
select name as node, is_configured, disabled_at,
  (select count(*)::integer from (
    select from deliveries where node = name and status = 'pending' order by created_at limit 10000
  ) as up_to_10000) as pending,
  (select count(*)::integer from (
    select from deliveries where node = name and status = 'pending' and next_attempt_at <= now()
    order by next_attempt_at limit 1000
  ) as up_to_1000) as due,
  (select min(created_at) from deliveries where node = name and status = 'pending') as oldest_created_at,
  (select min(next_attempt_at) from deliveries where node = name and status = 'pending') as oldest_due_at
from nodes;

-- Whether anybody delivers. A worker says so every few seconds.
create view worker_activity as
select count(*) filter (where seen_at > now() - interval '30 seconds')::integer as running,
  extract(epoch from now() - max(seen_at))::float8 as last_seen_seconds
from workers;

-- Those that operators send again, in the order in which they failed.
create index deliveries_failed on deliveries (node, last_attempt_at, id) where status = 'failed';

-- The log shows what was attempted, newest first. What arrived and what failed have indexes of their own: of each row
-- there is one entry for every way to ask, and both kinds are found at once, however rare one of them is. They grow at
-- their end, which is the cheapest way to grow; what else may be asked for is told by the index itself, so that Postgres
-- does not take a walk through all of the log for the shorter way.
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

-- What the read side may see: a delivery that was attempted, and how the last attempt ended.
create view log as
select id, provider, event, body, user_id, created_at, node, attempts, last_http_status as http_status,
  last_error as error,
  -- Nothing is planned for what is finished, nor for what is held.
  case when status = 'pending' and not exists (
    select from nodes where name = node and (disabled_at is not null or not is_configured)
  ) then next_attempt_at end as next_attempt_at,
  source_stream, source_revision, source_event_id, correlation_id, causation_id
from deliveries
where attempts > 0;

create view log_attempts as
select delivery_id, attempt, at, ms, http_status, error, response_body from attempts;
