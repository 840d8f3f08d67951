#!/bin/sh
# Makes the secrets that docker-compose.yml hands to the containers, each a file in deploy/secrets. One that is there stays.
set -eu
umask 077
directory=${1:-"$(dirname "$0")/secrets"}
# Whom they belong to inside the containers differs; outside, the directory is what keeps them from others.
mkdir -p "$directory/app"
chmod 700 "$directory"
chmod 755 "$directory/app"

# NAME: its value is what comes in.
keep() {
  if [ -e "$directory/$1" ]; then
    cat >/dev/null
    echo "$directory/$1 is there already and stays as it is"
    return
  fi
  # Complete or not at all.
  cat >"$directory/.$1.new"
  chmod 644 "$directory/.$1.new"
  mv "$directory/.$1.new" "$directory/$1"
  echo "$directory/$1 is made"
}

random() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

random | keep postgres_password
random | keep database_password
random | keep query_password
random | keep sandbox_webhook_secret
printf 'postgres://paylog:%s@postgres:5432/paylog' "$(cat "$directory/database_password")" | keep database_url
printf 'postgres://paylog_query:%s@postgres:5432/paylog' "$(cat "$directory/query_password")" | keep query_database_url
