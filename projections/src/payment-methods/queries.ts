// Queries for payment methods.
import { PaymentMethodResource, PaymentMethodSummary } from '@paylog/domain/payment-methods/paymentMethod'
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
import { resourceOf, shownColumns } from '../queries/resources.ts'
import { guestEmailEquals } from '../queries/textFilters.ts'
import { methodColumns, type PaymentMethodRecord } from './projection.ts'

const views = queryBuilder<{ readonly payment_methods: PaymentMethodRecord }>('read_models')

/** The columns of a list. A single method also has its revision, for the ETag. */
const shown = shownColumns(PaymentMethodResource, methodColumns)
const paymentMethodOf = resourceOf(PaymentMethodResource)

const isDefaultMethod = isDefault('payment_methods', sql.lit('payment_methods')).as('is_default')

const summaryFields = shownColumns(PaymentMethodSummary, methodColumns)

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
  let matching = notRemoved(owner).select(shown).select(isDefaultMethod)
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
  notRemoved(owner).select(shown).select(['revision', isDefaultMethod]).where('id', '=', id),
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
