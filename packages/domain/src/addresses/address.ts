// An address: its state, folded from its events, its commands, and its API resource.
import { type Static, Type } from 'typebox'
import { isNewChoice } from '../defaultChoice.ts'
import { DomainError } from '../errors.ts'
import type { Fold } from '../events.ts'
import { Nullable } from '../fields.ts'
import { type AddressAdded, AddressContent, type AddressEvent, type AddressType, addressContentOf } from './events.ts'

export type Address = Omit<AddressAdded['data'], 'occurred_at' | 'default_choice'> & {
  readonly status: 'kept' | 'removed'
  readonly is_default: boolean
  /** The latest choice, in its type's list, that made it the default; kept when it no longer is. */
  readonly default_choice: number | null
  readonly created_at: string
  readonly updated_at: string
}

export type AddressState = { readonly status: 'none' } | Address

export const addressFold: Fold<AddressState, AddressEvent> = {
  initialState: Object.freeze({ status: 'none' }),
  evolve(state, event) {
    if (event.type === 'AddressAdded') return added(event)
    return state.status === 'none' ? state : evolved(state, event)
  },
}

function added({ data: { occurred_at, ...rest } }: AddressAdded): Address {
  const is_default = rest.default_choice !== null
  return { ...rest, status: 'kept', is_default, created_at: occurred_at, updated_at: occurred_at }
}

function evolved(address: Address, event: Exclude<AddressEvent, AddressAdded>): Address {
  const updated_at = event.data.occurred_at
  switch (event.type) {
    case 'AddressChanged': {
      const { changes } = event.data
      return {
        ...(changes.address_type === undefined ? address : withoutDefaultChoice(address)),
        ...changes,
        updated_at,
      }
    }
    case 'AddressMadeDefault':
      return { ...address, updated_at, is_default: true, default_choice: event.data.default_choice }
    case 'AddressDefaultCleared':
      return { ...address, updated_at, is_default: false }
    case 'AddressRemoved':
      return { ...address, updated_at, status: 'removed', is_default: false }
  }
}

/** Each type has its own list of choices, and the numbers of two lists are not comparable. */
function withoutDefaultChoice(address: Address): Address {
  return { ...address, is_default: false, default_choice: null }
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

/** A choice of a default, with the address type whose list its number belongs to. */
export type AddressChoice = { readonly address_type: AddressType; readonly choice: number }

export type ChangeAddress = {
  readonly occurred_at: string
  /** Omitted fields stay. */
  readonly changes: Partial<AddressContent>
  /** A choice makes it the default, `null` clears the default, undefined changes nothing. */
  readonly default_choice?: AddressChoice | null
}

/**
 * Changes an address. Values that it already has are not recorded again.
 * @throws DomainError `not_found`, `invalid_request` when required fields would be missing, and `concurrent_modification`
 *   when the choice belongs to the list of another type
 */
export function changeAddress(command: ChangeAddress, state: AddressState): AddressEvent[] {
  const address = existingAddress(state)
  const { occurred_at, default_choice } = command
  const facts = { address_id: address.address_id, occurred_at }
  const changes = differing(address, command.changes)
  const result = { ...address, ...changes }
  requireComplete(result)
  const events: AddressEvent[] = []
  if (Object.keys(changes).length > 0) events.push({ type: 'AddressChanged', data: { ...facts, changes } })
  const changed = changes.address_type === undefined ? address : withoutDefaultChoice(address)
  if (default_choice && default_choice.address_type !== result.address_type)
    throw new DomainError('concurrent_modification', 'The address_type was changed by another request; try again')
  if (default_choice && isNewChoice(default_choice.choice, changed))
    events.push({ type: 'AddressMadeDefault', data: { ...facts, default_choice: default_choice.choice } })
  if (default_choice === null && changed.is_default) events.push({ type: 'AddressDefaultCleared', data: facts })
  return events
}

function differing(address: Address, changes: Partial<AddressContent>): Partial<AddressContent> {
  const before = new Map<string, unknown>(Object.entries(addressContentOf(address)))
  const isChange = ([field, value]: [string, unknown]) => value !== undefined && value !== before.get(field)
  return Object.fromEntries(Object.entries(changes).filter(isChange))
}

/**
 * Clears the default because the owner chose another address.
 * @param command `superseded_by` is that later choice. An address with a still later choice, or of another type by now, is
 *   left unchanged
 */
export function clearDefaultAddress(
  { occurred_at, superseded_by }: { readonly occurred_at: string; readonly superseded_by: AddressChoice },
  state: AddressState,
): AddressEvent[] {
  if (state.status !== 'kept' || !state.is_default || state.default_choice === null) return []
  if (state.address_type !== superseded_by.address_type || state.default_choice >= superseded_by.choice) return []
  return [{ type: 'AddressDefaultCleared', data: { address_id: state.address_id, occurred_at } }]
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
  const [first] = fields
  if (first) throw new DomainError('invalid_request', `${first.field} ${first.message}`, { fields })
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
