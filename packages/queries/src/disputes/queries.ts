// The list of disputes. They have no owner: the caller must be an administrator.
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { byCreation, defineList, filter } from '../lists/defineList.ts'

export const disputeList = defineList('disputes', {
  item: DisputeResource,
  filters: {
    status: filter(DisputeStatus, 'Only disputes with this status', (item, status) => item('status', '=', status)),
  },
  orders: byCreation,
})
