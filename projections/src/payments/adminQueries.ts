// The administrators' list of payments: everybody's, by filters and search.
import { userOwner } from '@paylog/domain/actor'
import { recordedId } from '@paylog/domain/fields'
import type { DisputeStatus } from '@paylog/domain/payments/events'
import type { PaymentStatus } from '@paylog/domain/payments/payment'
import { ListedPayment } from '@paylog/domain/payments/resource'
import type { PagePosition } from '@paylog/runtime/http/cursor'
import { type RawBuilder, sql } from 'kysely'
import { afterPosition, type ListOrder, type NextPage } from '../queries/listPage.ts'
import { type Placeholder, prepareQuery, type Queryable, type QueryParameters } from '../queries/namedQuery.ts'
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { guestEmailEquals } from '../queries/textFilters.ts'
import { paymentColumns } from './projection.ts'
import { views } from './queries.ts'
import { referenceQuery, searchTermsSql, termsQuery } from './searchTerms.ts'

export type AnyPaymentOrder = 'created_at' | 'updated_at' | 'amount_cents'

/** A payment in the administrators' list. */
export type AnyListedPayment = Omit<ListedPayment, 'payment_method'> & {
  readonly user_id: string | null
  readonly dispute_status: DisputeStatus | null
  /** Whether a human has to look at it. */
  readonly attention: boolean
}

type Filters = {
  readonly status?: PaymentStatus | undefined
  readonly provider_id?: string | undefined
  readonly user_id?: string | undefined
  readonly guest_email?: string | undefined
  readonly reference_code?: string | undefined
  /** An id, an e-mail, a reference, or words of the description. */
  readonly search?: string | undefined
  /** Both bounds are exclusive. */
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  /** Both bounds are inclusive. */
  readonly amount_from?: number | undefined
  readonly amount_to?: number | undefined
  readonly currency?: string | undefined
}

export type Flag = 'any' | 'true' | 'false'

type Flags = {
  /** Whether at least a part was refunded. */
  readonly refunded: Flag
  /** Whether it was ever disputed. */
  readonly disputed: Flag
  readonly attention: Flag
}

export type AnyPaymentsQuery = Filters &
  Flags &
  ListOrder<AnyPaymentOrder> & {
    readonly limit: number
    /** Where the page begins; undefined for the first. */
    readonly after?: PagePosition | undefined
  }

/** Counting stops here. */
export const maxTotal = 10_000

export type AnyPaymentsPage = NextPage<AnyListedPayment> & { readonly total: number; readonly isExact: boolean }

type FilterShape = Flags & {
  /** Whether the search has the format of an id. */
  readonly isId: boolean
  /** Whether so many payments match the search that reading them is faster than their index. */
  readonly isCommon: boolean
}

type PageShape = FilterShape & ListOrder<AnyPaymentOrder> & { readonly readsInOrder: boolean }

const listedColumns = shownColumns(ListedPayment, paymentColumns)
const shown = [...listedColumns, 'user_id', 'dispute_status', 'has_attention as attention'] as const
const listedPayment = resourceOf(ListedPayment)

/** The newest payments, of which `isCommonFrom` match a search for common words. */
const probed = 200
const isCommonFrom = 20

const probedPayments = prepareQuery(({ search }: QueryParameters<{ readonly search: string }>) => {
  if (search === undefined) throw new Error('A search is required')
  const newest = views.selectFrom('payments').select('search_terms').orderBy('created_at', 'desc').orderBy('id', 'desc')
  const found = matches(search.through(termsQuery), true)
  return sql<{ readonly total: number }>`
    select count(*) as total from (${newest.limit(sql<number>`${sql.lit(probed)}`)}) as newest where ${found}`
})

/** Reading the index of common words takes seconds for a million payments. */
async function isCommonSearch(db: Queryable, search: string | undefined): Promise<boolean> {
  if (search === undefined) return false
  const [found] = await probedPayments(db, { search }, {})
  return (found?.total ?? 0) >= isCommonFrom
}

const countedPayments = prepareQuery(
  (parameters: QueryParameters<Filters>, shape: FilterShape) => {
    const counted = matchingPayments(parameters, shape)
      .select('id')
      .limit(sql<number>`${sql.lit(maxTotal + 1)}`)
    return sql<{ readonly total: number }>`select count(*) as total from ${counted} as counted`
  },
  { customPlan: true },
)

type PageValues = Filters & {
  readonly limit: number
  readonly after_value?: PagePosition['value'] | undefined
  readonly after_id?: string | undefined
}

const paymentsPage = prepareQuery(
  (parameters: QueryParameters<PageValues>, { orderBy, orderDir, readsInOrder, ...shape }: PageShape) => {
    const { after_value, after_id, limit } = parameters
    let matching = matchingPayments(parameters, shape).select('id')
    if (after_value !== undefined && after_id !== undefined)
      matching = afterPosition(matching, { after_value, after_id }, { orderBy, orderDir })
    // Few rows are sorted. Postgres would read a whole index in its order, because it expects to find them early in it.
    const key = readsInOrder ? sql.ref(orderBy) : sortedKeys[orderBy]
    const ids = matching.orderBy(key, orderDir).orderBy('id', orderDir).limit(limit)
    return views
      .selectFrom('payments')
      .select(shown)
      .where('id', 'in', ids)
      .orderBy(sql.ref(orderBy), orderDir)
      .orderBy('id', orderDir)
  },
  { customPlan: true },
)

/** The same order, without an index. */
const sortedKeys: Readonly<Record<AnyPaymentOrder, RawBuilder<unknown>>> = {
  created_at: sql`created_at + interval '0'`,
  updated_at: sql`updated_at + interval '0'`,
  amount_cents: sql`amount_cents + 0`,
}

/** @returns the page, and how many payments match, counted up to `maxTotal` */
export async function listAnyPayments(
  db: Queryable,
  { orderBy, orderDir, limit, after, refunded, disputed, attention, ...filters }: AnyPaymentsQuery,
): Promise<AnyPaymentsPage> {
  const isId = filters.search !== undefined && recordedId(filters.search) !== null
  const isCommon = await isCommonSearch(db, filters.search)
  const shape: FilterShape = { refunded, disputed, attention, isId, isCommon }
  const isAll = [refunded, disputed, attention].every((flag) => flag === 'any')
  const isFiltered = !isAll || Object.values(filters).some((value) => value !== undefined)
  const values = { ...filters, limit: limit + 1, after_value: after?.value, after_id: after?.id }
  const read = (readsInOrder: boolean) => paymentsPage(db, values, { ...shape, orderBy, orderDir, readsInOrder })
  const unfiltered = isFiltered ? undefined : read(true)
  const [[counted], all] = await Promise.all([countedPayments(db, filters, shape), unfiltered])
  const total = counted?.total ?? 0
  const rows = all ?? (await read(total > maxTotal))
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    items: page.map(({ user_id, dispute_status, attention: hasAttention, ...row }) => ({
      ...listedPayment(row),
      user_id,
      dispute_status,
      attention: hasAttention,
    })),
    next: rows.length > limit && last !== undefined ? { value: last[orderBy], id: last.id } : null,
    total: Math.min(total, maxTotal),
    isExact: total <= maxTotal,
  }
}

/** A parameter of type text, compared as a time. */
const createdAt = sql<Date>`created_at`

function matchingPayments(
  filters: QueryParameters<Filters>,
  { refunded, disputed, attention, ...searched }: FilterShape,
) {
  const { status, provider_id, user_id, guest_email, reference_code, search, currency } = filters
  const { created_after, created_before, amount_from, amount_to } = filters
  let query = views.selectFrom('payments')
  if (status !== undefined) query = query.where('status', '=', status)
  if (provider_id !== undefined) query = query.where('provider_id', '=', provider_id)
  if (user_id !== undefined) query = query.where('owner', '=', user_id.through(userOwner))
  if (guest_email !== undefined) query = query.where(guestEmailEquals(guest_email))
  if (reference_code !== undefined) query = query.where(hasReference(reference_code))
  if (created_after !== undefined) query = query.where(createdAt, '>', created_after)
  if (created_before !== undefined) query = query.where(createdAt, '<', created_before)
  if (amount_from !== undefined) query = query.where('amount_cents', '>=', amount_from)
  if (amount_to !== undefined) query = query.where('amount_cents', '<=', amount_to)
  if (currency !== undefined) query = query.where('currency', '=', currency)
  if (search !== undefined) query = query.where(isFound(search, searched))
  if (refunded !== 'any') query = query.where(refunded === 'true' ? isRefunded : sql<boolean>`not ${isRefunded}`)
  if (disputed !== 'any') query = query.where('dispute_statuses', disputed === 'true' ? 'is not' : 'is', null)
  if (attention !== 'any') query = query.where('attention_entries', attention === 'true' ? 'is not' : 'is', null)
  return query
}

/** The first condition is that of an index. */
const isRefunded = sql<boolean>`(refunded_cents is not null and amount_refunded_cents > 0)`

/** @param ignoresIndex whether Postgres must not use the index of the terms */
const matches = (query: RawBuilder<string>, ignoresIndex = false) =>
  sql<boolean>`${sql.raw(searchTermsSql)} ${ignoresIndex ? sql`|| ''` : sql``} @@ ${query}::tsquery`

/** References are found by their term, which has an index. */
function hasReference(reference: Placeholder<string>): RawBuilder<boolean> {
  return sql<boolean>`(reference_code = ${reference} and ${matches(reference.through(referenceQuery))})`
}

/** Our ids, and a provider's ids of intents, charges, refunds and disputes; or the terms. */
function isFound(
  search: Placeholder<string>,
  { isId, isCommon }: Pick<FilterShape, 'isId' | 'isCommon'>,
): RawBuilder<boolean> {
  const id = search.through(recordedId)
  const ours = (what: RawBuilder<unknown>) => (isId ? sql`or ${what} = ${id}` : sql``)
  return sql<boolean>`(
    ${matches(search.through(termsQuery), isCommon)}
    or provider_intent_id = ${search} or provider_payment_id = ${search} ${ours(sql`id`)}
    or id = any(array(
      select payment_id from read_models.refunds where provider_refund_id = ${search} ${ours(sql`id`)}
      union all
      select payment_id from read_models.disputes where provider_dispute_id = ${search} ${ours(sql`id`)}
    ))
    or (attention_entries is not null and exists (
      select from jsonb_each(charge_reports) as report where report.value->>'charge' = ${search}
    ))
  )`
}
