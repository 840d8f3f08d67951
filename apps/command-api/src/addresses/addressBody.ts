// What a client sends of an address (interface, section 2.5), and what it says.

import { countryCode } from '@paylog/domain/addresses/countries'
import { type AddressContent, AddressType } from '@paylog/domain/addresses/events'
import { DomainError } from '@paylog/domain/errors'
import { Email, Nullable, Text } from '@paylog/domain/fields'
import { type Static, Type } from 'typebox'

const OptionalText = Type.Optional(Nullable(Text))
const OptionalEmail = Type.Optional(Nullable(Email))
const OptionalFlag = Type.Optional(Type.Boolean())

const fields = {
  organization_id: OptionalText,
  name: OptionalText,
  line1: OptionalText,
  line2: OptionalText,
  city: OptionalText,
  state: OptionalText,
  postal_code: OptionalText,
  country: Type.Optional(Nullable(Type.String({ maxLength: 255, description: 'ISO 3166-1 alpha-2, any case' }))),
  is_partial: Type.Optional(Type.Boolean({ description: 'The address need not have line1, city and country' })),
  is_business: Type.Optional(Type.Boolean({ description: 'The address needs a business_name' })),
  business_name: OptionalText,
  tax_id: OptionalText,
  tax_id_type: OptionalText,
  phone: OptionalText,
  email: OptionalEmail,
  alias: OptionalText,
  is_default: OptionalFlag,
  guest_name: OptionalText,
}

export const exampleContent = {
  address_type: 'billing',
  name: 'Ada Example',
  line1: '1 Sample Street',
  line2: null,
  city: 'Berlin',
  state: null,
  postal_code: '10115',
  country: 'DE',
} as const

export const NewAddressBody = Type.Object(
  {
    address_type: AddressType,
    ...fields,
    guest_email: Type.Optional(
      Nullable(Type.String({ format: 'email', maxLength: 255, description: "A guest's is that of the token" })),
    ),
  },
  {
    examples: [
      { ...exampleContent, is_default: true },
      { address_type: 'shipping', is_partial: true, country: 'FR', alias: 'Somewhere in France' },
    ],
  },
)
export type NewAddressBody = Static<typeof NewAddressBody>

export const AddressChangeBody = Type.Object(
  { address_type: Type.Optional(AddressType), ...fields },
  { minProperties: 1, examples: [{ alias: 'Office', is_default: true }, { line2: null }] },
)
export type AddressChangeBody = Static<typeof AddressChangeBody>

const nothing: Omit<AddressContent, 'address_type'> = {
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

/** @throws DomainError `invalid_request` for a country that does not exist */
export function newContent({ guest_email: _, ...body }: NewAddressBody): AddressContent {
  return { ...nothing, address_type: body.address_type, ...changedContent(body) }
}

/** @throws DomainError `invalid_request` for a country that does not exist */
export function changedContent({ is_default: _, country, ...changes }: AddressChangeBody): Partial<AddressContent> {
  return country === undefined ? changes : { ...changes, country: country === null ? null : existing(country) }
}

function existing(country: string): string {
  const code = countryCode(country)
  if (code !== undefined) return code
  const message = 'must be a country code of ISO 3166-1 alpha-2'
  throw new DomainError('invalid_request', `country ${message}`, { fields: [{ field: 'country', message }] })
}
