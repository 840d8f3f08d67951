// The list of disputes. They have no owner: the caller must be an administrator.
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { byCreation, defineList } from '../lists/defineList.ts'
import { filter } from '../lists/filters.ts'

export const disputeList = defineList('disputes', {
  item: DisputeResource,
  computed: () => ({}),
  filters: { status: filter(DisputeStatus, 'Only disputes with this status', 'status') },
  orders: byCreation,
})
