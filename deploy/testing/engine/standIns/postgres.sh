#!/bin/sh
# What the image of Postgres does at its first start: a cluster, a password, and the scripts of the operator.
set -eu
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  # shellcheck disable=SC2086
  initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 \
    ${POSTGRES_INITDB_ARGS:-} --pgdata="$PGDATA"
  printf "listen_addresses = '*'\n" >>"$PGDATA/postgresql.conf"
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  # It does not listen on TCP, so that the health check waits for the real one.
  pg_ctl --pgdata="$PGDATA" --options="-c listen_addresses=''" --wait start
  for script in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$script" ] && psql --username=postgres --dbname=postgres --no-psqlrc --set=ON_ERROR_STOP=1 --file="$script"
  done
  pg_ctl --pgdata="$PGDATA" --mode=fast --wait stop
fi
exec "$@"
