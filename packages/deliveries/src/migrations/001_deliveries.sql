-- What is to be told to whom: the truth about outgoing webhooks. The queue only says what to do next.

create table deliveries (
  -- The webhook-id: derived from event, name and node, so a batch that is read twice inserts nothing twice.
  id uuid primary key,
  node text not null,
  event text not null,
  mode text not null check (mode in ('raw', 'canonical')),
  provider text not null,
  -- The exact text that is signed and sent; text and not json, because every byte counts.
  body text not null,
  source_stream text not null,
  source_revision bigint not null,
  source_event_id uuid not null,
  correlation_id text not null,
  causation_id text not null,
  payment_id text,
  user_id text,
  status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
  -- Attempts that are finished; the number of an attempt is its fence.
  attempts integer not null default 0,
  -- Null once the delivery is finished.
  next_attempt_at timestamptz,
  -- From when on a pending row is taken for one whose job was lost.
  sweep_at timestamptz not null,
  last_attempt_at timestamptz,
  last_http_status integer,
  last_error text,
  created_at timestamptz not null
);

-- Per node, so that the sweep of one never walks over the backlog of another, or of one that is not configured now.
create index deliveries_pending on deliveries (node, sweep_at) where status = 'pending';

-- No foreign key: a row is only ever inserted by the statement that updates its delivery.
create table attempts (
  delivery_id uuid not null,
  attempt integer not null,
  at timestamptz not null,
  ms integer not null,
  http_status integer,
  error text,
  -- At most the first 16 KiB.
  response_body text,
  primary key (delivery_id, attempt)
);

create table checkpoints (
  name text primary key,
  commit_position bigint not null,
  prepare_position bigint not null,
  updated_at timestamptz not null
);
