-- Which installation these tables belong to, for what is named after it elsewhere: a connection string does not tell,
-- because one database has several names, and the same name is another database on another machine.

create table installation (
  id uuid not null default gen_random_uuid(),
  -- One row only.
  singleton boolean primary key default true check (singleton)
);

insert into installation default values;
