// An address: its state, folded from its events, its commands, and its API resource.
import { type Static, Type } from 'typebox'
import { recordedOwner } from '../actor.ts'
import { DomainError, invalidFields } from '../errors.ts'
import type { Fold } from '../events.ts'
import { differing, Nullable, pick } from '../fields.ts'
import { subjectNamed } from '../personalData.ts'
import { type AddressAdded, AddressContent, type AddressEvent } from './events.ts'

export type Address = Omit<AddressAdded['data'], 'occurred_at' | 'is_default'> & {
  readonly status: 'kept' | 'removed'
  /** Whether the request that added it made it the default; see defaultChoice.ts for whether it is. */
  readonly was_added_as_default: boolean
  readonly created_at: string
  readonly updated_at: string
}

export type AddressState = { readonly status: 'none' } | Address

export const addressFold: Fold<AddressState, AddressEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(state, event) {
    const updated_at = event.data.occurred_at
    if (event.type === 'AddressAdded') {
      const { occurred_at: created_at, is_default: was_added_as_default, ...added } = event.data
      return { ...added, status: 'kept', was_added_as_default, created_at, updated_at }
    }
    if (state.status === 'none') return state
    switch (event.type) {
      case 'AddressChanged':
        return { ...state, ...event.data.changes, updated_at }
      case 'AddressRemoved':
        return { ...state, updated_at, status: 'removed' }
    }
  },
  subjectOf: (state) => subjectNamed(state.status === 'none' ? null : recordedOwner(state)),
}

export type AddAddress = AddressAdded['data']

/**
 * Adds an address. One that exists or existed stays unchanged: its id came from the same Idempotency-Key.
 * @throws DomainError `invalid_request` when required fields are missing
 */
export function addAddress(command: AddAddress, state: AddressState): AddressEvent[] {
  if (state.status !== 'none') return []
  requireComplete(command)
  return [{ type: 'AddressAdded', data: command }]
}

export type ChangeAddress = {
  readonly occurred_at: string
  /** Omitted fields stay. */
  readonly changes: Partial<AddressContent>
}

/**
 * Changes an address. Values that it already has are not recorded again.
 * @throws DomainError `not_found`, `invalid_request` when required fields would be missing
 */
export function changeAddress(command: ChangeAddress, state: AddressState): AddressEvent[] {
  const address = existingAddress(state)
  const changes = differing<AddressContent>(address, command.changes)
  requireComplete({ ...address, ...changes })
  if (Object.keys(changes).length === 0) return []
  const { occurred_at } = command
  return [{ type: 'AddressChanged', data: { address_id: address.address_id, occurred_at, changes } }]
}

/** Removes an address. @throws DomainError `not_found` when it does not exist or was removed before */
export function removeAddress({ occurred_at }: { readonly occurred_at: string }, state: AddressState): AddressEvent[] {
  return [{ type: 'AddressRemoved', data: { address_id: existingAddress(state).address_id, occurred_at } }]
}

/** @throws DomainError `not_found` */
export function existingAddress(state: AddressState): Address {
  if (state.status === 'kept') return state
  throw new DomainError('not_found', 'No address with this id')
}

/**
 * Requires line1, city and country unless the address is partial, and business_name if it is a business address.
 * @throws DomainError `invalid_request`, naming the missing fields
 */
function requireComplete(address: AddressContent): void {
  const fields = missingFields(address)
  if (fields.length > 0) throw invalidFields(fields)
}

/** @param address may hold anything, as a client sent it: `is_partial` and `is_business` only count as booleans */
export function missingFields(address: Readonly<Partial<Record<keyof AddressContent, unknown>>>) {
  const { is_partial = false, is_business } = address
  const required: (keyof AddressContent)[] = is_partial === false ? ['line1', 'city', 'country'] : []
  if (is_business === true) required.push('business_name')
  return required.filter((field) => isBlank(address[field])).map((field) => ({ field, message: 'is required' }))
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
}

const Text = Nullable(Type.String())

/** An address in API responses (interface, section 2.5). */
export const AddressResource = Type.Object(
  {
    id: Type.String(),
    user_id: Text,
    guest_email: Text,
    ...AddressContent.properties,
    is_default: Type.Boolean(),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { title: 'Address' },
)
export type AddressResource = Static<typeof AddressResource>

export function addressResource(address: Address, is_default: boolean): AddressResource {
  return pick(AddressResource, { ...address, id: address.address_id, is_default })
}
