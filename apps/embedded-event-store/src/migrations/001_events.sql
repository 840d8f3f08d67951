-- The log: one row per event, its bytes exactly as they came.
create table events (
  position bigint primary key,
  stream text collate "C" not null,
  revision bigint not null,
  event_id uuid not null,
  type text collate "C" not null,
  is_json boolean not null,
  created_ticks bigint not null,
  metadata bytea not null,
  data bytea not null,
  unique (stream, revision)
);

-- Not unique: an event id may appear twice in a stream (known id, expected revision = last).
create index events_by_id on events (stream, event_id);

-- The one writer. Every commit updates this row under its own epoch, so a writer that was replaced can commit nothing.
create table writer (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null,
  last_position bigint not null
);

-- A log is never empty, so that no user's event is the first one: position 0 means "before everything".
insert into events (position, stream, revision, event_id, type, is_json, created_ticks, metadata, data)
values (1, '$$$settings', 0, gen_random_uuid(), '$metadata', true,
  (extract(epoch from now()) * 10000000)::bigint, '', convert_to('{}', 'UTF8'));

insert into writer (epoch, last_position) values (0, 1);
