-- Null once it was erased: what is still to be sent is built from the log again, without what was erased.
alter table deliveries alter column body drop not null;
-- The keys of the personal data in the body, as in privacy.keys.
alter table deliveries add column if not exists key_ids uuid[] not null default '{}';

-- Keys whose deliveries were emptied. A backfill that read its events before must not bring anything back.
create table if not exists erased_keys (
  id uuid primary key
);

-- Client secrets of payments that have not ended: retention keeps their keys. Derived from the log, like the follow-ups.
create table if not exists open_secrets (
  -- The stream of the payment.
  subject text not null,
  key_id uuid not null,
  primary key (subject, key_id)
);

create index if not exists open_secrets_of_key on open_secrets (key_id);
