-- Signed checkpoints of trees that an operator has ended, because the log is not theirs any more. They prove what was.
create table earlier_checkpoints (
  size bigint not null,
  root bytea not null,
  note text not null,
  made_at timestamptz not null,
  recorded_at timestamptz,
  published_at timestamptz,
  ended_at timestamptz not null default now(),
  primary key (size, ended_at)
);
