// The list of disputes. They have no owner: the caller must be an administrator.
import { DisputeResource } from '@paylog/domain/payments/disputes'
import { DisputeStatus } from '@paylog/domain/payments/events'
import { sql } from 'kysely'
import { byCreation, filter, type List } from '../lists/lists.ts'

export const disputeList: List<typeof DisputeResource> = {
  view: 'disputes',
  item: DisputeResource,
  filters: {
    status: filter(DisputeStatus, 'Only disputes with this status', (status) => sql`status = ${status}`),
  },
  orders: byCreation,
}
