-- What only shows what would happen: to cancel it, or to see it in the list, one has to know.

alter table jobs add column is_dry_run boolean not null default false;
