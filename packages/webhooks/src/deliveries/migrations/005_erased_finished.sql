-- As in the table of the pending deliveries.
alter table finished_deliveries alter column body drop not null;
-- Only partitions of past days have an index of them, see `indexPastDays`: every delivery would pay for an erasure now and then.
alter table finished_deliveries add column if not exists key_ids uuid[] not null default '{}';
