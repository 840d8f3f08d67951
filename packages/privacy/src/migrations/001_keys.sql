-- The keys that personal data in the log is sealed with. Without these rows, or without the master key that wraps them, sealed
-- data cannot be read.

create table keys (
  id uuid primary key,
  -- HMAC-SHA-256 of the key's name under the lookup secret; null after the key was destroyed.
  name_hash bytea unique,
  -- The key, encrypted by the master key; null after the key was destroyed.
  wrapped bytea,
  -- Which master key: the first 8 hex digits of its SHA-256; null after the key was destroyed.
  master text,
  -- Of a key of a time bucket, which is not secret: `body`, 2026-11-27.
  bucket text,
  bucket_day date,
  created_at timestamptz not null default now(),
  destroyed_at timestamptz,
  check ((destroyed_at is null) = (name_hash is not null)),
  check ((destroyed_at is null) = (wrapped is not null)),
  check ((destroyed_at is null) = (master is not null))
);

-- For rotation, and for the check at start that every master key in use is configured.
create index keys_by_master on keys (master, id) where master is not null;
create index keys_destroyed on keys (destroyed_at) where destroyed_at is not null;
create index keys_by_bucket on keys (bucket, bucket_day) where bucket is not null and destroyed_at is null;

-- The e-mails that a person's key has been seen with, as keyed hashes. The reference is to the name of the key, which is
-- removed when the key is destroyed, so that a row cannot be added for a destroyed key.
create table emails (
  email_hash bytea not null,
  name_hash bytea not null references keys (name_hash),
  primary key (email_hash, name_hash)
);

create index emails_by_name on emails (name_hash);

-- The secret of the keyed hashes, encrypted by the master key. The one row proves that a process has the right master key.
create table lookup_secret (
  id uuid primary key,
  wrapped bytea not null,
  master text not null,
  is_only boolean not null default true unique check (is_only)
);
