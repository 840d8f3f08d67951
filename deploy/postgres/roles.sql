-- Who may do what in Postgres. The image runs this once, when it makes the database; in a Postgres of your own an
-- administrator runs it with psql, with the two files at the places that are named here.
\set owner paylog
\set owner_password `cat /run/secrets/database_password`
\set reader paylog_reader
\set login paylog_query
\set login_password `cat /run/secrets/query_password`
\set database paylog

-- Makes and changes the tables: of the migrations, the write side of the webhooks and the projector.
create role :"owner" login password :'owner_password';
-- Of the query API: what it may look at is granted by the migrations, to the role that READER_ROLE names.
create role :"reader" nologin;
create role :"login" login password :'login_password' in role :"reader" connection limit 64;
-- It has nothing to write. Whoever finds a way to have it run what he likes can switch this off, so it is only one more door.
alter role :"login" set default_transaction_read_only = on;

create database :"database" owner :"owner";
revoke all on database :"database" from public;
grant connect on database :"database" to :"reader";
