#!/bin/sh
# Creates the secrets of docker-compose.yml, each as a file in deploy/secrets. Existing files are kept.
#
#   deploy/makeSecrets.sh                                                                    one event store
#   EVENTSTORE_HOSTS=eventstore:2113,eventstore-2:2113,eventstore-3:2113 deploy/makeSecrets.sh    a cluster
set -eu
umask 077
directory=${1:-"$(dirname "$0")/secrets"}
hosts=${EVENTSTORE_HOSTS:-eventstore:2113}
# Container users differ, so everyone may read the files; the directory keeps other users of the host out.
mkdir -p "$directory/app" "$directory/webhooks" "$directory/audit"
chmod 700 "$directory"
chmod 755 "$directory/app" "$directory/webhooks" "$directory/audit"

# keep NAME: stores standard input as this secret, unless it exists.
keep() {
  if [ -e "$directory/$1" ]; then
    cat >/dev/null
    echo "$directory/$1 already exists and is kept"
    return
  fi
  # A rename is atomic.
  cat >"$directory/.$1.new"
  chmod 644 "$directory/.$1.new"
  mv "$directory/.$1.new" "$directory/$1"
  echo "$directory/$1 is created"
}

random() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

value() {
  cat "$directory/$1"
}

# The names and addresses that the event store's certificate is good for.
subjects() {
  printf 'DNS:localhost,IP:127.0.0.1'
  for host in $(echo "$hosts" | tr ',' ' '); do
    case ${host%:*} in
      *[!0-9.]*) printf ',DNS:%s' "${host%:*}" ;;
      *) printf ',IP:%s' "${host%:*}" ;;
    esac
  done
}

# Creates an authority and the certificate of all nodes of the event store. The authority's key is not kept, so it signs
# nothing else.
makeCertificate() {
  work=$(mktemp -d)
  openssl req -x509 -newkey rsa:3072 -nodes -days 3650 -subj /CN=paylog-eventstore-ca -keyout "$work/ca.key" \
    -out "$work/ca" -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
  openssl req -newkey rsa:3072 -nodes -subj /CN=eventstoredb-node -keyout "$work/pkcs8" -out "$work/request" 2>/dev/null
  # EventStoreDB expects the traditional key format, which OpenSSL 3 writes only on request.
  openssl rsa -traditional -in "$work/pkcs8" -out "$work/key" 2>/dev/null ||
    openssl rsa -in "$work/pkcs8" -out "$work/key" 2>/dev/null
  printf '%s\n' "subjectAltName=$(subjects)" extendedKeyUsage=serverAuth,clientAuth \
    keyUsage=critical,digitalSignature,keyEncipherment basicConstraints=critical,CA:FALSE >"$work/extensions"
  openssl x509 -req -in "$work/request" -CA "$work/ca" -CAkey "$work/ca.key" -CAserial "$work/serial" -CAcreateserial \
    -days 3650 -extfile "$work/extensions" -out "$work/certificate" 2>/dev/null
  for name in ca certificate key; do keep "eventstore_$name" <"$work/$name"; done
  rm -r "$work"
}

# Creates the key that signs checkpoints of the log and the key that verifies them, in the format of Go's sumdb/note.
makeSigningKey() {
  work=$(mktemp -d)
  name=paylog-$(od -An -N4 -tx1 /dev/urandom | tr -d ' \n')
  openssl genpkey -algorithm ed25519 -outform DER -out "$work/private" 2>/dev/null
  openssl pkey -inform DER -in "$work/private" -pubout -outform DER -out "$work/public" 2>/dev/null
  # In DER the 32 bytes of the key are the last ones. The byte 1 stands for Ed25519.
  for part in private public; do { printf '\001' && tail -c 32 "$work/$part"; } >"$work/$part.key"; done
  id=$({ printf '%s\n' "$name" && cat "$work/public.key"; } | sha256sum | cut -c 1-8)
  printf '%s+%s+%s' "$name" "$id" "$(openssl base64 -A -in "$work/public.key")" | keep audit_verifier_key
  printf 'PRIVATE+KEY+%s+%s+%s' "$name" "$id" "$(openssl base64 -A -in "$work/private.key")" | keep audit_signing_key
  rm -r "$work"
}

for name in postgres database query command redis eventstore eventstore_admin eventstore_ops; do random | keep "${name}_password"; done
random | keep sandbox_webhook_secret
printf 'postgres://paylog:%s@postgres:5432/paylog' "$(value database_password)" | keep database_url
printf 'postgres://paylog_query:%s@postgres:5432/paylog' "$(value query_password)" | keep query_database_url
printf 'postgres://paylog_command:%s@postgres:5432/paylog' "$(value command_password)" | keep command_database_url
# Without it no personal data can be read: keep a copy elsewhere.
head -c 32 /dev/urandom | base64 | tr -d '\n' | keep pii_master_key

# Nobody can log in as `default`. It may do everything all the same: as `default` Redis replays its file after a start, and would
# drop the transactions in it (github.com/redis/redis/issues/14541). BullMQ and ioredis need these two of the dangerous commands.
hash=$(value redis_password | sha256sum | cut -d ' ' -f 1)
keep redis_acl <<ACL
user default off ~* &* +@all
user paylog on #$hash ~* &* +@all -@admin -@dangerous +info +client|list
ACL
printf 'redis://paylog:%s@redis:6379' "$(value redis_password)" | keep redis_url

# The three files are created together.
[ -e "$directory/eventstore_key" ] || makeCertificate
where="$hosts?tls=true&tlsCAFile=/run/secrets/eventstore_ca"
printf 'esdb://paylog:%s@%s' "$(value eventstore_password)" "$where" | keep eventstore_url
printf 'esdb://admin:%s@%s' "$(value eventstore_admin_password)" "$where" | keep eventstore_admin_url

# Both keys are created together. The verifying one belongs to whoever checks the log.
[ -e "$directory/audit_signing_key" ] || makeSigningKey
