-- Notifications that the sandbox has to deliver, those of an intent in the order of their ids.
create table notifications (
  id bigint generated always as identity primary key,
  provider_intent_id text not null,
  body text not null,
  due_at timestamptz not null,
  only_while text,
  created_at timestamptz not null default now()
);
create index notifications_intent on notifications (provider_intent_id, id);
