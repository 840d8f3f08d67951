-- The log as a Merkle tree. Tiles and their places can be computed again from the log; signed checkpoints cannot.

-- Up to 256 hashes side by side: of leaves at level 0, of the roots of full tiles of the level below it otherwise.
create table tiles (
  level smallint not null,
  index bigint not null,
  hashes bytea not null,
  -- At level 0, the leaves' positions in the log, 8 bytes each.
  positions bytea,
  first_position bigint,
  primary key (level, index),
  check ((level = 0) = (positions is not null and first_position is not null))
);
-- Hashes cannot be compressed.
alter table tiles alter hashes set storage external, alter positions set storage external;
create index tiles_by_position on tiles (first_position) where level = 0;

-- How far the log is in the tree: one row.
create table tree (
  is_only_row boolean primary key default true check (is_only_row),
  size bigint not null default 0,
  -- Leaves since the last checkpoint, without those that are checkpoints themselves.
  unsigned_leaves bigint not null default 0,
  -- Position and id of the last event; null until the first batch.
  commit_position bigint,
  prepare_position bigint,
  event_id uuid,
  stopped_because text,
  updated_at timestamptz not null default now()
);
insert into tree default values;

create table checkpoints (
  size bigint primary key,
  root bytea not null,
  -- The signed note.
  note text not null,
  made_at timestamptz not null default now(),
  -- When it was in the log, and at AUDIT_CHECKPOINT_URL.
  recorded_at timestamptz,
  published_at timestamptz
);
create index checkpoints_unrecorded on checkpoints (size) where recorded_at is null;
create index checkpoints_unpublished on checkpoints (size) where published_at is null;
