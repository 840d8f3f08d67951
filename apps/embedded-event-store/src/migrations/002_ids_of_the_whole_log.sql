-- Idempotency by id alone asks for the first event with that id in the whole log, whatever its stream.
create index events_by_first_id on events (event_id, position);
drop index events_by_id;
