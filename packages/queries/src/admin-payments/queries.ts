// The administrators' list of payments: everybody's, by filters and search.
import { userOwner } from '@paylog/domain/actor'
import { Nullable, recordedId } from '@paylog/domain/fields'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { ListedPayment } from '@paylog/domain/payments/resource'
import { referenceQuery, searchTermsSql, termsQuery } from '@paylog/projections/payments/searchTerms'
import { defineQuery, type Given, type Parameter, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type SqlBool, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { defineList } from '../lists/defineList.ts'
import { ExactText, filter, flag, hasGuestEmail, SearchText } from '../lists/filters.ts'
import { countUpTo, isFiltered, type ListPage, type ListQuery, readAfter } from '../lists/lists.ts'
import { commonFilters } from '../payments/queries.ts'
import { type Item, readModels } from '../readModels.ts'

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

const searched =
  'An id of ours or of the provider (intent, charge, refund, dispute), an e-mail or a reference, each as a whole; ' +
  'or words of the concept, the reference and the description: all of them, in any order, each at least by its beginning'

type IndexUse = {
  /** Whether Postgres must not use the index of the terms. */
  readonly ignoresIndex: boolean
}

function matches(query: Parameter<string>, { ignoresIndex }: IndexUse = { ignoresIndex: false }) {
  const terms = sql.raw(ignoresIndex ? `${searchTermsSql} || ''` : searchTermsSql)
  return sql<SqlBool>`${terms} @@ ${query}::tsquery`
}

/** By our ids, and a provider's ids of intents, charges, refunds and disputes; or by the terms. */
const searchFor = (options: IndexUse) =>
  filter(
    SearchText,
    searched,
    (payment: Item<'payments'>, search) => {
      const ours = search.as(recordedId)
      const refunds = payment
        .selectFrom('read_models.refunds')
        .select('payment_id')
        .where(({ eb, or }) => or([eb('provider_refund_id', '=', search), eb('id', '=', ours)]))
      const disputes = payment
        .selectFrom('read_models.disputes')
        .select('payment_id')
        .where(({ eb, or }) => or([eb('provider_dispute_id', '=', search), eb('id', '=', ours)]))
      return payment.or([
        matches(search.as(termsQuery), options),
        payment('provider_intent_id', '=', search),
        payment('provider_payment_id', '=', search),
        payment('item.id', '=', ours),
        payment('item.id', '=', sql<string>`any(array(${refunds.unionAll(disputes)}))`),
        payment.and([
          payment('attention_entries', 'is not', null),
          sql<SqlBool>`exists (select from jsonb_each(charge_reports) as report where report.value->>'charge' = ${search})`,
        ]),
      ])
    },
    (search) => search.trim() || undefined,
  )

const paymentsBySearch = (use: IndexUse) =>
  defineList('payments', {
    item: AnyListedPayment,
    computed: (payment) => ({ attention: payment.ref('item.has_attention') }),
    filters: {
      status: commonFilters.status,
      provider_id: filter(ExactText, 'Only payments of this provider', 'provider_id'),
      user_id: filter(ExactText, 'Only payments of this user', (payment, id) =>
        payment('owner', '=', id.as(userOwner)),
      ),
      guest_email: filter(
        ExactText,
        'Only payments with this guest e-mail, ignoring the case of ASCII letters',
        (_, email) => hasGuestEmail(email),
      ),
      // References are found by their term, which has an index.
      reference_code: filter(ExactText, 'Only payments with exactly this reference', (payment, reference) =>
        payment.and([payment('reference_code', '=', reference), matches(reference.as(referenceQuery))]),
      ),
      search: searchFor(use),
      created_at_from: commonFilters.created_at_from,
      created_at_to: commonFilters.created_at_to,
      amount_from: filter(Amount, 'Only payments of at least this amount', (payment, cents) =>
        payment('amount_cents', '>=', cents),
      ),
      amount_to: filter(Amount, 'Only payments of at most this amount', (payment, cents) =>
        payment('amount_cents', '<=', cents),
      ),
      currency: filter(Currency, 'Only payments in this currency', (payment, code) =>
        payment('currency', '=', sql<string>`upper(${code})`),
      ),
      // The first condition is that of an index.
      refunded: flag('Only payments that are, or are not, refunded, at least in part', (payment) =>
        payment.and([payment('refunded_cents', 'is not', null), payment('amount_refunded_cents', '>', payment.lit(0))]),
      ),
      disputed: flag('Only payments that are, or are not, disputed, with any outcome', (payment) =>
        payment('dispute_statuses', 'is not', null),
      ),
      attention: flag('Only payments that are, or are not, something that a human has to look at', (payment) =>
        payment('attention_entries', 'is not', null),
      ),
    },
    orders: {
      created_at: { column: 'created_at', holds: 'time' },
      updated_at: { column: 'updated_at', holds: 'time' },
      amount_cents: { column: 'amount_cents', holds: 'integer' },
    },
  })

export const anyPaymentList = paymentsBySearch({ ignoresIndex: false })
/** For a search of common words. */
const commonWordsList = paymentsBySearch({ ignoresIndex: true })

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
  const counted = countUpTo(db, list, query, maxTotal + 1)
  const unfiltered = isFiltered(list, query) ? undefined : readAfter(db, list, query)
  const [total, all] = await Promise.all([counted, unfiltered])
  const page = all ?? (await readAfter(db, list, query, { isSorted: total <= maxTotal }))
  return { ...page, total: Math.min(total, maxTotal), isExact: total <= maxTotal }
}

/** The newest payments, of which `isCommonFrom` match a search for common words. */
const probed = 200
const isCommonFrom = 20

const matchingNewest = defineQuery(({ search }: Given<{ readonly search: string }>) => {
  const newest = readModels
    .selectFrom('read_models.payments')
    .select('search_terms')
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(sql.lit(probed))
  return readModels
    .selectFrom(newest.as('newest'))
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(matches(search.as(termsQuery), { ignoresIndex: true }))
})

/** Reading the index of common words takes seconds for a million payments. */
async function isCommonSearch(db: Queryable, search = ''): Promise<boolean> {
  if (search.trim() === '') return false
  const [found] = await matchingNewest(db, { search: search.trim() })
  return (found?.total ?? 0) >= isCommonFrom
}
