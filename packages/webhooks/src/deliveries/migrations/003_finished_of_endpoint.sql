-- For the operators' list of deliveries, newest first, and the recent success rate of an endpoint. As in the log, succeeded and
-- failed ones have separate indexes, which include the columns of the filters.
create index if not exists arrived_of_endpoint on finished_deliveries (node, created_at, id) include (event, is_test, ended_at)
  where last_error is null;
create index if not exists failed_of_endpoint on finished_deliveries (node, created_at, id) include (event, is_test, ended_at)
  where last_error is not null;
-- Tests are rare among the others.
create index if not exists finished_tests on finished_deliveries (created_at, id) include (node, event, ended_at, last_error)
  where is_test;
