-- The Postgres roles of Paylog. The Postgres image runs this once, when it creates the database. For your own Postgres, run
-- it with psql as an administrator, with the three password files in place.
\set owner paylog
\set owner_password `cat /run/secrets/database_password`
\set reader paylog_reader
\set login paylog_query
\set login_password `cat /run/secrets/query_password`
\set keys paylog_keys
\set keys_login paylog_command
\set keys_password `cat /run/secrets/command_password`
\set database paylog

-- Owns the tables: used by migrations, the worker and the projector.
create role :"owner" login password :'owner_password';
-- For `ops privacy scrub`, which removes the traces of erased data from the disk.
grant pg_checkpoint, pg_read_all_stats to :"owner";
-- For query-api. The migrations grant read access to the role that READER_ROLE names.
create role :"reader" nologin;
create role :"login" login password :'login_password' in role :"reader" connection limit 64;
-- Defence in depth only: an attacker who can run SQL as this login can switch it off, and before Postgres 16 it does not
-- cover large objects.
alter role :"login" set default_transaction_read_only = on;
-- For command-api. The migrations let the role that KEYS_ROLE names read and add keys of personal data, and record what providers
-- refuse.
create role :"keys" nologin;
create role :"keys_login" login password :'keys_password' in role :"keys" connection limit 64;

create database :"database" owner :"owner";
revoke all on database :"database" from public;
grant connect on database :"database" to :"reader", :"keys";
