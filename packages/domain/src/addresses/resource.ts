// An address as clients see it (interface, section 2.5).
import { type Static, Type } from 'typebox'
import { Nullable } from '../fields.ts'
import type { Address } from './address.ts'
import { AddressContent, addressContentOf } from './events.ts'

const Text = Nullable(Type.String())

export const AddressResource = Type.Object({
  id: Type.String(),
  user_id: Text,
  guest_email: Text,
  ...AddressContent.properties,
  is_default: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type AddressResource = Static<typeof AddressResource>

/** The answer to its owner, straight from its events. */
export function addressResource(address: Address): AddressResource {
  return {
    id: address.address_id,
    user_id: address.user_id,
    guest_email: address.guest_email,
    ...addressContentOf(address),
    is_default: address.is_default,
    created_at: address.created_at,
    updated_at: address.updated_at,
  }
}
