// What a client sends of an address (interface, section 2.5), and what it says.
import { countryCode } from '@paylog/domain/addresses/countries'
import { type AddressContent, AddressType, emptyAddressContent } from '@paylog/domain/addresses/events'
import { DomainError } from '@paylog/domain/errors'
import { type Static, Type } from 'typebox'
import { optionalEmail, optionalText } from '../bodyFields.ts'

const fields = {
  organization_id: optionalText(),
  name: optionalText(),
  line1: optionalText(),
  line2: optionalText(),
  city: optionalText(),
  state: optionalText(),
  postal_code: optionalText(),
  country: optionalText({ description: 'ISO 3166-1 alpha-2, any case' }),
  is_partial: Type.Optional(Type.Boolean({ description: 'The address need not have line1, city and country' })),
  is_business: Type.Optional(Type.Boolean({ description: 'The address needs a business_name' })),
  business_name: optionalText(),
  tax_id: optionalText(),
  tax_id_type: optionalText(),
  phone: optionalText(),
  email: optionalEmail(),
  alias: optionalText(),
  is_default: Type.Optional(Type.Boolean()),
  guest_name: optionalText(),
}

const exampleContent = {
  address_type: 'billing',
  name: 'Ada Example',
  line1: '1 Sample Street',
  city: 'Berlin',
  postal_code: '10115',
  country: 'DE',
} as const

export const NewAddressBody = Type.Object(
  {
    address_type: AddressType,
    ...fields,
    guest_email: optionalEmail({ description: "A guest's is that of the token" }),
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

/** @throws DomainError `invalid_request` for a country that does not exist */
export function newContent({ guest_email: _, ...body }: NewAddressBody): AddressContent {
  return { ...emptyAddressContent, address_type: body.address_type, ...changedContent(body) }
}

/** @throws DomainError `invalid_request` for a country that does not exist */
export function changedContent({ is_default: _, country, ...changes }: AddressChangeBody): Partial<AddressContent> {
  return country === undefined ? changes : { ...changes, country: country === null ? null : existingCountry(country) }
}

function existingCountry(country: string): string {
  const code = countryCode(country)
  if (code !== undefined) return code
  const message = 'must be a country code of ISO 3166-1 alpha-2'
  throw new DomainError('invalid_request', `country ${message}`, { fields: [{ field: 'country', message }] })
}
