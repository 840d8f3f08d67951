-- Long work that an operator started over HTTP. A row is a report, not an order: the process that inserted it does the work.

create table jobs (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  -- The projection or the endpoint.
  subject text not null,
  status text not null default 'running',
  requested_by text not null,
  created_at timestamptz not null default now(),
  -- The last heartbeat of the process that does the work.
  updated_at timestamptz not null default now(),
  ended_at timestamptz,
  cancel_requested_at timestamptz,
  progress jsonb,
  result jsonb,
  error text
);

create unique index jobs_running on jobs (kind, subject) where status = 'running';
create index jobs_by_age on jobs (created_at desc, id desc);
