-- The list of deliveries, for operators and as the webhook log, which leaves out those without an attempt. Pending ones end in
-- infinity: a query that says so plans no partition. `is_pending` is a literal, so that one that wants the others adds no condition
-- to each partition.
create or replace view log as
select id, provider, event, body, user_id, created_at, node, attempts, attempts_made, last_http_status as http_status,
  last_error as error,
  -- No attempt is planned while the endpoint is paused or not configured.
  case when not exists (select from nodes where name = node and (disabled_at is not null or not is_configured))
    then next_attempt_at end as next_attempt_at,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test,
  timestamptz 'infinity' as ended_at, attempts > 0 as is_attempted, mode, last_attempt_at, true as is_pending,
  case when exists (select from nodes where name = node and disabled_at is not null) then 'held' else 'pending' end as status
from deliveries
union all
select id, provider, event, body, user_id, created_at, node, attempts, attempts_made, last_http_status, last_error, null,
  source_stream, source_revision, source_event_id, correlation_id, causation_id, is_test, ended_at, true, mode, last_attempt_at,
  false, case when last_error is null then 'succeeded' else 'failed' end
from finished_deliveries;
