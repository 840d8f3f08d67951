-- Tests and simulations wait behind real deliveries, and are never late: how long they wait says nothing about the worker.

-- Those that are sent next, and those that nobody sends any more.
create index deliveries_pending_tests on deliveries (node, created_at) where status = 'pending' and is_test;

create or replace view backlog as
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

create or replace view log as
select id, provider, event, body, user_id, created_at, node, attempts, last_http_status as http_status,
  last_error as error,
  case when status = 'pending' and not exists (
    select from nodes where name = node and (disabled_at is not null or not is_configured)
  ) then next_attempt_at end as next_attempt_at,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test
from deliveries
where attempts > 0;
