#!/bin/sh
# Writes the images of the containers into .env by digest, so that every machine and every restart uses the same ones.
# Docker resolves the digests. Run it once; to upgrade an image, run it again with the new version:
#
#   deploy/pinImages.sh                          the versions in .env, otherwise those in docker-compose.yml
#   deploy/pinImages.sh POSTGRES_IMAGE=postgres:17.11
set -eu
umask 077
root=$(dirname "$0")/..
file=${PAYLOG_ENV_FILE:-"$root/.env"}
touch "$file"

compose() {
  cat "$root/docker-compose.yml" "$root/docker-compose.cluster.yml"
}

# wanted NAME: the image from the arguments, .env or the default, without its digest.
wanted() {
  for argument in $arguments; do
    case $argument in "$1="*) found=${argument#*=} && echo "${found%@*}" && return ;; esac
  done
  found=$(sed -n "s/^$1=//p" "$file" | tail -n 1)
  [ -n "$found" ] || found=$(compose | sed -n "s/.*\${$1:-\([^}]*\)}.*/\1/p" | head -n 1)
  echo "${found%@*}"
}

arguments=$*
names=$(compose | sed -n 's/.*\${\([A-Z]*_IMAGE\):-.*/\1/p' | sort -u | grep -v '^PAYLOG_IMAGE$')
for argument in $arguments; do
  echo "$names" | grep -qx "${argument%%=*}" || { echo "$argument: name one of" $names >&2 && exit 2; }
done
for name in $names; do
  image=$(wanted "$name")
  docker pull --quiet "$image" >/dev/null
  digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" |
    sed -n "s|^${image%:*}@||p" | head -n 1)
  case $digest in sha256:*) ;; *) echo "$image has no digest" >&2 && exit 1 ;; esac
  others=$(grep -v "^$name=" "$file" || true)
  printf '%s\n' ${others:+"$others"} "$name=$image@$digest" >"$file"
  echo "$name=$image@$digest"
done
