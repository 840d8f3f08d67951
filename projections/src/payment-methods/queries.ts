// Queries for payment methods. Columns are listed one by one, so that new ones are not exposed by accident.
import {
  detailsOf,
  type PaymentMethodResource,
  type PaymentMethodSummary,
} from '@paylog/domain/payment-methods/paymentMethod'
import { sql } from 'kysely'
import { isDefault } from '../defaults/queries.ts'
import {
  type Found,
  type JoinedColumn,
  type ListOrder,
  type ListPage,
  type PageParameters,
  pageQuery,
  type ResourceQuery,
  toListPage,
} from '../queries/listPage.ts'
import {
  type Placeholder,
  prepareQuery,
  type Queryable,
  type QueryParameters,
  queryBuilder,
} from '../queries/namedQuery.ts'
import { guestEmailEquals } from '../queries/textFilters.ts'
import type { PaymentMethodRow } from './projection.ts'

/** A row of the view `payment_methods`. */
export type PaymentMethodRecord = Omit<PaymentMethodRow, 'user_id'> & { readonly id: string; readonly revision: number }

const views = queryBuilder<{ readonly payment_methods: PaymentMethodRecord }>('read_models')

/** The columns of a list. A single method also has its revision, for the ETag. */
const methodColumns = [
  'id',
  'guest_email',
  'provider_id',
  'provider_customer_id',
  'payment_type',
  'wallet_type',
  'card_brand',
  'last_four',
  'expiry_month',
  'expiry_year',
  'type',
  'alias',
  'organization_id',
  'billing_address_id',
  'billing_details',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PaymentMethodRecord)[]

const isDefaultMethod = isDefault('payment_methods', sql.lit('payment_methods')).as('is_default')

type SelectedMethod = Pick<PaymentMethodRecord, (typeof methodColumns)[number]> & { readonly is_default: boolean }

function paymentMethodOf(record: SelectedMethod): PaymentMethodResource {
  return {
    id: record.id,
    ...detailsOf(record),
    alias: record.alias,
    type: record.type,
    provider_id: record.provider_id,
    customer_id: record.provider_customer_id,
    organization_id: record.organization_id,
    billing_address_id: record.billing_address_id,
    billing_details: record.billing_details,
    is_default: record.is_default,
    guest_email: record.guest_email,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}

const summaryFields = [
  'id',
  'payment_type',
  'wallet_type',
  'card_brand',
  'last_four',
  'expiry_month',
  'expiry_year',
  'alias',
] as const satisfies readonly (keyof PaymentMethodSummary & keyof PaymentMethodRecord)[]

export type WithSummary = { readonly payment_method: PaymentMethodSummary | null }

/**
 * Joins the summary of a row's method, removed or not, as `payment_method`; null if the method is not this owner's.
 * @param owner of the row and of the method, so that a payment never shows another owner's method
 * @param methodId SQL for the row's method id, which may be a test id of the provider
 */
export function methodSummary(owner: Placeholder<string>, methodId: string): JoinedColumn {
  const named = sql.ref(methodId)
  const members = summaryFields.map((field) => sql`${sql.lit(field)}, ${sql.ref(`method.${field}`)}`)
  return {
    column: sql`case when method.id is not null then json_build_object(${sql.join(members)}) end as payment_method`,
    // Compares as uuid: a comparison as text could not use the primary key.
    join: sql`left join read_models.payment_methods as method on method.owner = ${owner}
      and method.id = case when ${named} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then ${named}::uuid end`,
  }
}

type Values = PageParameters & {
  /** The owner; see `ownerOf`. */
  readonly owner: string
  readonly guest_email?: string | undefined
}

export type PaymentMethodsQuery = Values & ListOrder

const paymentMethodsPage = prepareQuery((parameters: QueryParameters<Values>, order: ListOrder) => {
  const { owner, guest_email } = parameters
  let matching = notRemoved(owner).select(methodColumns).select(isDefaultMethod)
  if (guest_email !== undefined) matching = matching.where(guestEmailEquals(guest_email))
  return pageQuery(matching, parameters, order)
})

export async function listPaymentMethods(
  db: Queryable,
  { orderBy, orderDir, ...values }: PaymentMethodsQuery,
): Promise<ListPage<PaymentMethodResource>> {
  return toListPage(await paymentMethodsPage(db, values, { orderBy, orderDir }), paymentMethodOf)
}

const methodById = prepareQuery(({ id, owner }: QueryParameters<ResourceQuery>) =>
  notRemoved(owner).select(methodColumns).select(['revision', isDefaultMethod]).where('id', '=', id),
)

/** @returns `undefined` if the method is missing, removed or another owner's */
export async function getPaymentMethod(
  db: Queryable,
  query: ResourceQuery,
): Promise<Found<PaymentMethodResource> | undefined> {
  const [record] = await methodById(db, query, {})
  return record && { item: paymentMethodOf(record), revision: BigInt(record.revision) }
}

/** A literal `not is_removed`: with a parameter, a prepared plan could not use the partial index. */
function notRemoved(owner: Placeholder<string>) {
  return views
    .selectFrom('payment_methods')
    .where('owner', '=', owner)
    .where(({ not, ref }) => not(ref('is_removed')))
}
