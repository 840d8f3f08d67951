// Which address of a type is its owner's default.

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

/** Chooses an address as the default of its type, before it carries the choice's number. @returns the number */
export function chooseDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<number> {
  return chooseDefaultItem(workflow, listChoice(choosing))
}

/** Has the former default of the type cleared, once the chosen address carries its number. */
export function clearFormerDefaultAddress(workflow: Workflow, choosing: DefaultAddressChoice): Promise<void> {
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

// Keeping a new address: one event, and as the default a choice before it and the former's clearing after it.

export type CreateAddress = {
  readonly address: Omit<AddAddress, 'default_choice'>
  readonly is_default: boolean
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

/**
 * Adds the address, or finds the one that the same Idempotency-Key added before.
 * @returns the address as it was when it was added, and whether an earlier request had added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createAddress(
  workflow: Workflow,
  command: CreateAddress,
): Promise<{ readonly added: LoadedState<AddressState>; readonly replayed: boolean }> {
  const { address, is_default, metadata } = command
  const stream = addressStream(address.address_id)
  // Without a key the id is new.
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
  if (is_default) await clearFormerDefaultAddress(workflow, defaultChoiceOf(command))
  return { added, replayed: false }
}

function firstState({ store }: Workflow, stream: string): Promise<LoadedState<AddressState>> {
  return store.load(stream, addressFold, 'AddressAdded')
}

/** The request that added it may have died before the former default was cleared, so that is done once more. */
async function replayed(
  workflow: Workflow,
  command: CreateAddress,
  first: LoadedState<AddressState>,
): Promise<LoadedState<AddressState>> {
  const address = existingAddress(first.state)
  requireSameRequest(address, command.address.request_fingerprint)
  if (address.is_default) await clearFormerDefaultAddress(workflow, defaultChoiceOf(command))
  return first
}

function defaultChoiceOf({ address: { address_id, address_type }, owner, metadata }: CreateAddress) {
  return { address_id, address_type, owner, metadata }
}

// Changing and removing an address that is there, by its owner and nobody else.

export type AddressTarget = {
  readonly address_id: string
  /** See `ownerOf`. */
  readonly owner: string
  /** Throws when the owner has not meant the address as it is now. */
  readonly permit: (revision: Revision) => void
  /** Throws what is wrong with the request beyond its shape; called when everything else is in order. */
  readonly refuse: () => void
  readonly metadata: EventMetadata
}

export type UpdateAddress = AddressTarget & {
  readonly changes: Partial<AddressContent>
  /** Left out: it stays as it is. */
  readonly is_default?: boolean
}

/**
 * Changes an address, and has the former default of its type cleared when this one takes its place.
 * @throws DomainError `not_found`, `invalid_request` when it would lack what an address must have,
 *   `concurrent_modification`, `event_store_unavailable`, and what `permit` and `refuse` throw; nothing is recorded then
 */
export async function updateAddress(workflow: Workflow, update: UpdateAddress): Promise<LoadedState<AddressState>> {
  const { store, now } = workflow
  const { address_id, owner, changes, is_default, metadata } = update
  const occurred_at = now().toISOString()
  const stream = addressStream(address_id)
  const known = await store.load(stream, addressFold)
  const { address_type: before, default_choice: number } = ownedAddress(update, known)
  // What is about to be done to its lists cannot be taken back, so whatever would be refused is refused before.
  changeAddress({ occurred_at, changes }, known.state)
  update.refuse()
  const choosing = { address_id, address_type: changes.address_type ?? before, owner, metadata }
  // Its number goes with it, and nothing that the number outdid may count again.
  if (choosing.address_type !== before && number !== null)
    await clearFormerDefaultAddress(workflow, { ...choosing, address_type: before })
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
  if (is_default) await clearFormerDefaultAddress(workflow, choosing)
  return changed
}

/**
 * Removes an address.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `permit` and `refuse` throw
 */
export function deleteAddress({ store, now }: Workflow, target: AddressTarget): Promise<LoadedState<AddressState>> {
  return store.handle({
    stream: addressStream(target.address_id),
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(target, { state, revision })
      target.refuse()
      return removeAddress({ occurred_at: now().toISOString() }, state)
    },
    metadata: target.metadata,
  })
}

/** Another's address is answered like one that does not exist. */
function ownedAddress(
  { owner, permit }: AddressTarget,
  { state, revision }: Pick<LoadedState<AddressState>, 'state' | 'revision'>,
): Address {
  const address = existingAddress(
    state.status === 'none' || recordedOwner(state) === owner ? state : addressFold.initialState,
  )
  permit(revision)
  return address
}
