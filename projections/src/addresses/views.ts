// From a row of the view `addresses` to the address that its owner sees, field by field: what is not named here cannot
// leave the service.
import { addressContentOf } from '@paylog/domain/addresses/events'
import type { AddressResource } from '@paylog/domain/addresses/resource'
import { queryBuilder } from '../queries/composer.ts'
import type { AddressRow } from './projection.ts'

/** A row of the view `addresses`. */
export type AddressRecord = Omit<AddressRow, 'default_choice'> & {
  readonly id: string
  readonly revision: number
  /** Only of the one of its type that was chosen last, whatever the addresses' own events say. */
  readonly is_default: boolean
}

export const views = queryBuilder<{ readonly addresses: AddressRecord }>('read_models')

/** What a list reads of each address; a single one needs its revision too, for the ETag. */
export const addressColumns = [
  'id',
  'user_id',
  'guest_email',
  'address_type',
  'organization_id',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
  'is_partial',
  'is_business',
  'business_name',
  'tax_id',
  'tax_id_type',
  'phone',
  'email',
  'alias',
  'guest_name',
  'is_default',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof AddressRecord)[]

export function addressOf(record: Pick<AddressRecord, (typeof addressColumns)[number]>): AddressResource {
  return {
    id: record.id,
    user_id: record.user_id,
    guest_email: record.guest_email,
    ...addressContentOf(record),
    is_default: record.is_default,
    created_at: record.created_at,
    updated_at: record.updated_at,
  }
}
