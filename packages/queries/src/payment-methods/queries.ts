// The list of payment methods, and the summaries that payments have of them.
import { PaymentMethodResource, PaymentMethodSummary } from '@paylog/domain/payment-methods/paymentMethod'
import { sql } from 'kysely'
import { isDefault } from '../defaults/queries.ts'
import { byCreation, type List } from '../lists/lists.ts'
import type { Sql } from '../lists/runQuery.ts'

export const paymentMethodList: List<typeof PaymentMethodResource> = {
  view: 'payment_methods',
  item: PaymentMethodResource,
  computed: () => ({ is_default: isDefault(sql`'payment_methods'`) }),
  // A literal `not is_removed`: with a parameter, a prepared plan could not use the partial index.
  readBy: (owner) => sql`owner = ${owner} and not is_removed`,
  filters: {},
  orders: byCreation,
}

const summaryFields = Object.keys(PaymentMethodSummary.properties).map((name) => `'${name}', method.${name}`)

/**
 * The summary of a payment's method, removed or not; null if the method is not this owner's.
 * @param owner who reads the payment, so that it never shows another owner's method
 */
export const methodSummary = (owner: string | undefined): Sql => sql`(
  select json_build_object(${sql.raw(summaryFields.join(', '))}) from read_models.payment_methods as method
  where method.owner = ${owner}
    -- A test id of the provider is no uuid. A comparison as text could not use the primary key.
    and method.id = case when item.payment_method_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then item.payment_method_id::uuid end
)`
