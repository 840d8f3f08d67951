// Creates, updates and deletes addresses.

import { recordedOwner } from '@paylog/domain/actor'
import {
  type AddAddress,
  type Address,
  type AddressState,
  addAddress,
  addressFold,
  changeAddress,
  existingAddress,
  removeAddress,
} from '@paylog/domain/addresses/address'
import type { AddressContent, AddressType } from '@paylog/domain/addresses/events'
import type { EventMetadata } from '@paylog/domain/events'
import { requireSameRequest } from '@paylog/domain/idempotentRequest'
import { causedBy, type LoadedState, newStream } from '@paylog/event-store/eventStore'
import { addressStream } from '@paylog/event-store/streamName'
import type { Workflow } from '../context.ts'
import { changeDefault, type ItemTarget, type ListItem, type ShownItem, withDefault } from '../defaults.ts'

export type CreateAddress = {
  readonly address: AddAddress
  /** See `ownerOf`. */
  readonly owner: string
  readonly metadata: EventMetadata
}

export type UpdateAddress = ItemTarget & {
  readonly changes: Partial<AddressContent>
  /** Unchanged if undefined. */
  readonly is_default: boolean | undefined
}

/**
 * Adds an address, or finds the one that the same Idempotency-Key added.
 * @returns the address as it was when it was added; `replayed` is true when an earlier request added it
 * @throws DomainError `idempotency_key_reused`, `event_store_unavailable`
 */
export async function createAddress(
  workflow: Workflow,
  { address, owner, metadata }: CreateAddress,
): Promise<ShownItem<AddressState> & { readonly replayed: boolean }> {
  const { address_id, address_type, request_fingerprint } = address
  const stream = addressStream(address_id)
  const choice = { ...addressItem(address_type, address_id, owner), is_default: true }
  const added = await workflow.store.handle({
    stream,
    fold: addressFold,
    decide: (state) => addAddress(address, state),
    metadata,
    assumed: newStream(addressFold),
  })
  if (added.events.length > 0) {
    const shown = { ...added, is_default: false, replayed: false }
    if (!address.is_default) return shown
    return withDefault(workflow, shown, { ...choice, metadata: causedBy(added, metadata) })
  }
  const first = await workflow.store.load(stream, addressFold, 'AddressAdded')
  const { was_added_as_default: is_default, ...earlier } = existingAddress(first.state)
  requireSameRequest(earlier, request_fingerprint)
  const shown = { ...first, is_default, replayed: true }
  if (!is_default) return shown
  // The first request may have crashed before it made the address the default.
  const { position } = await withDefault(workflow, first, { ...choice, metadata, unlessChangedAfter: first.position })
  return { ...shown, position }
}

/**
 * Changes an address, and whether it is the default of its type.
 * @throws DomainError `not_found`, `invalid_request` when a required field would be missing, `concurrent_modification`,
 *   `event_store_unavailable`, and what `checkRevision` and `checkBody` throw; nothing is recorded then
 */
export async function updateAddress(workflow: Workflow, update: UpdateAddress): Promise<ShownItem<AddressState>> {
  const { store, now } = workflow
  const { id, owner, changes, is_default, metadata } = update
  const command = { occurred_at: now().toISOString(), changes }
  const stream = addressStream(id)
  const assumed = await store.load(stream, addressFold)
  const { address_type: previousType } = ownedAddress(update, assumed)
  // All checks come before a change of the default.
  changeAddress(command, assumed.state)
  update.checkBody()
  const address_type = changes.address_type ?? previousType
  const item = { ...addressItem(address_type, id, owner), metadata }
  // It may have been the default of this type before it got another type, and must not be it again by coming back.
  if (address_type !== previousType) await changeDefault(workflow, { ...item, is_default: false })
  const changed = await store.handle({
    stream,
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(update, { state, revision })
      return changeAddress(command, state)
    },
    metadata,
    assumed,
  })
  return withDefault(workflow, changed, { ...item, is_default, metadata: causedBy(changed, metadata) })
}

/**
 * Removes an address.
 * @throws DomainError `not_found`, `event_store_unavailable`, and what `checkRevision` and `checkBody` throw
 */
export function deleteAddress({ store, now }: Workflow, target: ItemTarget): Promise<LoadedState<AddressState>> {
  return store.handle({
    stream: addressStream(target.id),
    fold: addressFold,
    decide(state, revision) {
      ownedAddress(target, { state, revision })
      target.checkBody()
      return removeAddress({ occurred_at: now().toISOString() }, state)
    },
    metadata: target.metadata,
  })
}

/** An address in its owner's list of its type, which has a default. */
function addressItem(address_type: AddressType, item_id: string, owner: string): ListItem {
  return { list: `${address_type}_addresses`, owner, item_id }
}

/** Another owner's address is `not_found`, like an unknown one. */
function ownedAddress(
  { owner, checkRevision }: ItemTarget,
  { state, revision }: Pick<LoadedState<AddressState>, 'state' | 'revision'>,
): Address {
  const address = existingAddress(
    state.status === 'none' || recordedOwner(state) === owner ? state : addressFold.initialState,
  )
  checkRevision(revision)
  return address
}
