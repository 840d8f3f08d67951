-- The read model of products.

-- Searches look for parts of words, which only an index over trigrams finds. The extension comes with Postgres and is a
-- trusted one, so that whoever may create something in the database may create it. It is installed here unless somebody
-- has installed it already, wherever that may be; a server without it, or one that refuses it, ends the migration, with
-- words that say what to do.
do $$
begin
  create extension if not exists pg_trgm with schema read_models;
exception when others then
  raise exception using
    errcode = sqlstate,
    message = 'products are searched with the extension pg_trgm, and it could not be created ('
      || sqlerrm || '): install it on the server (Debian: postgresql-contrib), have its administrator run '
      || '"create extension pg_trgm" in this database, then migrate again';
end
$$;

-- Every sync of a product raises its revision twice: room on the page lets those updates leave the indexes alone.
create table products_v1 (
  id uuid primary key,
  revision bigint not null,
  name text not null,
  description text,
  product_type text not null,
  is_recurring boolean not null,
  subtotal_cents bigint not null,
  tax_cents bigint not null,
  discount_cents bigint not null,
  total_cents bigint not null,
  currency text not null,
  billing_interval text,
  trial_days bigint,
  category_id text,
  is_active boolean not null,
  -- In lower case, for searching, and for the order by name. That order is the one of the letters' numbers: it is the same
  -- on every machine, and no library that is updated puts an index out of order.
  folded_name text collate "C" not null,
  folded_description text collate "C",
  created_at timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 85);

-- Lists are not narrowed to an owner, so each order is an index. Every filter but the search is a column of each, so that
-- rows that are filtered out or skipped, up to the last page, are counted off in the index and never read.
create index products_v1_by_creation on products_v1 (created_at, id)
include (category_id, product_type, is_recurring, is_active);
create index products_v1_by_update on products_v1 (updated_at, id)
include (category_id, product_type, is_recurring, is_active);
create index products_v1_by_name on products_v1 (folded_name, id)
include (category_id, product_type, is_recurring, is_active);
create index products_v1_by_subtotal on products_v1 (subtotal_cents, id)
include (category_id, product_type, is_recurring, is_active);

-- For the totals: each combination is there once, so that a hundred thousand products are a megabyte.
create index products_v1_by_filters on products_v1 (category_id, product_type, is_recurring, is_active);

-- U+001F stands between the texts, and no search may contain it. What is written since the last vacuum is looked through
-- in the order it came, so that it may not become much. The operator class is found wherever the extension is installed.
do $$
begin
  execute format(
    $index$
      create index products_v1_by_text on products_v1
      using gin ((folded_name || e'\x1f' || coalesce(folded_description, '')) %I.gin_trgm_ops)
      with (gin_pending_list_limit = 512)
    $index$,
    (select nspname from pg_extension join pg_namespace on pg_namespace.oid = extnamespace where extname = 'pg_trgm')
  );
end
$$;

-- Queries know these two views only, so that a rebuild can switch both to another version at once.
create view products as
select
  id,
  revision,
  name,
  description,
  product_type,
  is_recurring,
  subtotal_cents,
  tax_cents,
  discount_cents,
  total_cents,
  currency,
  billing_interval,
  trial_days,
  category_id,
  is_active,
  folded_name,
  -- In the words of the index.
  folded_name || e'\x1f' || coalesce(folded_description, '') as search_text,
  created_at,
  updated_at
from products_v1;

create view products_checkpoint as
select commit_position, prepare_position, stopped_because, updated_at
from checkpoints
where name = 'products@1';
