-- How far the erasures in the log are done: the keys that they name, up to this event, do not exist. It is part of a backup of the
-- keys, so that after a restore the later erasures are found.
create table progress (
  commit_position bigint not null,
  prepare_position bigint not null,
  event_id uuid not null,
  is_only boolean not null default true unique check (is_only)
);
