-- What the worker has to look after: payments that are not at their end, notifications that are stored and not applied.
-- Made from the log alone, and kept in one transaction with the checkpoint `follow-ups`.

create table follow_ups (
  -- The stream of the payment or of the notification.
  subject text primary key,
  provider_id text not null,
  -- Null for a notification.
  payment_id text,
  -- When to finish what was begun and has no known end: a create call, the application of a notification.
  finish_at timestamptz,
  -- When to ask the provider, because what it said by itself leaves something to decide or to do.
  ask_at timestamptz,
  -- When to ask although nothing is known to be wrong.
  watch_at timestamptz,
  -- The first two do not wait behind the third, of which there may be very many.
  soon_at timestamptz generated always as (least(finish_at, ask_at)) stored,
  -- How many pauses in a row were made between looks of the same urgency; the next one is longer.
  pauses integer not null,
  -- Raised by every event: a follow-up that was begun before one must not decide what comes after it.
  version integer not null default 0,
  -- Who is at it, as long as they say so.
  lease uuid,
  leased_until timestamptz,
  correlation_id text not null,
  -- The event that led to the present times.
  event_id uuid not null,
  check (num_nonnulls(finish_at, ask_at, watch_at) > 0)
);

create index follow_ups_soon on follow_ups (provider_id, soon_at) where soon_at is not null;
create index follow_ups_watched on follow_ups (provider_id, watch_at) where watch_at is not null;
