-- For the operators' list of deliveries, newest first. None of the columns ever changes, so a claim does not touch it.
create index if not exists pending_of_endpoint on deliveries (node, created_at, id);
