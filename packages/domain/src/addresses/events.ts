// Everything that can happen to an address, as recorded facts.
import { type Static, Type } from 'typebox'
import { DefaultChoice } from '../defaultChoice.ts'
import type { EventsOf } from '../events.ts'
import { Id, Instant, Nullable } from '../fields.ts'

export const AddressType = Type.Enum(['billing', 'shipping'])
export type AddressType = Static<typeof AddressType>

const Text = Nullable(Type.String())

/** What an owner says of an address, and may change later. */
export const AddressContent = Type.Object({
  address_type: AddressType,
  organization_id: Text,
  name: Text,
  line1: Text,
  line2: Text,
  city: Text,
  state: Text,
  postal_code: Text,
  /** ISO 3166-1 alpha-2, upper case. */
  country: Text,
  is_partial: Type.Boolean(),
  is_business: Type.Boolean(),
  business_name: Text,
  tax_id: Text,
  tax_id_type: Text,
  phone: Text,
  email: Text,
  alias: Text,
  guest_name: Text,
})
export type AddressContent = Static<typeof AddressContent>

/** The content of an address of which its owner says nothing but the type. */
export const emptyAddressContent: Omit<AddressContent, 'address_type'> = {
  organization_id: null,
  name: null,
  line1: null,
  line2: null,
  city: null,
  state: null,
  postal_code: null,
  country: null,
  is_partial: false,
  is_business: false,
  business_name: null,
  tax_id: null,
  tax_id_type: null,
  phone: null,
  email: null,
  alias: null,
  guest_name: null,
}

/** The owner's part of something that holds more. */
export function addressContentOf(from: AddressContent): AddressContent {
  const { address_type, organization_id, name, line1, line2, city, state, postal_code, country } = from
  const { is_partial, is_business, business_name, tax_id, tax_id_type, phone, email, alias, guest_name } = from
  const place = { address_type, organization_id, name, line1, line2, city, state, postal_code, country }
  return { ...place, is_partial, is_business, business_name, tax_id, tax_id_type, phone, email, alias, guest_name }
}

/** What every event of an address repeats. */
const facts = { address_id: Id, occurred_at: Instant }

export const addressEvents = {
  AddressAdded: Type.Object({
    ...facts,
    /** The user that it belongs to; null for a guest's. */
    user_id: Text,
    /** The guest that it belongs to; of a user's address no more than contact data. */
    guest_email: Text,
    ...AddressContent.properties,
    default_choice: Nullable(DefaultChoice),
    /** SHA-256 of the request, when it came with an Idempotency-Key. */
    request_fingerprint: Text,
  }),
  /** Only what is another value than before. Of another type, it is nobody's default any more. */
  AddressChanged: Type.Object({ ...facts, changes: Type.Partial(AddressContent) }),
  AddressMadeDefault: Type.Object({ ...facts, default_choice: DefaultChoice }),
  AddressDefaultCleared: Type.Object(facts),
  AddressRemoved: Type.Object(facts),
}
export type AddressEvent = EventsOf<typeof addressEvents>
export type AddressAdded = Extract<AddressEvent, { type: 'AddressAdded' }>
