// The events of an address.
import { type Static, Type } from 'typebox'
import type { EventsOf } from '../events.ts'
import { fieldsOf, Id, Instant, Nullable } from '../fields.ts'
import { PersonalText } from '../personalData.ts'

export const AddressType = Type.Enum(['billing', 'shipping'], { title: 'AddressType' })
export type AddressType = Static<typeof AddressType>

const Text = Nullable(Type.String())

/** `country` is ISO 3166-1 alpha-2, upper case. */
export const placeFields = [
  'organization_id',
  'name',
  'line1',
  'line2',
  'city',
  'state',
  'postal_code',
  'country',
] as const
export const contactFields = ['business_name', 'tax_id', 'tax_id_type', 'phone', 'email', 'alias'] as const

/** The fields that an owner sets and may change. */
export const AddressContent = Type.Object({
  address_type: AddressType,
  ...fieldsOf(placeFields, () => Text),
  is_partial: Type.Boolean(),
  is_business: Type.Boolean(),
  ...fieldsOf(contactFields, () => Text),
  guest_name: Text,
})
export type AddressContent = Static<typeof AddressContent>

/** The content of an address for which the owner sets only the type. */
export const emptyAddressContent: Omit<AddressContent, 'address_type'> = {
  ...fieldsOf(placeFields, () => null),
  is_partial: false,
  is_business: false,
  ...fieldsOf(contactFields, () => null),
  guest_name: null,
}

const RecordedContent = Type.Object({
  ...AddressContent.properties,
  ...fieldsOf([...placeFields, ...contactFields, 'guest_name'], () => PersonalText),
})

/** Fields of every address event. */
const facts = { address_id: Id, occurred_at: Instant }

export const addressEvents = {
  AddressAdded: Type.Object({
    ...facts,
    /** The owner; null for a guest's address. */
    user_id: Text,
    /** The owner of a guest's address; only contact data on a user's. */
    guest_email: PersonalText,
    ...RecordedContent.properties,
    /** Whether the request made it the default of its type. The list's stream says whether it still is. */
    is_default: Type.Boolean(),
    /** SHA-256 of the request; null without an Idempotency-Key. */
    request_fingerprint: PersonalText,
  }),
  /** Only fields with a new value. */
  AddressChanged: Type.Object({ ...facts, changes: Type.Partial(RecordedContent) }),
  AddressRemoved: Type.Object(facts),
}
export type AddressEvent = EventsOf<typeof addressEvents>
export type AddressAdded = Extract<AddressEvent, { type: 'AddressAdded' }>
