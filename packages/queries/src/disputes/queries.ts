// The list of disputes. They have no owner: the caller must be an administrator.
import { Instant, Nullable } from '@paylog/domain/fields'
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { expressionBuilder, type SqlBool, sql } from 'kysely'
import { Type } from 'typebox'
import { byChange, defineList } from '../lists/defineList.ts'
import { filter, moneyFilters, ofPayer, ofPayment } from '../lists/filters.ts'
import { aboutPayment, textsOfPayment } from '../payments/queries.ts'
import type { Item } from '../readModels.ts'
import { disputeMovements, mayHaveMoved, reportedIn } from '../reports/reportedIn.ts'

/** A dispute in the list. */
const ListedDispute = Type.Interface(
  [DisputeResource],
  {
    taken_at: Nullable(
      Type.With(Instant, { description: 'When the provider last took the money; null for an inquiry' }),
    ),
    given_back_at: Nullable(Type.With(Instant, { description: 'When the provider last gave the money back' })),
    ...aboutPayment,
  },
  { title: 'Dispute' },
)

const lastMoved = (direction: 'taken' | 'given back') =>
  sql<
    string | null
  >`(select max(at) from ${disputeMovements} as moved where is_taken = ${sql.lit(direction === 'taken')})`

export const disputeList = defineList('disputes', {
  item: ListedDispute,
  computed: (dispute) => ({
    ...textsOfPayment(dispute),
    taken_at: lastMoved('taken'),
    given_back_at: lastMoved('given back'),
  }),
  filters: {
    status: filter(DisputeStatus, 'Only disputes with this status', 'status'),
    payment_id: ofPayment('disputes'),
    ...ofPayer('disputes'),
    ...moneyFilters('disputes'),
    reported_in: reportedIn('disputes', (_: Item<'disputes'>, isWithin, period) => {
      const moved = sql<SqlBool>`exists (select from ${disputeMovements} as moved where ${isWithin(sql.ref('moved.at'))})`
      return expressionBuilder().and([mayHaveMoved(period), moved])
    }),
  },
  orders: byChange,
})
