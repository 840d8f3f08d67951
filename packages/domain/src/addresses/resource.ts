// An address as clients see it (interface, section 2.5).
import { type Static, Type } from 'typebox'
import { Nullable } from '../fields.ts'
import { AddressContent } from './events.ts'

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
