// The administrators' list of payments: everybody's, by filters and search.
import { userOwner } from '@paylog/domain/actor'
import { Nullable } from '@paylog/domain/fields'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { ListedPayment } from '@paylog/domain/payments/resource'
import { referenceQuery, searchTermsSql, termsQuery } from '@paylog/projections/payments/searchTerms'
import { defineQuery, type Given, type Parameter, type Queryable } from '@paylog/runtime/postgres/runQuery'
import { type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import { defineList } from '../lists/defineList.ts'
import { ExactText, filter, flag, hasGuestEmail, moneyFilters, SearchText } from '../lists/filters.ts'
import { statusFilter } from '../payments/queries.ts'
import { type Item, readModels } from '../readModels.ts'
import { reportedIn } from '../reports/reportedIn.ts'
import { idBeginning, searchedAmount } from './searched.ts'

/** A payment in the administrators' list. */
const AnyListedPayment = Type.Interface(
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
const common = moneyFilters('payments')

const searched =
  'An id of ours, or its first 13 characters or more; an id of the provider (intent, charge, refund, dispute), an e-mail or a reference, ' +
  'each as a whole; an amount, such as `22 EUR`, `EUR 22`, `22.00` or `22,00`; or words of the concept, the reference and the description: ' +
  'all of them, in any order, each at least by its beginning. Names of payers are not searched, because they are sealed'

type IndexUse = {
  /** Whether Postgres must not use the index of the terms. */
  readonly ignoresIndex: boolean
}

function matches(query: Parameter<string>, { ignoresIndex }: IndexUse = { ignoresIndex: false }) {
  const terms = sql.raw(ignoresIndex ? `${searchTermsSql} || ''` : searchTermsSql)
  return sql<SqlBool>`${terms} @@ ${query}::tsquery`
}

type Searched = Item<'payments' | 'refunds' | 'disputes'>

/** Whether our id begins with what is searched for. */
const hasIdLike = (item: Searched, search: Parameter<string>) =>
  item.and([
    item(
      'item.id',
      '>=',
      search.as((text) => idBeginning(text, '0')),
    ),
    item(
      'item.id',
      '<=',
      search.as((text) => idBeginning(text, 'f')),
    ),
  ])

const hasAmountLike = (payment: Item<'payments'>, search: Parameter<string>) =>
  payment.and([
    payment(
      'amount_cents',
      '=',
      search.as((text) => searchedAmount(text)?.cents ?? null),
    ),
    sql<SqlBool>`item.currency = any(${search.as((text) => searchedAmount(text)?.currencies ?? [])}::text[])`,
  ])

/** By our ids, and a provider's ids of intents, charges, refunds and disputes; by the amount; or by the terms. */
const searchFor = (options: IndexUse) =>
  filter(
    SearchText,
    searched,
    (payment: Item<'payments'>, search) => {
      const refunds = readModels
        .selectFrom('read_models.refunds as item')
        .select('payment_id')
        .where((refund) => refund.or([refund('provider_refund_id', '=', search), hasIdLike(refund, search)]))
      const disputes = readModels
        .selectFrom('read_models.disputes as item')
        .select('payment_id')
        .where((dispute) => dispute.or([dispute('provider_dispute_id', '=', search), hasIdLike(dispute, search)]))
      return payment.or([
        matches(search.as(termsQuery), options),
        payment('provider_intent_id', '=', search),
        payment('provider_payment_id', '=', search),
        hasIdLike(payment, search),
        hasAmountLike(payment, search),
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
      status: statusFilter,
      provider_id: common.provider_id,
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
      created_at_from: common.created_at_from,
      created_at_to: common.created_at_to,
      reported_in: reportedIn('payments', (payment: Item<'payments'>, isWithin) =>
        payment.and([payment('charge_reports', 'is not', null), isWithin(payment.ref('completed_at'))]),
      ),
      amount_from: filter(Amount, 'Only payments of at least this amount', (payment, cents) =>
        payment('amount_cents', '>=', cents),
      ),
      amount_to: filter(Amount, 'Only payments of at most this amount', (payment, cents) =>
        payment('amount_cents', '<=', cents),
      ),
      currency: common.currency,
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

/** The list by which a search is found: for common words another one. */
export const listFor = async (db: Queryable, query: Readonly<Record<string, unknown>>) =>
  (await isCommonSearch(db, query.search)) ? commonWordsList : anyPaymentList

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
async function isCommonSearch(db: Queryable, search: unknown): Promise<boolean> {
  if (typeof search !== 'string' || search.trim() === '') return false
  const [found] = await matchingNewest(db, { search: search.trim() })
  return (found?.total ?? 0) >= isCommonFrom
}
