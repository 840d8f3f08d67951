// The list of addresses.
import { AddressResource } from '@paylog/domain/addresses/address'
import { AddressType } from '@paylog/domain/addresses/events'
import { sql } from 'kysely'
import { isDefault } from '../defaults/queries.ts'
import { byCreation, defineList } from '../lists/defineList.ts'
import { filter, isKeptOf } from '../lists/filters.ts'

export const addressList = defineList('addresses', {
  item: AddressResource,
  computed: () => ({ is_default: isDefault(sql`item.address_type || '_addresses'`) }),
  readBy: isKeptOf,
  filters: { address_type: filter(AddressType, 'Only addresses of this type', 'address_type') },
  orders: byCreation,
})
