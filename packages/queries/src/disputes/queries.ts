// The list of disputes. They have no owner: the caller must be an administrator.
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { Type } from 'typebox'
import { byChange, defineList } from '../lists/defineList.ts'
import { filter, moneyFilters, ofPayment } from '../lists/filters.ts'
import { aboutPayment, textsOfPayment } from '../payments/queries.ts'

/** A dispute in the list. */
const ListedDispute = Type.Interface([DisputeResource], aboutPayment, { title: 'Dispute' })

export const disputeList = defineList('disputes', {
  item: ListedDispute,
  computed: textsOfPayment,
  filters: {
    status: filter(DisputeStatus, 'Only disputes with this status', 'status'),
    payment_id: ofPayment('disputes'),
    ...moneyFilters('disputes'),
  },
  orders: byChange,
})
