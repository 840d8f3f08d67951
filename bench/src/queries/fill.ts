// Fills every table with a million rows, spread over many ordinary owners and two large ones, and a product catalogue.
import { foldBatch } from '@paylog/projections/apply/batch'
import { createStatements } from '@paylog/projections/apply/writers'
import { products } from '@paylog/projections/products/projection'
import type { ProjectedEvent } from '@paylog/projections/projection'
import { catalogFixture } from '@paylog/projections/testing/catalogFixture'
import type { Queryable } from '@paylog/runtime/postgres/runQuery'
import { idOf, idSql, manyRows, ownerOfRowSql, ownerSql, type Spread } from './owners.ts'

/** The columns of a table as SQL over `row`, `owner` (both numbers) and `at`, the creation time of the row. */
type Columns = Readonly<Record<string, string>>

const paymentColumns: Columns = {
  id: idSql('payment', 'row'),
  revision: '2',
  owner: ownerSql('owner'),
  search_text: `concat_ws(E'\\x1f', ${idSql('payment', 'row')}, 'user' || owner || '@example.com', 'order ' || row || ' of winter shoes')`,
  search_terms: `concat_ws(E'\\x1f', '@user' || owner || '@example.com', '=R-' || row, '.order', '.' || row, '.of', '.winter', '.shoes')`,
  subtotal_cents: '1000 + row % 90000',
  tax_cents: '(1000 + row % 90000) / 5',
  discount_cents: '0',
  total_cents: '(1000 + row % 90000) * 6 / 5',
  currency: `'EUR'`,
  status: `(array['succeeded','succeeded','succeeded','succeeded','succeeded','succeeded','failed','canceled','processing','pending'])[1 + row / 7 % 10]`,
  description: `'Order ' || row || ' of winter shoes'`,
  concept: `'Winter shoes'`,
  reference_code: `'R-' || row`,
  category: `'shoes'`,
  tags: `'winter,shoes'`,
  provider_id: `'sandbox'`,
  provider_payment_id: `'ch_' || md5(row::text)`,
  provider_intent_id: `'pi_' || md5(row::text)`,
  capture_method: `'automatic'`,
  amount_capturable_cents: '0',
  charge_reports: `jsonb_build_object('2', jsonb_build_object('charge', 'ch_' || md5(row::text), 'cents', 1000))`,
  succeeded_cents: 'case when row / 7 % 10 < 6 then 1000 end',
  client_secret: `'pi_' || md5(row::text) || '_secret_' || md5(owner::text)`,
  payment_method_id: `${idSql('method', 'row')}::text`,
  is_guest_payment: 'false',
  metadata: `json_build_object('order', row, 'channel', 'web')`,
  created_at: 'at',
  updated_at: `at + interval '3 seconds'`,
  completed_at: `at + interval '3 seconds'`,
}

/** The number of a row among the rows of its owner. The 30th is the default. */
const place = (spread: Spread) => `row / ${spread.ordinary}`

const ownership: Columns = {
  revision: '1',
  owner: ownerSql('owner'),
  user_id: `'user:' || owner`,
  guest_email: 'null',
  alias: `'number ' || row`,
  is_removed: 'false',
  created_at: 'at',
  updated_at: 'at',
}

const methodColumns: Columns = {
  ...ownership,
  id: idSql('method', 'row'),
  provider_id: `'sandbox'`,
  provider_customer_id: `'cus_' || md5(owner::text)`,
  payment_type: `'card'`,
  card_brand: `(array['visa','mastercard','amex'])[1 + row % 3]`,
  last_four: `lpad((row % 10000)::text, 4, '0')`,
  expiry_month: `lpad((1 + row % 12)::text, 2, '0')`,
  expiry_year: `(2027 + row % 5)::text`,
  type: `'credit_card'`,
  billing_details: `json_build_object('name', 'User ' || owner, 'email', null, 'phone', null, 'address',
    json_build_object('line1', null, 'line2', null, 'city', null, 'state', null, 'postal_code', '1010', 'country', 'AT'))`,
}

const addressColumns = (spread: Spread): Columns => ({
  ...ownership,
  id: idSql('address', 'row'),
  address_type: `(array['billing','shipping'])[1 + ${place(spread)} % 2]`,
  name: `'User ' || owner`,
  line1: `row || ' Example Street'`,
  city: `'Exampletown'`,
  postal_code: `lpad((row % 100000)::text, 5, '0')`,
  country: `'AT'`,
  is_partial: 'false',
  is_business: 'false',
  phone: `'+43 1 ' || row`,
  email: `'user' || owner || '@example.com'`,
})

/** Which tables are needed: those with owners, the catalogue, or both. */
export type Filled = { readonly owned: boolean; readonly catalog: boolean }

/** Fills the tables, then vacuums, analyzes and writes them to disk. */
export async function fill(db: Queryable, spread: Spread, wanted: Filled): Promise<void> {
  if (wanted.owned) {
    await fillTable(db, 'payments_v1', paymentColumns, spread)
    await fillTable(db, 'payment_methods_v1', methodColumns, spread)
    await fillTable(db, 'addresses_v1', addressColumns(spread), spread)
    await fillDefaults(db, spread)
  }
  if (wanted.catalog) await fillCatalog(db, spread)
  await db.query('checkpoint')
}

/** Each owner's 30th method and address is the default of its list. */
async function fillDefaults(db: Queryable, spread: Spread): Promise<void> {
  const chosen = (kind: Parameters<typeof idSql>[0], list: string) =>
    `select gen_random_uuid(), 0, ${list}, ${idSql(kind, 'row')}::text
     from generate_series(1, ${spread.rows}) as row where ${place(spread)} = 30`
  await db.query(
    `insert into read_models.defaults_v1 (id, revision, list, chosen_id)
     ${chosen('method', `'payment_methods'`)} union all
     ${chosen('address', `(array['billing', 'shipping'])[1 + ${place(spread)} % 2] || '_addresses'`)}`,
  )
  await db.query('vacuum (analyze) read_models.defaults_v1')
}

/** As the projector does. */
async function fillCatalog(db: Queryable, spread: Spread): Promise<void> {
  const { insert, patch } = createStatements(products, 1)
  const write = async (events: readonly ProjectedEvent[]) => {
    const { inserts, patches } = foldBatch(products, events)
    await db.query(insert(inserts))
    await db.query(patch(patches))
  }
  const batch: ProjectedEvent[] = []
  for (const event of catalogFixture(spread.products, (number) => idOf('product', number))) {
    batch.push(event)
    if (batch.length === 2_000) await write(batch.splice(0))
  }
  await write(batch)
  await db.query('vacuum (analyze) read_models.products_v1')
}

/** Rows are in creation order, so that the rows of one owner are far apart. */
async function fillTable(db: Queryable, table: string, columns: Columns, spread: Spread): Promise<void> {
  const { rows, withThousand, withTenThousand } = spread
  const made = (row: string, step: number) => `timestamptz '2024-01-01' + ${row} * interval '${step} seconds'`
  const some = (owner: number, first: number, count: number) =>
    `select row, ${owner}, ${made(`(row - ${first})`, (60 * rows) / count)}
     from generate_series(${first + 1}, ${first + count}) as row`
  await db.query(
    `insert into read_models.${table} (${Object.keys(columns).join(', ')})
     select ${Object.values(columns).join(', ')} from (
       select row, ${ownerOfRowSql('row', spread)}, ${made('row', 60)} from generate_series(1, ${rows}) as row
       union all ${some(withThousand, rows, manyRows)}
       union all ${some(withTenThousand, rows + manyRows, 10 * manyRows)}
       order by 3
     ) as made (row, owner, at)`,
  )
  await db.query(`vacuum (analyze) read_models.${table}`)
}
