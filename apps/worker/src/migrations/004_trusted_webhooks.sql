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

-- The log shows what was attempted, newest first.
create index deliveries_log on deliveries (created_at desc, id desc) where attempts > 0;
create index deliveries_log_of_user on deliveries (user_id, created_at desc, id desc)
  where attempts > 0 and user_id is not null;

-- What the read side may see: a delivery that was attempted, with its status as a log entry has it.
create view log as
select id, node, event, mode, provider, body, user_id, payment_id, is_test,
  case when status = 'succeeded' or (status = 'pending' and last_error is null) then 'success' else 'failed' end as status,
  status as delivery_status, attempts, next_attempt_at, last_http_status, last_error,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, created_at
from deliveries
where attempts > 0;

create view log_attempts as
select delivery_id, attempt, at, ms, http_status, error, response_body from attempts;
