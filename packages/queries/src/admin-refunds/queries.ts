// The administrators' list of refunds: everybody's, by filters.
import { Instant, Nullable } from '@paylog/domain/fields'
import { RefundStatus } from '@paylog/domain/payments/events'
import { RefundResource } from '@paylog/domain/payments/refunds'
import { Type } from 'typebox'
import { byChange, defineList } from '../lists/defineList.ts'
import { filter, moneyFilters, ofPayer, ofPayment } from '../lists/filters.ts'
import { aboutPayment, textsOfPayment } from '../payments/queries.ts'
import type { Item } from '../readModels.ts'
import { reportedIn } from '../reports/reportedIn.ts'

/** A refund in the administrators' list. */
const AnyListedRefund = Type.Interface(
  [RefundResource],
  {
    provider_id: Type.String(),
    succeeded_at: Nullable(Type.With(Instant, { description: 'When it was first recorded as succeeded' })),
    returned_at: Nullable(
      Type.With(Instant, { description: 'When it failed after it had succeeded, and the money came back' }),
    ),
    ...aboutPayment,
  },
  { title: 'AnyListedRefund' },
)

export const anyRefundList = defineList('refunds', {
  item: AnyListedRefund,
  computed: textsOfPayment,
  filters: {
    status: filter(RefundStatus, 'Only refunds with this status', 'status'),
    payment_id: ofPayment('refunds'),
    ...ofPayer('refunds'),
    ...moneyFilters('refunds'),
    reported_in: reportedIn('refunds', (refund: Item<'refunds'>, isWithin) =>
      refund.or([isWithin(refund.ref('succeeded_at')), isWithin(refund.ref('returned_at'))]),
    ),
  },
  orders: byChange,
})
