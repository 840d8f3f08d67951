// The administrators' list of payments: everybody's, by filters and search.
import { userOwner } from '@paylog/domain/actor'
import { Nullable, recordedId } from '@paylog/domain/fields'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { ListedPayment } from '@paylog/domain/payments/resource'
import { referenceQuery, searchTermsSql, termsQuery } from '@paylog/projections/payments/searchTerms'
import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { ExactText, Flag, hasGuestEmail, SearchText } from '../lists/filters.ts'
import { allOf, conditionsOf, filter, type List, type ListPage, type ListQuery, readAfter } from '../lists/lists.ts'
import { type Queryable, runQuery, type Sql } from '../lists/runQuery.ts'
import { commonFilters } from '../payments/queries.ts'

/** A payment in the administrators' list. */
export const AnyListedPayment = Type.Interface(
  [Type.Omit(ListedPayment, ['payment_method'])],
  {
    dispute_status: Nullable(DisputeStatus),
    user_id: Nullable(Type.String({ description: 'Null for a payment without a session' })),
    attention: Type.Boolean({ description: 'Whether a human has to look at it; GET /admin/payments/{id} says why' }),
  },
  { title: 'AnyListedPayment' },
)

/** The largest integer that JSON and JavaScript keep exactly. */
const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Currency = Type.String({ pattern: '^[A-Za-z]{3}$' })

const flag = (what: string, isSet: Sql) =>
  filter(Flag, `Only payments that are, or are not, ${what}`, (value) => (value === 'true' ? isSet : sql`not ${isSet}`))

const searched =
  'An id of ours or of the provider (intent, charge, refund, dispute), an e-mail or a reference, each as a whole; ' +
  'or words of the concept, the reference and the description: all of them, in any order, each at least by its beginning'

export const anyPaymentList = {
  view: 'payments',
  item: AnyListedPayment,
  computed: () => ({ attention: sql`item.has_attention` }),
  filters: {
    status: commonFilters.status,
    provider_id: filter(ExactText, 'Only payments of this provider', (provider) => sql`provider_id = ${provider}`),
    user_id: filter(ExactText, 'Only payments of this user', (user) => sql`owner = ${userOwner(user)}`),
    guest_email: filter(
      ExactText,
      'Only payments with this guest e-mail, ignoring the case of ASCII letters',
      hasGuestEmail,
    ),
    // References are found by their term, which has an index.
    reference_code: filter(
      ExactText,
      'Only payments with exactly this reference',
      (reference) => sql`reference_code = ${reference} and ${matches(referenceQuery(reference))}`,
    ),
    search: filter(SearchText, searched, (search) => isFound(search, {})),
    created_at_from: commonFilters.created_at_from,
    created_at_to: commonFilters.created_at_to,
    amount_from: filter(Amount, 'Only payments of at least this amount', (cents) => sql`amount_cents >= ${cents}`),
    amount_to: filter(Amount, 'Only payments of at most this amount', (cents) => sql`amount_cents <= ${cents}`),
    currency: filter(Currency, 'Only payments in this currency', (code) => sql`currency = ${code.toUpperCase()}`),
    // The first condition is that of an index.
    refunded: flag('refunded, at least in part', sql`(refunded_cents is not null and amount_refunded_cents > 0)`),
    disputed: flag('disputed, with any outcome', sql`(dispute_statuses is not null)`),
    attention: flag('something that a human has to look at', sql`(attention_entries is not null)`),
  },
  orders: {
    created_at: { column: 'created_at', holds: 'time' },
    updated_at: { column: 'updated_at', holds: 'time' },
    amount_cents: { column: 'amount_cents', holds: 'integer' },
  },
} satisfies List

/** For a search of common words. */
const commonWordsList: List<typeof AnyListedPayment> = {
  ...anyPaymentList,
  filters: {
    ...anyPaymentList.filters,
    search: filter(SearchText, searched, (search) => isFound(search, { ignoresIndex: true })),
  },
}

/** Counting stops here. */
export const maxTotal = 10_000

export type AnyPaymentsPage = ListPage<Static<typeof AnyListedPayment>> & {
  readonly total: number
  readonly isExact: boolean
}

/** @returns the page, and how many payments match, counted up to `maxTotal` */
export async function listAnyPayments(
  db: Queryable,
  query: ListQuery & { readonly cursor?: string | undefined; readonly search?: string | undefined },
): Promise<AnyPaymentsPage> {
  const list = (await isCommonSearch(db, query.search)) ? commonWordsList : anyPaymentList
  const conditions = conditionsOf(list, query)
  const counted = runQuery(
    db,
    sql<{ readonly total: number }>`select count(*) as total from (
      select id from read_models.payments where ${allOf(conditions)} limit ${maxTotal + 1}
    ) as counted`,
    { customPlan: true },
  )
  const unfiltered = conditions.length === 0 ? readAfter(db, list, query) : undefined
  const [[row], all] = await Promise.all([counted, unfiltered])
  const total = row?.total ?? 0
  const page = all ?? (await readAfter(db, list, query, { isSorted: total <= maxTotal }))
  return { ...page, total: Math.min(total, maxTotal), isExact: total <= maxTotal }
}

/** The newest payments, of which `isCommonFrom` match a search for common words. */
const probed = 200
const isCommonFrom = 20

/** Reading the index of common words takes seconds for a million payments. */
async function isCommonSearch(db: Queryable, search = ''): Promise<boolean> {
  if (search.trim() === '') return false
  const [found] = await runQuery(
    db,
    sql<{ readonly total: number }>`select count(*) as total from (
      select search_terms from read_models.payments order by created_at desc, id desc limit ${sql.lit(probed)}
    ) as newest where ${matches(termsQuery(search.trim()), { ignoresIndex: true })}`,
  )
  return (found?.total ?? 0) >= isCommonFrom
}

type IndexUse = {
  /** Whether Postgres must not use the index of the terms. */
  readonly ignoresIndex?: boolean
}

const matches = (query: string, { ignoresIndex = false }: IndexUse = {}): Sql =>
  sql`${sql.raw(searchTermsSql)} ${sql.raw(ignoresIndex ? "|| ''" : '')} @@ ${query}::tsquery`

/** Our ids, and a provider's ids of intents, charges, refunds and disputes; or the terms. */
function isFound(text: string, options: IndexUse): Sql | undefined {
  const search = text.trim()
  if (search === '') return undefined
  const id = recordedId(search)
  const ours = id === null ? sql`` : sql`or id = ${id}`
  return sql`(
    ${matches(termsQuery(search), options)} or provider_intent_id = ${search} or provider_payment_id = ${search} ${ours}
    or id = any(array(
      select payment_id from read_models.refunds where provider_refund_id = ${search} ${ours}
      union all
      select payment_id from read_models.disputes where provider_dispute_id = ${search} ${ours}
    ))
    or (attention_entries is not null and exists (
      select from jsonb_each(charge_reports) as report where report.value->>'charge' = ${search}
    ))
  )`
}
