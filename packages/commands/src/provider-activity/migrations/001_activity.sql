-- What the providers did and refused lately: a few rows for each provider, whatever is sent to us. Nothing here is personal.

create table activity (
  provider_id text primary key,
  -- Since when something is written here.
  watched_since timestamptz not null default now(),
  -- The last notification that was accepted, and its type in the provider's words.
  notified_at timestamptz,
  notified_type text,
  -- Notifications that were refused for their signature: the last one, and how many since the last one that was accepted.
  signature_refused_at timestamptz,
  signatures_refused bigint not null default 0,
  -- When the provider last accepted our credentials, and when it last refused them and what it said.
  credentials_accepted_at timestamptz,
  credentials_refused_at timestamptz,
  credentials_refusal text
);

-- How many notifications were refused for their signature in each minute of the last day. The slot is the minute of the day, so
-- that a row is used again the next day.
create table refused_signatures (
  provider_id text not null,
  slot smallint not null check (slot between 0 and 1439),
  minute timestamptz not null,
  count bigint not null,
  primary key (provider_id, slot)
);
