-- The log: one row per event, with exactly the bytes that were appended.
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

-- Finds the first event with an id in the whole log, whatever its stream. Not unique: an event id may appear twice in a
-- stream (a known id with the last revision as the expected one).
create index events_by_first_id on events (event_id, position);

-- The only writer. Every commit updates this row under its own epoch, so a writer that was replaced cannot commit.
create table writer (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null,
  last_position bigint not null
);

-- A log is never empty, so that no client's event is the first one: position 0 means "before everything".
insert into events (position, stream, revision, event_id, type, is_json, created_ticks, metadata, data)
values (1, '$$$settings', 0, gen_random_uuid(), '$metadata', true,
  (extract(epoch from now()) * 10000000)::bigint, '', convert_to('{}', 'UTF8'));

insert into writer (epoch, last_position) values (0, 1);
