// The list of addresses.
import { AddressResource } from '@paylog/domain/addresses/address'
import { AddressType } from '@paylog/domain/addresses/events'
import { sql } from 'kysely'
import { isDefault } from '../defaults/queries.ts'
import { byCreation, filter, type List } from '../lists/lists.ts'

export const addressList: List<typeof AddressResource> = {
  view: 'addresses',
  item: AddressResource,
  computed: () => ({ is_default: isDefault(sql`item.address_type || '_addresses'`) }),
  // A literal `not is_removed`: with a parameter, a prepared plan could not use the partial index.
  readBy: (owner) => sql`owner = ${owner} and not is_removed`,
  filters: {
    address_type: filter(AddressType, 'Only addresses of this type', (type) => sql`address_type = ${type}`),
  },
  orders: byCreation,
}
