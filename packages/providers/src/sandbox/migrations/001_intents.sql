-- What the sandbox provider remembers of each intent.
create table intents (
  provider_intent_id text primary key,
  payment_id uuid not null,
  intent jsonb not null,
  updated_at timestamptz not null default now()
);
create index intents_payment_id on intents (payment_id);
