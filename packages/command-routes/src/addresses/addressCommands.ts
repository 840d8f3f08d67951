// Creates, updates and deletes addresses, and keeps one default per owner and address type.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type AddAddress,
  type Address,
  type AddressState,
  addAddress,
  addressFold,
  changeAddress,
  clearDefaultAddress,
  existingAddress,
  removeAddress,
} from '@paylog/domain/addresses/address'
import type { AddressContent, AddressType } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import type { Revision } from '@paylog/event-store/append/append'
import { type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '@paylog/workflows/context'
import {
  chooseDefaultItem,
  clearPreviousDefaults,
  type DefaultChoiceRequest,
} from '@paylog/workflows/payment-methods/defaultChoice'

export type DefaultAddressChoice = {
  readonly address_id: string
  readonly address_type: AddressType
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

export type CreateAddress = {
  readonly address: Omit<AddAddress, 'default_choice'>
  readonly is_default: boolean
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

export type AddressTarget = {
  readonly address_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the request's If-Match does not allow this revision. */
  readonly checkRevision: (revision: Revision) => void
  /** Throws for a body with card data. Called last, when everything else is valid. */
  readonly checkBody: () => void
  readonly metadata: EventMetadata
}

export type UpdateAddress = AddressTarget & {
  readonly changes: Partial<AddressContent>
  /** Unchanged if absent. */
  readonly is_default?: boolean
}

/**
 * Adds an address, or finds the one that the same Idempotency-Key added.
 * @returns the address as it was when it was added; `replayed` is true when an earlier request added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createAddress(
  workflow: Workflow,
  command: CreateAddress,
): Promise<{ readonly added: LoadedState<AddressState>; readonly replayed: boolean }> {
  const { address, is_default, metadata } = command
  const stream = addressStream(address.address_id)
  // Without a key the id is random, so the stream is new.
  const known = address.request_fingerprint === null ? newStream(addressFold) : await firstState(workflow, stream)
  if (known.state.status !== 'none') return { added: await replayed(workflow, command, known), replayed: true }
  const default_choice = is_default ? await chooseDefaultAddress(workflow, defaultChoiceOf(command)) : null
  const added = await workflow.store.handle({
    stream,
    fold: addressFold,
    decide: (state) => addAddress({ ...address, default_choice }, state),
    metadata,
    known,
  })
  if (added.events.length === 0) {
    const first = await firstState(workflow, stream)
    return { added: await replayed(workflow, command, first), replayed: true }
  }
  if (is_default) await clearPreviousDefaultAddress(workflow, defaultChoiceOf(command))
  return { added, replayed: false }
}

/**
 * Changes an address, and clears the previous default of its type when this one replaces it.
 * @throws DomainError `not_found`, `invalid_request` when a required field would be missing, `concurrent_modification`,
 *   `event_store_unavailable`, and what `checkRevision` and `checkBody` throw; nothing is recorded then
 */
export async function updateAddress(workflow: Workflow, update: UpdateAddress): Promise<LoadedState<AddressState>> {
  const { store, now } = workflow
  const { address_id, owner, changes, is_default, metadata } = update
  const occurred_at = now().toISOString()
  const stream = addressStream(address_id)
  const known = await store.load(stream, addressFold)
  const { address_type: previousType, default_choice: previousChoice } = ownedAddress(update, known)
  // A change of the default lists cannot be undone, so all checks come first.
  changeAddress({ occurred_at, changes }, known.state)
  update.checkBody()
  const choosing = { address_id, address_type: changes.address_type ?? previousType, owner, metadata }
  // The address leaves the old type's list, and an older default there must not become the default again.
  if (choosing.address_type !== previousType && previousChoice !== null)
    await clearPreviousDefaultAddress(workflow, { ...choosing, address_type: previousType })
  const choice = is_default ? await chooseDefaultAddress(workflow, choosing) : undefined
  const chosen = choice === undefined ? null : { address_type: choosing.address_type, choice }
  const command = { occurred_at, changes, ...(is_default !== undefined && { default_choice: chosen }) }
  const changed = await store.handle({
    stream,
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(update, { state, revision })
      return changeAddress(command, state)
    },
    metadata,
    known,
  })
  if (is_default) await clearPreviousDefaultAddress(workflow, choosing)
  return changed
}

/**
 * Removes an address.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `checkRevision` and `checkBody` throw
 */
export function deleteAddress({ store, now }: Workflow, target: AddressTarget): Promise<LoadedState<AddressState>> {
  return store.handle({
    stream: addressStream(target.address_id),
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(target, { state, revision })
      target.checkBody()
      return removeAddress({ occurred_at: now().toISOString() }, state)
    },
    metadata: target.metadata,
  })
}

/** `chooseDefaultItem` for an address. */
export function chooseDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<number> {
  return chooseDefaultItem(workflow, listChoice(choosing))
}

/** `clearPreviousDefaults` for an address. */
export function clearPreviousDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<void> {
  const { address_type, metadata } = choosing
  const { store, now } = workflow
  return clearPreviousDefaults(workflow, listChoice(choosing), async (itemId, choice) => {
    const command = { occurred_at: now().toISOString(), superseded_by: { address_type, choice } }
    await store.handle({
      stream: addressStream(itemId),
      fold: addressFold,
      decide: (state) => clearDefaultAddress(command, state),
      metadata,
    })
  })
}

function listChoice({
  address_id: item_id,
  address_type,
  owner,
  metadata,
}: DefaultAddressChoice): DefaultChoiceRequest {
  const list = address_type === 'billing' ? 'billing_addresses' : 'shipping_addresses'
  return { list, owner, item_id, metadata }
}

function firstState({ store }: Workflow, stream: string): Promise<LoadedState<AddressState>> {
  return store.load(stream, addressFold, 'AddressAdded')
}

/** Clears the previous default again, because the first request may have crashed before it did. */
async function replayed(
  workflow: Workflow,
  command: CreateAddress,
  first: LoadedState<AddressState>,
): Promise<LoadedState<AddressState>> {
  const address = existingAddress(first.state)
  requireSameRequest(address, command.address.request_fingerprint)
  if (address.is_default) await clearPreviousDefaultAddress(workflow, defaultChoiceOf(command))
  return first
}

function defaultChoiceOf({ address: { address_id, address_type }, owner, metadata }: CreateAddress) {
  return { address_id, address_type, owner, metadata }
}

/** Another owner's address is `not_found`, like an unknown one. */
function ownedAddress(
  { owner, checkRevision }: AddressTarget,
  { state, revision }: Pick<LoadedState<AddressState>, 'state' | 'revision'>,
): Address {
  const address = existingAddress(
    state.status === 'none' || recordedOwner(state) === owner ? state : addressFold.initialState,
  )
  checkRevision(revision)
  return address
}
