// The list of payment methods, and the summaries that payments have of them.
import { PaymentMethodResource, PaymentMethodSummary } from '@paylog/domain/payment-methods/paymentMethod'
import type { Parameter } from '@paylog/runtime/postgres/runQuery'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { isDefault } from '../defaults/queries.ts'
import { byCreation, defineList } from '../lists/defineList.ts'
import { isKeptOf } from '../lists/filters.ts'
import type { Item } from '../readModels.ts'

export const paymentMethodList = defineList('payment_methods', {
  item: PaymentMethodResource,
  computed: () => ({ is_default: isDefault(sql.lit('payment_methods')) }),
  readBy: isKeptOf,
  filters: {},
  orders: byCreation,
})

const summary = sql.raw(
  Object.keys(PaymentMethodSummary.properties)
    .map((name) => `'${name}', method.${name}`)
    .join(', '),
)

/**
 * The summary of a payment's method, removed or not; null if the method is not this owner's.
 * @param owner who reads the payment, so that it never shows another owner's method
 */
export const methodSummary = (item: Item<'payments'>, owner: Parameter<string>) =>
  item
    .selectFrom('read_models.payment_methods as method')
    .select(sql<Static<typeof PaymentMethodSummary>>`json_build_object(${summary})`.as('summary'))
    .where('method.owner', '=', owner)
    // A test id of the provider is no uuid. A comparison as text could not use the primary key.
    .where(
      'method.id',
      '=',
      sql<string>`case when item.payment_method_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        then item.payment_method_id::uuid end`,
    )
    .$asScalar()
